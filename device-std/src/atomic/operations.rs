//! What a machine does for each type of number.

use super::order::{AnyOrder, AnyScope};

/// The operations for one type: what is behind [`Value`](super::Value).
///
/// # Safety
/// Of all functions: the address is that of a number of the type that can be read and written, and aligned to its size.
#[allow(clippy::missing_safety_doc, reason = "the trait says it for all")]
pub trait Operations: Copy {
    /// The value.
    unsafe fn load<O: AnyOrder, S: AnyScope>(place: *mut Self) -> Self;
    /// Writes a value.
    unsafe fn store<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self);
    /// Writes a value; the one before.
    unsafe fn swap<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self;
    /// Writes a value if another is there; the one before.
    unsafe fn compare_exchange<O: AnyOrder, S: AnyScope>(place: *mut Self, expected: Self, new: Self) -> Self;
    /// Adds a value; the one before.
    unsafe fn fetch_add<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self;
}

/// The operations that only integers have.
///
/// # Safety
/// As for [`Operations`].
#[allow(clippy::missing_safety_doc, reason = "the trait says it for all")]
pub trait IntegerOperations: Operations {
    /// The lesser; the value before.
    unsafe fn fetch_min<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self;
    /// The greater; the value before.
    unsafe fn fetch_max<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self;
    /// The common bits; the value before.
    unsafe fn fetch_and<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self;
    /// All bits of both; the value before.
    unsafe fn fetch_or<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self;
    /// The bits of one only; the value before.
    unsafe fn fetch_xor<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self;
}
