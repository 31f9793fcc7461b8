//! The running thread's way to its block.
//!
//! While a thread runs, `RUNNING` names it. All library functions that exchange or wait come here; outside a launch
//! they work for a thread that is alone, as every kernel called as a plain function is.

use super::block::{Block, Meeting, Place, Words};
use super::memory::Memory;
use super::switch::Switch;
use crate::thread::host::{Position, at, position};
use std::any::TypeId;
use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;
use std::thread_local;

/// The thread that runs now.
#[derive(Clone)]
struct Running {
    block: Rc<Block>,
    thread: u32,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
    /// The shared memory of a thread that no launch runs.
    static ALONE: Memory = Memory::new(0);
}

/// Does `what` as a thread of the block: with its position, and with the block to meet others in.
pub(crate) fn run_as<R>(block: &Rc<Block>, number: usize, thread_idx: [u32; 3], what: impl FnOnce() -> R) -> R {
    let outer = RUNNING.replace(Some(Running { block: Rc::clone(block), thread: number as u32 }));
    let result = at(Position { thread_idx, ..block.position }, what);
    RUNNING.set(outer);
    result
}

/// The first that a thread does on its own stack: tells how to leave it.
pub(crate) fn started(switch: &Switch) {
    if let Some(running) = RUNNING.with_borrow(Clone::clone) {
        running.block.set_switch(running.thread, switch);
    }
}

/// Comes to a meeting of sub-group lanes and waits until it is over.
pub(crate) fn meet(
    place: Place,
    operation: &'static str,
    location: &'static Location<'static>,
    lane: u32,
    word: u32,
) -> Rc<Words> {
    let Some(running) = RUNNING.with_borrow(Clone::clone) else {
        assert_alone(operation, location);
        return Rc::new(Words::alone(lane, word));
    };
    running.meet(Meeting { place, operation, location }, word)
}

/// Waits for all threads of the block.
#[track_caller]
pub(crate) fn block_barrier(operation: &'static str) {
    let location = Location::caller();
    match RUNNING.with_borrow(Clone::clone) {
        None => assert_alone(operation, location),
        Some(running) => {
            running.meet(Meeting { place: Place::Block, operation, location }, 0);
        }
    }
}

/// Lets the other threads of the block run, if there are any: called where a thread may be waiting for memory to
/// change.
pub(crate) fn pause() {
    if let Some(running) = RUNNING.with_borrow(Clone::clone) {
        running.pause();
    }
}

/// The shared array of a place in the source.
pub(crate) fn shared_array(place: TypeId, bytes: usize) -> *mut u8 {
    with_memory(|memory| memory.array(place, bytes))
}

/// The dynamic shared memory and how many bytes it has.
pub(crate) fn shared_dynamic() -> (*mut u8, usize) {
    with_memory(Memory::dynamic)
}

fn with_memory<R>(what: impl FnOnce(&Memory) -> R) -> R {
    match RUNNING.with_borrow(Clone::clone) {
        Some(running) => what(&running.block.memory),
        None => ALONE.with(what),
    }
}

impl Running {
    fn pause(&self) {
        if !self.block.is_unwinding() {
            self.block.paused();
            self.leave();
        }
    }

    fn meet(&self, meeting: Meeting, word: u32) -> Rc<Words> {
        if self.block.is_unwinding() {
            return Rc::new(Words::NONE);
        }
        if !self.block.arrive(self.thread, meeting, word) {
            self.leave();
        }
        self.block.result(self.thread)
    }

    /// Lets others run until this thread's turn comes again.
    fn leave(&self) {
        // SAFETY: the thread told its own switch when it started, and the switch lies at the bottom of its stack. It is
        // this thread that runs, on that stack: `run_as` names a thread for just as long as its coroutine is resumed.
        unsafe { &*self.block.switch(self.thread) }.suspend(());
    }
}

/// Outside a launch only a thread without others can go on.
fn assert_alone(operation: &str, location: &Location<'_>) {
    let threads: u32 = position().block_dim.iter().product();
    assert!(
        threads == 1,
        "`{operation}` at {location} needs the other threads of the block: run the kernel with `device_std::host::launch`"
    );
}
