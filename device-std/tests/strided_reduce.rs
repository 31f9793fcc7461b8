//! Strided reductions against a tree that is built the way the contract says, and not the way the library does it.

use device_std::reduce::StridedReduce;
use proptest::prelude::*;
use std::cell::Cell;

/// The tree over some leaves: groups of F neighbours, level by level, each folded from the left.
fn tree<T: Copy>(leaves: &[T], fan_out: usize, op: &impl Fn(T, T) -> T) -> T {
    let fold = |group: &[T]| group[1..].iter().fold(group[0], |sum, &leaf| op(sum, leaf));
    match leaves {
        [only] => *only,
        _ => tree(&leaves.chunks(fan_out).map(fold).collect::<Vec<_>>(), fan_out, op),
    }
}

fn expected<T: Copy>(values: &[T], strides: usize, fan_out: usize, op: impl Fn(T, T) -> T) -> Vec<T> {
    let accumulator =
        |a: usize| tree(&values.iter().copied().skip(a).step_by(strides).collect::<Vec<_>>(), fan_out, &op);
    (0..strides).map(accumulator).collect()
}

/// Writes down what is done with what; the strings live as long as the test.
fn spelled(a: &'static str, b: &'static str) -> &'static str {
    format!("({a}+{b})").leak()
}

fn names<const N: usize>() -> [&'static str; N] {
    std::array::from_fn(|i| (i + 1).to_string().leak() as &str)
}

#[test]
fn trees_are_pairwise() {
    assert_eq!(names::<8>().strided_reduce::<2>(spelled), ["((1+3)+(5+7))", "((2+4)+(6+8))"]);
    assert_eq!(names::<5>().strided_reduce::<1>(spelled), ["(((1+2)+(3+4))+5)"]);
    assert_eq!(names::<7>().strided_reduce::<1>(spelled), ["(((1+2)+(3+4))+((5+6)+7))"]);
    assert_eq!(names::<3>().strided_reduce::<3>(spelled), ["1", "2", "3"]);
    assert_eq!(names::<1>().strided_reduce::<1>(spelled), ["1"]);
}

#[test]
fn a_fan_out_groups_neighbours_and_leaves_the_last_group_short() {
    assert_eq!(names::<8>().strided_reduce_by::<1, 3>(spelled), ["((((1+2)+3)+((4+5)+6))+(7+8))"]);
    assert_eq!(names::<10>().strided_reduce_by::<1, 3>(spelled), ["(((((1+2)+3)+((4+5)+6))+((7+8)+9))+10)"]);
    assert_eq!(names::<6>().strided_reduce_by::<2, 3>(spelled), ["((1+3)+5)", "((2+4)+6)"]);
    assert_eq!(names::<5>().strided_reduce_by::<1, 9>(spelled), ["((((1+2)+3)+4)+5)"]);
    assert_eq!(names::<4>().strided_reduce_by::<1, { usize::MAX }>(spelled), ["(((1+2)+3)+4)"]);
}

/// Runs one case for each shape, named by N, S and F.
macro_rules! shapes {
    ($check:ident: $($n:literal $s:literal $f:literal,)*) => {$( $check::<$n, $s, $f>(); )*};
}

macro_rules! all_shapes {
    ($check:ident) => {
        shapes! { $check:
            1 1 2, 2 1 2, 3 1 2, 8 1 2, 8 2 2, 8 8 2, 9 3 2, 15 5 2, 16 1 2, 17 1 2, 32 4 2, 33 1 2, 60 4 2, 63 1 2,
            64 1 2, 64 2 2, 64 64 2, 65 1 2, 100 4 2, 128 8 2, 255 1 2, 256 1 2, 257 1 2, 300 3 2, 1000 8 2,
            8 1 3, 9 1 3, 10 1 3, 24 3 3, 27 1 3, 28 1 3, 64 2 3, 81 1 3, 300 1 3,
            5 1 4, 17 1 4, 64 1 4, 20 2 5, 26 1 5, 64 1 8, 9 1 64,
        }
    };
}

