//! Products by `mma.sync`, operands from global memory or through shared memory.

use crate::sizes::Product;
use crate::stage::{EIGHT, copy};
use device_std::math::{Bf16, F16};
use device_std::matrix::{A, Accumulator, B, Element, SharedTile, mma};
use device_std::{device, kernel, shared, subgroup, thread};

/// The sizes of [`mma_bf16`] and [`mma_f16`].
pub const MMA: Product = Product { threads: 32, rows: 16, columns: 8, depth: 16 };

/// The sizes of [`staged_bf16`] and [`staged_f16_transposed`].
pub const STAGED: Product = Product { threads: 32, rows: 16, columns: 16, depth: 16 };

/// `c = a * b`, all by rows, elements loaded one by one.
///
/// Machine code: 1 loop, 12 loads.
///
/// # Safety
/// The launch is one of [`MMA`]'s sizes, and the matrices are as large as that makes them.
#[kernel]
pub unsafe fn mma_bf16(a: *const Bf16, b: *const Bf16, c: *mut f32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { from_global(a, b, c, steps) };
}

/// `c = a * b`, all by rows, elements loaded one by one.
///
/// Machine code: 1 loop, 12 loads.
///
/// # Safety
/// As for [`mma_bf16`].
#[kernel]
pub unsafe fn mma_f16(a: *const F16, b: *const F16, c: *mut f32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { from_global(a, b, c, steps) };
}

/// # Safety
/// As for [`mma_bf16`].
#[device]
#[inline(always)]
unsafe fn from_global<T: Element>(a: *const T, b: *const T, c: *mut f32, steps: u32) {
    let (top, left) = (thread::block_idx_y() as usize * MMA.rows, thread::block_idx_x() as usize * MMA.columns);
    let (columns, depth) = (thread::grid_dim_x() as usize * MMA.columns, steps as usize * MMA.depth);
    let mut sums = Accumulator::ZERO;
    #[nounroll]
    for step in 0..steps as usize {
        let first = step * MMA.depth;
        // SAFETY: the row and the column are inside the matrix.
        let left_part = A::from_fn(|row, column| unsafe { *a.add((top + row) * depth + first + column) });
        // SAFETY: as above.
        let right_part = B::from_fn(|row, column| unsafe { *b.add((first + row) * columns + left + column) });
        sums = mma(left_part, right_part, sums);
    }
    // SAFETY: this part of `c` is the block's own.
    unsafe { sums.store(c.add(top * columns + left), columns) };
}

/// Elements from row to row in shared memory: an odd multiple of eight spreads eight rows over all banks.
const STRIDE: usize = 24;

/// The elements of a staged operand.
const STAGE: usize = 16 * STRIDE;

/// `c = a * b`, all by rows, through shared memory.
///
/// Machine code: 1 loop, 2 loads.
///
/// # Safety
/// The launch is one of [`STAGED`]'s sizes, and the matrices are as large as that makes them; they begin at multiples of 16
/// bytes.
#[kernel]
pub unsafe fn staged_bf16(a: *const Bf16, b: *const Bf16, c: *mut f32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { staged::<Bf16, false>(a, b, c, steps) };
}

/// `c = a * b`, `a` and `b` by columns and `c` by rows, through shared memory.
///
/// Machine code: 1 loop, 2 loads.
///
/// # Safety
/// As for [`staged_bf16`].
#[kernel]
pub unsafe fn staged_f16_transposed(a: *const F16, b: *const F16, c: *mut f32, steps: u32) {
    // SAFETY: the caller's promise.
    unsafe { staged::<F16, true>(a, b, c, steps) };
}

/// # Safety
/// As for [`staged_bf16`].
#[device]
#[inline(always)]
unsafe fn staged<T: Element, const BY_COLUMNS: bool>(a: *const T, b: *const T, c: *mut f32, steps: u32) {
    let (top, left) = (thread::block_idx_y() as usize * STAGED.rows, thread::block_idx_x() as usize * STAGED.columns);
    let (rows, columns) = (thread::grid_dim_y() as usize * STAGED.rows, thread::grid_dim_x() as usize * STAGED.columns);
    let depth = steps as usize * STAGED.depth;
    let a_tile = SharedTile::new(shared!([T; STAGE], align = 16).as_slice(), STRIDE);
    let b_tile = SharedTile::new(shared!([T; STAGE], align = 16).as_slice(), STRIDE);
    // Each lane moves half a row of either tile.
    let (line, half) = (subgroup::lane() as usize / 2, subgroup::lane() as usize % 2 * EIGHT);
    let mut sums = [Accumulator::ZERO; 2];
    #[nounroll]
    for step in 0..steps as usize {
        let first = step * STAGED.depth;
        let (from_a, from_b) = if BY_COLUMNS {
            ((first + line) * rows + top + half, (left + line) * depth + first + half)
        } else {
            ((top + line) * depth + first + half, (first + line) * columns + left + half)
        };
        // SAFETY: the elements are inside the matrices, and each lane writes places of its own. Barriers keep what is
        // written apart from what is read.
        unsafe {
            copy(a.add(from_a), a_tile.memory(), a_tile.index(line, half));
            copy(b.add(from_b), b_tile.memory(), b_tile.index(line, half));
            subgroup::barrier();
            let (left_part, right_parts) = if BY_COLUMNS {
                (A::load_transposed(a_tile), B::load_pair_transposed(b_tile))
            } else {
                (A::load(a_tile), B::load_pair(b_tile))
            };
            subgroup::barrier();
            sums = [mma(left_part, right_parts[0], sums[0]), mma(left_part, right_parts[1], sums[1])];
        }
    }
    // SAFETY: this part of `c` is the block's own.
    unsafe {
        sums[0].store(c.add(top * columns + left), columns);
        sums[1].store(c.add(top * columns + left + Accumulator::COLUMNS), columns);
    }
}
