//! What is written out while compiling: `unroll!` and strided reductions.

use crate::pieces;
use device_std::reduce::StridedReduce;
use device_std::{math, unroll};

pieces! {
    /// Shifts by constants.
    unroll_shifts(value: u32) -> u32 = {
        let mut all = 0;
        unroll!(for k in 0..4 { all ^= value << (5 * k); });
        all
    };
    /// Names of their own for each turn, which outlive the loop: registers and no array.
    unroll_names(value: u32) -> u32 = {
        let mut seed = value;
        unroll!(for k in 0..3 {
            let part~k = seed ^ k;
            seed = part~k.wrapping_mul(0x9e37_79b9);
        });
        part0 ^ part2 ^ seed
    };
    /// Const arguments and fields of tuples.
    unroll_tuples(value: u32) -> u32 = {
        let parts = (value, value >> 8, value >> 16);
        let mut all = 0;
        unroll!(for (k, scale) in ((2, 3), (0, 5)) { all += rotated::<k>(parts.k) * scale; });
        all
    };
    /// A cap of eight, of which a constant leaves three turns.
    unroll_capped(value: u32) -> u32 = turns::<3>(value);

    /// A pairwise tree.
    strided_sum_8(values: [f32; 8]) -> [f32; 1] = values.strided_reduce::<1>(|a, b| a + b);
    /// Two trees side by side.
    strided_sum_8_by_2(values: [f32; 8]) -> [f32; 2] = values.strided_reduce::<2>(|a, b| a + b);
    /// Groups of three.
    strided_max_9(values: [f32; 9]) -> [f32; 1] = values.strided_reduce_by::<1, 3>(math::max);
    /// Groups of three by the standard library's minimum.
    strided_min_9(values: [f32; 9]) -> [f32; 1] = values.strided_reduce_by::<1, 3>(f32::min);
}

#[inline(always)]
fn rotated<const BITS: u32>(value: u32) -> u32 {
    value.rotate_left(BITS)
}

#[inline(always)]
fn turns<const TURNS: u32>(value: u32) -> u32 {
    let mut all = value;
    unroll!(cap 8; for k in 0..TURNS { all = all.rotate_left(1) + k; });
    all
}
