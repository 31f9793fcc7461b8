//! Atomic operations.

use device_std::atomic::{
    AcqRel, Acquire, Atomic, Block, Device, Integer, Relaxed, Release, SeqCst, System, Value, fence,
};
use device_std::memory::PerThread;
use device_std::shared::Shared;
use device_std::{block, kernel, shared, thread};

/// The bins of a histogram.
const BINS: usize = 64;

/// Counts `xs` by their lowest six bits: in shared memory first, then in `bins`, of which there are 64.
#[kernel]
pub fn histogram(xs: &[u32], bins: &[Atomic<u64>]) {
    let counts: Shared<[Atomic<u32>; BINS]> = shared!([Atomic<u32>; BINS]);
    let (thread, threads) = (block::thread_index() as usize, block::threads() as usize);
    let mut bin = thread;
    while bin < BINS {
        // SAFETY: each bin is cleared by one thread, before the barrier.
        unsafe { counts.write(bin, Atomic::new(0)) };
        bin += threads;
    }
    block::barrier();
    // SAFETY: all bins are written, and from here on through atomic operations only.
    let counts = unsafe { counts.as_ref() };
    let mut index = device_std::memory::grid_index();
    while let Some(x) = xs.get(index) {
        counts[*x as usize % BINS].fetch_add(1, Relaxed, Block);
        index += device_std::memory::grid_threads();
    }
    block::barrier();
    let mut bin = thread;
    while bin < BINS {
        if let Some(total) = bins.get(bin) {
            total.fetch_add(u64::from(counts[bin].load(Relaxed, Block)), Relaxed, System);
        }
        bin += threads;
    }
}

/// Thread 1 of each block hands a word to thread 0 through a flag, without a barrier: two blocks' words are two elements.
///
/// `flags` and `words` have an element for each block. One lane waits for another of its sub-group here, which works where
/// the lanes of a sub-group make progress without each other: on NVIDIA's GPUs and on hosts, not on AMD's.
#[kernel]
pub fn message(words: &[Atomic<u32>], flags: &[Atomic<u32>], mut out: PerThread<'_, u32>) {
    let block = thread::block_idx_x() as usize;
    let (Some(word), Some(flag)) = (words.get(block), flags.get(block)) else { return };
    match thread::thread_idx_x() {
        0 => {
            while flag.load(Acquire, Block) == 0 {}
            if let Some(element) = out.element() {
                *element = word.load(Relaxed, Block);
            }
        }
        1 => {
            word.store(0x1000 + block as u32, Relaxed, Block);
            flag.store(1, Release, Block);
        }
        _ => {}
    }
}

/// One number of each type.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "the types say it")]
pub struct Numbers {
    pub wide: Atomic<u64>,
    pub signed_wide: Atomic<i64>,
    pub double: Atomic<f64>,
    pub short: Atomic<u32>,
    pub signed_short: Atomic<i32>,
    pub float: Atomic<f32>,
}

/// Every operation on every type, in global and in shared memory: one thread.
#[kernel]
pub fn every_operation(numbers: &[Numbers]) {
    let Some(numbers) = numbers.first() else { return };
    every(numbers);
    let copy = shared!(Numbers);
    let fresh = Numbers {
        wide: Atomic::new(numbers.wide.load(Relaxed, Block)),
        signed_wide: Atomic::new(numbers.signed_wide.load(Acquire, Block)),
        double: Atomic::new(numbers.double.load(Relaxed, Device)),
        short: Atomic::new(numbers.short.load(Acquire, Device)),
        signed_short: Atomic::new(numbers.signed_short.load(Relaxed, System)),
        float: Atomic::new(numbers.float.load(Acquire, System)),
    };
    // SAFETY: there is one thread.
    unsafe { copy.set(fresh) };
    // SAFETY: as above, and all of it is written.
    let copy = unsafe { copy.as_ref() };
    every(copy);
    numbers.wide.store(copy.wide.load(Relaxed, Block), Relaxed, System);
    numbers.signed_wide.store(copy.signed_wide.load(Relaxed, Block), Release, System);
    numbers.double.store(copy.double.load(Relaxed, Block), Relaxed, Device);
    numbers.short.store(copy.short.load(Relaxed, Block), Release, Device);
    numbers.signed_short.store(copy.signed_short.load(Relaxed, Block), Relaxed, Block);
    numbers.float.store(copy.float.load(Relaxed, Block), Release, Block);
}

#[inline(always)]
fn every(numbers: &Numbers) {
    integer(&numbers.wide, [21, 1000, 5, 0xff, 0x100, 0x11]);
    integer(&numbers.signed_wide, [-21, -1000, 5, 0xff, 0x100, -2]);
    integer(&numbers.short, [21, 1000, 5, 0xff, 0x100, 0x11]);
    integer(&numbers.signed_short, [-21, -1000, 5, 0xff, 0x100, -2]);
    float(&numbers.double, [0.5, 8.0]);
    float(&numbers.float, [0.5, 8.0]);
}

#[inline(always)]
fn integer<T: Integer>(number: &Atomic<T>, [add, min, max, and, or, xor]: [T; 6]) {
    let before = number.fetch_add(add, Relaxed, Block);
    number.fetch_sub(before, Acquire, Device);
    number.fetch_min(min, Release, System);
    number.fetch_max(max, AcqRel, Block);
    fence(AcqRel, Block);
    number.fetch_and(and, Relaxed, Device);
    number.fetch_or(or, Acquire, System);
    fence(Acquire, Device);
    number.fetch_xor(xor, Release, Block);
    let before = number.swap(add, AcqRel, Device);
    fence(SeqCst, System);
    let _ = number.compare_exchange(add, before, Acquire, System);
    fence(SeqCst, Block);
}

#[inline(always)]
fn float<T: Value>(number: &Atomic<T>, [add, new]: [T; 2]) {
    number.fetch_add(add, Relaxed, Block);
    let before = number.swap(new, Relaxed, System);
    fence(Release, System);
    let _ = number.compare_exchange(new, before, AcqRel, Device);
    fence(SeqCst, Device);
    number.fetch_add(add, AcqRel, System);
}
