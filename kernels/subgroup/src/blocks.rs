//! Reductions over the whole block, several after one another, so that one must not disturb the next.
//!
//! A thread's input: its value (two words).

use crate::folds::{Affine, Fold, Last, words};
use crate::parameters::kernels;
use crate::value::Pair;
use crate::{Input, RESULTS, Results};
use device_std::block;
use device_std::memory::PerThread;
use device_std::subgroup::SubGroup;

/// The block's values combined; the same beside the first result, both as halves of one value; and the same once more: two
/// words each.
#[inline(always)]
pub fn block_folds<S: SubGroup, T: Fold>(input: Input<'_>) -> Results {
    let value = T::of(input.own(0), input.own(1));
    let all = block::reduce_by::<S, T>(value, T::combine);
    let (first, second) = block::reduce_by::<S, (T, T)>((value, all), |a, b| (a.0.combine(b.0), b.1));
    let again = block::reduce_by::<S, T>(first, |a, _| a);
    let mut results = [0; RESULTS];
    [results[0], results[1]] = words(all);
    [results[2], results[3]] = words(first);
    [results[4], results[5]] = words(second);
    [results[6], results[7]] = words(again);
    results
}

kernels! {
    block_sum = block_folds<u32>;
    block_wide_sum = block_folds<u128>;
    block_rounded_sum = block_folds<f32>;
    block_argmin = block_folds<Pair>;
    block_affine = block_folds<Affine>;
    block_last = block_folds<Last>;
}
