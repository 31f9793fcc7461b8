//! Kernels for what `device_std` has for memory: shared arrays, atomics with scopes, output that each thread owns a part of.
//!
//! All are launched with blocks of one dimension and at most [`BLOCK`] threads, unless they say otherwise.

#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), no_std, feature(abi_gpu_kernel))]

mod atomics;
mod dynamic;
mod output;
mod shared;

pub use atomics::{Numbers, every_operation, histogram, message};
pub use dynamic::{dynamic_parts, dynamic_size};
pub use output::{scale_tiles, square};
pub use shared::{BLOCK, TILE, instances, reverse, transpose, vectors};
