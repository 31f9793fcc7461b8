//! The threads of a block as a whole: their linear order, the barrier where all wait for all, and reductions; and the
//! blocks of the grid in theirs.

mod reduce;

pub use reduce::{reduce, reduce_by};

use crate::thread;

/// The thread's index in its block, all dimensions in one, the first fastest.
#[inline(always)]
pub fn thread_index() -> u32 {
    thread::index_in_block()
}

/// The threads of the block, all dimensions together.
#[inline(always)]
pub fn threads() -> u32 {
    thread::threads_of_block()
}

/// The block's index in the grid, all dimensions in one, the first fastest.
#[inline(always)]
pub fn index() -> usize {
    let row = (thread::block_idx_z() as usize).wrapping_mul(thread::grid_dim_y() as usize);
    let row = row.wrapping_add(thread::block_idx_y() as usize);
    row.wrapping_mul(thread::grid_dim_x() as usize).wrapping_add(thread::block_idx_x() as usize)
}

/// The blocks of the grid, all dimensions together.
#[inline(always)]
pub fn count() -> usize {
    let plane = (thread::grid_dim_x() as usize).wrapping_mul(thread::grid_dim_y() as usize);
    plane.wrapping_mul(thread::grid_dim_z() as usize)
}

/// Waits for all threads of the block, and makes what each wrote to memory before visible to all of them after.
///
/// Every thread of the block must reach the same call the same number of times: not from a branch that some do not
/// take, nor after some have returned. A GPU may hang, or not wait, where that is broken; the host reports it.
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn barrier() {
    imp::barrier();
}

#[cfg(target_arch = "nvptx64")]
mod imp {
    #[inline(always)]
    pub fn barrier() {
        // SAFETY: the barrier has no precondition but that all threads reach it, and without it they only wait.
        unsafe { core::arch::nvptx::_syncthreads() };
    }
}

#[cfg(target_arch = "amdgpu")]
mod imp {
    use crate::atomic::{Acquire, Block, Release, fence};

    /// The instruction waits for the threads alone; the fences make it wait for their memory accesses too.
    #[inline(always)]
    pub fn barrier() {
        fence(Release, Block);
        core::arch::amdgpu::s_barrier();
        fence(Acquire, Block);
    }
}

#[cfg(on_host)]
mod imp {
    #[track_caller]
    pub fn barrier() {
        crate::stand_in::block_barrier("barrier");
    }
}
