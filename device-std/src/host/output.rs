//! Host slices that the threads of one launch write.

use crate::block;
use crate::memory::{self, PerBlock, PerThread};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::vec;
use std::vec::Vec;

/// The buffer behind a [`PerThread`] parameter, for one launch.
#[derive(Debug)]
pub struct Output<'a, T, const N: usize = 1> {
    buffer: *mut T,
    len: usize,
    taken: Taken,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T, const N: usize> Output<'a, T, N> {
    /// An output that writes `buffer`.
    pub fn new(buffer: &'a mut [T]) -> Output<'a, T, N> {
        Output { buffer: buffer.as_mut_ptr(), len: buffer.len(), taken: Taken::default(), borrow: PhantomData }
    }

    /// The part of the calling thread.
    ///
    /// # Panics
    /// If the thread has taken its part before, or another launch uses this output: each launch needs a new one.
    #[track_caller]
    pub fn per_thread(&self) -> PerThread<'_, T, N> {
        self.taken.take("Output");
        // SAFETY: the buffer is borrowed mutably for `'a`. Each index is given out once, all of them in grids of one
        // size, so parts do not overlap, even where they are kept or passed on.
        unsafe { PerThread::new(self.buffer, self.len) }
    }
}

/// The buffer behind a [`PerBlock`] parameter, for one launch.
#[derive(Debug)]
pub struct Rows<'a, T, const N: usize = 1> {
    buffer: *mut T,
    len: usize,
    columns: usize,
    taken: Taken,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T, const N: usize> Rows<'a, T, N> {
    /// An output that writes `buffer` in rows of `columns` elements.
    pub fn new(buffer: &'a mut [T], columns: usize) -> Rows<'a, T, N> {
        let (buffer, len) = (buffer.as_mut_ptr(), buffer.len());
        Rows { buffer, len, columns, taken: Taken::default(), borrow: PhantomData }
    }

    /// The part that the calling thread has of its block's row.
    ///
    /// # Panics
    /// If the buffer has no row for each block; if the thread has taken its part before, or another launch uses these
    /// rows: each launch needs new ones.
    #[track_caller]
    pub fn per_block(&self) -> PerBlock<'_, T, N> {
        let needed = block::count().checked_mul(self.columns);
        assert!(
            needed.is_some_and(|needed| needed <= self.len),
            "a buffer of {} elements has no row of {} for each of {} blocks",
            self.len,
            self.columns,
            block::count()
        );
        self.taken.take("Rows");
        // SAFETY: the buffer is borrowed mutably for `'a` and has a row for each block. Each index is given out once,
        // all of them in grids and blocks of one size, so parts do not overlap, even where they are kept or passed on.
        unsafe { PerBlock::new(self.buffer, self.columns) }
    }
}

/// Which threads of one launch have taken their part.
#[derive(Debug, Default)]
struct Taken {
    /// The grid's blocks and their threads, by dimension, once the first thread has come.
    launch: RefCell<Option<[[u32; 3]; 2]>>,
    /// By index in the grid.
    threads: RefCell<Vec<bool>>,
}

impl Taken {
    /// Notes that the calling thread takes its part.
    #[track_caller]
    fn take(&self, output: &str) {
        let position = crate::thread::host::position();
        let launch = *self.launch.borrow_mut().get_or_insert([position.grid_dim, position.block_dim]);
        let mut threads = self.threads.borrow_mut();
        if threads.is_empty() {
            *threads = vec![false; memory::grid_threads()];
        }
        // A position that someone made up could name the thread of another block by its index in the grid.
        let is_first = launch == [position.grid_dim, position.block_dim]
            && block::thread_index() < block::threads()
            && !std::mem::replace(&mut threads[memory::grid_index()], true);
        assert!(is_first, "an output gives each thread its part once: make a new `{output}` for each launch");
    }
}
