//! Every shuffle, on the whole sub-group and on segments, for every type.
//!
//! A thread's input: its value (two words), the lane that it asks for, and the one that it asks for in its segment. For all
//! threads: a distance and a mask for the sub-group, and for segments the width, a distance and a mask.

use crate::parameters::kernels;
use crate::value::{Odd, Pair};
use crate::{Input, RESULTS, Results, Value};
use device_std::math::{Bf16, F16};
use device_std::memory::PerThread;
use device_std::subgroup::{Segments, SubGroup};

/// `shfl`, `shfl_down`, `shfl_up`, `shfl_xor` of the sub-group, then of the segment: two words each.
#[inline(always)]
pub fn shuffles<S: SubGroup, T: Value>(input: Input<'_>) -> Results {
    let value = T::of(input.own(0), input.own(1));
    let whole = four(Segments::<S>::WHOLE, value, [input.own(2), input.common(0), input.common(1)]);
    let width = input.common(2) as u32;
    let segments = match Segments::<S>::new(width) {
        Some(segments) => four(segments, value, [input.own(3), input.common(3), input.common(4)]),
        None => [0; 8],
    };
    let mut results = [0; RESULTS];
    let mut at = 0;
    while at < 8 {
        (results[at], results[8 + at]) = (whole[at], segments[at]);
        at += 1;
    }
    results
}

#[inline(always)]
fn four<S: SubGroup, T: Value>(segments: Segments<S>, value: T, [lane, distance, mask]: [u64; 3]) -> [u64; 8] {
    let [a, b] = segments.shfl(value, lane).words();
    let [c, d] = segments.shfl_down(value, distance).words();
    let [e, f] = segments.shfl_up(value, distance).words();
    let [g, h] = segments.shfl_xor(value, mask).words();
    [a, b, c, d, e, f, g, h]
}

kernels! {
    shuffle_bool = shuffles<bool>;
    shuffle_u8 = shuffles<u8>;
    shuffle_u16 = shuffles<u16>;
    shuffle_u32 = shuffles<u32>;
    shuffle_u64 = shuffles<u64>;
    shuffle_u128 = shuffles<u128>;
    shuffle_usize = shuffles<usize>;
    shuffle_i8 = shuffles<i8>;
    shuffle_i16 = shuffles<i16>;
    shuffle_i32 = shuffles<i32>;
    shuffle_i64 = shuffles<i64>;
    shuffle_i128 = shuffles<i128>;
    shuffle_isize = shuffles<isize>;
    shuffle_f16 = shuffles<F16>;
    shuffle_bf16 = shuffles<Bf16>;
    #[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
    shuffle_primitive_f16 = shuffles<f16>;
    shuffle_f32 = shuffles<f32>;
    shuffle_f64 = shuffles<f64>;
    shuffle_char = shuffles<char>;
    shuffle_pair = shuffles<Pair>;
    shuffle_odd = shuffles<Odd>;
    shuffle_tuple = shuffles<(u8, char, f64)>;
}
