//! Kernels whose loops must stay rolled, one for every form that a hinted loop can take.
//!
//! Every loop loads from memory. With arithmetic alone and a constant trip count, LLVM or ptxas computes the result
//! outright and deletes the loop, which leaves nothing to keep rolled. Loads go through raw pointers, so that what is
//! counted in the machine code is the loop and not its bounds checks.
//!
//! Every kernel says in its documentation what the machine code must hold: `Machine code: 1 loop, 2 loads.` A test reads
//! these lines and counts. Loads are global loads in the program text, so a loop's body counts once.
//!
//! All kernels work on one element a thread, `i = thread::global_x()`, and their callers promise that every index that
//! a kernel names below is inside its buffer.

#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), no_std, feature(abi_gpu_kernel))]
#![allow(clippy::missing_safety_doc, reason = "the module says what all callers promise")]
#![allow(unsafe_op_in_unsafe_fn, reason = "every kernel is nothing but loads and stores that its caller vouches for")]

mod nests;
mod shapes;
mod taps;

pub use nests::{nested_both, nested_inner, nested_outer, siblings};
pub use shapes::{labelled_continue, loop_break, range_for, two_continues, while_let, while_loop};
pub use taps::{rolled_in_device_fn, taps_default, taps_rolled};
