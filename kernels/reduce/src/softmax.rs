//! Softmax of rows: `out[i] = exp(x[i] - max x) / Σ exp(x[j] - max x)`.
//!
//! Three passes over the row, which after the first one lies in a cache: its largest element, the sum of exponentials, the
//! results. The largest element is subtracted first, so nothing overflows, and the sum is at least 1. A row with a NaN or
//! +∞ in it, or of nothing but -∞, has NaNs as its result; a -∞ among other numbers gives 0.

use crate::numbers::{Arithmetic, Fast, Pinned};
use crate::rows::{Row, TILE, fill};
use device_std::memory::PerBlock;
use device_std::{block, kernel, math};

/// Softmax of each row of `xs`, which has the rows that `out` has.
///
/// A result is as exact as the difference x - max x, whose rounding is at most |x - max x| * 2^-24, and that is by far the
/// most where it is large: 16 ulp for one of 20.
#[kernel]
pub fn softmax(xs: &[f32], out: PerBlock<'_, f32, TILE>) {
    of_row::<Pinned>(xs, out);
}

/// [`softmax`] by `math::fast_exp` and `math::fast_recip`.
///
/// `fast_exp` is off by about |x - max x| * 2^-23.7 relative to its result, so small results are the less exact ones.
#[kernel]
pub fn softmax_fast(xs: &[f32], out: PerBlock<'_, f32, TILE>) {
    of_row::<Fast>(xs, out);
}

#[inline(always)]
fn of_row<A: Arithmetic>(xs: &[f32], out: PerBlock<'_, f32, TILE>) {
    let row = Row::of_block(xs, out.columns());
    let largest = block::reduce(row.fold(f32::NEG_INFINITY, math::max, math::max), math::max);
    let add = |sum, x| sum + x;
    let sum = block::reduce(row.fold(0.0, |sum, x| sum + A::exp(x - largest), add), add);
    let scale = A::recip(sum);
    fill(out, [row; 2], |x, _| A::exp(x - largest) * scale);
}
