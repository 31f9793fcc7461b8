//! Reductions: of a thread's own values, of a sub-group, of a block, and the row kernels that are made of them.
//!
//! All results but those of kernels named `…_fast` have the same bits on every machine: sums have one order, and the
//! arithmetic is IEEE 754's. `latch.toml` beside the crate holds what each kernel may cost in machine code.
//!
//! Kernels on rows ([`blocks`], [`softmax`], [`rmsnorm`]) are launched with a block for each row, of any number of threads.
//! Rows have any length. Where they start at multiples of 16 bytes, as they all do if the length is a multiple of 4 and
//! the buffer is aligned, elements travel by 16 bytes; else one by one, with the same result.

#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), no_std, feature(abi_gpu_kernel))]

pub mod blocks;
pub mod numbers;
pub mod rmsnorm;
mod rows;
pub mod softmax;
pub mod strided;
pub mod subgroups;
