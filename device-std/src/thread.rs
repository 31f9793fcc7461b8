//! Where the running thread stands in its block and grid.
//!
//! A launch runs a grid of `grid_dim` blocks, each of `block_dim` threads, in up to three dimensions. Indices count
//! from 0 and are below their dimension. On a host the position is what [`host::at`] set for the calling OS thread: the
//! only thread of the only block where nothing did.

macro_rules! position {
    ($($(#[$doc:meta])* $name:ident = $axis:literal of $table:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> u32 {
            imp::$table::<$axis>()
        }
    )*};
}

position! {
    /// The thread's index in its block, first dimension.
    thread_idx_x = 0 of thread_idx;
    /// The thread's index in its block, second dimension.
    thread_idx_y = 1 of thread_idx;
    /// The thread's index in its block, third dimension.
    thread_idx_z = 2 of thread_idx;
    /// The block's index in the grid, first dimension.
    block_idx_x = 0 of block_idx;
    /// The block's index in the grid, second dimension.
    block_idx_y = 1 of block_idx;
    /// The block's index in the grid, third dimension.
    block_idx_z = 2 of block_idx;
    /// The threads of a block, first dimension.
    block_dim_x = 0 of block_dim;
    /// The threads of a block, second dimension.
    block_dim_y = 1 of block_dim;
    /// The threads of a block, third dimension.
    block_dim_z = 2 of block_dim;
    /// The blocks of the grid, first dimension.
    grid_dim_x = 0 of grid_dim;
    /// The blocks of the grid, second dimension.
    grid_dim_y = 1 of grid_dim;
    /// The blocks of the grid, third dimension.
    grid_dim_z = 2 of grid_dim;
}

/// The thread's index in its block, all dimensions in one, the first fastest: [`crate::block::thread_index`].
#[inline(always)]
pub(crate) fn index_in_block() -> u32 {
    let row = thread_idx_z().wrapping_mul(block_dim_y()).wrapping_add(thread_idx_y());
    row.wrapping_mul(block_dim_x()).wrapping_add(thread_idx_x())
}

/// The threads of the block, all dimensions together: [`crate::block::threads`].
#[inline(always)]
pub(crate) fn threads_of_block() -> u32 {
    block_dim_x().wrapping_mul(block_dim_y()).wrapping_mul(block_dim_z())
}

/// The thread's index in the whole grid, first dimension: `block_idx_x * block_dim_x + thread_idx_x`.
///
/// Wraps around where the grid has more than 2^32 threads in that dimension.
#[inline(always)]
pub fn global_x() -> u32 {
    block_idx_x().wrapping_mul(block_dim_x()).wrapping_add(thread_idx_x())
}

/// The thread's index in the whole grid, second dimension, as [`global_x`].
#[inline(always)]
pub fn global_y() -> u32 {
    block_idx_y().wrapping_mul(block_dim_y()).wrapping_add(thread_idx_y())
}

/// The thread's index in the whole grid, third dimension, as [`global_x`].
#[inline(always)]
pub fn global_z() -> u32 {
    block_idx_z().wrapping_mul(block_dim_z()).wrapping_add(thread_idx_z())
}

#[cfg(target_arch = "nvptx64")]
mod imp {
    //! The special registers.

    use core::arch::nvptx;

    macro_rules! registers {
        ($($table:ident: $x:ident, $y:ident, $z:ident;)*) => {$(
            #[inline(always)]
            pub fn $table<const AXIS: usize>() -> u32 {
                // SAFETY: reading a special register has no precondition.
                unsafe {
                    match AXIS {
                        0 => nvptx::$x(),
                        1 => nvptx::$y(),
                        _ => nvptx::$z(),
                    }
                }
            }
        )*};
    }

    registers! {
        thread_idx: _thread_idx_x, _thread_idx_y, _thread_idx_z;
        block_idx: _block_idx_x, _block_idx_y, _block_idx_z;
        block_dim: _block_dim_x, _block_dim_y, _block_dim_z;
        grid_dim: _grid_dim_x, _grid_dim_y, _grid_dim_z;
    }
}

#[cfg(target_arch = "amdgpu")]
mod imp {
    //! Thread and block index are in registers, the sizes in the dispatch packet of the HSA runtime
    //! (`hsa_kernel_dispatch_packet_t`: u16 block sizes from byte 4, u32 grid sizes in threads from byte 12).

    use core::arch::amdgpu;

