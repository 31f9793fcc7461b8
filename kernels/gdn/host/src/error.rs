//! What can be wrong with a call. Each says which argument.

use thiserror::Error as ThisError;

/// Why a problem was not computed.
#[derive(Debug, Clone, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// An array is too long or too short for its shape.
    #[error("`{name}` has {found} elements, and not those of its shape {shape:?}")]
    Length {
        /// The argument.
        name: &'static str,
        /// Its elements.
        found: usize,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// A shape does not fit the others.
    #[error("`{name}` has the shape {found:?}, and the shapes of `q` and `v` and the `starts` ask for {wanted:?}")]
    Shape {
        /// The argument.
        name: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// What its shape should be.
        wanted: Vec<usize>,
    },
    /// An array is not dense.
    #[error("`{name}` has the strides {found:?}, and the kernels need {wanted:?}: copy it into a dense array")]
    Strides {
        /// The argument.
        name: &'static str,
        /// Its strides, in elements.
        found: Vec<usize>,
        /// Those of a dense array.
        wanted: Vec<usize>,
    },
    /// Sequences do not make up the tokens.
    #[error("`starts` does not go from 0 to the {tokens} tokens of `q` without falling")]
    Starts {
        /// The tokens.
        tokens: usize,
    },
    /// A size is 0 or no multiple of 8.
    #[error("`{name}` is {value}: it must be a multiple of 8, and at least 8")]
    NotByEight {
        /// The size.
        name: &'static str,
        /// Its value.
        value: u32,
    },
    /// A size is beyond what kernels are made for.
    #[error("`{name}` is {value}, and the kernel goes up to {limit}")]
    TooLarge {
        /// The size.
        name: &'static str,
        /// Its value.
        value: usize,
        /// The largest.
        limit: u32,
    },
    /// Heads cannot be shared out.
    #[error(
        "`v` has {heads} heads and `q` has {key_heads}: both must be at least 1, and the first a multiple of the second"
    )]
    Heads {
        /// Heads of values.
        heads: u32,
        /// Heads of keys.
        key_heads: u32,
    },
    /// Tensor cores cannot do it.
    #[error(
        "`dk` is {dk}, `dv` is {dv} and elements are {element}: the kernel for tensor cores is for `dk` = 128, `dv` a multiple \
         of 64, and f16 or bf16"
    )]
    Mma {
        /// Elements of a key.
        dk: u32,
        /// Elements of a value.
        dv: u32,
        /// The element type.
        element: &'static str,
    },
    /// There is no such chunk.
    #[error("a chunk of {0} tokens was asked for: there are chunks of 16, 32 and 64")]
    Chunk(u32),
    /// A launch has no more blocks.
    #[error("`starts` and the heads of `v` make {0} heads of sequences, and a launch has room for 2147483647")]
    TooManyHeads(u64),
    /// The device's part.
    #[error(transparent)]
    Launch(#[from] launch::Error),
}
