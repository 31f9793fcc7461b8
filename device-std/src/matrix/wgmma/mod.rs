//! Products of a warpgroup: 64 x 16 by 16 x 64, operands in shared memory (PTX: `wgmma.mma_async` m64n64k16).
//!
//! A **warpgroup** is four consecutive sub-groups, 128 threads, the first of which is a multiple of four. They start a
//! product together and go on; the tensor cores read shared memory and add to the registers of [`Sums`] meanwhile. In
//! order:
//!
//! 1. all write the operands to shared memory, each calls [`publish`], and a barrier follows;
//! 2. [`fence`]: the sums in registers are handed over;
//! 3. [`mma_async`], any number of times;
//! 4. [`commit_group`], [`wait_group`]: until then neither the sums nor the operands may be touched. With a barrier
//!    after it, the operands may be overwritten.
//!
//! ```
//! use device_std::math::Bf16;
//! use device_std::matrix::wgmma::{self, Sums, Tile};
//! use device_std::{block, host, shared};
//!
//! host::launch(1, 128, 0, || {
//!     let (left, right) = (shared!([Bf16; 1024], align = 16), shared!([Bf16; 1024], align = 16));
//!     let (a, b) = (Tile::<_, false>::packed(left.as_slice()), Tile::<_, false>::packed(right.as_slice()));
//!     let line = block::thread_index() as usize % 64;
//!     for depth in (0..16).filter(|depth| depth % 2 == block::thread_index() as usize / 64) {
//!         // SAFETY: each thread writes elements of its own, and nobody reads before the barrier.
//!         unsafe {
//!             left.write(a.index(line, depth), Bf16::from_f32(line as f32));
//!             right.write(b.index(line, depth), Bf16::from_f32(1.0));
//!         }
//!     }
//!     wgmma::publish();
//!     block::barrier();
//!     let mut sums = Sums::ZERO;
//!     // SAFETY: all threads of the block come by, the operands were written, and nothing is touched before the wait.
//!     unsafe {
//!         wgmma::fence(&mut sums);
//!         wgmma::mma_async(&mut sums, a, b);
//!         wgmma::commit_group();
//!         wgmma::wait_group::<0>(&mut sums);
//!     }
//!     sums.for_each(|row, _column, sum| assert_eq!(sum, 16.0 * row as f32));
//! })?;
//! # Ok::<(), host::Error>(())
//! ```
//!
//! # Where it works
//! On sm_90a alone (`--arch sm_90a`; the name `sm_90` stands for what later GPUs have too, and they have no wgmma), and
//! on the host. Elsewhere [`mma_async`] does not compile; `#[cfg(any(target_feature = "sm_90a", not(target_arch =
//! "nvptx64")))]` is for kernels that use it.
//!
//! # What the host does not show
//! There, each thread computes its own sums as it comes to [`mma_async`]: all lanes of a sub-group wait for each other,
//! the four sub-groups do not. A missing [`publish`], [`fence`], commit or wait, and sums or operands touched too
//! early, go unseen. Sums have the same bits as those of the emulator, which adds as [`matrix`](super) says.

#[cfg(on_host)]
#[path = "host.rs"]
pub(super) mod imp;
#[cfg(target_arch = "nvptx64")]
#[path = "nvptx.rs"]
pub(super) mod imp;
mod tile;

pub(super) use imp::Descriptor;
pub use tile::Tile;

use super::Element;
use crate::block;

/// The threads of a warpgroup.
pub const THREADS: u32 = 128;

/// What a thread of a warpgroup holds of a 64 x 64 matrix of sums: 32 elements, which are public.
///
/// Element `i` of thread `p` of the warpgroup is at row `16 * (p / 32) + p % 32 / 4 + 8 * (i / 2 % 2)`, column
/// `8 * (i / 4) + 2 * (p % 4) + i % 2`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub struct Sums(pub [f32; 32]);

impl Sums {
    /// The matrix of zeros.
    pub const ZERO: Sums = Sums([0.0; 32]);
    /// The rows of the matrix.
    pub const ROWS: usize = 64;
    /// The columns of the matrix.
    pub const COLUMNS: usize = 64;

