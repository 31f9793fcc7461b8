//! Every way to load fragments from shared memory.

use crate::stage::{EIGHT, copy};
use device_std::math::Bf16;
use device_std::matrix::{A, B, SharedTile};
use device_std::{kernel, shared, subgroup};

/// The registers of a lane that [`loaders`] puts out.
pub const LOADED: usize = 20;

/// The registers that each lane of one sub-group gets of a 16 x 16 matrix by rows: [`A::load`], [`A::load_transposed`],
/// [`B::load`], [`B::load_transposed`], [`B::load_pair`] and [`B::load_pair_transposed`], then the next lane's.
///
/// Machine code: 0 loops, 1 load.
///
/// # Safety
/// `matrix` has 256 elements and begins at a multiple of 16 bytes; `out` has room for [`LOADED`] words for each of the launch's
/// 32 threads.
#[kernel]
pub unsafe fn loaders(matrix: *const Bf16, out: *mut u32) {
    let tile = SharedTile::new(shared!([Bf16; 16 * 24], align = 16).as_slice(), 24);
    let lane = subgroup::lane() as usize;
    let (row, column) = (lane / 2, lane % 2 * EIGHT);
    // SAFETY: each lane writes places of its own, and all read after the barrier.
    let registers = unsafe {
        copy(matrix.add(16 * row + column), tile.memory(), tile.index(row, column));
        subgroup::barrier();
        let ([a, b], [c, d]) = (B::load_pair(tile), B::load_pair_transposed(tile));
        (
            [A::load(tile).registers(), A::load_transposed(tile).registers()],
            [B::load(tile), B::load_transposed(tile), a, b, c, d].map(B::registers),
        )
    };
    // SAFETY: the first array has 8 words, the second one 12, and each lane has places of its own.
    unsafe {
        let own = out.add(lane * LOADED);
        own.cast::<[[u32; 4]; 2]>().write(registers.0);
        own.add(8).cast::<[[u32; 2]; 6]>().write(registers.1);
    }
}
