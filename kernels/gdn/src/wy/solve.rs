//! The triangular system `(I + A) U = R`, in blocks of 16 rows.
//!
//! What the rows above a block take from it is a product, one tile a thread. Within a block each column is solved by one
//! thread, all 16 of its elements in registers.

use super::layout::Chunk;
use super::matrix::{Matrix, add_scaled};
use super::{Place, ROWS, SIDE, WIDTH};
use device_std::{block, device, math};

/// Solves for `U` in the place of the right side. All threads have come through a barrier before and after.
#[device]
#[inline(always)]
pub unsafe fn run<const TILES: usize>(chunk: &Chunk, place: Place) {
    // SAFETY: the right side and `A` were written before the last barrier; barriers separate what follows.
    unsafe {
        solve_block(chunk, 0);
        if const { TILES == 2 } {
            // A loop of one step is none, and its hint would have nothing to hold to.
            next_block(chunk, place, SIDE);
        } else if const { TILES > 2 } {
            let mut first = SIDE;
            #[nounroll]
            while first < SIDE * TILES {
                next_block(chunk, place, first);
                first += SIDE;
            }
        }
    }
}

/// The 16 rows from `first` on, those above being solved.
#[device]
#[inline(always)]
unsafe fn next_block(chunk: &Chunk, place: Place, first: usize) {
    // SAFETY: the caller's promise.
    unsafe { subtract_above(chunk, place, first) };
    block::barrier();
    // SAFETY: as above.
    unsafe { solve_block(chunk, first) };
}

/// Solves the 16 rows from `first` on, whose right side has no part of other rows any more.
#[device]
#[inline(always)]
unsafe fn solve_block(chunk: &Chunk, first: usize) {
    let column = block::thread_index();
    if column < ROWS {
        // SAFETY: the caller's promise.
        unsafe { diagonal(chunk, column as usize, first) };
    }
    block::barrier();
}

/// Takes `A[first.., ..first] U[..first]` from the 16 rows from `first` on.
#[device]
#[inline(always)]
unsafe fn subtract_above(chunk: &Chunk, place: Place, first: usize) {
    let (row, column) = (first + place.y, WIDTH * place.x);
    // SAFETY: the rows above are solved; each thread changes its own elements.
    unsafe {
        let mut sums = chunk.u.four(row, column);
        let mut above = 0;
        #[nounroll]
        while above < first {
            let factors = chunk.a.four(row, above);
            #[unroll]
            for j in 0..WIDTH {
                sums = add_scaled(-factors[j], chunk.u.four(above + j, column), sums);
            }
            above += WIDTH;
        }
        chunk.u.set_four(row, column, sums);
    }
}

/// Solves one column of the 16 rows from `first` on.
#[device]
#[inline(always)]
unsafe fn diagonal(chunk: &Chunk, column: usize, first: usize) {
    // SAFETY: the column is the thread's own, and `A` is not written any more.
    unsafe {
        substitute(
            chunk.a,
            first,
            |row| chunk.u.get(first + row, column),
            |row, value| chunk.u.set(first + row, column, value),
        );
    }
}

/// Forward substitution in the block on the diagonal of `I + a` that begins at `first`: one column of 16 rows, in registers.
///
/// # Safety
/// What is below the block's diagonal was written before the last barrier.
#[device]
#[inline(always)]
pub unsafe fn substitute(a: Matrix, first: usize, right: impl Fn(usize) -> f32, mut store: impl FnMut(usize, f32)) {
    let mut solved = [0.0; SIDE];
    #[unroll]
    for row in 0..SIDE {
        let mut value = right(row);
        #[unroll]
        for group in 0..row.div_ceil(WIDTH) {
            // SAFETY: the caller's promise.
            let factors = unsafe { a.four(first + row, first + WIDTH * group) };
            #[unroll]
            for j in 0..WIDTH {
                // Of the last group, what is before the diagonal.
                if WIDTH * group + j < row {
                    value = math::fma(-factors[j], solved[WIDTH * group + j], value);
                }
            }
        }
        solved[row] = value;
        store(row, value);
    }
}
