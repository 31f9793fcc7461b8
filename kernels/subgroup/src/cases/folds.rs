//! Reductions and scans.
//!
//! The order of combination is part of the contract where it shows (rounded sums), so expectations follow it, written down
//! anew: a reduction as a tree over halves, a scan round by round. Where the operation is exactly associative, both
//! must also agree with going through the lanes one by one.

use super::{Case, Cases, Expected, Place, Random, blocks_and_segments, inputs};
use crate::RESULTS;
use crate::folds::{Affine, Fold, Last, words};
use crate::value::Pair;

/// A kernel, its values and what they come to.
#[derive(Clone, Copy)]
struct Operation {
    kernel: &'static str,
    value: fn(u32, &mut Random) -> u128,
    init: u128,
    expected: fn(&[u128], Place, u32, u128) -> [u64; 6],
}

const OPERATIONS: [Operation; 13] = [
    Operation { kernel: "fold_sum", value: |_, random| random.wide(), init: 5, expected: exact::<u32> },
    Operation { kernel: "fold_wide_sum", value: |_, random| random.wide(), init: 1 << 100, expected: exact::<u128> },
    Operation { kernel: "fold_rounded_sum", value: uneven, init: 0x3f80_0000, expected: ordered::<f32> },
    // -0 only, so that the sum is -0 wherever nothing else has been added.
    Operation { kernel: "fold_rounded_sum", value: |_, _| 1 << 31, init: 1 << 31, expected: ordered::<f32> },
    Operation { kernel: "fold_rounded_sum", value: unbounded, init: 0, expected: ordered::<f32> },
    Operation { kernel: "fold_least", value: with_nans, init: 0x4059 << 48, expected: exact::<f64> },
    Operation { kernel: "fold_argmin", value: tied, init: 0xff << 32 | 0x7f80_0000, expected: exact::<Pair> },
    Operation { kernel: "fold_affine", value: |_, random| random.wide(), init: 3 << 32 | 7, expected: exact::<Affine> },
    Operation { kernel: "fold_last", value: sparse, init: 1 << 32 | 0x7a, expected: exact::<Last> },
    Operation { kernel: "reduce_u32", value: |_, random| random.wide(), init: 0, expected: unsigned },
    Operation { kernel: "reduce_i32", value: |_, random| random.wide(), init: 0, expected: signed },
    // Bits that all have in common, and numbers about 0: what a lane that is not there must not be taken for.
    Operation {
        kernel: "reduce_u32",
        value: |_, random| u128::from(1 + random.below(7)) << 3,
        init: 0,
        expected: unsigned,
    },
    Operation {
        kernel: "reduce_i32",
        value: |_, random| u128::from(u32::MAX - random.below(7) as u32),
        init: 0,
        expected: signed,
    },
];

/// Floats of very different size.
pub(super) fn uneven(thread: u32, random: &mut Random) -> u128 {
    let sign = if thread.is_multiple_of(2) { 1.0 } else { -1.0 };
    let value = sign * (random.below(1 << 24) as f32) * 2f32.powi(random.below(40) as i32 - 20);
    u128::from(value.to_bits())
}

/// Floats with infinities of one sign, and from thread 40 on of the other.
fn unbounded(thread: u32, random: &mut Random) -> u128 {
    let value = match thread {
        9 => f32::INFINITY,
        40 => f32::NEG_INFINITY,
        70 => f32::NAN,
        _ => random.below(100) as f32,
    };
    u128::from(value.to_bits())
}

/// Doubles, NaNs and infinities.
fn with_nans(thread: u32, random: &mut Random) -> u128 {
    let value = match thread % 5 {
        0 => f64::NAN,
        1 if thread.is_multiple_of(3) => f64::INFINITY,
        2 if thread > 90 => f64::NEG_INFINITY,
        _ => 1.0 + random.below(1 << 50) as f64,
    };
    u128::from(value.to_bits())
}

/// Few different values, with the thread's number.
pub(super) fn tied(thread: u32, random: &mut Random) -> u128 {
    let value = [0.5f32, -2.0, -2.0, f32::INFINITY][random.below(4) as usize];
    u128::from(value.to_bits()) | u128::from(thread) << 32
}

/// A character in few threads.
pub(super) fn sparse(thread: u32, random: &mut Random) -> u128 {
    if random.below(5) == 0 { 1 << 32 | u128::from(0x100 + thread) } else { 0 }
}

pub(super) fn cases(width: u32) -> Cases {
    let all = OPERATIONS.into_iter().zip(0..).flat_map(move |(operation, seed)| {
        blocks_and_segments(width).map(move |(block, segment)| case(width, block, operation, segment, seed))
    });
    Box::new(all)
}

