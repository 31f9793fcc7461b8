//! A host slice that the threads of one launch write.

use crate::memory::{self, PerThread};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::vec;
use std::vec::Vec;

/// The buffer behind a [`PerThread`] parameter, for one launch.
#[derive(Debug)]
pub struct Output<'a, T, const N: usize = 1> {
    buffer: *mut T,
    len: usize,
    /// Which threads of the grid have taken their part. Its length is the grid's size, once the first has.
    taken: RefCell<Vec<bool>>,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T, const N: usize> Output<'a, T, N> {
    /// An output that writes `buffer`.
    pub fn new(buffer: &'a mut [T]) -> Output<'a, T, N> {
        Output { buffer: buffer.as_mut_ptr(), len: buffer.len(), taken: RefCell::default(), borrow: PhantomData }
    }

    /// The part of the calling thread.
    ///
    /// # Panics
    /// If the thread has taken its part before, or another launch uses this output: each launch needs a new one.
    #[track_caller]
    pub fn per_thread(&self) -> PerThread<'_, T, N> {
        let (index, threads) = (memory::grid_index(), memory::grid_threads());
        let mut taken = self.taken.borrow_mut();
        if taken.is_empty() {
            *taken = vec![false; threads];
        }
        let is_first = taken.len() == threads && !std::mem::replace(&mut taken[index], true);
        assert!(is_first, "an output gives each thread its part once: make a new `Output` for each launch");
        // SAFETY: the buffer is borrowed mutably for `'a`. Each index is given out once, all of them in grids of one size, so
        // parts do not overlap, even where they are kept or passed on.
        unsafe { PerThread::new(self.buffer, self.len) }
    }
}
