//! Atomic operations that name how far they reach: the block, the GPU, or the whole system.
//!
//! ```
//! use device_std::atomic::{Atomic, Block, Relaxed};
//! use device_std::{block, host, shared};
//!
//! host::launch(1, 64, 0, || {
//!     let counter = shared!(Atomic<u32>);
//!     if block::thread_index() == 0 {
//!         // SAFETY: only this thread is there before the barrier.
//!         unsafe { counter.set(Atomic::new(0)) };
//!     }
//!     block::barrier();
//!     // SAFETY: the counter is written, and from here on through atomic operations only.
//!     let counter = unsafe { counter.as_ref() };
//!     counter.fetch_add(2, Relaxed, Block);
//!     block::barrier();
//!     assert_eq!(counter.load(Relaxed, Block), 128);
//! })?;
//! # Ok::<(), host::Error>(())
//! ```
//!
//! # Scope
//! Two operations are atomic to each other if each one's scope has the other one's thread in it. [`Block`] is the
//! calling thread's block, [`Device`] its GPU, [`System`] all GPUs and the CPU. In shared memory all are the same.
//!
//! # Order
//! As in `core::sync::atomic`, within the scope. An [`Acquire`] operation that reads what a [`Release`] operation wrote
//! sees everything that was written before that one; [`AcqRel`] is both, and [`Relaxed`] neither. There are no
//! sequentially consistent operations: put [`fence`]`(SeqCst, …)` between two. Which order an operation can have is
//! checked by types, so that no operation has a case that panics.
//!
//! # On the machines
//! - NVIDIA: PTX instructions with semantics and scope (`atom.acquire.cta`, `ld.relaxed.sys`, …), written as assembly:
//!   LLVM 22 drops both from read-modify-write operations, so that even `core`'s become relaxed ones of the GPU's
//!   scope. Atomic operations need no convergence, so assembly is harmless here. Where LLVM knows an address to be in
//!   shared or global memory, the instruction says so.
//! - AMD: LLVM's atomic instructions, which get their scope (`workgroup`, `agent`, or the system's) at link. Floats are
//!   added in a loop of compare-and-exchange.
//! - Host: `core`'s operations. Each lets the other threads of the block run, so that waiting for another thread's
//!   write works.

#[cfg(target_arch = "amdgpu")]
mod amdgpu;
#[cfg(not(target_arch = "nvptx64"))]
mod floats;
#[cfg(target_arch = "nvptx64")]
mod nvptx;
mod operations;
mod order;
#[cfg(on_host)]
mod portable;
mod value;

pub use order::{
    AcqRel, Acquire, Block, Device, FenceOrder, LoadOrder, Order, Relaxed, Release, Scope, SeqCst, StoreOrder, System,
};
pub use value::{Integer, Value};

#[cfg(target_arch = "amdgpu")]
use amdgpu as imp;
use core::cell::UnsafeCell;
use core::fmt::{self, Debug, Formatter};
#[cfg(target_arch = "nvptx64")]
use nvptx as imp;
#[cfg(on_host)]
use portable as imp;

/// A number that threads read and write at the same time: `u32`, `i32`, `u64`, `i64`, `f32` or `f64`.
#[repr(transparent)]
pub struct Atomic<T> {
    value: UnsafeCell<T>,
}

// SAFETY: the value is only reached by atomic operations, as long as the atomic is shared.
unsafe impl<T: Value> Sync for Atomic<T> {}

impl<T: Value> Debug for Atomic<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Atomic").finish_non_exhaustive()
    }
}

impl<T: Value> Atomic<T> {
    /// A number that threads can share.
    #[inline(always)]
    pub const fn new(value: T) -> Atomic<T> {
        Atomic { value: UnsafeCell::new(value) }
    }

    /// Numbers that are held alone, as atomics.
    #[inline(always)]
    pub fn from_mut_slice(numbers: &mut [T]) -> &[Atomic<T>] {
        // SAFETY: an atomic is laid out as its value, and the exclusive borrow lasts as long as the result.
        unsafe { &*(core::ptr::from_mut(numbers) as *const [Atomic<T>]) }
    }

    /// The number at an address.
    ///
    /// # Safety
    /// The address is aligned to the size of `T` and valid for `'a`, in which it is only used by atomic operations.
    #[inline(always)]
    pub const unsafe fn from_ptr<'a>(place: *mut T) -> &'a Atomic<T> {
        // SAFETY: an atomic is laid out as its value, and the caller promises the rest.
        unsafe { &*place.cast() }
    }