    /// The row of element `i` of thread `thread` of the warpgroup.
    #[inline(always)]
    pub const fn row(i: usize, thread: u32) -> usize {
        let thread = thread as usize % THREADS as usize;
        16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2)
    }

    /// The column of element `i` of thread `thread` of the warpgroup.
    #[inline(always)]
    pub const fn column(i: usize, thread: u32) -> usize {
        8 * (i / 4) + 2 * (thread as usize % 4) + i % 2
    }

    /// The thread of the warpgroup that holds an element of the matrix, and which of its elements it is.
    #[inline(always)]
    pub const fn holder(row: usize, column: usize) -> (u32, usize) {
        let thread = 32 * (row / 16) + 4 * (row % 8) + column % 8 / 2;
        (thread as u32, column % 2 + 2 * (row / 8 % 2) + 4 * (column / 8))
    }

    /// Calls `visit(row, column, value)` for each of the thread's elements.
    #[inline(always)]
    pub fn for_each(self, mut visit: impl FnMut(usize, usize, f32)) {
        let thread = block::thread_index();
        let mut at = |i: usize| visit(Self::row(i, thread), Self::column(i, thread), self.0[i]);
        // One after another: registers have no index.
        let mut eight = |first: usize| {
            at(first);
            at(first + 1);
            at(first + 2);
            at(first + 3);
            at(first + 4);
            at(first + 5);
            at(first + 6);
            at(first + 7);
        };
        eight(0);
        eight(8);
        eight(16);
        eight(24);
    }
}

/// Makes what the thread has written to shared memory visible to the tensor cores, once all that are to read it have
/// passed a barrier.
#[inline(always)]
pub fn publish() {
    imp::publish();
}

/// Hands the sums over to the products that follow.
///
/// Needed before the first [`mma_async`], and wherever the sums were touched since the last one.
///
/// # Safety
/// All threads of the warpgroup come by together, and no product that is not waited for uses these sums.
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub unsafe fn fence(sums: &mut Sums) {
    // SAFETY: the caller's promise.
    unsafe { imp::fence(&mut sums.0) };
}

/// Starts `sums += a * b`, where `a` has 64 lines for the rows, and `b` 64 lines for the columns of the sums.
///
/// # Safety
/// - All threads of the warpgroup come by together, with the same tiles.
/// - Both tiles were written, and made visible by [`publish`] and a barrier, and nobody writes them before a
///   [`wait_group`] that covers the product.
/// - A [`fence`] stands between the last access to the sums and this, and none is made before such a wait.
///
/// # Does not compile
/// For GPUs but sm_90a.
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub unsafe fn mma_async<T: Element, const TA: bool, const TB: bool>(sums: &mut Sums, a: Tile<T, TA>, b: Tile<T, TB>) {
    const {
        assert!(
            cfg!(any(on_host, target_feature = "sm_90a")),
            "`wgmma` is an instruction of sm_90a alone: build with `--arch sm_90a`"
        );
    }
    // SAFETY: the caller's promise, and the descriptors are those of the tiles.
    unsafe { T::wgmma::<TA, TB>(&mut sums.0, a.descriptor(), b.descriptor()) };
}

/// Makes a group of all products that were started since the last one.
///
/// # Safety
/// All threads of the warpgroup come by together.
#[inline(always)]
pub unsafe fn commit_group() {
    // SAFETY: the caller's promise.
    unsafe { imp::commit_group() };
}

/// Waits until no more than the last `PENDING` groups are going on. Sums of products that are over may be used again.
///
/// # Safety
/// All threads of the warpgroup come by together. `sums` are those of products that are waited for.
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub unsafe fn wait_group<const PENDING: u32>(sums: &mut Sums) {
    const { assert!(PENDING < 8, "at most 7 groups can be left going on") };
    // SAFETY: the caller's promise.
    unsafe { imp::wait_group::<PENDING>(&mut sums.0) };
}
