//! Between global and shared memory.

use super::layout::{Chunk, Gates, state_place};
use super::matrix::Matrix;
use super::{Place, ROWS, SIDE};
use crate::{Element, Head};
use device_std::{block, device};

/// Neighbours that a thread moves at once.
const GROUP: usize = 8;

/// The tokens from `first` on: keys, queries, gates. What is beyond the sequence's end changes nothing.
#[device]
#[inline(always)]
pub unsafe fn chunk<T: Element, const TILES: usize>(
    chunk: &Chunk,
    head: &Head<T>,
    place: Place,
    first: u32,
    dk: usize,
) {
    #[unroll]
    for tile in 0..TILES {
        let row = SIDE * tile + place.y;
        let token = first as usize + row;
        let there = token < head.tokens as usize;
        let from = token * head.key_stride;
        let mut column = GROUP * place.x;
        #[nounroll]
        while column < dk {
            let (mut key, mut query) = ([0.0; GROUP], [0.0; GROUP]);
            if there {
                // SAFETY: the token is there, and eight elements of it at a multiple of 8.
                (key, query) =
                    unsafe { (T::load_eight(head.k.add(from + column)), T::load_eight(head.q.add(from + column))) };
            }
            // SAFETY: the thread's own places, which others read after the next barrier.
            unsafe {
                chunk.k.set_eight(row, column, key);
                chunk.q.set_eight(row, column, query);
            }
            column += GROUP * SIDE;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { gates::<T, TILES>(chunk.gates, head, first, block::thread_index() as usize) };
}

/// Gate and beta of the chunk's token `row`, into the rows of [`Gates`]. Threads beyond the tokens have nothing to do.
#[device]
#[inline(always)]
pub unsafe fn gates<T, const TILES: usize>(gates: Matrix, head: &Head<T>, first: u32, row: usize) {
    if row >= SIDE * TILES {
        return;
    }
    let token = first as usize + row;
    let (mut gate, mut beta) = (1.0, 0.0);
    // SAFETY: the token is there; the places are the thread's own, which others read after the next barrier.
    unsafe {
        if token < head.tokens as usize {
            (gate, beta) = (*head.g.add(token * head.heads), *head.beta.add(token * head.heads));
        }
        gates.set(Gates::Gate as usize, row, gate);
        gates.set(Gates::Beta as usize, row, beta);
    }
}

/// The rows of the state before the first token, with zeros for rows that it does not have.
#[device]
#[inline(always)]
pub unsafe fn state<T>(chunk: &Chunk, head: &Head<T>, place: Place, first_row: usize, dk: usize, dv: usize) {
    let mut row = place.y;
    #[nounroll]
    while row < ROWS as usize {
        let there = first_row + row < dv && !head.state_in.is_null();
        let mut column = GROUP * place.x;
        #[nounroll]
        while column < dk {
            let mut values = [0.0; GROUP];
            if there {
                // SAFETY: the row is one of the state's, and has eight elements there.
                values = unsafe { f32::load_eight(head.state_in.add((first_row + row) * dk + column)) };
            }
            // SAFETY: the thread's own places, which others read after the next barrier.
            unsafe { chunk.s.set_eight(state_place(row), column, values) };
            column += GROUP * SIDE;
        }
        row += SIDE;
    }
}

/// Writes the rows of the state out.
#[device]
#[inline(always)]
pub unsafe fn store_state<T>(chunk: &Chunk, head: &Head<T>, place: Place, first_row: usize, dk: usize, dv: usize) {
    let mut row = place.y;
    #[nounroll]
    while row < ROWS as usize && first_row + row < dv {
        let mut column = 4 * place.x;
        #[nounroll]
        while column < dk {
            // SAFETY: a barrier lies between the last write of the row and this; the row's place outside is this block's.
            unsafe {
                let values = chunk.s.four(state_place(row), column);
                f32::store_four(head.state_out.add((first_row + row) * dk + column), values);
            }
            column += 4 * SIDE;
        }
        row += SIDE;
    }
}