    /// The address.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *mut T {
        self.value.get()
    }

    /// The value; [`Relaxed`] or [`Acquire`].
    #[inline(always)]
    pub fn load<O: LoadOrder, S: Scope>(&self, _: O, _: S) -> T {
        // SAFETY: (here and below) the address is that of a live atomic, which is aligned as `imp` asks for.
        unsafe { T::load::<O, S>(self.as_ptr()) }
    }

    /// Writes `value`; [`Relaxed`] or [`Release`].
    #[inline(always)]
    pub fn store<O: StoreOrder, S: Scope>(&self, value: T, _: O, _: S) {
        // SAFETY: as in `load`.
        unsafe { T::store::<O, S>(self.as_ptr(), value) };
    }

    /// Writes `value`, and returns what was there before.
    #[inline(always)]
    pub fn swap<O: Order, S: Scope>(&self, value: T, _: O, _: S) -> T {
        // SAFETY: as in `load`.
        unsafe { T::swap::<O, S>(self.as_ptr(), value) }
    }

    /// Writes `new` if the value has the bits of `expected`. What was there before: `Ok` if it was that.
    ///
    /// The order is that of both outcomes.
    #[inline(always)]
    pub fn compare_exchange<O: Order, S: Scope>(&self, expected: T, new: T, _: O, _: S) -> Result<T, T> {
        // SAFETY: as in `load`.
        let found = unsafe { T::compare_exchange::<O, S>(self.as_ptr(), expected, new) };
        if found.same_bits(expected) { Ok(found) } else { Err(found) }
    }

    /// Adds `value`, and returns what was there before. Integers wrap around.
    #[inline(always)]
    pub fn fetch_add<O: Order, S: Scope>(&self, value: T, _: O, _: S) -> T {
        // SAFETY: as in `load`.
        unsafe { T::fetch_add::<O, S>(self.as_ptr(), value) }
    }
}

impl<T: Integer> Atomic<T> {
    /// Subtracts `value`, wrapping around, and returns what was there before.
    #[inline(always)]
    pub fn fetch_sub<O: Order, S: Scope>(&self, value: T, order: O, scope: S) -> T {
        self.fetch_add(value.wrapping_neg(), order, scope)
    }

    /// Keeps the lesser of the value and `value`, and returns what was there before.
    #[inline(always)]
    pub fn fetch_min<O: Order, S: Scope>(&self, value: T, _: O, _: S) -> T {
        // SAFETY: as in `load`.
        unsafe { T::fetch_min::<O, S>(self.as_ptr(), value) }
    }

    /// Keeps the greater of the value and `value`, and returns what was there before.
    #[inline(always)]
    pub fn fetch_max<O: Order, S: Scope>(&self, value: T, _: O, _: S) -> T {
        // SAFETY: as in `load`.
        unsafe { T::fetch_max::<O, S>(self.as_ptr(), value) }
    }

    /// Clears the bits that `value` has not, and returns what was there before.
    #[inline(always)]
    pub fn fetch_and<O: Order, S: Scope>(&self, value: T, _: O, _: S) -> T {
        // SAFETY: as in `load`.
        unsafe { T::fetch_and::<O, S>(self.as_ptr(), value) }
    }

    /// Sets the bits that `value` has, and returns what was there before.
    #[inline(always)]
    pub fn fetch_or<O: Order, S: Scope>(&self, value: T, _: O, _: S) -> T {
        // SAFETY: as in `load`.
        unsafe { T::fetch_or::<O, S>(self.as_ptr(), value) }
    }

    /// Flips the bits that `value` has, and returns what was there before.
    #[inline(always)]
    pub fn fetch_xor<O: Order, S: Scope>(&self, value: T, _: O, _: S) -> T {
        // SAFETY: as in `load`.
        unsafe { T::fetch_xor::<O, S>(self.as_ptr(), value) }
    }
}

/// Orders the thread's memory accesses before the fence and those after it, for the threads in the scope.
///
/// A [`Release`] fence before a relaxed write and an [`Acquire`] fence after a relaxed read of it order as operations
/// of these orders do. Fences with [`SeqCst`] have one order that all threads in the scope agree on.
#[inline(always)]
pub fn fence<O: FenceOrder, S: Scope>(_: O, _: S) {
    imp::fence::<O, S>();
}
