//! What can be wrong with a call.

use thiserror::Error as ThisError;

/// Why a problem was not computed.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// An array is too long or too short.
    #[error("`{name}` has {found} elements, and {shape} asks for {wanted}")]
    Length {
        /// The argument.
        name: &'static str,
        /// Its elements.
        found: usize,
        /// What its elements should be.
        wanted: usize,
        /// The shape, with numbers.
        shape: String,
    },
    /// A size is 0 or no multiple of 8.
    #[error("`{name}` is {value}: it must be a multiple of 8, and at least 8")]
    NotByEight {
        /// The argument.
        name: &'static str,
        /// Its value.
        value: u32,
    },
    /// A size is beyond what kernels are made for.
    #[error("`{name}` is {value}, and the kernels go up to {limit}")]
    TooLarge {
        /// The argument.
        name: &'static str,
        /// Its value.
        value: u32,
        /// The largest.
        limit: u32,
    },
    /// Heads cannot be shared out.
    #[error(
        "`heads` is {heads} and `key_heads` is {key_heads}: both must be at least 1, and the first a multiple of the second"
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
    #[error("`sequences` and `heads` make {0} heads of sequences, and a launch has room for 2147483647")]
    TooManyHeads(u64),
    /// Tokens are counted in 32 bits.
    #[error("`sequences` have {0} tokens together, and the kernels count up to 4294967295")]
    TooManyTokens(u64),
}
