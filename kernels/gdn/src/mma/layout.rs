//! What a block keeps in shared memory: 98,304 bytes, so that it fits all architectures that have tensor cores.
//!
//! Rows are 16 bytes longer than their elements need, which puts eight rows one after another in different banks. Two
//! regions are used twice in a chunk:
//!
//! - `A`, whose inverse takes its place once it is rounded,
//! - the inverse in single precision, then `R` and after it `U`, and beside it `U` as it is left at the chunk's end.

use super::{DK, ROWS, TOKENS};
use crate::wy::Matrix;
use core::mem::size_of;
use device_std::matrix::{self, SharedTile};
use device_std::shared::Shared;

/// From row to row of keys, queries and states.
const WIDE: usize = DK as usize + 8;
/// From row to row of 64 elements of 16 bits.
const NARROW: usize = TOKENS as usize + 8;
/// From row to row of 64 single-precision elements.
const SINGLE: usize = TOKENS as usize + 4;

const HALF: usize = size_of::<u16>();
const FULL: usize = size_of::<f32>();
const ROWS_OF_TOKENS: usize = TOKENS as usize;

const K: usize = 0;
const Q: usize = K + HALF * ROWS_OF_TOKENS * WIDE;
const S: usize = Q + HALF * ROWS_OF_TOKENS * WIDE;
const A: usize = S + HALF * ROWS as usize * WIDE;
const INVERSE: usize = A + FULL * ROWS_OF_TOKENS * SINGLE;
const LEFT: usize = INVERSE + HALF * ROWS_OF_TOKENS * NARROW;
const P: usize = LEFT + HALF * ROWS_OF_TOKENS * NARROW;
const GATES: usize = P + HALF * ROWS_OF_TOKENS * NARROW;

/// The bytes of dynamic shared memory that a launch gives a block.
pub const BYTES: u32 = (GATES + 4 * FULL * ROWS_OF_TOKENS) as u32;

// The inverse has the place of two matrices of 16 bits.
const _: () = assert!(FULL * ROWS_OF_TOKENS * SINGLE <= P - INVERSE && BYTES <= 99 << 10);

/// The shared memory of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk<T> {
    /// Keys, a row a token.
    pub k: SharedTile<T>,
    /// Queries, a row a token.
    pub q: SharedTile<T>,
    /// The state, rounded.
    pub s: SharedTile<T>,
    /// First `Gamma`, then `A`, below the diagonal.
    pub a: Matrix,
    /// The inverse of `I + A`, in single precision; what is above its diagonal is scratch.
    pub inverse: Matrix,
    /// The inverse, rounded, in the place of `A`; on and below the diagonal's tiles.
    pub rounded: SharedTile<T>,
    /// First `R`, then `U`, in the place of the inverse: a row a token, a column a row of the state.
    pub u: SharedTile<T>,
    /// What is left of `U` at the chunk's end; in the place of the inverse as well.
    pub left: SharedTile<T>,
    /// `tril(Gamma * Q K^T)`, on and below the diagonal's tiles.
    pub p: SharedTile<T>,
    /// Gates, betas, `G` and the last row of `Gamma`, a row each.
    pub gates: Matrix,
}

impl<T: matrix::Element> Chunk<T> {
    /// The parts of `memory`.
    #[inline(always)]
    pub fn new(memory: Shared<[u8]>) -> Chunk<T> {
        let tile = |at: usize, stride: usize| SharedTile::new(memory.split_at(at).1.cast::<T>(), stride);
        let matrix = |at: usize, stride: usize| Matrix::new(memory.split_at(at).1.as_ptr().cast(), stride);
        Chunk {
            k: tile(K, WIDE),
            q: tile(Q, WIDE),
            s: tile(S, WIDE),
            a: matrix(A, SINGLE),
            inverse: matrix(INVERSE, SINGLE),
            rounded: tile(A, NARROW),
            u: tile(INVERSE, NARROW),
            left: tile(LEFT, NARROW),
            p: tile(P, NARROW),
            gates: matrix(GATES, ROWS_OF_TOKENS),
        }
    }

    /// The address of an element.
    #[inline(always)]
    pub fn place(tile: SharedTile<T>, row: usize, column: usize) -> *mut T {
        tile.memory().as_ptr().cast::<T>().wrapping_add(tile.index(row, column))
    }
}
