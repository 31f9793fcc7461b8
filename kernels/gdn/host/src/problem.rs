//! What is to be computed: sizes and inputs, as single-precision numbers whatever a kernel's elements are.

use device_std::math::{Bf16, F16};

/// What queries, keys, values and outputs are made of. Gates and states are single precision always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of single precision.
    Bf16,
}

impl Format {
    /// The name in kernels' names.
    pub fn name(self) -> &'static str {
        match self {
            Format::F32 => "f32",
            Format::F16 => "f16",
            Format::Bf16 => "bf16",
        }
    }

    /// The nearest number of this format.
    pub fn round(self, value: f32) -> f32 {
        match self {
            Format::F32 => value,
            Format::F16 => F16::from_f32(value).to_f32(),
            Format::Bf16 => Bf16::from_f32(value).to_f32(),
        }
    }
}

/// The sizes of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// Tokens of each sequence; the arrays hold the sequences one after another.
    pub sequences: Vec<u32>,
    /// Heads of values, gates and states.
    pub heads: u32,
    /// Heads of queries and keys; `heads` is a multiple.
    pub key_heads: u32,
    /// Elements of a key.
    pub dk: u32,
    /// Elements of a value.
    pub dv: u32,
}

impl Sizes {
    /// A batch of sequences of equal length.
    pub fn batch(batch: u32, tokens: u32, heads: u32, key_heads: u32, dk: u32, dv: u32) -> Sizes {
        Sizes { sequences: vec![tokens; batch as usize], heads, key_heads, dk, dv }
    }

    /// All tokens.
    pub fn tokens(&self) -> usize {
        self.sequences.iter().map(|tokens| *tokens as usize).sum()
    }

    /// Elements of all queries, and of all keys.
    pub fn keys(&self) -> usize {
        self.tokens() * self.key_heads as usize * self.dk as usize
    }

    /// Elements of all values, and of all outputs.
    pub fn values(&self) -> usize {
        self.tokens() * self.heads as usize * self.dv as usize
    }

    /// All gates.
    pub fn gates(&self) -> usize {
        self.tokens() * self.heads as usize
    }

    /// Elements of one head's state.
    pub fn state(&self) -> usize {
        self.dk as usize * self.dv as usize
    }

    /// Elements of all states.
    pub fn states(&self) -> usize {
        self.sequences.len() * self.heads as usize * self.state()
    }

    /// The first token of each sequence, and the end of the last.
    pub fn starts(&self) -> Vec<u32> {
        let ends = self.sequences.iter().scan(0, |end, tokens| {
            *end += tokens;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }
}

/// Sizes and inputs, in the layouts of the crate `gdn`.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The sizes.
    pub sizes: Sizes,
    /// `[tokens, key_heads, dk]`
    pub q: Vec<f32>,
    /// `[tokens, key_heads, dk]`
    pub k: Vec<f32>,
    /// `[tokens, heads, dv]`
    pub v: Vec<f32>,
    /// `[tokens, heads]`, the factors themselves
    pub g: Vec<f32>,
    /// `[tokens, heads]`
    pub beta: Vec<f32>,
    /// `[sequences, heads, dv, dk]`; zeros if there is none
    pub state: Option<Vec<f32>>,
}

/// What comes out.
#[derive(Debug, Clone, PartialEq)]
pub struct Outputs<T = f32, S = f32> {
    /// `[tokens, heads, dv]`
    pub y: Vec<T>,
    /// `[sequences, heads, dv, dk]`
    pub state: Vec<S>,
}
