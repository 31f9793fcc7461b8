//! Kernel parameters in global memory.
//!
//! Every thread of a launch receives the same arguments, so a parameter is sound only if all threads may hold it at
//! once.
//! - `&[T]` reads. `#[kernel]` passes it as an address and a length. Nothing may write the elements during the launch.
//! - [`PerThread`] writes: it hands each thread elements of its own. Passed likewise.
//! - [`PerBlock`] writes too: it hands each block a row, and each thread elements of its block's row. Passed as an
//!   address and the length of a row.
//! - `*mut T` does anything, in `unsafe` code. `&mut T` is refused.

mod per_block;
mod per_thread;

pub use per_block::{PerBlock, RowTiles};
pub use per_thread::{FromLaunch, PerThread, Tiles, grid_index, grid_threads};
