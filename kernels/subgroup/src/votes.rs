//! Every vote and match, on the whole sub-group and on segments.
//!
//! A thread's input: its predicate, and the value that it holds against the others' (two words). For all threads: the width
//! of segments.

use crate::parameters::kernels;
use crate::{Input, RESULTS, Results, Value};
use device_std::memory::PerThread;
use device_std::subgroup::{Segments, SubGroup};

/// `any`, `all`, `ballot`, `match_any`, `match_all` of the sub-group, then of the segment; matches for values of one, two
/// and four words.
#[inline(always)]
pub fn votes<S: SubGroup>(input: Input<'_>) -> Results {
    let width = input.common(0) as u32;
    let whole = nine(Segments::<S>::WHOLE, input);
    let segments = match Segments::<S>::new(width) {
        Some(segments) => nine(segments, input),
        None => [0; 9],
    };
    let mut results = [0; RESULTS];
    let mut at = 0;
    while at < 9 {
        (results[at], results[9 + at]) = (whole[at], segments[at]);
        at += 1;
    }
    results
}

#[inline(always)]
fn nine<S: SubGroup>(segments: Segments<S>, input: Input<'_>) -> [u64; 9] {
    let predicate = input.own(0) != 0;
    let (low, high) = (input.own(1), input.own(2));
    let (short, double, long) = (low as u32, f64::of(low, 0), u128::of(low, high));
    [
        u64::from(segments.any(predicate)),
        u64::from(segments.all(predicate)),
        segments.ballot(predicate),
        segments.match_any(short),
        u64::from(segments.match_all(short)),
        segments.match_any(double),
        u64::from(segments.match_all(double)),
        segments.match_any(long),
        u64::from(segments.match_all(long)),
    ]
}

kernels! {
    vote = votes;
}
