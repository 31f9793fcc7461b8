//! The chunk's output, and the state after it.

use super::layout::{Chunk, Gates};
use super::matrix::add_scaled;
use super::project::Tile;
use super::{Place, SIDE, WIDTH};
use crate::{Element, Head};
use device_std::{device, math};

/// Writes `Y = sums + tril(Gamma * Q K^T) U`.
#[device]
#[inline(always)]
pub unsafe fn write<T: Element, const TILES: usize>(
    chunk: &Chunk,
    head: &Head<T>,
    place: Place,
    first: u32,
    first_row: usize,
    dv: usize,
    mut sums: Tile<TILES>,
) {
    let column = WIDTH * place.x;
    // SAFETY: the matrices were written before the last barrier, and the elements of `y` are the thread's own.
    unsafe {
        #[unroll]
        for tile in 0..TILES {
            add_block(chunk, place, tile, &mut sums);
        }
        #[unroll]
        for i in 0..TILES {
            let token = first as usize + SIDE * i + place.y;
            if token < head.tokens as usize && first_row + column < dv {
                T::store_four(head.y.add(token * head.value_stride + first_row + column), sums[i]);
            }
        }
    }
}

/// Adds what 16 rows of `U` give to these rows and those below.
#[device]
#[inline(always)]
unsafe fn add_block<const TILES: usize>(chunk: &Chunk, place: Place, tile: usize, sums: &mut Tile<TILES>) {
    let mut j = SIDE * tile;
    #[nounroll]
    while j < SIDE * (tile + 1) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut rows = [[0.0; WIDTH]; WIDTH];
            #[unroll]
            for e in 0..WIDTH {
                rows[e] = chunk.u.four(j + e, WIDTH * place.x);
            }
            #[unroll]
            for i in tile..TILES {
                let factors = chunk.p.four(SIDE * i + place.y, j);
                #[unroll]
                for e in 0..WIDTH {
                    sums[i] = add_scaled(factors[e], rows[e], sums[i]);
                }
            }
        }
        j += WIDTH;
    }
}

/// Turns `U` into what is left of it at the chunk's end: `U[t] *= Gamma[C - 1, t]`.
#[device]
#[inline(always)]
pub unsafe fn weigh<const TILES: usize>(chunk: &Chunk, place: Place) {
    #[unroll]
    for i in 0..TILES {
        let (row, column) = (SIDE * i + place.y, WIDTH * place.x);
        // SAFETY: the caller has a barrier before and after; each thread changes its own elements.
        unsafe {
            let tail = chunk.gate(Gates::Tail, row);
            let mut values = chunk.u.four(row, column);
            #[unroll]
            for j in 0..WIDTH {
                values[j] *= tail;
            }
            chunk.u.set_four(row, column, values);
        }
    }
}

/// `S = G[C - 1] S + U^T K`, 64 rows by 128 columns at a time, 4 by 8 a thread.
#[device]
#[inline(always)]
pub unsafe fn update_state<const TILES: usize>(chunk: &Chunk, place: Place, dk: usize) {
    // SAFETY: a barrier lies before and after; each thread changes its own elements of the state.
    unsafe {
        let decay = chunk.gate(Gates::Decay, SIDE * TILES - 1);
        let mut column = WIDTH * place.x;
        #[nounroll]
        while column < dk {
            update_columns::<TILES>(chunk, place, decay, column, dk);
            column += 2 * WIDTH * SIDE;
        }
    }
}

/// The thread's four columns from `column` on, and the four that are 64 further.
#[device]
#[inline(always)]
unsafe fn update_columns<const TILES: usize>(chunk: &Chunk, place: Place, decay: f32, column: usize, dk: usize) {
    let far = column + WIDTH * SIDE;
    let both = far < dk;
    let (mut near_sums, mut far_sums) = ([[0.0; WIDTH]; WIDTH], [[0.0; WIDTH]; WIDTH]);
    // SAFETY: the caller's promise.
    unsafe {
        let mut token = 0;
        #[nounroll]
        while token < SIDE * TILES {
            let values = chunk.u.four(token, WIDTH * place.y);
            let near_key = chunk.k.four(token, column);
            let far_key = if both { chunk.k.four(token, far) } else { near_key };
            #[unroll]
            for j in 0..WIDTH {
                near_sums[j] = add_scaled(values[j], near_key, near_sums[j]);
                far_sums[j] = add_scaled(values[j], far_key, far_sums[j]);
            }
            token += 1;
        }
        #[unroll]
        for j in 0..WIDTH {
            // Row `4 y + j` of the state.
            let row = SIDE * j + place.y;
            decay_and_add(chunk, row, column, decay, near_sums[j]);
            if both {
                decay_and_add(chunk, row, far, decay, far_sums[j]);
            }
        }
    }
}

/// `S[row] = decay S[row] + sums`, four columns.
#[device]
#[inline(always)]
unsafe fn decay_and_add(chunk: &Chunk, row: usize, column: usize, decay: f32, sums: [f32; WIDTH]) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut state = chunk.s.four(row, column);
        #[unroll]
        for e in 0..WIDTH {
            state[e] = math::fma(decay, state[e], sums[e]);
        }
        chunk.s.set_four(row, column, state);
    }
}
