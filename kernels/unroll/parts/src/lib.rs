//! Device functions with hints, for kernels of another crate: a hint must hold wherever its function is inlined.

#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), no_std)]

use device_std::device;

/// The sum of `N` elements from `x` on, in a loop that stays.
///
/// # Safety
/// All `N` elements must be readable.
#[device]
#[inline]
pub unsafe fn sum_rolled<const N: usize>(x: *const f32) -> f32 {
    let mut sum = 0.0;
    #[nounroll]
    for k in 0..N {
        // SAFETY: `k` is below `N`, for which the caller vouches.
        sum += unsafe { *x.add(k) };
    }
    sum
}

/// The sum of `N` elements from `x` on, without a loop.
///
/// # Safety
/// All `N` elements must be readable.
#[device]
#[inline]
pub unsafe fn sum_unrolled<const N: usize>(x: *const f32) -> f32 {
    let mut sum = 0.0;
    #[unroll]
    for k in 0..N {
        // SAFETY: `k` is below `N`, for which the caller vouches.
        sum += unsafe { *x.add(k) };
    }
    sum
}
