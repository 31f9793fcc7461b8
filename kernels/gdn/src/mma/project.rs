//! What the state before the chunk gives, and `U`.

use super::layout::Chunk;
use super::product::{Products, products};
use super::{COLUMNS, Part, Product, TILE, for_pairs, pairs};
use crate::wy::Gates;
use crate::{Half, Head};
use device_std::matrix::{A, Accumulator, B, SharedTile, mma};
use device_std::{block, device};

/// Puts `U` and what is left of it at the chunk's end into shared memory, and gives `G Q S^T`. Ends with a barrier.
#[device]
#[inline(always)]
pub unsafe fn run<T: Half>(chunk: &Chunk<T>, head: &Head<T>, part: Part, first: u32, first_row: usize) -> Product {
    // SAFETY: what is read was written before the last barrier, and barriers separate what follows.
    unsafe {
        let Products { by_key, mut by_query } = products(chunk, chunk.s, part);
        right_side(chunk, head, part, first, first_row, by_key);
        block::barrier();
        let solved = multiply_lower(chunk.rounded, chunk.u, part, [Accumulator::ZERO; COLUMNS]);
        // All have read the right side before `U` takes its place.
        block::barrier();
        store(chunk, part, solved);
        #[unroll]
        for n in 0..COLUMNS {
            by_query[n] = scale_rows(chunk, part, Gates::Decay, by_query[n]);
        }
        block::barrier();
        by_query
    }
}

/// Stores `beta (V - G K S^T)` in place of `U`.
#[device]
#[inline(always)]
unsafe fn right_side<T: Half>(
    chunk: &Chunk<T>,
    head: &Head<T>,
    part: Part,
    first: u32,
    first_row: usize,
    by_key: Product,
) {
    #[unroll]
    for n in 0..COLUMNS {
        for_pairs(by_key[n], |row, column, by_key| {
            let (row, column) = (part.row + row, part.column() + 8 * n + column);
            let token = first as usize + row;
            // SAFETY: the token and the column are there; the place is the lane's own.
            unsafe {
                let mut value = [0.0; 2];
                if token < head.tokens as usize {
                    value = T::load_two(head.v.add(token * head.value_stride + first_row + column));
                }
                let beta = chunk.gates.get(Gates::Beta as usize, row);
                let decay = chunk.gates.get(Gates::Decay as usize, row);
                let right = [beta * (value[0] - decay * by_key[0]), beta * (value[1] - decay * by_key[1])];
                T::store_two(Chunk::place(chunk.u, row, column), right);
            }
        });
    }
}

/// `sums + lower * right`, where `lower` is lower triangular: what is right of the diagonal's tile is not read.
#[device]
#[inline(always)]
pub unsafe fn multiply_lower<T: Half>(
    lower: SharedTile<T>,
    right: SharedTile<T>,
    part: Part,
    mut sums: Product,
) -> Product {
    let mut k = 0;
    #[nounroll]
    while k <= part.row {
        // SAFETY: the caller's promise.
        unsafe {
            let factors = A::load(lower.at(part.row, k));
            #[unroll]
            for n in 0..COLUMNS / 2 {
                let [left, right] = B::load_pair(right.at(k, part.column() + TILE * n));
                sums[2 * n] = mma(factors, left, sums[2 * n]);
                sums[2 * n + 1] = mma(factors, right, sums[2 * n + 1]);
            }
        }
        k += TILE;
    }
    sums
}

/// Stores `U`, and what is left of it at the chunk's end.
#[device]
#[inline(always)]
unsafe fn store<T: Half>(chunk: &Chunk<T>, part: Part, solved: Product) {
    #[unroll]
    for n in 0..COLUMNS {
        for_pairs(solved[n], |row, column, values| {
            let (row, column) = (part.row + row, part.column() + 8 * n + column);
            // SAFETY: the places are the lane's own.
            unsafe {
                let tail = chunk.gates.get(Gates::Tail as usize, row);
                T::store_two(Chunk::place(chunk.u, row, column), values);
                T::store_two(Chunk::place(chunk.left, row, column), [tail * values[0], tail * values[1]]);
            }
        });
    }
}

/// Each row times a gate of its token.
#[device]
#[inline(always)]
unsafe fn scale_rows<T: Half>(chunk: &Chunk<T>, part: Part, gate: Gates, sums: Accumulator) -> Accumulator {
    let [[a, b], [c, d]] = pairs(sums).map(|(row, _, values)| {
        // SAFETY: the caller's promise.
        let factor = unsafe { chunk.gates.get(gate as usize, part.row + row) };
        [factor * values[0], factor * values[1]]
    });
    Accumulator([a, b, c, d])
}
