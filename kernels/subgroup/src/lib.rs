//! Kernels that hold a machine's sub-groups to the contract of `device_std::subgroup`, and the cases to run them on.
//!
//! All kernels have the same parameters: words that belong to the threads ([`INPUTS`] each, by linear index in the block),
//! words for all of them, and [`RESULTS`] words of output for each thread. They are launched with one block. What they
//! compute is a function that is generic over the machine, so that the host can run it with sub-groups of any width.
//!
//! `cases` (on hosts only) is the table: for each kernel the blocks, the inputs and the expected outputs, computed by other
//! means. Whoever can launch a kernel can run the table: the host here, an emulator or a GPU by the kernels' names.

#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), no_std, feature(abi_gpu_kernel, f16))]

pub mod blocks;
#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
pub mod cases;
pub mod folds;
mod parameters;
pub mod promises;
pub mod queries;
pub mod shuffles;
mod value;
pub mod votes;

pub use parameters::{INPUTS, Input, RESULTS, Results};
pub use value::Value;
