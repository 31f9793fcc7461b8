//! Where a thread stands: nothing here exchanges anything.
//!
//! No input of threads. For all of them: the width of segments.

use crate::parameters::kernels;
use crate::{Input, RESULTS, Results};
use device_std::block;
use device_std::memory::PerThread;
use device_std::subgroup::{Segments, SubGroup};

/// The queries of the block, of the sub-group and of segments.
///
/// They are asked in a branch that every third thread does not take, so that lanes would come out wrong where they depended
/// on who is active.
#[inline(always)]
pub fn queries<S: SubGroup>(input: Input<'_>) -> Results {
    let mut results = [0; RESULTS];
    if block::thread_index() % 3 != 1 {
        results[0] = u64::from(block::thread_index());
        results[1] = u64::from(block::threads());
        results[2] = u64::from(S::WIDTH);
        results[3] = u64::from(S::size());
        results[4] = u64::from(S::count());
        results[5] = u64::from(S::id());
        results[6] = u64::from(S::lane());
        if let Some(segments) = Segments::<S>::new(input.common(0) as u32) {
            results[7] = u64::from(segments.width());
            results[8] = u64::from(segments.size());
            results[9] = u64::from(segments.index());
            results[10] = u64::from(segments.lane());
        }
    }
    results
}

kernels! {
    query = queries;
}
