//! Matrices in shared memory, from which fragments are loaded by `ldmatrix`.
//!
//! The instruction loads 8 x 8 matrices: the lanes name the first address of each row, and lane `l` gets the elements
//! of row `l / 4`, columns `2 * (l % 4)` and the next, or with `.trans` those of the transpose.

use super::{A, B, Element, imp};
use crate::shared::Shared;
use crate::subgroup;

/// A matrix in shared memory, by rows.
///
/// Rows begin at multiples of 16 bytes: the memory does, and `stride` and the columns that [`at`](Self::at) moves to
/// are multiples of 8 elements. Eight rows are read at once: an odd multiple of 8, such as 24, 72 or 136, spreads them
/// over all banks, where a multiple of 64 takes eight times as long.
///
/// Loading is collective, and needs all 32 lanes of the sub-group.
///
/// ```
/// use device_std::matrix::{Accumulator, A, B, SharedTile, mma};
/// use device_std::{host, math::Bf16, shared, subgroup};
///
/// host::launch(1, 32, 0, || {
///     let memory = shared!([Bf16; 16 * 24], align = 16).as_slice();
///     for at in (subgroup::lane() as usize..memory.len()).step_by(32) {
///         // SAFETY: each lane writes elements of its own, and all read after the barrier.
///         unsafe { memory.write(at, Bf16::from_f32((at / 24) as f32)) };
///     }
///     subgroup::barrier();
///     let rows = SharedTile::new(memory, 24);
///     // SAFETY: 16 x 16 elements were written.
///     let (a, [left, _]) = unsafe { (A::load(rows), B::load_pair_transposed(rows)) };
///     mma(a, left, Accumulator::ZERO).for_each(|row, column, sum| assert_eq!(sum, (16 * row * column) as f32));
/// })?;
/// # Ok::<(), host::Error>(())
/// ```
#[derive(Debug)]
pub struct SharedTile<T> {
    memory: Shared<[T]>,
    first: usize,
    stride: usize,
}

impl<T> Clone for SharedTile<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedTile<T> {}

impl<T: Element> SharedTile<T> {
    /// The matrix whose rows begin `stride` elements after each other, the first where the memory does.
    #[inline(always)]
    pub fn new(memory: Shared<[T]>, stride: usize) -> SharedTile<T> {
        SharedTile { memory, first: 0, stride }
    }

    /// The part that begins at an element.
    #[inline(always)]
    pub fn at(self, row: usize, column: usize) -> SharedTile<T> {
        SharedTile { first: self.index(row, column), ..self }
    }

    /// The memory that the matrix was made of.
    #[inline(always)]
    pub fn memory(self) -> Shared<[T]> {
        self.memory
    }

    /// The place of an element in that memory.
    #[inline(always)]
    pub fn index(self, row: usize, column: usize) -> usize {
        self.first.wrapping_add(row.wrapping_mul(self.stride)).wrapping_add(column)
    }

    /// Loads `N` matrices of 8 x 8, each lane naming the row that begins at this element.
    ///
    /// # Safety
    /// As for [`A::load`], of eight elements from there on.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    unsafe fn matrices<const N: usize, const TRANSPOSED: bool>(self, row: usize, column: usize) -> [u32; N] {
        const {
            assert!(
                cfg!(any(on_host, target_feature = "sm_75")),
                "`ldmatrix` needs a GPU from sm_75 on: build with `--arch sm_80`"
            );
        }
        let first = self.memory.at(self.index(row, column));
        if cfg!(on_host) {
            // The row must not end beyond the memory either.
            self.memory.at(self.index(row, column) + 7);
        }
        // SAFETY: the caller's promise.
        unsafe { imp::ldmatrix::<N, TRANSPOSED>(first.as_ptr().cast()) }
    }
}

/// The row and column of the tile that the calling lane names, where register `r` gets the 8 x 8 block at row
/// `8 * (r % 2)`, column `8 * (r / 2)` of the tile.
#[inline(always)]
fn down() -> (usize, usize) {
    let lane = subgroup::lane() as usize;
    (lane % 16, lane / 16 * 8)
}

/// The same, where register `r` gets the block at row `8 * (r / 2)`, column `8 * (r % 2)`.
#[inline(always)]
fn across() -> (usize, usize) {
    let lane = subgroup::lane() as usize;
    (lane % 8 + lane / 16 * 8, lane / 8 % 2 * 8)
}

impl<T: Element> A<T> {
    /// The tile's first 16 x 16 elements.
    ///
    /// # Safety
    /// They were written, and no other thread writes them without a barrier in between. The tile's rows begin at
    /// multiples of 16 bytes.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub unsafe fn load(tile: SharedTile<T>) -> A<T> {
        let (row, column) = down();
        // SAFETY: the caller's promise.
        A::from_registers(unsafe { tile.matrices::<4, false>(row, column) })
    }

    /// The transpose of the tile's first 16 x 16 elements: element (r, c) is the tile's (c, r).
    ///
    /// # Safety
    /// As for [`load`](Self::load).
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub unsafe fn load_transposed(tile: SharedTile<T>) -> A<T> {
        let (row, column) = across();
        // SAFETY: the caller's promise.
        A::from_registers(unsafe { tile.matrices::<4, true>(row, column) })
    }
}

impl<T: Element> B<T> {
    /// The tile's first 16 x 8 elements.
    ///
    /// # Safety
    /// As for [`A::load`].
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub unsafe fn load(tile: SharedTile<T>) -> B<T> {
        let (row, _) = down();
        // SAFETY: the caller's promise.
        B::from_registers(unsafe { tile.matrices::<2, true>(row, 0) })
    }

    /// The transpose of the tile's first 8 x 16 elements: element (r, c) is the tile's (c, r).
    ///
    /// # Safety
    /// As for [`A::load`].
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub unsafe fn load_transposed(tile: SharedTile<T>) -> B<T> {
        let (row, column) = across();
        // SAFETY: the caller's promise. Lanes from 16 on name rows of the first eight too, and nobody looks at them.
        B::from_registers(unsafe { tile.matrices::<2, false>(row % 8, column) })
    }

    /// The tile's first 16 x 16 elements, as columns 0 to 7 and 8 to 15.
    ///
    /// # Safety
    /// As for [`A::load`].
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub unsafe fn load_pair(tile: SharedTile<T>) -> [B<T>; 2] {
        let (row, column) = down();
        // SAFETY: the caller's promise.
        halves(unsafe { tile.matrices::<4, true>(row, column) })
    }

    /// The transpose of the tile's first 16 x 16 elements, as its columns 0 to 7 and 8 to 15: the tile's rows.
    ///
    /// # Safety
    /// As for [`A::load`].
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub unsafe fn load_pair_transposed(tile: SharedTile<T>) -> [B<T>; 2] {
        let (row, column) = across();
        // SAFETY: the caller's promise.
        halves(unsafe { tile.matrices::<4, false>(row, column) })
    }
}

#[inline(always)]
fn halves<T: Element>([a, b, c, d]: [u32; 4]) -> [B<T>; 2] {
    [B::from_registers([a, b]), B::from_registers([c, d])]
}
