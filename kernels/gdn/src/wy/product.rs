//! Products of the chunk's keys and queries with the rows of another matrix.

use super::layout::Chunk;
use super::matrix::{Matrix, dot};
use super::{Place, SIDE, WIDTH};
use device_std::device;

/// A thread's tile of each product: rows of tokens, columns of the other matrix's rows.
pub struct Products<const TILES: usize, const COLUMNS: usize> {
    /// Of the keys.
    pub by_key: [[f32; COLUMNS]; TILES],
    /// Of the queries.
    pub by_query: [[f32; COLUMNS]; TILES],
}

/// `K M^T` and `Q M^T`, where row `16 j + x` of `other` is the thread's column `j`.
///
/// With `LOWER`, only the tiles on and below the diagonal; the others are zeros.
///
/// # Safety
/// Keys, queries and `other` were written before the last barrier.
#[device]
#[inline(always)]
pub unsafe fn products<const TILES: usize, const COLUMNS: usize, const LOWER: bool>(
    chunk: &Chunk,
    other: Matrix,
    place: Place,
    dk: usize,
) -> Products<TILES, COLUMNS> {
    let mut products = Products { by_key: [[0.0; COLUMNS]; TILES], by_query: [[0.0; COLUMNS]; TILES] };
    let mut column = 0;
    #[nounroll]
    while column < dk {
        let (mut keys, mut queries) = ([[0.0; WIDTH]; TILES], [[0.0; WIDTH]; TILES]);
        #[unroll]
        for i in 0..TILES {
            let row = SIDE * i + place.y;
            // SAFETY: the caller's promise.
            (keys[i], queries[i]) = unsafe { (chunk.k.four(row, column), chunk.q.four(row, column)) };
        }
        #[unroll]
        for j in 0..COLUMNS {
            // SAFETY: as above.
            let row = unsafe { other.four(SIDE * j + place.x, column) };
            #[unroll]
            for i in (if LOWER { j } else { 0 })..TILES {
                products.by_key[i][j] = dot(keys[i], row, products.by_key[i][j]);
                products.by_query[i][j] = dot(queries[i], row, products.by_query[i][j]);
            }
        }
        column += WIDTH;
    }
    products
}
