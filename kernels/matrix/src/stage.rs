//! From global to shared memory, eight elements a thread at once.

use device_std::matrix::Element;
use device_std::shared::Shared;
use device_std::vector;

/// The elements that a thread moves.
pub const EIGHT: usize = 8;

/// Copies eight elements.
///
/// # Safety
/// Both places are multiples of 16 bytes and hold eight elements; no other thread touches the one in shared memory.
#[inline(always)]
pub unsafe fn copy<T: Element>(from: *const T, memory: Shared<[T]>, at: usize) {
    // SAFETY: the caller's promise.
    unsafe { vector::store::<T, EIGHT>(memory.at(at).as_ptr(), vector::load(from)) };
}
