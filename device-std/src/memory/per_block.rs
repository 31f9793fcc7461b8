//! Output of which each block writes a row, and each thread of the block its own part of the row.
//!
//! # Why it is sound
//! Row `b` of a buffer is its elements `b * columns` to `b * columns + columns - 1`, and belongs to the block with that
//! index in the grid. Within the row, tile `i` is the elements `i * N` to `i * N + N - 1`, and belongs to the thread
//! whose index in the block is `i` modulo the block's threads; the elements after the last whole tile are divided among
//! the threads alike, one by one. No two threads of a block have the same index, and no two blocks, so no two threads
//! own the same element. `columns` is an argument of the launch and `N` part of the parameter's type, so all threads
//! divide the buffer alike. A thread gets its part once, when the kernel begins, and cannot copy it.

use super::FromLaunch;
use crate::block;
use core::marker::PhantomData;

/// The calling thread's own part of its block's row of a buffer of `T`, in tiles of `N` elements.
///
/// As a kernel parameter it takes two arguments of the launch, the device address of the buffer and the number of
/// elements of a **row** (`u64` each). The buffer has a row for each block of the grid, one behind the other, and must
/// not be reached by any other parameter during the launch.
///
/// ```
/// use device_std::{block, host, kernel, memory::PerBlock};
///
/// /// Each block's row, counted from its start.
/// #[kernel]
/// fn count(mut row: PerBlock<'_, u32, 2>) {
///     let (mut number, threads) = (2 * row.index() as u32, 2 * block::threads());
///     for tile in row.tiles() {
///         *tile = [number, number + 1];
///         number += threads;
///     }
///     let mut number = row.rest_start() as u32 + block::thread_index();
///     for element in row.rest() {
///         *element = number;
///         number += block::threads();
///     }
/// }
///
/// let mut numbers = [0; 14];
/// let rows = host::Rows::new(&mut numbers, 7);
/// host::launch(2, 2, 0, || count(rows.per_block()))?;
/// assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6]);
/// # Ok::<(), host::Error>(())
/// ```
#[derive(Debug)]
pub struct PerBlock<'a, T, const N: usize = 1> {
    /// The block's row.
    row: *mut T,
    columns: usize,
    /// The thread's index in the block: its first tile.
    first: usize,
    /// The threads of the block.
    threads: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T, const N: usize> PerBlock<'a, T, N> {
    /// The part of the calling thread.
    ///
    /// # Safety
    /// `buffer` starts a slice of `columns` elements for each block of the grid that nothing else uses for `'a`, and
    /// this is called at most once by each thread of one launch, with the same arguments in all of them.
    #[inline(always)]
    pub unsafe fn new(buffer: *mut T, columns: usize) -> PerBlock<'a, T, N> {
        const { assert!(N > 0, "a tile has at least one element") };
        let row = buffer.wrapping_add(block::index().wrapping_mul(columns));
        let (first, threads) = (block::thread_index() as usize, block::threads() as usize);
        PerBlock { row, columns, first, threads, borrow: PhantomData }
    }

    /// The number of elements of the row.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The address of the row's first element.
    #[inline(always)]
    pub fn row_start(&self) -> *const T {
        self.row
    }

    /// The thread's index in the block, which is the number of its first tile.
    #[inline(always)]
    pub fn index(&self) -> usize {
        self.first
    }

    /// The thread's first tile of the row; `None` where the row ends before.
    #[inline(always)]
    pub fn tile(&mut self) -> Option<&mut [T; N]> {
        self.tiles().next()
    }

    /// The thread's tiles of the row, from the first on: every tile at the distance of the block's threads.
    #[inline(always)]
    pub fn tiles(&mut self) -> RowTiles<'_, T, N> {
        // SAFETY: the tiles are those of the row's elements before the rest.
        unsafe { RowTiles::new(self.row, self.columns / N, self.first, self.threads) }
    }

    /// Where in the row the elements begin that are in no whole tile.
    #[inline(always)]
    pub fn rest_start(&self) -> usize {
        self.columns / N * N
    }

    /// The thread's elements of those in no whole tile: element `i` of them for thread `i`, and on at the same
    /// distance.
    #[inline(always)]
    pub fn rest(&mut self) -> impl Iterator<Item = &mut T> {
        let start = self.rest_start();
        // SAFETY: the elements are those of the row after the last tile.
        let elements: RowTiles<'_, T, 1> = unsafe {
            RowTiles::new(self.row.wrapping_add(start), self.columns.wrapping_sub(start), self.first, self.threads)
        };
        elements.map(|[element]| element)
    }
}

/// The tiles that one thread has of a row, from its first on.
#[derive(Debug)]
pub struct RowTiles<'a, T, const N: usize> {
    start: *mut T,
    tiles: usize,
    next: usize,
    threads: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<T, const N: usize> RowTiles<'_, T, N> {
    /// Every `threads`th of `tiles` tiles, from the one numbered `first` on.
    ///
    /// # Safety
    /// The tiles are in a buffer that is valid for the result's lifetime, and nothing else uses those for as long.
    #[inline(always)]
    unsafe fn new(start: *mut T, tiles: usize, first: usize, threads: usize) -> Self {
        RowTiles { start, tiles, next: first, threads, borrow: PhantomData }
    }
}

impl<'a, T, const N: usize> Iterator for RowTiles<'a, T, N> {
    type Item = &'a mut [T; N];

    #[inline(always)]
    fn next(&mut self) -> Option<&'a mut [T; N]> {
        if self.next >= self.tiles {
            return None;
        }
        // SAFETY: the tile is one of those that `new` was promised, and handed out once, since `next` only grows.
        let tile = unsafe { &mut *self.start.add(self.next.wrapping_mul(N)).cast::<[T; N]>() };
        // No row is so long that the sum does not fit.
        self.next = self.next.wrapping_add(self.threads);
        Some(tile)
    }
}

impl<T, const N: usize> FromLaunch for PerBlock<'_, T, N> {
    type Element = T;

    #[inline(always)]
    unsafe fn from_launch(buffer: *mut T, columns: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe { PerBlock::new(buffer, columns) }
    }
}
