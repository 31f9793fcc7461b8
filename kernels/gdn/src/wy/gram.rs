//! What the keys of a chunk have to do with each other: `Gamma`, `A` and the masked `Q K^T`.

use super::layout::{Chunk, Gates};
use super::matrix::{Matrix, dot};
use super::{Place, SIDE, WIDTH};
use device_std::device;

/// A thread's tiles of `K K^T` and `Q K^T`; of each, those on and below the diagonal.
pub struct Products<const TILES: usize> {
    keys: [[f32; TILES]; TILES],
    queries: [[f32; TILES]; TILES],
}

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

/// The products of keys with keys and of queries with keys.
#[device]
#[inline(always)]
pub unsafe fn products<const TILES: usize>(chunk: &Chunk, place: Place, dk: usize) -> Products<TILES> {
    let mut products = Products { keys: [[0.0; TILES]; TILES], queries: [[0.0; TILES]; TILES] };
    let mut column = 0;
    #[nounroll]
    while column < dk {
        let (mut keys, mut queries) = ([[0.0; WIDTH]; TILES], [[0.0; WIDTH]; TILES]);
        #[unroll]
        for i in 0..TILES {
            // SAFETY: keys and queries were written before the last barrier.
            (keys[i], queries[i]) =
                unsafe { (chunk.k.four(SIDE * i + place.y, column), chunk.q.four(SIDE * i + place.y, column)) };
        }
        #[unroll]
        for j in 0..TILES {
            // SAFETY: as above.
            let key = unsafe { chunk.k.four(SIDE * j + place.x, column) };
            #[unroll]
            for i in j..TILES {
                products.keys[i][j] = dot(keys[i], key, products.keys[i][j]);
                products.queries[i][j] = dot(queries[i], key, products.queries[i][j]);
            }
        }
        column += WIDTH;
    }
    products
}

/// Turns the products into `A` and the masked `Q K^T`, in place of `Gamma`.
#[device]
#[inline(always)]
pub unsafe fn mask<const TILES: usize>(chunk: &Chunk, place: Place, products: Products<TILES>) {
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
                chunk.a.set(row, column, beta * gamma * products.keys[i][j]);
                // A choice rather than a product with 0, so that what comes later cannot make it a NaN.
                let read = if column <= row { gamma * products.queries[i][j] } else { 0.0 };
                chunk.p.set(row, column, read);
            }
        }
    }
}
