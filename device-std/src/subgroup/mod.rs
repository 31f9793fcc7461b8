//! Sub-groups: the threads of a block that execute together (warps, wavefronts), and what they exchange.
//!
//! One contract holds on three machines: NVIDIA's (sub-groups of 32), AMD's (32 or 64, as the processor has it) and the
//! host of [`host`](crate::host). The functions here work on the whole sub-group of the machine that the code is
//! compiled for; [`segments`] cuts it into narrower ones. Code that is to run with a given width, whatever the
//! machine's, is generic over [`SubGroup`] and uses [`Segments`].
//!
//! ```
//! use device_std::{host, subgroup};
//!
//! host::launch(1, 40, 0, || {
//!     let sum = subgroup::reduce(subgroup::lane(), |a, b| a + b);
//!     let is_last = subgroup::id() == 1;
//!     assert_eq!(sum, if is_last { (0..8).sum() } else { (0..32).sum() });
//! })?;
//! # Ok::<(), host::Error>(())
//! ```
//!
//! # The contract
//! - Lanes count from 0. Lane `l` of sub-group `i` is the thread with linear index `i * max_size() + l` in its block.
//! - Queries depend on nothing but the thread's place; they are no collective operations.
//! - All other functions are **collective**: every existing lane (of the segment) must execute the same call together.
//!   On a GPU it is unspecified what a lane gets where some do not; the host reports it.
//! - Values are moved by their bits. NaN payloads arrive as they were.
//! - No function panics or traps, whatever its arguments; where the source of a value does not exist, the value is
//!   unspecified.
//! - Only [`barrier`] orders memory accesses.

#[cfg(target_arch = "amdgpu")]
mod amdgpu;
mod backend;
mod fold;
#[cfg(on_host)]
mod host;
#[cfg(target_arch = "nvptx64")]
mod nvptx;
mod segments;
mod value;
mod words;

#[cfg(target_arch = "amdgpu")]
pub use amdgpu::Wavefront;
#[cfg(target_arch = "amdgpu")]
pub use amdgpu::Wavefront as Native;
pub use backend::{Call, SubGroup};
#[cfg(on_host)]
pub use host::{HostGroup, Site};
#[cfg(target_arch = "nvptx64")]
pub use nvptx::Warp;
#[cfg(target_arch = "nvptx64")]
pub use nvptx::Warp as Native;
pub use segments::Segments;
pub use value::{Lane, Shuffle};
pub use words::{Word, WordOperation, reduce_add, reduce_and, reduce_max, reduce_min, reduce_or, reduce_xor};

/// The sub-groups of the machine that the code is compiled for.
#[cfg(on_host)]
pub type Native = HostGroup<32>;

const WHOLE: Segments<Native> = Segments::WHOLE;

/// The lanes of a full sub-group: a constant of the machine.
#[inline(always)]
pub const fn max_size() -> u32 {
    Native::WIDTH
}

/// The number of lanes that exist in this sub-group.
#[inline(always)]
pub fn size() -> u32 {
    Native::size()
}

/// Which sub-group of its block this is, from 0.
#[inline(always)]
pub fn id() -> u32 {
    Native::id()
}

/// The number of sub-groups in the block.
#[inline(always)]
pub fn count() -> u32 {
    Native::count()
}

/// The thread's place in its sub-group, from 0.
#[inline(always)]
pub fn lane() -> u32 {
    Native::lane()
}

/// The sub-group, cut into segments of `WIDTH` lanes: a power of two, at most [`max_size`], checked while compiling.
#[inline(always)]
pub const fn segments<const WIDTH: u32>() -> Segments<Native> {
    Segments::of::<WIDTH>()
}

/// `value` of the lane `lane`; lanes may ask for different ones. Where there is no such lane, an unspecified value.
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn shfl<T: Shuffle>(value: T, lane: impl Lane) -> T {
    WHOLE.shfl(value, lane)
}

/// `value` of the lane `distance` above; see [`Segments::shfl_down`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn shfl_down<T: Shuffle>(value: T, distance: impl Lane) -> T {
    WHOLE.shfl_down(value, distance)
}

/// `value` of the lane `distance` below; see [`Segments::shfl_up`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn shfl_up<T: Shuffle>(value: T, distance: impl Lane) -> T {
    WHOLE.shfl_up(value, distance)
}

/// `value` of the lane whose number differs by `mask`; see [`Segments::shfl_xor`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn shfl_xor<T: Shuffle>(value: T, mask: impl Lane) -> T {
    WHOLE.shfl_xor(value, mask)
}

/// Whether `predicate` holds in any lane; see [`Segments::any`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn any(predicate: bool) -> bool {
    WHOLE.any(predicate)
}

/// Whether `predicate` holds in all lanes; see [`Segments::all`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn all(predicate: bool) -> bool {
    WHOLE.all(predicate)
}

/// One bit for each lane: whether `predicate` holds there; see [`Segments::ballot`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn ballot(predicate: bool) -> u64 {
    WHOLE.ballot(predicate)
}

/// One bit for each lane: whether it has the same value; see [`Segments::match_any`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn match_any<T: Shuffle>(value: T) -> u64 {
    WHOLE.match_any(value)
}

/// Whether all lanes have the same value; see [`Segments::match_all`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn match_all<T: Shuffle>(value: T) -> bool {
    WHOLE.match_all(value)
}

/// All lanes' values combined in lane order; see [`Segments::reduce`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn reduce<T: Shuffle>(value: T, combine: impl FnMut(T, T) -> T) -> T {
    WHOLE.reduce(value, combine)
}

/// The values of lane 0 up to this one, combined in lane order; see [`Segments::scan`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn scan<T: Shuffle>(value: T, combine: impl FnMut(T, T) -> T) -> T {
    WHOLE.scan(value, combine)
}

/// `init`, combined with the values of all lanes below this one; see [`Segments::exclusive_scan`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn exclusive_scan<T: Shuffle>(value: T, init: T, combine: impl FnMut(T, T) -> T) -> T {
    WHOLE.exclusive_scan(value, init, combine)
}

/// Waits for all lanes of the sub-group, and orders their memory accesses; see [`Segments::barrier`].
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn barrier() {
    WHOLE.barrier();
}
