//! The chunked form on tensor cores: chunks of 64 tokens, keys of 128 elements of 16 bits.
//!
//! The mathematics are those of [`wy`](crate::wy), with the triangular system solved by its inverse,
//! `U = (I + A)^-1 R`, since a product is what tensor cores do. What enters a product is rounded to the 16-bit format; sums,
//! `Gamma`, `A`, its inverse and the state between chunks are single precision.
//!
//! # How
//! Eight sub-groups share the chunk. Of a product with 64 rows, sub-group `w` has the rows of tile `w % 4` (16 rows), and the
//! columns of half `w / 4`. The state is kept in registers as accumulators, and a rounded copy of it in shared memory.
//!
//! 1. [`load`]: keys, queries, gates.
//! 2. [`gram`]: `A` in single precision, and the masked `Q K^T`.
//! 3. [`inverse`]: of `I + A`, by substitution in blocks of 16 on the diagonal and products below.
//! 4. [`project`]: `R = beta (V - G K S^T)`, `U`, and `G Q S^T`.
//! 5. [`output`]: `Y`, and the state's update.
//!
//! # When it is wrong
//! `dk` is not 128, or `dv` no multiple of 64. In half precision, a state or a right side beyond 65504.

mod gram;
mod inverse;
mod layout;
mod load;
mod output;
mod product;
mod project;

use crate::{Half, Tensors, entries};
use device_std::math::{Bf16, F16};
use device_std::matrix::Accumulator;
use device_std::{block, device, shared, subgroup, thread};
pub use layout::BYTES;
use layout::Chunk;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Elements of a key.
pub const DK: u32 = 128;
/// Rows of the state that a block works on.
pub const ROWS: u32 = 64;
/// Tokens of a chunk.
pub const TOKENS: u32 = 64;
/// Rows and columns of a tile.
const TILE: usize = 16;
/// Tiles of a chunk's tokens.
const TILES: usize = TOKENS as usize / TILE;
/// Columns of a product of 64 that a sub-group has, as accumulators of 8.
const COLUMNS: usize = 4;
/// Columns of the state that a sub-group has, as accumulators of 8.
const STATE_COLUMNS: usize = 8;

entries! {
    /// Chunks of 64 tokens in half precision, on tensor cores.
    gdn_wy_mma_f16: F16 => run::<F16>;
    /// Chunks of 64 tokens in bfloat16, on tensor cores.
    gdn_wy_mma_bf16: Bf16 => run::<Bf16>;
}

/// What a sub-group has of a product with 64 columns.
type Product = [Accumulator; COLUMNS];
/// What a sub-group has of the state: 16 rows, 64 columns.
type State = [Accumulator; STATE_COLUMNS];

/// Which part of every product the thread's sub-group has.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// The first of its 16 rows.
    row: usize,
    /// Which half of the columns.
    half: usize,
}

impl Part {
    #[inline(always)]
    fn here() -> Part {
        let group = subgroup::id() as usize;
        Part { row: TILE * (group % TILES), half: group / TILES }
    }

    /// The first of its columns of a product with 64.
    #[inline(always)]
    fn column(self) -> usize {
        8 * COLUMNS * self.half
    }

    /// The first of its columns of the state.
    #[inline(always)]
    fn state_column(self) -> usize {
        8 * STATE_COLUMNS * self.half
    }
}

/// The two pairs of neighbours that a lane has of an accumulator: row, column of the first, values.
#[inline(always)]
fn pairs(accumulator: Accumulator) -> [(usize, usize, [f32; 2]); 2] {
    let lane = subgroup::lane();
    let [a, b, c, d] = accumulator.0;
    [
        (Accumulator::row(0, lane), Accumulator::column(0, lane), [a, b]),
        (Accumulator::row(2, lane), Accumulator::column(2, lane), [c, d]),
    ]
}

/// Visits the two pairs of neighbours that a lane has of an accumulator.
#[inline(always)]
fn for_pairs(accumulator: Accumulator, mut visit: impl FnMut(usize, usize, [f32; 2])) {
    let [(row, column, near), (below, same, far)] = pairs(accumulator);
    visit(row, column, near);
    visit(below, same, far);
}

/// One launch: one head, and 64 rows of its state.
#[device]
#[inline(always)]
unsafe fn run<T: Half>(tensors: &Tensors<T>) {
    let first_row = (thread::block_idx_y() * ROWS) as usize;
    let (part, chunk) = (Part::here(), Chunk::<T>::new(shared::dynamic()));
    // SAFETY: the arguments are as the crate says, and the launch has the shared memory. The phases of a chunk are
    // separated by barriers wherever one reads what another thread has written or is to overwrite.
    unsafe {
        let head = tensors.head();
        let mut state = load::state(&head, part, first_row);
        let mut first = 0;
        #[nounroll]
        while first < head.tokens {
            let tokens = head.tokens - first;
            load::copy_state(&chunk, part, &state);
            load::chunk(&chunk, &head, first);
            block::barrier();
            gram::gamma(&chunk);
            let products = gram::products(&chunk, part);
            block::barrier();
            gram::mask(&chunk, part, products);
            block::barrier();
            inverse::run(&chunk);
            let from_state = project::run(&chunk, &head, part, first, first_row);
            output::write(&chunk, &head, part, first, first_row, from_state);
            state = output::update_state(&chunk, part, state);
            block::barrier();
            first += if tokens < TOKENS { tokens } else { TOKENS };
        }
        load::store_state(&head, part, first_row, &state);
    }
}
