//! Reductions of what one thread holds: `device_std::reduce`.
//!
//! Everything is in registers: each thread loads its values by 16 bytes and reduces them.

use device_std::memory::PerThread;
use device_std::reduce::StridedReduce;
use device_std::{kernel, math, unroll, vector};

/// The values of so many vectors from the thread's place on; zeros beyond the end or where a vector is not aligned.
macro_rules! values {
    ($xs:ident from $first:expr; $vectors:tt) => {{
        let mut values = [0.0; 4 * $vectors];
        unroll!(for v in 0..$vectors {
            let four: [f32; 4] = vector::get($xs, $first + 4 * v).unwrap_or_default();
            unroll!(for k in 0..4 {
                values[4 * v + k] = four[k];
            });
        });
        values
    }};
}

/// `out[i]` is the sum of `xs[8 i..8 i + 8]`, pairwise. `xs` starts at a multiple of 16 bytes, here and below.
#[kernel]
pub fn sums_of_8(xs: &[f32], mut out: PerThread<'_, f32>) {
    let values = values!(xs from 8 * out.index(); 2);
    if let Some(element) = out.element() {
        [*element] = values.strided_reduce::<1>(|a, b| a + b);
    }
}

/// The four strided sums of `xs[32 i..32 i + 32]`: tile `i` of the output, stored as one vector.
#[kernel]
pub fn sums_of_32_by_4(xs: &[f32], mut out: PerThread<'_, f32, 4>) {
    let sums = values!(xs from 32 * out.index(); 8).strided_reduce::<4>(|a, b| a + b);
    if let Some(tile) = out.tile()
        && vector::set(tile, 0, sums).is_none()
    {
        *tile = sums;
    }
}

/// The largest of `xs[8 i..8 i + 8]` by groups of three: three-input instructions where the GPU has them.
#[kernel]
pub fn largest_of_8(xs: &[f32], mut out: PerThread<'_, f32>) {
    let values = values!(xs from 8 * out.index(); 2);
    if let Some(element) = out.element() {
        [*element] = values.strided_reduce_by::<1, 3>(math::max);
    }
}
