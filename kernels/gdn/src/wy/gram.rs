//! What the keys of a chunk have to do with each other: `Gamma`, `A` and the masked `Q K^T`.

use super::layout::{Chunk, Gates};
use super::matrix::Matrix;
use super::product::Products;
use super::{Place, SIDE};
use device_std::device;

/// `Gamma`, its last row, and `G`: one thread a column, from the diagonal down.
///
/// `gates` has the rows of [`Gates`], the first of which was written before the last barrier. Threads beyond the tokens have
/// nothing to do.
#[device]
#[inline(always)]
pub unsafe fn gamma<const TILES: usize>(matrix: Matrix, gates: Matrix, column: usize) {
    if column >= SIDE * TILES {
        return;
    }
    let mut product = 0.0;
    #[unroll(4)]
    for token in 0..SIDE * TILES {
        // SAFETY: the column is the thread's own, and so is `G` that of the first one.
        unsafe {
            let gate = gates.get(Gates::Gate as usize, token);
            product = if token == column { 1.0 } else { gate * product };
            matrix.set(token, column, product);
            if column == 0 {
                gates.set(Gates::Decay as usize, token, gates.get(Gates::Gate as usize, 0) * product);
            }
        }
    }
    // SAFETY: as above.
    unsafe { gates.set(Gates::Tail as usize, column, product) };
}

/// Turns the products into `A` and the masked `Q K^T`, in place of `Gamma`.
#[device]
#[inline(always)]
pub unsafe fn mask<const TILES: usize>(chunk: &Chunk, place: Place, products: Products<TILES, TILES>) {
    #[unroll]
    for i in 0..TILES {
        let row = SIDE * i + place.y;
        // SAFETY: written before the last barrier; each thread changes its own elements.
        unsafe {
            let beta = chunk.gate(Gates::Beta, row);
            #[unroll]
            for j in 0..=i {
                let column = SIDE * j + place.x;
                let gamma = chunk.p.get(row, column);
                chunk.a.set(row, column, beta * gamma * products.by_key[i][j]);
                // A choice rather than a product with 0, so that what comes later cannot make it a NaN.
                let read = if column <= row { gamma * products.by_query[i][j] } else { 0.0 };
                chunk.p.set(row, column, read);
            }
        }
    }
}
