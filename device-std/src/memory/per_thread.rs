//! Output of which each thread writes its own part.
//!
//! # Why it is sound
//! Tile `i` of a buffer is its elements `i * N` to `i * N + N - 1`, whole or not there. A thread owns the tiles whose
//! number is its index in the grid, modulo the number of threads in the grid. The index counts all threads of the
//! launch, in all dimensions, and no two have the same, so no two own the same element. The tile size `N` is part of
//! the parameter's type, and the kernel is one function, so all threads divide the buffer alike. A thread gets its part
//! once, when the kernel begins, and cannot copy it.

use crate::block;
use core::marker::PhantomData;

/// The calling thread's own part of a buffer of `T`, in tiles of `N` elements.
///
/// As a kernel parameter it takes two arguments of the launch, the device address of the buffer and its number of
/// elements (`u64` each). With as many threads as there are tiles, each has one; with fewer, a thread has every tile
/// at the distance of the grid's size; with more, the last have none. Elements beyond the last whole tile are no one's.
///
/// The buffer must not be reached by any other parameter during the launch.
#[derive(Debug)]
pub struct PerThread<'a, T, const N: usize = 1> {
    buffer: *mut T,
    /// The number of whole tiles.
    tiles: usize,
    /// The thread's index in the grid: its first tile.
    first: usize,
    /// The number of threads in the grid.
    threads: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T, const N: usize> PerThread<'a, T, N> {
    /// The part of the calling thread.
    ///
    /// # Safety
    /// `buffer` and `len` are those of a slice that nothing else uses for `'a`, and this is called at most once by each
    /// thread of one launch, with the same arguments in all of them.
    #[inline(always)]
    pub unsafe fn new(buffer: *mut T, len: usize) -> PerThread<'a, T, N> {
        const { assert!(N > 0, "a tile has at least one element") };
        PerThread { buffer, tiles: len / N, first: grid_index(), threads: grid_threads(), borrow: PhantomData }
    }

    /// The thread's index in the grid, which is the number of its first tile.
    #[inline(always)]
    pub fn index(&self) -> usize {
        self.first
    }

    /// The thread's first tile; `None` where the buffer ends before it.
    #[inline(always)]
    pub fn tile(&mut self) -> Option<&mut [T; N]> {
        self.tiles().next()
    }

    /// All tiles of the thread.
    #[inline(always)]
    pub fn tiles(&mut self) -> Tiles<'_, T, N> {
        Tiles { buffer: self.buffer, tiles: self.tiles, next: self.first, threads: self.threads, borrow: PhantomData }
    }
}

impl<T> PerThread<'_, T, 1> {
    /// The thread's first element; `None` where the buffer ends before it.
    #[inline(always)]
    pub fn element(&mut self) -> Option<&mut T> {
        let [element] = self.tile()?;
        Some(element)
    }

    /// All elements of the thread.
    #[inline(always)]
    pub fn elements(&mut self) -> impl Iterator<Item = &mut T> {
        self.tiles().map(|[element]| element)
    }
}

/// The tiles of one thread, from its first on.
#[derive(Debug)]
pub struct Tiles<'a, T, const N: usize> {
    buffer: *mut T,
    tiles: usize,
    next: usize,
    threads: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T, const N: usize> Iterator for Tiles<'a, T, N> {
    type Item = &'a mut [T; N];

    #[inline(always)]
    fn next(&mut self) -> Option<&'a mut [T; N]> {
        if self.next >= self.tiles {
            return None;
        }
        // SAFETY: the tile lies in the buffer, which is valid for `'a`. It is the thread's own (see the module) and
        // handed out once, since `next` only grows; the thread's part is borrowed mutably for as long.
        let tile = unsafe { &mut *self.buffer.add(self.next.wrapping_mul(N)).cast::<[T; N]>() };
        // Past the end of the numbers there is no tile either.
        self.next = self.next.saturating_add(self.threads);
        Some(tile)
    }
}

/// A kernel parameter that takes two arguments of the launch, an address and a number of elements: of the buffer, or of
/// one of its rows.
///
/// `#[kernel]` makes the parameter from them with this trait, at the start of the kernel.
pub trait FromLaunch {
    /// What the address points to.
    type Element;

    /// The parameter of the calling thread.
    ///
    /// # Safety
    /// As for the `new` of the parameter's type.
    unsafe fn from_launch(buffer: *mut Self::Element, len: usize) -> Self;
}

impl<T, const N: usize> FromLaunch for PerThread<'_, T, N> {
    type Element = T;

    #[inline(always)]
    unsafe fn from_launch(buffer: *mut T, len: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe { PerThread::new(buffer, len) }
    }
}

/// The thread's index in the grid: blocks in linear order, threads in linear order within.
#[inline(always)]
pub fn grid_index() -> usize {
    block::index().wrapping_mul(wide(block::threads())).wrapping_add(wide(block::thread_index()))
}

/// The threads of the grid. No launch has so many that 64 bits cannot count them.
#[inline(always)]
pub fn grid_threads() -> usize {
    block::count().wrapping_mul(wide(block::threads()))
}

#[inline(always)]
fn wide(number: u32) -> usize {
    number as usize
}
