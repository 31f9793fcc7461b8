//! PTX instructions.
//!
//! Every operation exists for addresses in shared memory, in global memory, and for any address. Which one is taken is
//! a question to LLVM (`isspacep`) that it answers while compiling wherever it has seen where the address comes from;
//! only where it has not is the question asked by the kernel. Without that, ptxas would ask for every single address.

use super::operations::{IntegerOperations, Operations};
use super::order::{AnyFence, AnyOrder, AnyScope, Reach, Semantics};
use core::arch::asm;
use core::sync::atomic::Ordering;

// SAFETY: these are LLVM's own declarations of the intrinsics, which compare an address.
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.isspacep.shared"]
    safe fn is_shared(place: *const u8) -> bool;
    #[link_name = "llvm.nvvm.isspacep.global"]
    safe fn is_global(place: *const u8) -> bool;
}

/// Calls `$emit!(semantics scope (arguments))` with the names of an order and a scope, out of those given.
macro_rules! named {
    ([$($semantics:ident $order:literal)*] $emit:ident $arguments:tt) => {
        match (O::SEMANTICS, S::REACH) {
            $(
                (Semantics::$semantics, Reach::Cta) => $emit!($order "cta" $arguments),
                (Semantics::$semantics, Reach::Gpu) => $emit!($order "gpu" $arguments),
                (Semantics::$semantics, Reach::Sys) => $emit!($order "sys" $arguments),
            )*
            // Loads and stores have no other orders: their traits see to it.
            #[allow(unreachable_patterns, reason = "other operations have all orders")]
            _ => $emit!("relaxed" "sys" $arguments),
        }
    };
}

/// One of three instructions, by where the address is.
macro_rules! in_space {
    ($place:ident, $emit:ident $arguments:tt) => {
        if is_shared($place.cast()) {
            $emit!("cvta.to.shared.u64 {at}, {place};" ".shared" $arguments)
        } else if is_global($place.cast()) {
            $emit!("cvta.to.global.u64 {at}, {place};" ".global" $arguments)
        } else {
            $emit!("mov.u64 {at}, {place};" "" $arguments)
        }
    };
}

macro_rules! atom {
    ($order:literal $scope:literal ($operation:literal, $class:ident, $place:ident, $value:ident)) => {
        in_space!($place, atom_at($order, $scope, $operation, $class, $place, $value))
    };
}

macro_rules! atom_at {
    ($at:literal $space:literal ($order:literal, $scope:literal, $operation:literal, $class:ident, $place:ident, $value:ident)) => {{
        let before;
        // SAFETY: the caller vouches for the address, and the instruction touches nothing else.
        unsafe {
            asm!(
                $at,
                concat!("atom.", $order, ".", $scope, $space, ".", $operation, " {before}, [{at}], {value};"),
                at = out(reg64) _,
                place = in(reg64) $place,
                before = lateout($class) before,
                value = in($class) $value,
                options(nostack),
            );
        }
        before
    }};
}

macro_rules! compare {
    ($order:literal $scope:literal ($operation:literal, $class:ident, $place:ident, $expected:ident, $new:ident)) => {
        in_space!($place, compare_at($order, $scope, $operation, $class, $place, $expected, $new))
    };
}

macro_rules! compare_at {
    (
        $at:literal $space:literal
        ($order:literal, $scope:literal, $operation:literal, $class:ident, $place:ident, $expected:ident, $new:ident)
    ) => {{
        let before;
        // SAFETY: the caller vouches for the address, and the instruction touches nothing else.
        unsafe {
            asm!(
                $at,
                concat!("atom.", $order, ".", $scope, $space, ".", $operation, " {before}, [{at}], {expected}, {new};"),
                at = out(reg64) _,
                place = in(reg64) $place,
                before = lateout($class) before,
                expected = in($class) $expected,
                new = in($class) $new,
                options(nostack),
            );
        }
        before
    }};
}

macro_rules! load {
    ($order:literal $scope:literal ($bits:literal, $class:ident, $place:ident)) => {
        in_space!($place, load_at($order, $scope, $bits, $class, $place))
    };
}

macro_rules! load_at {
    ($at:literal $space:literal ($order:literal, $scope:literal, $bits:literal, $class:ident, $place:ident)) => {{
        let value;
        // SAFETY: the caller vouches for the address, and the instruction touches nothing else.
        unsafe {
            asm!(
                $at,
                concat!("ld.", $order, ".", $scope, $space, ".", $bits, " {value}, [{at}];"),
                at = out(reg64) _,
                place = in(reg64) $place,
                value = lateout($class) value,
                options(nostack),
            );
        }
        value
    }};
}

