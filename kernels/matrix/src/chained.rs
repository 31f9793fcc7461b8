//! A product of a product: results become an operand where they are.

use crate::stage::{EIGHT, copy};
use device_std::math::{Bf16, F16};
use device_std::matrix::{A, Accumulator, B, Element, SharedTile, mma};
use device_std::{device, kernel, shared, subgroup};

/// The rows and columns of the matrices in [`chained_bf16`].
pub const CHAINED: usize = 16;

/// `y = sum of (q * k^T) * v` over 16 x 16 matrices `k` and `v` that follow each other, one a step: attention without weights.
///
/// The product in the middle is rounded to the operands' format.
///
/// Machine code: 1 loop, 3 loads.
///
/// # Safety
/// One block of 32 threads. `q` and `y` have 256 elements, `k` and `v` so many for each step; all begin at multiples of 16 bytes.
#[kernel]
pub unsafe fn chained_bf16(q: *const Bf16, k: *const Bf16, v: *const Bf16, y: *mut f32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { chained(q, k, v, y, steps) };
}

/// The same as [`chained_bf16`] in the other format.
///
/// Machine code: 1 loop, 3 loads.
///
/// # Safety
/// As for [`chained_bf16`].
#[kernel]
pub unsafe fn chained_f16(q: *const F16, k: *const F16, v: *const F16, y: *mut f32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { chained(q, k, v, y, steps) };
}

/// # Safety
/// As for [`chained_bf16`].
#[device]
#[inline(always)]
unsafe fn chained<T: Element>(q: *const T, k: *const T, v: *const T, y: *mut f32, steps: u32) {
    let k_tile = SharedTile::new(shared!([T; 16 * 24], align = 16).as_slice(), 24);
    let v_tile = SharedTile::new(shared!([T; 16 * 24], align = 16).as_slice(), 24);
    let (row, column) = (subgroup::lane() as usize / 2, subgroup::lane() as usize % 2 * EIGHT);
    let own = CHAINED * row + column;
    let mut sums = [Accumulator::ZERO; 2];
    // SAFETY: each lane writes places of its own, and barriers keep what is written apart from what is read.
    let q = unsafe {
        copy(q.add(own), k_tile.memory(), k_tile.index(row, column));
        subgroup::barrier();
        A::load(k_tile)
    };
    #[nounroll]
    for step in 0..steps as usize {
        let first = step * CHAINED * CHAINED;
        // SAFETY: as above; the barrier before keeps what is written apart from what was read.
        let (k_parts, v_parts) = unsafe {
            subgroup::barrier();
            copy(k.add(first + own), k_tile.memory(), k_tile.index(row, column));
            copy(v.add(first + own), v_tile.memory(), v_tile.index(row, column));
            subgroup::barrier();
            (B::load_pair_transposed(k_tile), B::load_pair(v_tile))
        };
        let [left, right] = k_parts.map(|part| mma(q, part, Accumulator::ZERO));
        let middle = A::<T>::from_accumulators(left, right);
        sums = [mma(middle, v_parts[0], sums[0]), mma(middle, v_parts[1], sums[1])];
    }
    // SAFETY: `y` is 16 x 16, and each lane has elements of its own.
    unsafe {
        sums[0].store(y, CHAINED);
        sums[1].store(y.add(Accumulator::COLUMNS), CHAINED);
    }
}
