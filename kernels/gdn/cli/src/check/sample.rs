//! A part of a large problem that the oracle has time for: the last head of the last sequence. Heads do not depend on each
//! other, so it is a problem of its own, and the last one shows whether a kernel got that far.

use device_std::math::Bf16;
use gated_delta::Element;
use gated_delta::cases::Case;
use gated_delta::problem::{Outputs, Problem, Sizes};

use super::Shape;

/// The last head of the last sequence.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// The whole problem's.
    pub shape: Shape,
    head: Case,
}

impl Sample {
    /// That of a problem of this shape, in bf16.
    pub fn of(problem: &Problem, shape: Shape) -> Sample {
        let sizes = shape.sizes();
        let tokens = shape.sequences.tokens;
        let cut = |values: &[f32], heads: u32, width: u32| last_column(values, heads, width, tokens);
        let problem = Problem {
            q: cut(&problem.q, sizes.key_heads, sizes.dk),
            k: cut(&problem.k, sizes.key_heads, sizes.dk),
            v: cut(&problem.v, sizes.heads, sizes.dv),
            g: cut(&problem.g, sizes.heads, 1),
            beta: cut(&problem.beta, sizes.heads, 1),
            state: problem.state.as_ref().map(|state| last_of(state, sizes.state())),
            sizes: Sizes { sequences: vec![tokens], heads: 1, key_heads: 1, ..sizes },
        };
        let head = Case { name: "the last head", problem, calls: Vec::new() }.rounded(Bf16::FORMAT);
        Sample { shape, head }
    }

    /// Says what is wrong with it in the outputs of the whole problem.
    pub fn check<T: Element>(&self, outputs: &Outputs<T>) -> Result<(), String> {
        let Shape { sequences, heads, dv, .. } = self.shape;
        let y = last_column(&outputs.y, heads, dv, sequences.tokens);
        let y = y.into_iter().map(|y| y.to_f32()).collect();
        let state = last_of(&outputs.state, self.head.problem.sizes.state());
        self.head.check(T::FORMAT, &Outputs { y, state })
    }
}

/// The last head's values of the last tokens, of an array `[all tokens, heads, width]`.
fn last_column<T: Copy>(values: &[T], heads: u32, width: u32, tokens: u32) -> Vec<T> {
    let (row, width) = ((heads * width) as usize, width as usize);
    let rows = &values[values.len() - tokens as usize * row..];
    rows.chunks_exact(row).flat_map(|row| &row[row.len() - width..]).copied().collect()
}

fn last_of(values: &[f32], len: usize) -> Vec<f32> {
    values[values.len() - len..].to_vec()
}