macro_rules! store {
    ($order:literal $scope:literal ($bits:literal, $class:ident, $place:ident, $value:ident)) => {
        in_space!($place, store_at($order, $scope, $bits, $class, $place, $value))
    };
}

macro_rules! store_at {
    ($at:literal $space:literal ($order:literal, $scope:literal, $bits:literal, $class:ident, $place:ident, $value:ident)) => {
        // SAFETY: the caller vouches for the address, and the instruction touches nothing else.
        unsafe {
            asm!(
                $at,
                concat!("st.", $order, ".", $scope, $space, ".", $bits, " [{at}], {value};"),
                at = out(reg64) _,
                place = in(reg64) $place,
                value = in($class) $value,
                options(nostack),
            )
        }
    };
}

/// The instructions of read-modify-write operations, each a function.
macro_rules! functions {
    ($class:ident: $($name:ident = $operation:literal;)*) => {$(
        #[inline(always)]
        unsafe fn $name<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self {
            named!([Relaxed "relaxed" Acquire "acquire" Release "release" AcqRel "acq_rel"]
                atom($operation, $class, place, value))
        }
    )*};
}

macro_rules! numbers {
    ($($type:ty: $class:ident, $bits:literal, $exchange:literal, $compare:literal, $add:literal;)*) => {$(
        impl Operations for $type {
            #[inline(always)]
            unsafe fn load<O: AnyOrder, S: AnyScope>(place: *mut Self) -> Self {
                named!([Relaxed "relaxed" Acquire "acquire"] load($bits, $class, place))
            }

            #[inline(always)]
            unsafe fn store<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) {
                named!([Relaxed "relaxed" Release "release"] store($bits, $class, place, value));
            }

            #[inline(always)]
            unsafe fn compare_exchange<O: AnyOrder, S: AnyScope>(place: *mut Self, expected: Self, new: Self) -> Self {
                named!([Relaxed "relaxed" Acquire "acquire" Release "release" AcqRel "acq_rel"]
                    compare($compare, $class, place, expected, new))
            }

            functions!($class: swap = $exchange; fetch_add = $add;);
        }
    )*};
}

numbers! {
    u32: reg32, "b32", "exch.b32", "cas.b32", "add.u32";
    i32: reg32, "b32", "exch.b32", "cas.b32", "add.u32";
    f32: reg32, "b32", "exch.b32", "cas.b32", "add.f32";
    u64: reg64, "b64", "exch.b64", "cas.b64", "add.u64";
    i64: reg64, "b64", "exch.b64", "cas.b64", "add.u64";
    f64: reg64, "b64", "exch.b64", "cas.b64", "add.f64";
}

macro_rules! integers {
    ($($type:ty: $class:ident, $min:literal, $max:literal, $and:literal, $or:literal, $xor:literal;)*) => {$(
        impl IntegerOperations for $type {
            functions!($class: fetch_min = $min; fetch_max = $max; fetch_and = $and; fetch_or = $or; fetch_xor = $xor;);
        }
    )*};
}

integers! {
    u32: reg32, "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32";
    i32: reg32, "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32";
    u64: reg64, "min.u64", "max.u64", "and.b64", "or.b64", "xor.b64";
    i64: reg64, "min.s64", "max.s64", "and.b64", "or.b64", "xor.b64";
}

#[inline(always)]
pub(super) fn fence<O: AnyFence, S: AnyScope>() {
    // SAFETY: (all) a fence has no precondition.
    match (O::ORDERING, S::REACH) {
        (Ordering::SeqCst, Reach::Cta) => unsafe { asm!("fence.sc.cta;", options(nostack)) },
        (Ordering::SeqCst, Reach::Gpu) => unsafe { asm!("fence.sc.gpu;", options(nostack)) },
        (Ordering::SeqCst, Reach::Sys) => unsafe { asm!("fence.sc.sys;", options(nostack)) },
        (_, Reach::Cta) => unsafe { asm!("fence.acq_rel.cta;", options(nostack)) },
        (_, Reach::Gpu) => unsafe { asm!("fence.acq_rel.gpu;", options(nostack)) },
        (_, Reach::Sys) => unsafe { asm!("fence.acq_rel.sys;", options(nostack)) },
    }
}
