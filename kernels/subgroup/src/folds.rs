//! Reductions and scans, on the whole sub-group and on segments, with operations that show a wrong order.
//!
//! A thread's input: its value (two words). For all threads: the first value of exclusive scans (two words) and the width of
//! segments.

use crate::parameters::kernels;
use crate::value::Pair;
use crate::{Input, RESULTS, Results, Value};
use device_std::Plain;
use device_std::memory::PerThread;
use device_std::subgroup::{Segments, Shuffle, SubGroup, Word};

/// A value with an associative operation.
pub trait Fold: Value {
    /// Combines a value with one of a higher lane.
    fn combine(self, above: Self) -> Self;

    /// The value's bits, with one bit pattern for all NaNs: which one an operation makes is the machine's choice.
    #[inline(always)]
    fn result(self) -> u128 {
        self.bits()
    }
}

/// `reduce`, `scan`, `exclusive_scan` of the sub-group, then of the segment: two words each.
#[inline(always)]
pub fn folds<S: SubGroup, T: Fold>(input: Input<'_>) -> Results {
    let (value, init) = (T::of(input.own(0), input.own(1)), T::of(input.common(0), input.common(1)));
    let whole = three(Segments::<S>::WHOLE, value, init);
    let segments = match Segments::<S>::new(input.common(2) as u32) {
        Some(segments) => three(segments, value, init),
        None => [0; 6],
    };
    let mut results = [0; RESULTS];
    let mut at = 0;
    while at < 6 {
        (results[at], results[6 + at]) = (whole[at], segments[at]);
        at += 1;
    }
    results
}

#[inline(always)]
fn three<S: SubGroup, T: Fold>(segments: Segments<S>, value: T, init: T) -> [u64; 6] {
    let [a, b] = words(segments.reduce(value, T::combine));
    let [c, d] = words(segments.scan(value, T::combine));
    let [e, f] = words(segments.exclusive_scan(value, init, T::combine));
    [a, b, c, d, e, f]
}

/// The six reductions of integers, of the sub-group, then of the segment.
#[inline(always)]
pub fn reductions<S: SubGroup, T: Word + Value>(input: Input<'_>) -> Results {
    let value = T::of(input.own(0), input.own(1));
    let mut results = [0; RESULTS];
    [results[0], results[1], results[2], results[3], results[4], results[5]] = six(Segments::<S>::WHOLE, value);
    if let Some(segments) = Segments::<S>::new(input.common(2) as u32) {
        [results[6], results[7], results[8], results[9], results[10], results[11]] = six(segments, value);
    }
    results
}

#[inline(always)]
fn six<S: SubGroup, T: Word + Value>(segments: Segments<S>, value: T) -> [u64; 6] {
    let bounds = [segments.reduce_add(value), segments.reduce_min(value), segments.reduce_max(value)];
    let bits = [segments.reduce_and(value), segments.reduce_or(value), segments.reduce_xor(value)];
    let ([add, min, max], [and, or, xor]) = (bounds, bits);
    [add, min, max, and, or, xor].map(|result| result.bits() as u64)
}

/// A result as two words, the low one first.
#[inline(always)]
pub fn words(value: impl Fold) -> [u64; 2] {
    let bits = value.result();
    [bits as u64, (bits >> 64) as u64]
}

/// Sums that wrap around.
impl Fold for u32 {
    #[inline(always)]
    fn combine(self, above: u32) -> u32 {
        self.wrapping_add(above)
    }
}

/// Sums that wrap around, of four words each.
impl Fold for u128 {
    #[inline(always)]
    fn combine(self, above: u128) -> u128 {
        self.wrapping_add(above)
    }
}

/// Sums that are rounded, so that their order shows.
impl Fold for f32 {
    #[inline(always)]
    fn combine(self, above: f32) -> f32 {
        self + above
    }

    #[inline(always)]
    fn result(self) -> u128 {
        if self.is_nan() { u128::from(f32::NAN.to_bits()) } else { self.bits() }
    }
}

/// The least, with a NaN as no value at all.
impl Fold for f64 {
    #[inline(always)]
    fn combine(self, above: f64) -> f64 {
        self.min(above)
    }

    #[inline(always)]
    fn result(self) -> u128 {
        if self.is_nan() { u128::from(f64::NAN.to_bits()) } else { self.bits() }
    }
}

/// The least value and where it is; of equal ones the one of the lowest lane.
impl Fold for Pair {
    #[inline(always)]
    fn combine(self, above: Pair) -> Pair {
        if above.value < self.value { above } else { self }
    }
}

/// The map `x -> scale * x + offset` of numbers modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Plain)]
#[repr(C)]
pub struct Affine {
    /// The factor.
    pub scale: u32,
    /// What is added.
    pub offset: u32,
}

impl Value for Affine {
    #[inline(always)]
    fn from_bits(bits: u128) -> Affine {
        Affine { scale: bits as u32, offset: (bits >> 32) as u32 }
    }

    #[inline(always)]
    fn bits(self) -> u128 {
        u128::from(self.scale) | u128::from(self.offset) << 32
    }
}

/// First this map, then the one above: not commutative.
impl Fold for Affine {
    #[inline(always)]
    fn combine(self, above: Affine) -> Affine {
        Affine {
            scale: self.scale.wrapping_mul(above.scale),
            offset: self.offset.wrapping_mul(above.scale).wrapping_add(above.offset),
        }
    }
}

/// A value and whether there is one: the last one counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Last(pub Option<char>);

impl Shuffle for Last {
    const WORDS: usize = <(bool, char)>::WORDS;

    #[inline(always)]
    fn map_words(self, exchange: &mut impl FnMut(u32) -> u32) -> Last {
        let (is_some, value) = (self.0.is_some(), self.0.unwrap_or('\0')).map_words(exchange);
        Last(is_some.then_some(value))
    }
}

impl Value for Last {
    #[inline(always)]
    fn from_bits(bits: u128) -> Last {
        Last((bits >> 32 & 1 != 0).then_some(Value::from_bits(bits)))
    }

    #[inline(always)]
    fn bits(self) -> u128 {
        self.0.map_or(0, |value| value.bits() | 1 << 32)
    }
}

impl Fold for Last {
    #[inline(always)]
    fn combine(self, above: Last) -> Last {
        Last(above.0.or(self.0))
    }
}

kernels! {
    fold_sum = folds<u32>;
    fold_wide_sum = folds<u128>;
    fold_rounded_sum = folds<f32>;
    fold_least = folds<f64>;
    fold_argmin = folds<Pair>;
    fold_affine = folds<Affine>;
    fold_last = folds<Last>;
    reduce_u32 = reductions<u32>;
    reduce_i32 = reductions<i32>;
}
