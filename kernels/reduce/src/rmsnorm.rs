//! Root mean square normalization of rows: `out[i] = x[i] / √(mean x² + ε) * weight[i]`.

use crate::numbers::{Arithmetic, Fast, Pinned};
use crate::rows::{Row, TILE, fill};
use device_std::memory::PerBlock;
use device_std::{block, kernel, math};

/// Normalizes each row of `xs`, which has the rows that `out` has. `weight` has an element for each column.
#[kernel]
pub fn rmsnorm(xs: &[f32], weight: &[f32], epsilon: f32, out: PerBlock<'_, f32, TILE>) {
    of_row::<Pinned>(xs, weight, epsilon, out);
}

/// [`rmsnorm`] by `math::fast_rsqrt` and `math::fast_recip`.
#[kernel]
pub fn rmsnorm_fast(xs: &[f32], weight: &[f32], epsilon: f32, out: PerBlock<'_, f32, TILE>) {
    of_row::<Fast>(xs, weight, epsilon, out);
}

#[inline(always)]
fn of_row<A: Arithmetic>(xs: &[f32], weight: &[f32], epsilon: f32, out: PerBlock<'_, f32, TILE>) {
    let columns = out.columns();
    let row = Row::of_block(xs, columns);
    let add = |sum, x| sum + x;
    let squares = block::reduce(row.fold(0.0, |sum, x| math::fma(x, x, sum), add), add);
    let mean = squares * A::recip(columns as f32);
    let scale = A::rsqrt(mean + epsilon);
    fill(out, [row, Row::new(weight, columns)], |x, weight| x * scale * weight);
}
