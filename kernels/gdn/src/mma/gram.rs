//! What the keys of a chunk have to do with each other: `Gamma`, `A` and the masked `Q K^T`.

use super::layout::Chunk;
use super::{COLUMNS, DK, Part, Product, TILE, TILES, pairs};
use crate::Half;
use crate::wy::{self, Gates};
use device_std::matrix::{A, Accumulator, B, mma};
use device_std::{block, device};

/// A sub-group's part of `K K^T` and `Q K^T`.
pub struct Products {
    keys: Product,
    queries: Product,
}

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
    let mut products = Products { keys: [Accumulator::ZERO; COLUMNS], queries: [Accumulator::ZERO; COLUMNS] };
    if !has_lower(part) {
        return products;
    }
    let mut d = 0;
    #[nounroll]
    while d < DK as usize {
        // SAFETY: keys and queries were written before the last barrier.
        unsafe {
            let (key, query) = (A::load(chunk.k.at(part.row, d)), A::load(chunk.q.at(part.row, d)));
            #[unroll]
            for n in 0..COLUMNS / 2 {
                let [left, right] = B::load_pair_transposed(chunk.k.at(part.column() + TILE * n, d));
                products.keys[2 * n] = mma(key, left, products.keys[2 * n]);
                products.keys[2 * n + 1] = mma(key, right, products.keys[2 * n + 1]);
                products.queries[2 * n] = mma(query, left, products.queries[2 * n]);
                products.queries[2 * n + 1] = mma(query, right, products.queries[2 * n + 1]);
            }
        }
        d += TILE;
    }
    products
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
        let queries = pairs(products.queries[n]);
        pairs(products.keys[n]).into_iter().zip(queries).for_each(|((row, column, by_key), (_, _, by_query))| {
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