/// Numbers whose sums depend on every rounding.
fn uneven<const N: usize>() -> [f64; N] {
    let mut seed = N as u64;
    std::array::from_fn(|_| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let sign = if seed & 1 == 0 { 1.0 } else { -1.0 };
        sign * (seed >> 20) as f64 * f64::exp2((seed >> 57) as f64 - 64.0)
    })
}

fn same_bits<const N: usize, const S: usize, const F: usize>() {
    let wide = uneven::<N>();
    let narrow = wide.map(|value| value as f32);
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let narrow_bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let sum = |a, b| a + b;
    assert_eq!(bits(&wide.strided_reduce_by::<S, F>(sum)), bits(&expected(&wide, S, F, sum)), "{N} {S} {F}");
    let sum = |a, b| a + b;
    assert_eq!(
        narrow_bits(&narrow.strided_reduce_by::<S, F>(sum)),
        narrow_bits(&expected(&narrow, S, F, sum)),
        "{N} {S} {F}"
    );
}

fn each_value_once<const N: usize, const S: usize, const F: usize>() {
    let calls = Cell::new(0);
    let numbers: [u128; N] = std::array::from_fn(|i| i as u128 + 1);
    let sums = numbers.strided_reduce_by::<S, F>(|a, b| {
        calls.set(calls.get() + 1);
        a + b
    });
    assert_eq!((calls.get(), sums.iter().sum::<u128>()), (N - S, (N * (N + 1) / 2) as u128));
}

#[test]
fn sums_have_the_bits_of_the_tree_in_every_shape() {
    all_shapes!(same_bits);
}

#[test]
fn every_value_is_used_once() {
    all_shapes!(each_value_once);
}

proptest! {
    /// Any bits at all, infinities and subnormals included; NaNs only as NaNs, since their payload is nobody's promise.
    #[test]
    fn sums_have_the_bits_of_the_tree(
        bits in prop::array::uniform32(any::<u32>()),
        wide in prop::array::uniform32(any::<u64>()),
    ) {
        let values = bits.map(f32::from_bits);
        let bits = |value: f32| if value.is_nan() { None } else { Some(value.to_bits()) };
        let same = |ours: &[f32], tree: Vec<f32>| ours.iter().copied().map(bits).eq(tree.into_iter().map(bits));
        prop_assert!(same(&values.strided_reduce::<4>(|a, b| a + b), expected(&values, 4, 2, |a, b| a + b)));
        prop_assert!(same(&values.strided_reduce_by::<1, 3>(|a, b| a - b), expected(&values, 1, 3, |a, b| a - b)));
        let values = wide.map(f64::from_bits);
        let bits = |value: f64| if value.is_nan() { None } else { Some(value.to_bits()) };
        let same = |ours: &[f64], tree: Vec<f64>| ours.iter().copied().map(bits).eq(tree.into_iter().map(bits));
        prop_assert!(same(&values.strided_reduce::<2>(|a, b| a * b), expected(&values, 2, 2, |a, b| a * b)));
        prop_assert!(same(&values.strided_reduce_by::<4, 5>(|a, b| a + b), expected(&values, 4, 5, |a, b| a + b)));
    }

    /// An operation that is associative without being commutative keeps the order of the values.
    #[test]
    fn the_order_is_kept(pairs in prop::array::uniform32((any::<u64>(), any::<u64>()))) {
        let affine = |(a, b): (u64, u64), (c, d): (u64, u64)| (a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d));
        let left = pairs[1..].iter().fold(pairs[0], |sum, &pair| affine(sum, pair));
        prop_assert_eq!(pairs.strided_reduce::<1>(affine), [left]);
        prop_assert_eq!(pairs.strided_reduce_by::<1, 3>(affine), [left]);
    }
}

#[test]
fn refusals_are_worded() {
    let cases = trybuild::TestCases::new();
    // A program that runs comes first: it makes trybuild generate code, without which no shape is evaluated.
    cases.pass("tests/reduce-messages/accepted/*.rs");
    cases.compile_fail("tests/reduce-messages/refused/*.rs");
}
