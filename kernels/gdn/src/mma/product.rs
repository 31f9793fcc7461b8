//! Products of the chunk's keys and queries with the rows of another matrix.

use super::layout::Chunk;
use super::{COLUMNS, DK, Part, Product, TILE};
use crate::Half;
use device_std::device;
use device_std::matrix::{A, Accumulator, B, SharedTile, mma};

/// A sub-group's part of each product.
pub struct Products {
    /// Of the keys.
    pub by_key: Product,
    /// Of the queries.
    pub by_query: Product,
}

impl Products {
    /// Nothing but zeros.
    pub const ZERO: Products =
        Products { by_key: [Accumulator::ZERO; COLUMNS], by_query: [Accumulator::ZERO; COLUMNS] };
}

/// `K M^T` and `Q M^T` for the 64 rows of `other`.
///
/// # Safety
/// Keys, queries and `other` were written before the last barrier.
#[device]
#[inline(always)]
pub unsafe fn products<T: Half>(chunk: &Chunk<T>, other: SharedTile<T>, part: Part) -> Products {
    let Products { mut by_key, mut by_query } = Products::ZERO;
    let mut d = 0;
    #[nounroll]
    while d < DK as usize {
        // SAFETY: the caller's promise.
        unsafe {
            let (key, query) = (A::load(chunk.k.at(part.row, d)), A::load(chunk.q.at(part.row, d)));
            #[unroll]
            for n in 0..COLUMNS / 2 {
                let [left, right] = B::load_pair_transposed(other.at(part.column() + TILE * n, d));
                by_key[2 * n] = mma(key, left, by_key[2 * n]);
                by_key[2 * n + 1] = mma(key, right, by_key[2 * n + 1]);
                by_query[2 * n] = mma(query, left, by_query[2 * n]);
                by_query[2 * n + 1] = mma(query, right, by_query[2 * n + 1]);
            }
        }
        d += TILE;
    }
    Products { by_key, by_query }
}
