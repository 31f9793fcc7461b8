//! Kernels for tensor cores: products of matrices, a rolled loop around each matrix instruction of `device_std::matrix`.
//!
//! All but [`chained_bf16`], its like and [`loaders`] compute `c = a * b` in blocks of [`Product`]'s sizes, one block of `c` a block of threads: the grid has one column of
//! blocks for so many columns of `c`, one row for so many rows. Every loop has as many rounds as the last argument says.
//!
//! Operands lie in shared memory or in registers, and no kernel overlaps loads with products: they show that the loop holds, not
//! how fast a product can be.

#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), no_std, feature(abi_gpu_kernel))]

mod chained;
mod fragments;
mod sizes;
mod stage;
mod synchronous;
#[cfg(any(target_feature = "sm_90a", not(target_arch = "nvptx64")))]
mod warpgroup;

pub use chained::{CHAINED, chained_bf16, chained_f16};
pub use fragments::{LOADED, loaders};
pub use sizes::Product;
pub use synchronous::{MMA, STAGED, mma_bf16, mma_f16, staged_bf16, staged_f16_transposed};
#[cfg(any(target_feature = "sm_90a", not(target_arch = "nvptx64")))]
pub use warpgroup::{WGMMA, WGMMA_DEEP, wgmma_bf16, wgmma_f16_transposed};
