//! The recurrence in chunks: the steps of a chunk as products of small matrices (the compact WY form).
//!
//! For a chunk of `C` tokens with the state `S` before it, and `Gamma[t, j] = g[j + 1] ... g[t]` for `j <= t`,
//! `G[t] = g[0] ... g[t]`:
//!
//! ```text
//! A[t, j] = beta[t] Gamma[t, j] (k[t] . k[j])   for j < t
//! (I + A) U = beta (V - G K S^T)
//! Y = G Q S^T + tril(Gamma * Q K^T) U
//! S = G[C - 1] S + (Gamma[C - 1] * U)^T K
//! ```
//!
//! `Gamma` is made column by column, each element from the one above it. So nothing is divided by a product of gates and
//! nothing is a logarithm: gates that are 0, tiny or negative do no harm.
//!
//! # How
//! A block of [`THREADS`] threads holds in shared memory the chunk's keys and queries, [`ROWS`] rows of the state, and
//! the three small matrices ([`layout`]). Each product is cut into one tile a thread: thread `(x, y)` of 16 by 16 has
//! the rows `y`, `y + 16`, ... and, of the state's rows, `4 x` to `4 x + 3`.
//!
//! 1. [`load`]: keys, queries and gates; beyond the sequence's end zeros, `g = 1` and `beta = 0`, which change nothing.
//! 2. [`gram`]: `Gamma`, and with it `A` and `P` from the tiles of `K K^T` and `Q K^T` on and below the diagonal.
//! 3. [`project`]: `K S^T` and `Q S^T`, and from the first the right side of the system.
//! 4. [`solve`]: `U` by forward substitution in blocks of 16.
//! 5. [`output`]: `Y`, and the state's update.
//!
//! # When it is wrong
//! Where the launch has less dynamic shared memory than [`layout::bytes`]. See the crate for NaNs.

mod gram;
pub mod layout;
mod load;
mod matrix;
mod output;
mod product;
mod project;
mod solve;

use crate::{Element, Tensors, entries};
use device_std::math::{Bf16, F16};
use device_std::{block, device, shared, thread};
pub(crate) use gram::gamma;
use layout::Chunk;
pub(crate) use layout::Gates;
pub(crate) use load::gates as load_gates;
pub(crate) use matrix::{Matrix, add_scaled};
pub(crate) use solve::substitute;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Rows of the state that a block works on.
pub const ROWS: u32 = 64;
/// Threads along each side of a tiled product; also the rows of a block of the triangular system.
const SIDE: usize = 16;
/// Neighbours that a thread loads from shared memory at once, and its columns of every product with the state.
const WIDTH: usize = 4;

entries! {
    /// Chunks of 16 tokens in single precision.
    gdn_wy_chunk_f32_16: f32 => run::<f32, 1>;
    /// Chunks of 32 tokens in single precision.
    gdn_wy_chunk_f32_32: f32 => run::<f32, 2>;
    /// Chunks of 64 tokens in single precision.
    gdn_wy_chunk_f32_64: f32 => run::<f32, 4>;
    /// Chunks of 16 tokens in half precision.
    gdn_wy_chunk_f16_16: F16 => run::<F16, 1>;
    /// Chunks of 32 tokens in half precision.
    gdn_wy_chunk_f16_32: F16 => run::<F16, 2>;
    /// Chunks of 64 tokens in half precision.
    gdn_wy_chunk_f16_64: F16 => run::<F16, 4>;
    /// Chunks of 16 tokens in bfloat16.
    gdn_wy_chunk_bf16_16: Bf16 => run::<Bf16, 1>;
    /// Chunks of 32 tokens in bfloat16.
    gdn_wy_chunk_bf16_32: Bf16 => run::<Bf16, 2>;
    /// Chunks of 64 tokens in bfloat16.
    gdn_wy_chunk_bf16_64: Bf16 => run::<Bf16, 4>;
}

/// Where a thread stands in the 16 by 16 threads of its block.
#[derive(Debug, Clone, Copy)]
struct Place {
    x: usize,
    y: usize,
}

impl Place {
    #[inline(always)]
    fn here() -> Place {
        let thread = block::thread_index() as usize;
        Place { x: thread % SIDE, y: thread / SIDE }
    }
}

/// One launch with chunks of `16 * TILES` tokens: one head, and `ROWS` rows of its state.
#[device]
#[inline(always)]
unsafe fn run<T: Element, const TILES: usize>(tensors: &Tensors<T>) {
    let (dk, dv) = (tensors.dk as usize, tensors.dv as usize);
    let first_row = (thread::block_idx_y() * ROWS) as usize;
    let place = Place::here();
    let chunk = Chunk::new::<TILES>(shared::dynamic(), dk);
    // SAFETY: the arguments are as the crate says, and the launch has the shared memory. The phases of a chunk are
    // separated by barriers wherever one reads what another thread has written or is to overwrite.
    unsafe {
        let head = tensors.head();
        load::state(&chunk, &head, place, first_row, dk, dv);
        // A sequence without tokens has no other barrier before the state is stored.
        block::barrier();
        let mut first = 0;
        #[nounroll]
        while first < head.tokens {
            let tokens = head.tokens - first;
            load::chunk::<T, TILES>(&chunk, &head, place, first, dk);
            block::barrier();
            gram::gamma::<TILES>(chunk.p, chunk.gates, block::thread_index() as usize);
            let products = product::products::<TILES, TILES, true>(&chunk, chunk.k, place, dk);
            block::barrier();
            gram::mask::<TILES>(&chunk, place, products);
            let from_state = project::run::<T, TILES>(&chunk, &head, place, first, first_row, dk, dv);
            block::barrier();
            solve::run::<TILES>(&chunk, place);
            output::write::<T, TILES>(&chunk, &head, place, first, first_row, dv, from_state);
            block::barrier();
            output::weigh::<TILES>(&chunk, place);
            block::barrier();
            output::update_state::<TILES>(&chunk, place, dk);
            block::barrier();
            first += if tokens < (SIDE * TILES) as u32 { tokens } else { (SIDE * TILES) as u32 };
        }
        load::store_state(&chunk, &head, place, first_row, dk, dv);
    }
}
