//! Products by `wgmma.mma_async`.

use crate::sizes::Product;
use crate::stage::{EIGHT, copy};
use device_std::math::{Bf16, F16};
use device_std::matrix::wgmma::{self, Sums, Tile};
use device_std::{block, kernel, shared, thread};

/// The sizes of [`wgmma_bf16`].
pub const WGMMA: Product = Product { threads: 128, rows: 64, columns: 64, depth: 16 };

/// The sizes of [`wgmma_f16_transposed`]: two products a round.
pub const WGMMA_DEEP: Product = Product { depth: 32, ..WGMMA };

/// `c = a * b`, all by rows.
///
/// Machine code: 1 loop, 2 loads.
///
/// # Safety
/// The launch is one of [`WGMMA`]'s sizes, and the matrices are as large as that makes them; they begin at multiples of 16
/// bytes.
#[kernel]
pub unsafe fn wgmma_bf16(a: *const Bf16, b: *const Bf16, c: *mut f32, steps: u32) {
    let operand = shared!([Bf16; 1024], align = 16).as_slice();
    let right = shared!([Bf16; 1024], align = 16).as_slice();
    let (a_tile, b_tile) = (Tile::<_, false>::packed(operand), Tile::<_, true>::packed(right));
    let place = Place::of_block(WGMMA, steps);
    let thread = block::thread_index() as usize;
    let (line, depth) = (thread % 64, thread / 64 * EIGHT);
    let (lines, deep) = (thread % 8 * EIGHT, thread / 8);
    let mut sums = Sums::ZERO;
    #[nounroll]
    for step in 0..steps as usize {
        let first = step * WGMMA.depth;
        // SAFETY: the elements are inside the matrices, and each thread writes places of its own. Barriers keep what is
        // written apart from what is read.
        unsafe {
            copy(a.add((place.top + line) * place.depth + first + depth), operand, a_tile.index(line, depth));
            copy(b.add((first + deep) * place.columns + place.left + lines), right, b_tile.index(lines, deep));
            wgmma::publish();
            block::barrier();
            wgmma::fence(&mut sums);
            wgmma::mma_async(&mut sums, a_tile, b_tile);
            wgmma::commit_group();
            wgmma::wait_group::<0>(&mut sums);
        }
        block::barrier();
    }
    // SAFETY: this part of `c` is the block's own.
    unsafe { place.store(sums, c) };
}

/// `c = a * b`, `a` and `b` by columns and `c` by rows.
///
/// Machine code: 1 loop, 4 loads.
///
/// # Safety
/// As for [`wgmma_bf16`], with the sizes of [`WGMMA_DEEP`].
#[kernel]
pub unsafe fn wgmma_f16_transposed(a: *const F16, b: *const F16, c: *mut f32, steps: u32) {
    let operand = shared!([F16; 2048], align = 16).as_slice();
    let right = shared!([F16; 2048], align = 16).as_slice();
    // Four cores side by side: 32 deep.
    let (a_tile, b_tile) = (Tile::<_, true>::new(operand, 64, 256), Tile::<_, false>::new(right, 64, 256));
    let place = Place::of_block(WGMMA_DEEP, steps);
    let thread = block::thread_index() as usize;
    let (lines, deep) = (thread % 8 * EIGHT, thread / 8);
    let (line, depth) = (thread % 64, thread / 64 * EIGHT);
    let mut sums = Sums::ZERO;
    #[nounroll]
    for step in 0..steps as usize {
        let first = step * WGMMA_DEEP.depth;
        // SAFETY: as in `wgmma_bf16`.
        unsafe {
            #[unroll]
            for half in [0, 16] {
                let (deep, depth) = (deep + half, depth + half);
                copy(a.add((first + deep) * place.rows + place.top + lines), operand, a_tile.index(lines, deep));
                copy(b.add((place.left + line) * place.depth + first + depth), right, b_tile.index(line, depth));
            }
            wgmma::publish();
            block::barrier();
            wgmma::fence(&mut sums);
            wgmma::mma_async(&mut sums, a_tile, b_tile);
            wgmma::mma_async(&mut sums, a_tile.at(0, 16), b_tile.at(0, 16));
            wgmma::commit_group();
            wgmma::wait_group::<0>(&mut sums);
        }
        block::barrier();
    }
    // SAFETY: this part of `c` is the block's own.
    unsafe { place.store(sums, c) };
}

/// Where a block's part of `c` is, and how large the matrices are.
struct Place {
    top: usize,
    left: usize,
    rows: usize,
    columns: usize,
    depth: usize,
}

impl Place {
    #[inline(always)]
    fn of_block(sizes: Product, steps: u32) -> Place {
        Place {
            top: thread::block_idx_y() as usize * sizes.rows,
            left: thread::block_idx_x() as usize * sizes.columns,
            rows: thread::grid_dim_y() as usize * sizes.rows,
            columns: thread::grid_dim_x() as usize * sizes.columns,
            depth: steps as usize * sizes.depth,
        }
    }

    /// # Safety
    /// `c` holds the matrix, and this part of it is the block's own.
    #[inline(always)]
    unsafe fn store(&self, sums: Sums, c: *mut f32) {
        sums.for_each(|row, column, sum| {
            // SAFETY: the caller's promise.
            unsafe { *c.add((self.top + row) * self.columns + self.left + column) = sum };
        });
    }
}
