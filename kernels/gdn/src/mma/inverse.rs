//! The inverse of the lower triangular `I + A`, in single precision.
//!
//! First the four blocks on the diagonal, a column a thread. Then, one diagonal of blocks after another, the block in row `i`
//! and column `j` from those that are there already:
//!
//! ```text
//! X[i, j] = -X[i, i] (sum of A[i, k] X[k, j], k from j to i - 1)
//! ```
//!
//! The sum in brackets lies meanwhile in the place of block `(j, i)`, which is above the diagonal and otherwise unused.

use super::layout::Chunk;
use super::{TILE, TILES};
use crate::Half;
use crate::wy::{Matrix, add_scaled, substitute};
use device_std::{block, device};

/// Threads that make a block together: one for each four neighbours.
const TEAM: usize = TILE * TILE / 4;

/// The inverse, rounded, in the place of `A`. Begins after a barrier, and ends with one.
#[device]
#[inline(always)]
pub unsafe fn run<T: Half>(chunk: &Chunk<T>) {
    let thread = block::thread_index() as usize;
    // SAFETY: `A` was written before the last barrier; barriers separate what follows.
    unsafe {
        if thread < TILE * TILES {
            diagonal(chunk.a, chunk.inverse, thread);
        }
        block::barrier();
        let mut distance = 1;
        #[nounroll]
        while distance < TILES {
            let (team, member) = (thread / TEAM, thread % TEAM);
            let (i, j) = (TILE * (team + distance), TILE * team);
            let (row, column) = (member / 4, 4 * (member % 4));
            let there = team + distance < TILES;
            if there {
                let sum = product(chunk.a, (i + row, j), chunk.inverse, (j, j + column), TILE * distance);
                chunk.inverse.set_four(j + row, i + column, sum);
            }
            block::barrier();
            if there {
                let sum = product(chunk.inverse, (i + row, i), chunk.inverse, (j, i + column), TILE);
                chunk.inverse.set_four(i + row, j + column, sum.map(|x| -x));
            }
            block::barrier();
            distance += 1;
        }
        round(chunk, thread);
    }
    block::barrier();
}

/// One column of the inverse's block on the diagonal.
#[device]
#[inline(always)]
unsafe fn diagonal(a: Matrix, inverse: Matrix, column: usize) {
    let first = column / TILE * TILE;
    let identity = |row| if first + row == column { 1.0 } else { 0.0 };
    // SAFETY: the caller's promise; the column is the thread's own.
    unsafe { substitute(a, first, identity, |row, value| inverse.set(first + row, column, value)) };
}

/// Four neighbours of a product: `left` from its place on along the row, `right` from its place on down the columns.
#[device]
#[inline(always)]
unsafe fn product(
    left: Matrix,
    (row, from): (usize, usize),
    right: Matrix,
    (top, column): (usize, usize),
    length: usize,
) -> [f32; 4] {
    let mut sums = [0.0; 4];
    let mut k = 0;
    #[nounroll]
    while k < length {
        // SAFETY: the caller's promise.
        unsafe {
            let factors = left.four(row, from + k);
            #[unroll]
            for e in 0..4 {
                sums = add_scaled(factors[e], right.four(top + k + e, column), sums);
            }
        }
        k += 4;
    }
    sums
}

/// Rounds the tiles on and below the diagonal: four threads a row, a tile each.
#[device]
#[inline(always)]
unsafe fn round<T: Half>(chunk: &Chunk<T>, thread: usize) {
    let (row, first) = (thread / TILES, TILE * (thread % TILES));
    if first > row {
        return;
    }
    #[unroll]
    for group in 0..TILE / 4 {
        let column = first + 4 * group;
        // SAFETY: the inverse is whole since the last barrier, and nobody reads `A` any more. The place is the thread's own.
        unsafe {
            let mut values = chunk.inverse.four(row, column);
            #[unroll]
            for e in 0..4 {
                // Above the diagonal is scratch, except within the diagonal's tiles, where it is 0.
                values[e] = if column + e <= row { values[e] } else { 0.0 };
            }
            T::store_four(Chunk::place(chunk.rounded, row, column), values);
        }
    }
}