fn case(width: u32, block: [u32; 3], operation: Operation, segment: u32, seed: u64) -> Case {
    let threads: u32 = block.iter().product();
    let mut random = Random::new(seed << 32 | u64::from(threads));
    let values: Vec<u128> = (0..threads).map(|thread| (operation.value)(thread, &mut random)).collect();
    let expected = |thread: u32| {
        let place = Place::of(thread, threads, width);
        let mut expected: Expected = [Some(0); RESULTS];
        let (whole, segments) = expected.split_at_mut(6);
        whole.copy_from_slice(&(operation.expected)(&values, place, width, operation.init).map(Some));
        let own = place.segment(segment);
        segments[..6].copy_from_slice(&(operation.expected)(&values, own, segment, operation.init).map(Some));
        expected
    };
    Case {
        name: format!("{} {seed} in a block of {block:?} by {width}, segments of {segment}", operation.kernel),
        kernel: operation.kernel,
        width,
        block,
        threads: inputs(threads, |thread| {
            let value = values[thread as usize];
            vec![value as u64, (value >> 64) as u64]
        }),
        common: vec![operation.init as u64, (operation.init >> 64) as u64, u64::from(segment)],
        expected: (0..threads).map(expected).collect(),
    }
}

/// The results where only the order of values counts: one after another.
fn exact<T: Fold>(values: &[u128], place: Place, width: u32, init: u128) -> [u64; 6] {
    let own: Vec<T> = of_place(values, place);
    let through = |values: &[T]| values.iter().copied().reduce(T::combine);
    let (through_all, lane) = (through(&own), place.lane as usize);
    let below = through(&own[..lane]).map_or(T::from_bits(init), |below| T::from_bits(init).combine(below));
    let results = six(through_all.unwrap_or(own[0]), through(&own[..=lane]).unwrap_or(own[0]), below);
    assert_eq!(results, ordered::<T>(values, place, width, init), "the order of combination matters");
    results
}

/// The results with the order of combination that the contract lays down.
fn ordered<T: Fold>(values: &[u128], place: Place, width: u32, init: u128) -> [u64; 6] {
    let own: Vec<T> = of_place(values, place);
    let sums = rounds(&own, width);
    let below = match place.lane {
        0 => T::from_bits(init),
        lane => T::from_bits(init).combine(sums[lane as usize - 1]),
    };
    six(tree(&own, width as usize).unwrap_or(own[0]), sums[place.lane as usize], below)
}

/// The six reductions of integers without a sign, lane by lane.
fn unsigned(values: &[u128], place: Place, _: u32, _: u128) -> [u64; 6] {
    let own = || lanes(values, place);
    let [min, max] = [own().min(), own().max()].map(|bound| bound.unwrap_or(0));
    with_bits(own, [min, max])
}

/// The same with a sign.
fn signed(values: &[u128], place: Place, _: u32, _: u128) -> [u64; 6] {
    let own = || lanes(values, place);
    let signed = || own().map(|word| word as i32);
    let [min, max] = [signed().min(), signed().max()].map(|bound| bound.unwrap_or(0) as u32);
    with_bits(own, [min, max])
}

fn with_bits<I: Iterator<Item = u32>>(own: impl Fn() -> I, [min, max]: [u32; 2]) -> [u64; 6] {
    let sum = own().map(u64::from).sum::<u64>() as u32;
    let [and, or, xor] = [
        own().fold(u32::MAX, |all, word| all & word),
        own().fold(0, |all, word| all | word),
        own().fold(0, |all, word| all ^ word),
    ];
    [sum, min, max, and, or, xor].map(u64::from)
}

/// The words of a place's lanes.
fn lanes(values: &[u128], place: Place) -> impl Iterator<Item = u32> {
    let (first, end) = (place.first as usize, (place.first + place.size) as usize);
    values[first..end].iter().map(|bits| *bits as u32)
}

fn of_place<T: Fold>(values: &[u128], place: Place) -> Vec<T> {
    let (first, end) = (place.first as usize, (place.first + place.size) as usize);
    values[first..end].iter().map(|bits| T::from_bits(*bits)).collect()
}

fn six<T: Fold>(reduced: T, scanned: T, below: T) -> [u64; 6] {
    let ([a, b], [c, d], [e, f]) = (words(reduced), words(scanned), words(below));
    [a, b, c, d, e, f]
}

/// The first `width` values, halved and halved again.
pub(super) fn tree<T: Fold>(values: &[T], width: usize) -> Option<T> {
    if width == 1 {
        return values.first().copied();
    }
    let (lower, upper) = values.split_at(values.len().min(width / 2));
    match (tree(lower, width / 2)?, tree(upper, width / 2)) {
        (lower, Some(upper)) => Some(lower.combine(upper)),
        (lower, None) => Some(lower),
    }
}

/// All sums from lane 0 on: every round adds what lies twice as far below.
fn rounds<T: Fold>(values: &[T], width: u32) -> Vec<T> {
    let mut sums = values.to_vec();
    for distance in (0..width.ilog2()).map(|log2| 1 << log2) {
        let before = sums.clone();
        for lane in distance..sums.len() {
            sums[lane] = before[lane - distance].combine(before[lane]);
        }
    }
    sums
}
