//! What a block keeps in shared memory.
//!
//! Rows of keys, queries and states are 16 bytes longer than their elements, and so are those of the small matrices: eight
//! rows one after another then begin in different banks, and a product's loads of 16 bytes from eight rows do not wait for
//! each other.
//!
//! The state's rows are not in order. A thread has rows `4 x + j` of it as the columns of a product, and loads row `j` of
//! all `x` at once; these lie one after another, row `4 x + j` at place `16 j + x` ([`state_place`]).

use super::matrix::Matrix;
use super::{ROWS, SIDE, WIDTH};
use device_std::shared::Shared;

/// Elements that rows are longer than they need be.
const PAD: usize = 4;
/// From row to row of what has a column for each of the block's rows of the state.
const ROWS_STRIDE: usize = ROWS as usize + PAD;

/// The shared memory of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    /// Keys, a row a token.
    pub k: Matrix,
    /// Queries, a row a token.
    pub q: Matrix,
    /// Rows of the state, at [`state_place`].
    pub s: Matrix,
    /// First the right side of the system, then `U`; a row a token, a column a row of the state.
    pub u: Matrix,
    /// `A`: what the system has below its diagonal.
    pub a: Matrix,
    /// First `Gamma`, then `tril(Gamma * Q K^T)`.
    pub p: Matrix,
    /// In rows of a column for each token: gates, betas, `G`, the last row of `Gamma`.
    pub gates: Matrix,
}

/// The rows of [`Chunk::gates`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gates {
    /// `g`.
    Gate,
    /// `beta`.
    Beta,
    /// `G`: the product of the gates up to a token.
    Decay,
    /// `Gamma[C - 1]`: the product of the gates after a token.
    Tail,
}

/// How many rows [`Gates`] are.
const GATES: usize = 4;

impl Chunk {
    /// The parts of `memory` for chunks of `16 * TILES` tokens.
    #[inline(always)]
    pub fn new<const TILES: usize>(memory: Shared<[f32]>, dk: usize) -> Chunk {
        let (tokens, stride) = (SIDE * TILES, dk + PAD);
        let small = tokens + PAD;
        let mut at = memory.as_ptr().cast::<f32>();
        let mut part = |rows: usize, stride: usize| {
            let matrix = Matrix::new(at, stride);
            at = at.wrapping_add(rows * stride);
            matrix
        };
        Chunk {
            k: part(tokens, stride),
            q: part(tokens, stride),
            s: part(ROWS as usize, stride),
            u: part(tokens, ROWS_STRIDE),
            a: part(tokens, small),
            p: part(tokens, small),
            gates: part(GATES, tokens),
        }
    }

    /// What a gate is for one token.
    ///
    /// # Safety
    /// As for [`Matrix::get`].
    #[inline(always)]
    pub unsafe fn gate(&self, row: Gates, token: usize) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { self.gates.get(row as usize, token) }
    }
}

/// The bytes of dynamic shared memory for chunks of `tokens` and keys of `dk` elements.
///
/// ```
/// assert_eq!(gdn::wy::layout::bytes(64, 128), 154_624);
/// assert_eq!(gdn::wy::layout::bytes(32, 128), 86_016);
/// ```
pub const fn bytes(tokens: u32, dk: u32) -> u64 {
    let (tokens, stride) = (tokens as u64, (dk as usize + PAD) as u64);
    let floats = (2 * tokens + ROWS as u64) * stride
        + tokens * ROWS_STRIDE as u64
        + 2 * tokens * (tokens + PAD as u64)
        + GATES as u64 * tokens;
    4 * floats
}

/// Where row `row` of the state lies.
#[inline(always)]
pub(super) const fn state_place(row: usize) -> usize {
    SIDE * (row % WIDTH) + row / WIDTH
}
