//! The chunk's output, and the state after it.

use super::layout::Chunk;
use super::project::multiply_lower;
use super::{Part, Product, STATE_COLUMNS, State, TILE, TOKENS, for_pairs};
use crate::wy::Gates;
use crate::{Half, Head};
use device_std::device;
use device_std::matrix::{A, Accumulator, B, mma};

/// Writes `Y = from_state + tril(Gamma * Q K^T) U`.
#[device]
#[inline(always)]
pub unsafe fn write<T: Half>(
    chunk: &Chunk<T>,
    head: &Head<T>,
    part: Part,
    first: u32,
    first_row: usize,
    from_state: Product,
) {
    // SAFETY: what is read was written before the last barrier.
    let sums = unsafe { multiply_lower(chunk.p, chunk.u, part, from_state) };
    #[unroll]
    for n in 0..super::COLUMNS {
        for_pairs(sums[n], |row, column, values| {
            let token = first as usize + part.row + row;
            let column = first_row + part.column() + 8 * n + column;
            if token < head.tokens as usize {
                // SAFETY: the token and the column are there, and the elements are the lane's own.
                unsafe { T::store_two(head.y.add(token * head.value_stride + column), values) };
            }
        });
    }
}

/// `S = G[C - 1] S + (what is left of U)^T K`.
#[device]
#[inline(always)]
pub unsafe fn update_state<T: Half>(chunk: &Chunk<T>, part: Part, mut state: State) -> State {
    // SAFETY: what is read was written before the last barrier.
    unsafe {
        let decay = chunk.gates.get(Gates::Decay as usize, TOKENS as usize - 1);
        #[unroll]
        for n in 0..STATE_COLUMNS {
            state[n] = Accumulator(state[n].0.map(|x| decay * x));
        }
        let mut token = 0;
        #[nounroll]
        while token < TOKENS as usize {
            let values = A::load_transposed(chunk.left.at(token, part.row));
            #[unroll]
            for n in 0..STATE_COLUMNS / 2 {
                let [left, right] = B::load_pair(chunk.k.at(token, part.state_column() + TILE * n));
                state[2 * n] = mma(values, left, state[2 * n]);
                state[2 * n + 1] = mma(values, right, state[2 * n + 1]);
            }
            token += TILE;
        }
        state
    }
}
