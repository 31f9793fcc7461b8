//! Reductions and scans of sub-groups.

use device_std::memory::PerThread;
use device_std::{kernel, math, subgroup};

/// `out[i]` is the sum of `xs` over the sub-group that thread `i` is in, here and below.
#[kernel]
pub fn group_sum(xs: &[f32], mut out: PerThread<'_, f32>) {
    let x = xs.get(out.index()).copied().unwrap_or(0.0);
    let sum = subgroup::reduce(x, |a, b| a + b);
    if let Some(element) = out.element() {
        *element = sum;
    }
}

/// The largest element.
#[kernel]
pub fn group_largest(xs: &[f32], mut out: PerThread<'_, f32>) {
    let x = xs.get(out.index()).copied().unwrap_or(f32::NEG_INFINITY);
    let largest = subgroup::reduce(x, math::max);
    if let Some(element) = out.element() {
        *element = largest;
    }
}

/// The sum of the elements up to the thread's own.
#[kernel]
pub fn group_scan(xs: &[f32], mut out: PerThread<'_, f32>) {
    let x = xs.get(out.index()).copied().unwrap_or(0.0);
    let sum = subgroup::scan(x, |a, b| a + b);
    if let Some(element) = out.element() {
        *element = sum;
    }
}
