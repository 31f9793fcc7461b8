//! Reductions over all threads of a block.
//!
//! Sub-groups reduce first, then the first sub-group reduces their results, which lie in shared memory in between. Both
//! steps halve in the same way, so that together they are one binary tree over the linear thread index, whatever the
//! width of sub-groups: the bits of the result are the same on every machine.
//!
//! ```text
//! threads      0 1 2 3 4 … 31 | 32 …  63 | 64 …  95 | 96
//! sub-groups   ((0+1)+(2+3))… |    …     |    …     | 96      each in its first lane, then in shared memory
//! first group          (g0 + g1)         + (g2 + g3)          and back through shared memory to all
//! ```
//!
//! Two barriers are enough. What is written before the first is read only until the second; the result is written
//! between the two and read after the second, and the next reduction cannot write its own before all threads have come
//! to its first.

use super::barrier;
use crate::shared::Shared;
use crate::subgroup::{Native, Segments, Shuffle, SubGroup};

/// The sub-groups of the largest block: 1024 threads, by 32.
const GROUPS: usize = 32;

/// All threads' values combined in the order of the linear thread index. The same in all threads.
///
/// `combine(a, b)` must be associative and need not be commutative: `a` always comes from threads before those of `b`.
/// Neighbours combine first, then pairs of neighbours, and so on; see the module. All threads of the block must call it
/// together, as [`barrier`]. It takes 33 values of static shared memory, which all reductions of a type have in common.
///
/// ```
/// # use device_std::{block, host};
/// host::launch(1, (20, 5), 0, || {
///     let last = block::reduce(block::thread_index(), |_, b| b);
///     assert_eq!(last, 99);
/// })?;
/// # Ok::<(), host::Error>(())
/// ```
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn reduce<T: Shuffle>(value: T, combine: impl FnMut(T, T) -> T) -> T {
    reduce_by::<Native, T>(value, combine)
}

/// [`reduce`], with the sub-groups of a given machine, of 32 or 64 lanes.
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn reduce_by<S: SubGroup, T: Shuffle>(value: T, mut combine: impl FnMut(T, T) -> T) -> T {
    const { assert!(S::WIDTH >= 32, "the sub-groups of a block must fit into one sub-group") };
    let group = Segments::<S>::WHOLE;
    let own = group.reduce(value, &mut combine);
    let (id, count) = (S::id(), S::count());
    if count == 1 {
        return own;
    }
    let (results, whole) = scratch::<T>();
    if S::lane() == 0 {
        // SAFETY: (all accesses) a block has at most 1024 threads, so `id` and `count` are within bounds. Each element
        // is written by one thread, and read after a barrier that comes before it is written again, as the module
        // argues.
        unsafe { results.write(id as usize, own) };
    }
    barrier();
    if id == 0 {
        let lane = S::lane();
        // Lanes without a sub-group take a value as good as any: nothing of theirs reaches the first lane.
        // SAFETY: as above.
        let own = unsafe { results.read(if lane < count { lane as usize } else { 0 }) };
        let all = group.reduce_first(own, count, &mut combine);
        if lane == 0 {
            // SAFETY: as above.
            unsafe { whole.set(all) };
        }
    }
    barrier();
    // SAFETY: as above.
    unsafe { whole.get() }
}

/// Where the sub-groups' results go, and where the block's.
#[inline(always)]
fn scratch<T>() -> (Shared<[T; GROUPS]>, Shared<T>) {
    (crate::shared!([T; GROUPS]), crate::shared!(T))
}
