//! What GPU kernels import.
//!
//! - [`kernel`] and [`device`] make kernels and the functions they call, and carry loop hints; [`unroll!`] writes loops
//!   out.
//! - [`thread`], [`block`] and [`subgroup`] say where a thread stands, and let threads exchange values and wait.
//! - [`memory`], [`shared`](mod@shared) and [`atomic`] are the parameters of kernels, the memory of a block, and
//!   operations of many threads on one place.
//! - [`reduce`](mod@reduce) adds up what one thread holds.
//! - [`math`] has elementary functions and 16-bit formats, [`matrix`] the products of tensor cores.
//! - `host` runs the same kernels on the CPU.
//!
//! ```
//! use device_std::{kernel, thread};
//!
//! /// `out[i] = sum of xs[i..i + 4]`, one thread an element, the loop kept rolled.
//! #[kernel]
//! pub unsafe fn sum4(xs: &[f32], out: *mut f32) {
//!     let i = thread::global_x() as usize;
//!     let mut sum = 0.0;
//!     #[nounroll]
//!     for k in 0..4 {
//!         sum += xs[i + k];
//!     }
//!     // SAFETY: the caller launches no more threads than `out` has elements, and each has an element of its own.
//!     unsafe { *out.add(i) = sum };
//! }
//! ```
//!
//! On the GPU targets (`nvptx64-nvidia-cuda`, `amdgcn-amd-amdhsa`) this crate is `no_std` and needs a compiler that
//! accepts unstable features; everywhere else it is stable Rust, and kernels are plain functions.

#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(stdarch_nvptx, link_llvm_intrinsics, abi_unadjusted, asm_experimental_arch, f16)
)]
#![cfg_attr(target_arch = "amdgpu", feature(stdarch_amdgpu, gpu_intrinsics, core_intrinsics, f16))]
#![cfg_attr(target_arch = "amdgpu", feature(link_llvm_intrinsics, abi_unadjusted))]
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), feature(core_float_math, repr_simd))]
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), allow(internal_features))]

extern crate self as device_std;

#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
extern crate std;

pub mod atomic;
pub mod block;
mod counted;
#[cfg(on_host)]
pub mod host;
mod limits;
pub mod marker;
pub mod math;
#[cfg(not(target_arch = "amdgpu"))]
pub mod matrix;
pub mod memory;
#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
mod panic;
mod plain;
pub mod reduce;
pub mod shared;
#[cfg(on_host)]
mod stand_in;
pub mod subgroup;
pub mod thread;
pub mod vector;

pub use device_std_macros::{Plain, device, kernel, nounroll};

#[doc = include_str!("unroll.md")]
pub use device_std_macros::unroll_copies as unroll;
pub use plain::Plain;

/// The hints as attributes, for those who want to name them.
///
/// Inside `#[kernel]` and `#[device]` items they need no import, and elsewhere they are errors that say so. `unroll` is
/// not re-exported at the crate's root, where the macro `unroll!` has that name.
pub mod hint {
    pub use device_std_macros::{nounroll, unroll};
}