    #[inline(always)]
    pub fn thread_idx<const AXIS: usize>() -> u32 {
        match AXIS {
            0 => amdgpu::workitem_id_x(),
            1 => amdgpu::workitem_id_y(),
            _ => amdgpu::workitem_id_z(),
        }
    }

    #[inline(always)]
    pub fn block_idx<const AXIS: usize>() -> u32 {
        match AXIS {
            0 => amdgpu::workgroup_id_x(),
            1 => amdgpu::workgroup_id_y(),
            _ => amdgpu::workgroup_id_z(),
        }
    }

    #[inline(always)]
    pub fn block_dim<const AXIS: usize>() -> u32 {
        let sizes = core::intrinsics::gpu::amdgpu_dispatch_ptr().cast::<u16>();
        // SAFETY: the packet holds three u16 block sizes from byte 4, is aligned to 64 bytes and outlives the launch.
        u32::from(unsafe { *sizes.add(2 + AXIS) })
    }

    /// The grid is stated in threads and may end with a partial block.
    #[inline(always)]
    pub fn grid_dim<const AXIS: usize>() -> u32 {
        let sizes = core::intrinsics::gpu::amdgpu_dispatch_ptr().cast::<u32>();
        // SAFETY: the packet holds three u32 grid sizes from byte 12, is aligned to 64 bytes and outlives the launch.
        let threads = unsafe { *sizes.add(3 + AXIS) };
        let block = block_dim::<AXIS>();
        // SAFETY: a block has at least one thread in each dimension. Checked, the division would bring a panic to
        // kernels.
        unsafe { core::intrinsics::unchecked_div(threads.wrapping_add(block).wrapping_sub(1), block) }
    }
}

#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
pub mod host {
    //! The position that a host gives to the kernel code it runs.

    use std::cell::Cell;
    use std::thread_local;

    /// Where a thread stands: three dimensions each, as in the functions of [`thread`](crate::thread).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Position {
        /// The thread in its block.
        pub thread_idx: [u32; 3],
        /// The block in the grid.
        pub block_idx: [u32; 3],
        /// Threads of a block.
        pub block_dim: [u32; 3],
        /// Blocks of the grid.
        pub grid_dim: [u32; 3],
    }

    impl Position {
        /// The only thread of the only block.
        pub const ALONE: Position =
            Position { thread_idx: [0; 3], block_idx: [0; 3], block_dim: [1; 3], grid_dim: [1; 3] };
    }

    thread_local! {
        static CURRENT: Cell<Position> = const { Cell::new(Position::ALONE) };
    }

    /// Runs `kernel` with the calling OS thread standing at `position`, and restores where it stood, also on a panic.
    pub fn at<R>(position: Position, kernel: impl FnOnce() -> R) -> R {
        struct Restore(Position);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _restore = Restore(CURRENT.replace(position));
        kernel()
    }

    /// The position of the calling OS thread.
    pub fn position() -> Position {
        CURRENT.get()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::thread;

        const SOMEWHERE: Position =
            Position { thread_idx: [1, 2, 3], block_idx: [4, 5, 6], block_dim: [7, 8, 9], grid_dim: [10, 11, 12] };

        #[test]
        fn each_function_reads_its_own_axis() {
            let read = at(SOMEWHERE, || {
                [
                    [thread::thread_idx_x(), thread::thread_idx_y(), thread::thread_idx_z()],
                    [thread::block_idx_x(), thread::block_idx_y(), thread::block_idx_z()],
                    [thread::block_dim_x(), thread::block_dim_y(), thread::block_dim_z()],
                    [thread::grid_dim_x(), thread::grid_dim_y(), thread::grid_dim_z()],
                    [thread::global_x(), thread::global_y(), thread::global_z()],
                ]
            });
            assert_eq!(read, [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12], [29, 42, 57]]);
        }

        #[test]
        fn the_position_is_restored_also_after_a_panic() {
            assert_eq!(position(), Position::ALONE);
            let outcome = std::panic::catch_unwind(|| at(SOMEWHERE, || panic!("a kernel's panic")));
            assert!(outcome.is_err());
            assert_eq!(position(), Position::ALONE);
        }
    }
}

#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
mod imp {
    use super::host::position;

    macro_rules! tables {
        ($($table:ident)*) => {$(
            pub fn $table<const AXIS: usize>() -> u32 {
                position().$table[AXIS]
            }
        )*};
    }

    tables!(thread_idx block_idx block_dim grid_dim);
}
