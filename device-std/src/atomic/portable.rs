//! `core`'s atomics, whose scope is the system: on hosts.
//!
//! Before each, other threads of the block may run: memory may have to change before the caller gets any further.

use super::operations::{IntegerOperations, Operations};
use super::order::{AnyFence, AnyOrder, AnyScope};
use crate::stand_in::pause;
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

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

#[inline(always)]
pub(super) fn fence<O: AnyFence, S: AnyScope>() {
    core::sync::atomic::fence(O::ORDERING);
}
