//! The arguments of a call, and what is checked of them before anything is launched.

use crate::problem::{Problem, Sizes};
use crate::tensor::Tensor;
use crate::{Element, Error};

/// What the rule is computed from. `T` is the type of queries, keys, values and outputs.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a, T> {
    /// Queries, `[tokens, key_heads, dk]`.
    pub q: Tensor<'a, T, 3>,
    /// Keys, `[tokens, key_heads, dk]`.
    pub k: Tensor<'a, T, 3>,
    /// Values, `[tokens, heads, dv]`.
    pub v: Tensor<'a, T, 3>,
    /// Gates, `[tokens, heads]`: the factors themselves.
    pub g: Tensor<'a, f32, 2>,
    /// How much of the old value is replaced, `[tokens, heads]`.
    pub beta: Tensor<'a, f32, 2>,
    /// States before, `[sequences, heads, dv, dk]`; zeros if there are none.
    pub state: Option<Tensor<'a, f32, 4>>,
    /// The first token of each sequence, and the end of the last: `[0, 37, 101]` for 37 and 64 tokens.
    pub starts: &'a [u32],
}

/// The arrays of a call whose arguments fit each other.
pub(crate) struct Checked<'a, T> {
    pub sizes: Sizes,
    pub q: &'a [T],
    pub k: &'a [T],
    pub v: &'a [T],
    pub g: &'a [f32],
    pub beta: &'a [f32],
    pub state: Option<&'a [f32]>,
}

impl<'a, T> Inputs<'a, T> {
    pub(crate) fn check(&self) -> Result<Checked<'a, T>, Error> {
        let ([tokens, key_heads, dk], [_, heads, dv]) = (self.q.shape(), self.v.shape());
        let size =
            |name, value: usize| u32::try_from(value).map_err(|_| Error::TooLarge { name, value, limit: u32::MAX });
        let sizes = Sizes {
            sequences: sequences(self.starts, tokens)?,
            heads: size("heads", heads)?,
            key_heads: size("key_heads", key_heads)?,
            dk: size("dk", dk)?,
            dv: size("dv", dv)?,
        };
        for (name, value) in [("dk", sizes.dk), ("dv", sizes.dv)] {
            if value == 0 || !value.is_multiple_of(8) {
                return Err(Error::NotByEight { name, value });
            }
        }
        if sizes.key_heads == 0 || sizes.heads == 0 || !sizes.heads.is_multiple_of(sizes.key_heads) {
            return Err(Error::Heads { heads: sizes.heads, key_heads: sizes.key_heads });
        }
        same_shape("k", &self.k.shape(), &[tokens, key_heads, dk])?;
        same_shape("v", &self.v.shape(), &[tokens, heads, dv])?;
        same_shape("g", &self.g.shape(), &[tokens, heads])?;
        same_shape("beta", &self.beta.shape(), &[tokens, heads])?;
        if let Some(state) = &self.state {
            same_shape("state", &state.shape(), &[sizes.sequences.len(), heads, dv, dk])?;
        }
        Ok(Checked {
            q: self.q.elements("q")?,
            k: self.k.elements("k")?,
            v: self.v.elements("v")?,
            g: self.g.elements("g")?,
            beta: self.beta.elements("beta")?,
            state: self.state.map(|state| state.elements("state")).transpose()?,
            sizes,
        })
    }
}

/// The tokens of each sequence.
fn sequences(starts: &[u32], tokens: usize) -> Result<Vec<u32>, Error> {
    let rises = starts.windows(2).all(|pair| pair[0] <= pair[1]);
    match starts {
        [0, .., end] if rises && *end as usize == tokens => {
            Ok(starts.windows(2).map(|pair| pair[1] - pair[0]).collect())
        }
        _ => Err(Error::Starts { tokens }),
    }
}

fn same_shape(name: &'static str, found: &[usize], wanted: &[usize]) -> Result<(), Error> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::Shape { name, found: found.to_vec(), wanted: wanted.to_vec() })
}

/// The inputs of a [`Problem`], in an element type.
#[derive(Debug, Clone)]
pub struct OwnedInputs<'a, T> {
    problem: &'a Problem,
    q: Vec<T>,
    k: Vec<T>,
    v: Vec<T>,
    starts: Vec<u32>,
}

impl<'a, T: Element> OwnedInputs<'a, T> {
    /// The problem's numbers, rounded to the element type.
    pub fn new(problem: &'a Problem) -> OwnedInputs<'a, T> {
        let [q, k, v] = [&problem.q, &problem.k, &problem.v].map(|x| x.iter().map(|x| T::from_f32(*x)).collect());
        OwnedInputs { problem, q, k, v, starts: problem.sizes.starts() }
    }

    /// A view of them.
    pub fn view(&self) -> Inputs<'_, T> {
        let sizes = &self.problem.sizes;
        let [heads, key_heads, dk, dv] = [sizes.heads, sizes.key_heads, sizes.dk, sizes.dv].map(|size| size as usize);
        let tokens = sizes.tokens();
        let states = [sizes.sequences.len(), heads, dv, dk];
        Inputs {
            q: Tensor::dense(&self.q, [tokens, key_heads, dk]),
            k: Tensor::dense(&self.k, [tokens, key_heads, dk]),
            v: Tensor::dense(&self.v, [tokens, heads, dv]),
            g: Tensor::dense(&self.problem.g, [tokens, heads]),
            beta: Tensor::dense(&self.problem.beta, [tokens, heads]),
            state: self.problem.state.as_ref().map(|state| Tensor::dense(state, states)),
            starts: &self.starts,
        }
    }
}
