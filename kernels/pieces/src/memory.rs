//! Vectors, shared memory, fences and atomic operations.

use crate::pieces;
use device_std::atomic::{AcqRel, Acquire, Atomic, Block, Device, Relaxed, Release, SeqCst, System, fence};
use device_std::{block, kernel, shared, thread, vector};

/// Four words by one load and one store.
///
/// # Safety
/// Both have four words for each thread and start at multiples of 16 bytes.
#[kernel]
pub unsafe fn vector_words(x: *const f32, y: *mut f32) {
    let first = 4 * thread::thread_idx_x() as usize;
    // SAFETY: the caller's promise.
    let [a, b, c, d] = unsafe { vector::load::<f32, 4>(x.add(first)) };
    // SAFETY: as above.
    unsafe { vector::store(y.add(first), [d, c, b, a]) };
}

/// Two double words by one load and one store.
///
/// # Safety
/// Both have two double words for each thread and start at multiples of 16 bytes.
#[kernel]
pub unsafe fn vector_double_words(x: *const f64, y: *mut f64) {
    let first = 2 * thread::thread_idx_x() as usize;
    // SAFETY: the caller's promise.
    let [a, b] = unsafe { vector::load::<f64, 2>(x.add(first)) };
    // SAFETY: as above.
    unsafe { vector::store(y.add(first), [b, a]) };
}

/// Eight halves by one load and one store.
///
/// # Safety
/// Both have eight halves for each thread and start at multiples of 16 bytes.
#[kernel]
pub unsafe fn vector_halves(x: *const u16, y: *mut u16) {
    let first = 8 * thread::thread_idx_x() as usize;
    // SAFETY: the caller's promise.
    let values = unsafe { vector::load::<u16, 8>(x.add(first)) };
    // SAFETY: as above.
    unsafe { vector::store(y.add(first), values) };
}

pieces! {
    /// To the neighbour through an array of the block.
    shared_array(value: u32) -> u32 = {
        let (array, thread) = (shared!([u32; 64]), thread::thread_idx_x() as usize);
        // SAFETY: each thread writes its own element, and reads after the barrier.
        unsafe { array.write(thread, value) };
        block::barrier();
        // SAFETY: as above.
        unsafe { array.read(thread ^ 1) }
    };
    /// To the neighbour through what the launch adds.
    shared_dynamic(value: u32) -> u32 = {
        let (array, thread) = (shared::dynamic::<u32>(), thread::thread_idx_x() as usize);
        // SAFETY: as in `shared_array`.
        unsafe { array.write(thread, value) };
        block::barrier();
        // SAFETY: as above.
        unsafe { array.read(thread ^ 1) }
    };
}

/// One fence of each order at each scope.
#[kernel]
pub fn fences() {
    fence(Acquire, Block);
    fence(Release, Device);
    fence(AcqRel, System);
    fence(SeqCst, Block);
    fence(SeqCst, Device);
    fence(SeqCst, System);
}

/// One addition of each order at the scope of a block, and one at each other scope.
///
/// # Safety
/// There is a number.
#[kernel]
pub unsafe fn atomic_add(number: *const Atomic<u32>) {
    // SAFETY: the caller's promise; atomic numbers can be shared.
    let number = unsafe { &*number };
    number.fetch_add(1, Relaxed, Block);
    number.fetch_add(2, Acquire, Block);
    number.fetch_add(3, Release, Block);
    number.fetch_add(4, AcqRel, Block);
    number.fetch_add(5, Relaxed, Device);
    number.fetch_add(6, AcqRel, System);
}

/// A load and a store at each scope.
///
/// # Safety
/// There is a number.
#[kernel]
pub unsafe fn atomic_access(number: *const Atomic<u64>) {
    // SAFETY: the caller's promise; atomic numbers can be shared.
    let number = unsafe { &*number };
    let block = number.load(Acquire, Block);
    let device = number.load(Relaxed, Device);
    number.store(block, Release, Device);
    number.store(device, Relaxed, System);
}

/// An exchange, a comparison and a float's addition.
///
/// # Safety
/// There are a number and a float.
#[kernel]
pub unsafe fn atomic_others(number: *const Atomic<u32>, float: *const Atomic<f32>) {
    // SAFETY: the caller's promise; atomic numbers can be shared.
    let (number, float) = unsafe { (&*number, &*float) };
    let before = number.swap(7, AcqRel, Device);
    let _ = number.compare_exchange(7, before, Acquire, Block);
    float.fetch_add(0.5, Relaxed, System);
}
