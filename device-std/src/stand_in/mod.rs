//! What stands in for a GPU's block of threads on the CPU: stacks of their own, memory that is shared, and operations
//! at which lanes meet. [`crate::host`] launches kernels on it, and the operations of this library do their work with
//! it; it knows neither.

mod block;
mod error;
pub(crate) mod lane;
mod memory;
mod ranges;
mod switch;

pub use error::{Error, Wait};

pub(crate) use block::{Block, Place, Status, Words};
pub(crate) use lane::{block_barrier, meet, pause, shared_array, shared_dynamic};
pub(crate) use switch::Switch;

/// The most threads of a block, as on GPUs.
pub const MAX_BLOCK: u32 = 1024;

/// The most bytes of dynamic shared memory that any GPU gives a block.
pub const MAX_DYNAMIC_SHARED: usize = 227 << 10;
