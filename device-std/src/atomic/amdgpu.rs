//! LLVM's atomic instructions, with a scope.
//!
//! Rust's own atomic operations have the scope of the whole system, and no way to name another. So each instruction
//! here stands straight behind a call of a marker that names the scope's number, and the link stage gives the
//! instruction that scope and erases the call. Both must be in one function, also where nothing is inlined: hence the
//! macros.

use super::operations::{IntegerOperations, Operations};
use super::order::{AnyFence, AnyOrder, AnyScope, Semantics};
use core::intrinsics::{self, AtomicOrdering};
use core::sync::atomic::Ordering;

// SAFETY: no definition exists, and none is ever called: the link stage erases the calls before code is generated.
unsafe extern "Rust" {
    safe fn __latch_atomic_scope(reach: u32);
}

/// One instruction: `intrinsic<parameters> (arguments)`, with the scope that `S` names.
///
/// The caller vouches for the address.
macro_rules! scoped {
    ($intrinsic:ident <$($parameter:ty,)* $({$order:expr}),*> $arguments:tt) => {{
        __latch_atomic_scope(const { S::REACH as u32 });
        // SAFETY: the address is that of a number of the type, aligned to its size, as the caller promises.
        unsafe { intrinsics::$intrinsic::<$($parameter,)* $({$order}),*> $arguments }
    }};
}

/// The same, with the order that `O` names, out of those given.
macro_rules! ordered {
    ([$($semantics:ident)*] $intrinsic:ident $parameters:tt $arguments:tt) => {
        match O::SEMANTICS {
            $(Semantics::$semantics => ordered!(@ $semantics $intrinsic $parameters $arguments),)*
            // Loads and stores have no other orders: their traits see to it.
            #[allow(unreachable_patterns, reason = "other operations have all orders")]
            _ => ordered!(@ Relaxed $intrinsic $parameters $arguments),
        }
    };
    (@ $semantics:ident $intrinsic:ident [$($parameter:ty)*] $arguments:tt) => {
        scoped!($intrinsic <$($parameter,)* {AtomicOrdering::$semantics}> $arguments)
    };
}

macro_rules! functions {
    ($($name:ident: $intrinsic:ident $parameters:tt;)*) => {$(
        #[inline(always)]
        unsafe fn $name<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self {
            ordered!([Relaxed Acquire Release AcqRel] $intrinsic $parameters (place, value))
        }
    )*};
}

macro_rules! integers {
    ($($type:ty: $min:ident $max:ident;)*) => {$(
        impl Operations for $type {
            #[inline(always)]
            unsafe fn load<O: AnyOrder, S: AnyScope>(place: *mut Self) -> Self {
                ordered!([Relaxed Acquire] atomic_load [$type] (place))
            }

            #[inline(always)]
            unsafe fn store<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) {
                ordered!([Relaxed Release] atomic_store [$type] (place, value));
            }

            #[inline(always)]
            unsafe fn compare_exchange<O: AnyOrder, S: AnyScope>(place: *mut Self, expected: Self, new: Self) -> Self {
                use AtomicOrdering::{AcqRel, Acquire, Relaxed, Release};
                let (before, _) = match O::SEMANTICS {
                    Semantics::Relaxed => scoped!(atomic_cxchg <$type, {Relaxed}, {Relaxed}> (place, expected, new)),
                    Semantics::Acquire => scoped!(atomic_cxchg <$type, {Acquire}, {Acquire}> (place, expected, new)),
                    Semantics::Release => scoped!(atomic_cxchg <$type, {Release}, {Relaxed}> (place, expected, new)),
                    Semantics::AcqRel => scoped!(atomic_cxchg <$type, {AcqRel}, {Acquire}> (place, expected, new)),
                };
                before
            }

            functions! {
                swap: atomic_xchg [$type];
                fetch_add: atomic_xadd [$type $type];
            }
        }

        impl IntegerOperations for $type {
            functions! {
                fetch_min: $min [$type];
                fetch_max: $max [$type];
                fetch_and: atomic_and [$type $type];
                fetch_or: atomic_or [$type $type];
                fetch_xor: atomic_xor [$type $type];
            }
        }
    )*};
}

integers! {
    u32: atomic_umin atomic_umax;
    i32: atomic_min atomic_max;
    u64: atomic_umin atomic_umax;
    i64: atomic_min atomic_max;
}

/// A fence between the thread's accesses, for the threads in the scope.
#[inline(always)]
pub(super) fn fence<O: AnyFence, S: AnyScope>() {
    match O::ORDERING {
        Ordering::Acquire => scoped!(atomic_fence <{AtomicOrdering::Acquire}> ()),
        Ordering::Release => scoped!(atomic_fence <{AtomicOrdering::Release}> ()),
        Ordering::AcqRel => scoped!(atomic_fence <{AtomicOrdering::AcqRel}> ()),
        _ => scoped!(atomic_fence <{AtomicOrdering::SeqCst}> ()),
    }
}
