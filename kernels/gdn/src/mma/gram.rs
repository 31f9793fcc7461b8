//! What the keys of a chunk have to do with each other: `Gamma`, `A` and the masked `Q K^T`.

use super::layout::Chunk;
use super::product::{self, Products};
use super::{COLUMNS, Part, TILE, TILES, pairs};
use crate::Half;
use crate::wy::{self, Gates};
use device_std::{block, device};

/// `Gamma` in the place of `A`, its last row, and `G`.
#[device]
#[inline(always)]
pub unsafe fn gamma<T: Half>(chunk: &Chunk<T>) {
    // SAFETY: the gates were written before the last barrier.
    unsafe { wy::gamma::<TILES>(chunk.a, chunk.gates, block::thread_index() as usize) };
}

/// Whether some of the part's elements are on or below the diagonal.
#[inline(always)]
fn has_lower(part: Part) -> bool {
    part.column() < part.row + TILE
}

/// The products of keys with keys and of queries with keys; zeros for a part that is above the diagonal.
#[device]
#[inline(always)]
pub unsafe fn products<T: Half>(chunk: &Chunk<T>, part: Part) -> Products {
    // SAFETY: keys and queries were written before the last barrier.
    if has_lower(part) { unsafe { product::products(chunk, chunk.k, part) } } else { Products::ZERO }
}

/// Turns the products into `A`, in place of `Gamma`, and the masked `Q K^T`.
#[device]
#[inline(always)]
pub unsafe fn mask<T: Half>(chunk: &Chunk<T>, part: Part, products: Products) {
    if !has_lower(part) {
        return;
    }
    #[unroll]
    for n in 0..COLUMNS {
        let queries = pairs(products.by_query[n]);
        pairs(products.by_key[n]).into_iter().zip(queries).for_each(|((row, column, by_key), (_, _, by_query))| {
            let (row, column) = (part.row + row, part.column() + 8 * n + column);
            // SAFETY: written before the last barrier; the places are the lane's own.
            unsafe {
                let beta = chunk.gates.get(Gates::Beta as usize, row);
                let [near, far] = chunk.a.two(row, column);
                chunk.a.set_two(row, column, [beta * near * by_key[0], beta * far * by_key[1]]);
                // A choice rather than a product with 0, so that what comes later cannot make it a NaN.
                let near = if column <= row { near * by_query[0] } else { 0.0 };
                let far = if column < row { far * by_query[1] } else { 0.0 };
                T::store_two(Chunk::place(chunk.p, row, column), [near, far]);
            }
        });
    }
}
