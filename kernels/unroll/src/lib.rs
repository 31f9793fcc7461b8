//! Kernels whose loops are unrolled, fully or in part, and what stays rolled among them.
//!
//! Every kernel says in its documentation what the machine code must hold: `Machine code: 1 loop, 8 loads.` A test reads
//! these lines and counts. Loads are global loads in the program text, so a loop's body counts once.
//!
//! As in the family `nounroll`, loads go through raw pointers, a thread works on `i = thread::global_x()`, and callers promise
//! that every index named is inside its buffer. Where nothing else is said, a kernel sums elements of `x` from `i` on
//! into `y[i]`.

#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), no_std, feature(abi_gpu_kernel))]
#![allow(clippy::missing_safety_doc, reason = "the module says what all callers promise")]
#![allow(unsafe_op_in_unsafe_fn, reason = "every kernel is nothing but loads and stores that its caller vouches for")]

mod full;
mod functions;
mod iterators;
mod mixed;
mod order;
mod partial;

pub use full::*;
pub use functions::*;
pub use iterators::*;
pub use mixed::*;
pub use order::*;
pub use partial::*;
