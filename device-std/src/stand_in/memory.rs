//! The shared memory of a block that runs on the host.

use super::MAX_DYNAMIC_SHARED;
use crate::limits::STATIC_LIMIT;
use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::vec;
use std::vec::Vec;

/// What memory is filled with before anything is written: a NaN as a float, the largest unsigned integer.
const UNWRITTEN: u8 = 0xff;

/// Memory that is aligned as far as anything may ask for.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(128))]
struct Line([u8; 128]);

/// Bytes that nothing moves while they are in use.
#[derive(Debug)]
struct Bytes {
    lines: Vec<Line>,
    len: usize,
}

impl Bytes {
    fn new(len: usize) -> Bytes {
        Bytes { lines: vec![Line([UNWRITTEN; 128]); len.div_ceil(size_of::<Line>()).max(1)], len }
    }

    fn start(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }
}

/// The arrays of one block.
#[derive(Debug)]
pub(crate) struct Memory {
    arrays: RefCell<HashMap<TypeId, Bytes>>,
    dynamic: RefCell<Bytes>,
}

impl Memory {
    /// Memory without arrays, and with `dynamic` bytes of the other kind.
    pub fn new(dynamic: usize) -> Memory {
        debug_assert!(dynamic <= MAX_DYNAMIC_SHARED);
        Memory { arrays: RefCell::default(), dynamic: RefCell::new(Bytes::new(dynamic)) }
    }

    /// The array of a place in the source.
    ///
    /// # Panics
    /// If all arrays of the block together are larger than a GPU allows.
    pub fn array(&self, place: TypeId, bytes: usize) -> *mut u8 {
        let mut arrays = self.arrays.borrow_mut();
        let start = arrays.entry(place).or_insert_with(|| Bytes::new(bytes)).start();
        let all: usize = arrays.values().map(|array| array.len).sum();
        assert!(all <= STATIC_LIMIT, "static shared memory ends at 48 KB, and the block asks for {all} bytes of it");
        start
    }

    /// The dynamic memory and how many bytes it has.
    pub fn dynamic(&self) -> (*mut u8, usize) {
        let mut dynamic = self.dynamic.borrow_mut();
        (dynamic.start(), dynamic.len)
    }
}
