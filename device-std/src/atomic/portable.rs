//! `core`'s atomics, whose scope is the system: on AMD's GPUs and on hosts.

use super::operations::{IntegerOperations, Operations};
use super::order::{AnyFence, AnyOrder, AnyScope};
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

/// Lets other threads run, on a host: memory may have to change before the caller gets any further.
#[inline(always)]
fn pause() {
    #[cfg(on_host)]
    crate::host::pause();
}

macro_rules! functions {
    ($atomic:ident: $($name:ident)*) => {$(
        #[inline(always)]
        unsafe fn $name<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self {
            pause();
            // SAFETY: the caller's promise.
            unsafe { $atomic::from_ptr(place) }.$name(value, O::ORDERING)
        }
    )*};
}

macro_rules! integers {
    ($($type:ty: $atomic:ident;)*) => {$(
        impl Operations for $type {
            #[inline(always)]
            unsafe fn load<O: AnyOrder, S: AnyScope>(place: *mut Self) -> Self {
                pause();
                // SAFETY: the caller's promise.
                unsafe { $atomic::from_ptr(place) }.load(O::ORDERING)
            }

            #[inline(always)]
            unsafe fn store<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) {
                // SAFETY: the caller's promise.
                unsafe { $atomic::from_ptr(place) }.store(value, O::ORDERING);
            }

            #[inline(always)]
            unsafe fn compare_exchange<O: AnyOrder, S: AnyScope>(place: *mut Self, expected: Self, new: Self) -> Self {
                pause();
                // SAFETY: the caller's promise.
                let place = unsafe { $atomic::from_ptr(place) };
                let (Ok(before) | Err(before)) = place.compare_exchange(expected, new, O::ORDERING, O::FAILURE);
                before
            }

            functions!($atomic: swap fetch_add);
        }

        impl IntegerOperations for $type {
            functions!($atomic: fetch_min fetch_max fetch_and fetch_or fetch_xor);
        }
    )*};
}

integers! {
    u32: AtomicU32;
    i32: AtomicI32;
    u64: AtomicU64;
    i64: AtomicI64;
}

macro_rules! floats {
    ($($type:ty: $bits:ty;)*) => {$(
        impl Operations for $type {
            #[inline(always)]
            unsafe fn load<O: AnyOrder, S: AnyScope>(place: *mut Self) -> Self {
                // SAFETY: (here and below) the caller's promise, and an integer of the float's size and alignment.
                <$type>::from_bits(unsafe { <$bits>::load::<O, S>(place.cast()) })
            }

            #[inline(always)]
            unsafe fn store<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) {
                // SAFETY: as above.
                unsafe { <$bits>::store::<O, S>(place.cast(), value.to_bits()) };
            }

            #[inline(always)]
            unsafe fn swap<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self {
                // SAFETY: as above.
                <$type>::from_bits(unsafe { <$bits>::swap::<O, S>(place.cast(), value.to_bits()) })
            }

            #[inline(always)]
            unsafe fn compare_exchange<O: AnyOrder, S: AnyScope>(place: *mut Self, expected: Self, new: Self) -> Self {
                let (expected, new) = (expected.to_bits(), new.to_bits());
                // SAFETY: as above.
                <$type>::from_bits(unsafe { <$bits>::compare_exchange::<O, S>(place.cast(), expected, new) })
            }

            #[inline(always)]
            unsafe fn fetch_add<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self {
                // SAFETY: as above.
                let mut before = unsafe { <$bits>::load::<super::Relaxed, S>(place.cast()) };
                loop {
                    let sum = (<$type>::from_bits(before) + value).to_bits();
                    // SAFETY: as above.
                    let found = unsafe { <$bits>::compare_exchange::<O, S>(place.cast(), before, sum) };
                    if found == before {
                        return <$type>::from_bits(before);
                    }
                    before = found;
                }
            }
        }
    )*};
}

floats! {
    f32: u32;
    f64: u64;
}

#[inline(always)]
pub(super) fn fence<O: AnyFence, S: AnyScope>() {
    core::sync::atomic::fence(O::ORDERING);
}
