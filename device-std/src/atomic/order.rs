//! Orders and scopes, as types of one value each: what an operation cannot have does not compile.

use core::sync::atomic::Ordering;

/// How an order is called in PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Semantics {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
}

/// How a scope is called in PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Cta,
    Gpu,
    Sys,
}

mod sealed {
    use super::{Ordering, Reach, Semantics};

    pub trait AnyOrder {
        #[allow(private_interfaces, reason = "the trait is out of reach")]
        const SEMANTICS: Semantics;
        const ORDERING: Ordering;
        /// What a failed comparison can be ordered by: a read alone.
        const FAILURE: Ordering;
    }

    pub trait AnyFence {
        const ORDERING: Ordering;
    }

    pub trait AnyScope {
        #[allow(private_interfaces, reason = "the trait is out of reach")]
        const REACH: Reach;
    }
}

pub(super) use sealed::{AnyFence, AnyOrder, AnyScope};

/// The order of an operation that reads and writes.
#[diagnostic::on_unimplemented(
    message = "an operation is `Relaxed`, `Acquire`, `Release` or `AcqRel`, not `{Self}`",
    label = "not an order for this"
)]
pub trait Order: AnyOrder + Copy {}
/// The order of an operation that reads.
#[diagnostic::on_unimplemented(
    message = "a load is `Relaxed` or `Acquire`, not `{Self}`",
    label = "not an order for this"
)]
pub trait LoadOrder: Order {}
/// The order of an operation that writes.
#[diagnostic::on_unimplemented(
    message = "a store is `Relaxed` or `Release`, not `{Self}`",
    label = "not an order for this"
)]
pub trait StoreOrder: Order {}
/// The order of a fence.
#[diagnostic::on_unimplemented(
    message = "a fence is `Acquire`, `Release`, `AcqRel` or `SeqCst`, not `{Self}`",
    label = "not an order for this"
)]
pub trait FenceOrder: AnyFence + Copy {}
/// The threads that an operation is atomic and ordered to.
pub trait Scope: AnyScope + Copy {}

macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident, fails as $failure:ident: $($kind:ident)*;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name;

        impl AnyOrder for $name {
            #[allow(private_interfaces, reason = "the trait is out of reach")]
            const SEMANTICS: Semantics = Semantics::$name;
            const ORDERING: Ordering = Ordering::$name;
            const FAILURE: Ordering = Ordering::$failure;
        }

        impl Order for $name {}
        $(impl $kind for $name {})*
    )*};
}

orders! {
    /// Atomic, and no order.
    Relaxed, fails as Relaxed: LoadOrder StoreOrder;
    /// What comes later is not done before.
    Acquire, fails as Acquire: LoadOrder FenceOrder;
    /// What came earlier is done before.
    Release, fails as Relaxed: StoreOrder FenceOrder;
    /// Both.
    AcqRel, fails as Acquire: FenceOrder;
}

macro_rules! fences {
    ($($name:ident)*) => {$(
        impl AnyFence for $name {
            const ORDERING: Ordering = Ordering::$name;
        }
    )*};
}

fences!(Acquire Release AcqRel SeqCst);

/// One order of all such fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeqCst;

impl FenceOrder for SeqCst {}

macro_rules! scopes {
    ($($(#[$doc:meta])* $name:ident: $reach:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name;

        impl AnyScope for $name {
            #[allow(private_interfaces, reason = "the trait is out of reach")]
            const REACH: Reach = Reach::$reach;
        }

        impl Scope for $name {}
    )*};
}

scopes! {
    /// The threads of the block.
    Block: Cta;
    /// The threads of all kernels on the GPU.
    Device: Gpu;
    /// The threads of all GPUs and of the CPU.
    System: Sys;
}
