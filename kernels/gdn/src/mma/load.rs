//! Between global memory, shared memory and the state's registers.

use super::layout::Chunk;
use super::{DK, Part, STATE_COLUMNS, State, TILE, TILES, for_pairs, pairs};
use crate::wy;
use crate::{Half, Head};
use device_std::matrix::Accumulator;
use device_std::{block, device, vector};

/// Elements of 16 bits that a thread moves at once.
const GROUP: usize = 8;

/// The tokens from `first` on: keys, queries, gates. What is beyond the sequence's end changes nothing.
#[device]
#[inline(always)]
pub unsafe fn chunk<T: Half>(chunk: &Chunk<T>, head: &Head<T>, first: u32) {
    let thread = block::thread_index() as usize;
    let column = GROUP * (thread % TILE);
    #[unroll]
    for tile in 0..TILES {
        let row = TILE * tile + thread / TILE;
        let token = first as usize + row;
        let (mut key, mut query) = ([0u32; 4], [0u32; 4]);
        // SAFETY: the token is there, and eight elements of it at a multiple of 16 bytes; the places are the thread's own.
        unsafe {
            if token < head.tokens as usize {
                let from = token * head.key_stride + column;
                (key, query) = (vector::load(head.k.add(from).cast()), vector::load(head.q.add(from).cast()));
            }
            vector::store(Chunk::place(chunk.k, row, column).cast(), key);
            vector::store(Chunk::place(chunk.q, row, column).cast(), query);
        }
    }
    // SAFETY: the caller's promise.
    unsafe { wy::load_gates::<T, TILES>(chunk.gates, head, first, thread) };
}

/// The sub-group's part of the state before the first token.
#[device]
#[inline(always)]
pub unsafe fn state<T>(head: &Head<T>, part: Part, first_row: usize) -> State {
    let mut state = [Accumulator::ZERO; STATE_COLUMNS];
    if !head.state_in.is_null() {
        #[unroll]
        for n in 0..STATE_COLUMNS {
            let [(row, column, _), (below, _, _)] = pairs(state[n]);
            let from = |row| head.state_in.wrapping_add(place(part, first_row, row, n, column)).cast::<[f32; 2]>();
            // SAFETY: rows and columns are the state's.
            let [[a, b], [c, d]] = unsafe { [*from(row), *from(below)] };
            state[n] = Accumulator([a, b, c, d]);
        }
    }
    state
}

/// Puts the state into shared memory, rounded.
#[device]
#[inline(always)]
pub unsafe fn copy_state<T: Half>(chunk: &Chunk<T>, part: Part, state: &State) {
    #[unroll]
    for n in 0..STATE_COLUMNS {
        for_pairs(state[n], |row, column, values| {
            let to = Chunk::place(chunk.s, part.row + row, part.state_column() + 8 * n + column);
            // SAFETY: the place is the lane's own.
            unsafe { T::store_two(to, values) };
        });
    }
}

/// Writes the sub-group's part of the state out.
#[device]
#[inline(always)]
pub unsafe fn store_state<T>(head: &Head<T>, part: Part, first_row: usize, state: &State) {
    #[unroll]
    for n in 0..STATE_COLUMNS {
        for_pairs(state[n], |row, column, values| {
            let to = head.state_out.wrapping_add(place(part, first_row, row, n, column));
            // SAFETY: rows and columns are the state's, and the place is the lane's own.
            unsafe { *to.cast::<[f32; 2]>() = values };
        });
    }
}

/// Where an element of the state lies in its array: of the sub-group's accumulator `n`.
#[inline(always)]
fn place(part: Part, first_row: usize, row: usize, n: usize, column: usize) -> usize {
    (first_row + part.row + row) * DK as usize + part.state_column() + 8 * n + column
}
