//! What the state before the chunk gives: the right side of the system, and a part of the output.

use super::layout::{Chunk, Gates};
use super::product::{Products, products};
use super::{Place, SIDE, WIDTH};
use crate::{Element, Head};
use device_std::device;

/// A thread's tile of a product with the state: rows of tokens, columns of the state's rows.
pub type Tile<const TILES: usize> = [[f32; WIDTH]; TILES];

/// Stores `beta (V - G K S^T)` in place of `U`, and gives `G Q S^T`.
#[device]
#[inline(always)]
pub unsafe fn run<T: Element, const TILES: usize>(
    chunk: &Chunk,
    head: &Head<T>,
    place: Place,
    first: u32,
    first_row: usize,
    dk: usize,
    dv: usize,
) -> Tile<TILES> {
    // SAFETY: keys, queries, gates and the state were written before the last barrier; the tile of `U` is the thread's.
    unsafe {
        // Column `j` is row `4 x + j` of the state.
        let Products { by_key, mut by_query } = products::<TILES, WIDTH, false>(chunk, chunk.s, place, dk);
        let column = first_row + WIDTH * place.x;
        #[unroll]
        for i in 0..TILES {
            let row = SIDE * i + place.y;
            let token = first as usize + row;
            let mut value = [0.0; WIDTH];
            if token < head.tokens as usize && column < dv {
                value = T::load_four(head.v.add(token * head.value_stride + WIDTH * place.x + first_row));
            }
            let (beta, decay) = (chunk.gate(Gates::Beta, row), chunk.gate(Gates::Decay, row));
            #[unroll]
            for j in 0..WIDTH {
                value[j] = beta * (value[j] - decay * by_key[i][j]);
                by_query[i][j] *= decay;
            }
            chunk.u.set_four(row, WIDTH * place.x, value);
        }
        by_query
    }
}
