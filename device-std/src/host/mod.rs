//! Kernels on the CPU: the same source, run block by block, with every operation that lets threads exchange and wait.
//!
//! [`launch`] takes the place of the GPU driver's. Each thread of a block runs on a stack of its own; one runs at a time,
//! until it returns or waits for others, so that a launch always takes the same course and plain memory accesses of
//! threads never overlap. What a GPU would leave unspecified is reported: where all threads that are left wait for
//! threads that do not come, the launch ends with [`Error::Deadlock`], which names the operations, their lanes and
//! their places in the source.
//!
//! ```
//! use device_std::{host, kernel, memory::PerThread, subgroup};
//!
//! #[kernel]
//! fn rotate(xs: &[u32], mut out: PerThread<'_, u32>) {
//!     let own = xs.get(subgroup::lane() as usize).copied().unwrap_or(0);
//!     let next = subgroup::shfl(own, (subgroup::lane() + 1) % subgroup::size());
//!     if let Some(element) = out.element() {
//!         *element = next;
//!     }
//! }
//!
//! let xs = [10, 20, 30, 40];
//! let mut ys = [0; 4];
//! let out = host::Output::new(&mut ys);
//! host::launch(1, 4, 0, || rotate(&xs, out.per_thread()))?;
//! assert_eq!(ys, [20, 30, 40, 10]);
//! # Ok::<(), host::Error>(())
//! ```
//!
//! # What it does not show
//! - Races. Threads run in a fixed order ([`Order`]), so a kernel that lacks a barrier may compute the right thing
//!   here. Another order may show it.
//! - Threads that spin until another *block* writes something: blocks run one after another. Within a block such a loop
//!   works where it reads through [`atomic`](crate::atomic), as every such access lets the other threads run on. One
//!   that waits in vain ends the launch with [`Error::Stalled`], though late; a loop without an atomic operation never
//!   ends.
//! - The last bit of operations that the machine may choose: the payload of a NaN, and approximate functions.

mod launch;
mod order;
mod output;

pub use crate::stand_in::{Error, MAX_BLOCK, MAX_DYNAMIC_SHARED, Wait};
pub use launch::{Dim, Launch, launch};
pub use order::Order;
pub use output::{Output, Rows};
