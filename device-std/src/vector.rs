//! Loads and stores of 16 bytes at once, the widest that a thread can make.
//!
//! ```
//! use device_std::vector;
//!
//! let mut xs = [0.0f32; 8];
//! // Whether `xs` starts at a multiple of 16 bytes is the compiler's choice; four floats do from one of these places.
//! let start = (0..4).find(|&start| vector::get::<f32, 4>(&xs, start).is_some()).unwrap();
//! assert_eq!(vector::set(&mut xs, start, [1.0, 2.0, 3.0, 4.0]), Some(()));
//! assert_eq!(vector::get(&xs, start), Some([1.0, 2.0, 3.0, 4.0]));
//! assert_eq!(vector::get::<f32, 4>(&xs, start + 1), None);
//! ```
//!
//! An array of N values that is 16 bytes long travels in one instruction: `ld.global.v4.b32`, or `v2.b64` for values of
//! 8 bytes, on NVIDIA GPUs, `global_load_b128` on AMD's. Left to itself the compiler makes one of four neighbouring
//! loads only where it can prove that they are aligned, which it seldom can. Values are [`Plain`]: whatever their type,
//! the bytes are moved.
//!
//! Both the address and the offset matter: GPU memory is allocated at multiples of 256 bytes, so element `i` of a whole
//! `f32` buffer is aligned where `i` is a multiple of 4.

use crate::Plain;
use core::mem::{align_of, size_of, transmute_copy};

/// The bytes of a vector, and what its address must be a multiple of.
pub const BYTES: usize = 16;

/// Loads N values from an address that is a multiple of 16.
///
/// # Safety
/// From `from` on, 16 bytes are valid for reads, and `from` is a multiple of 16; an address that is not stops the
/// launch with a misaligned address on NVIDIA GPUs.
///
/// # Does not compile
/// Where N values of type `T` are not 16 bytes.
#[inline(always)]
pub unsafe fn load<T: Plain, const N: usize>(from: *const T) -> [T; N] {
    const { check_size(size_of::<[T; N]>()) };
    // SAFETY: the caller vouches for the address, and the size has been checked.
    unsafe { read(from) }
}

/// Stores N values at an address that is a multiple of 16.
///
/// # Safety
/// From `to` on, 16 bytes are valid for writes, and `to` is a multiple of 16, as with [`load`].
///
/// # Does not compile
/// Where N values of type `T` are not 16 bytes.
#[inline(always)]
pub unsafe fn store<T: Plain, const N: usize>(to: *mut T, values: [T; N]) {
    const { check_size(size_of::<[T; N]>()) };
    // SAFETY: the caller vouches for the address, and the size has been checked.
    unsafe { write(to, values) }
}

/// The N values from `start` on; none where they are not all in the slice, or do not begin at a multiple of 16 bytes.
///
/// # Does not compile
/// Where N values of type `T` are not 16 bytes.
#[inline(always)]
pub fn get<T: Plain, const N: usize>(values: &[T], start: usize) -> Option<[T; N]> {
    const { check_size(size_of::<[T; N]>()) };
    let vector = values.get(start..)?.get(..N)?.as_ptr();
    // SAFETY: N values, which are 16 bytes, are in the slice from there on, at an aligned address.
    is_aligned(vector).then(|| unsafe { read(vector) })
}

/// Stores N values from `start` on; changes nothing and returns none where [`get`] would.
///
/// # Does not compile
/// Where N values of type `T` are not 16 bytes.
#[inline(always)]
pub fn set<T: Plain, const N: usize>(values: &mut [T], start: usize, vector: [T; N]) -> Option<()> {
    const { check_size(size_of::<[T; N]>()) };
    let place = values.get_mut(start..)?.get_mut(..N)?.as_mut_ptr();
    // SAFETY: N values, which are 16 bytes, are in the slice from there on, at an aligned address.
    is_aligned(place).then(|| unsafe { write(place, vector) })
}

/// Loads values that are 16 bytes together.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
unsafe fn read<T: Plain, const N: usize>(from: *const T) -> [T; N] {
    if const { align_of::<T>() < 8 } {
        // SAFETY: the caller vouches for the address; the words are the bytes of N plain values, any of which are
        // valid.
        unsafe { transmute_copy(&*from.cast::<Words>()) }
    } else {
        // SAFETY: as above.
        unsafe { transmute_copy(&*from.cast::<DoubleWords>()) }
    }
}

/// Stores values that are 16 bytes together.
///
/// # Safety
/// As for [`store`].
#[inline(always)]
unsafe fn write<T: Plain, const N: usize>(to: *mut T, values: [T; N]) {
    if const { align_of::<T>() < 8 } {
        // SAFETY: the caller vouches for the address, and the values have the size of the words and no padding.
        unsafe { *to.cast::<Words>() = transmute_copy(&values) }
    } else {
        // SAFETY: as above.
        unsafe { *to.cast::<DoubleWords>() = transmute_copy(&values) }
    }
}

/// Whether an address is one that a vector can have.
#[inline(always)]
fn is_aligned<T>(address: *const T) -> bool {
    address.addr().is_multiple_of(BYTES)
}

#[track_caller]
const fn check_size(bytes: usize) {
    assert!(bytes == BYTES, "a vector is 16 bytes: N values of type T must be 16 bytes together");
}

/// Four words that LLVM sees as one vector.
#[cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), repr(simd))]
#[cfg_attr(not(any(target_arch = "nvptx64", target_arch = "amdgpu")), repr(C, align(16)))]
#[derive(Clone, Copy)]
struct Words([u32; 4]);

/// Two words of 64 bits that LLVM sees as one vector.
#[cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), repr(simd))]
#[cfg_attr(not(any(target_arch = "nvptx64", target_arch = "amdgpu")), repr(C, align(16)))]
#[derive(Clone, Copy)]
struct DoubleWords([u64; 2]);
