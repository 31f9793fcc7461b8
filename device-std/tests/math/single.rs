//! Single precision: a dense sample in the ordinary run, every argument in the ignored one.

use super::ulp::distance;
use device_std::math;

struct Case {
    name: &'static str,
    ours: fn(f32) -> f32,
    exact: fn(f64) -> f64,
    bound: f64,
}

const CASES: [Case; 9] = [
    Case { name: "exp", ours: math::exp, exact: f64::exp, bound: 0.98 },
    Case { name: "exp2", ours: math::exp2, exact: f64::exp2, bound: 0.87 },
    Case { name: "log", ours: math::log, exact: f64::ln, bound: 0.85 },
    Case { name: "log2", ours: math::log2, exact: f64::log2, bound: 0.88 },
    Case { name: "sqrt", ours: math::sqrt, exact: f64::sqrt, bound: 0.5 },
    Case { name: "rsqrt", ours: math::rsqrt, exact: |x| 1.0 / x.sqrt(), bound: 1.5 },
    Case { name: "recip", ours: math::recip, exact: |x| 1.0 / x, bound: 0.5 },
    Case { name: "sigmoid", ours: math::sigmoid, exact: sigmoid, bound: 2.41 },
    Case { name: "tanh", ours: math::tanh, exact: f64::tanh, bound: 1.43 },
];

fn sigmoid(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

/// How far a result is off, in units of the last place; infinite for a result of the wrong kind.
fn error(ours: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if rounded.is_nan() || ours.is_nan() {
        return if rounded.is_nan() && ours.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if rounded.is_infinite() || exact == 0.0 {
        return if ours.to_bits() == rounded.to_bits() { 0.0 } else { f64::INFINITY };
    }
    if ours.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    distance(f64::from(ours), exact)
}

fn check(case: &Case, arguments: impl Iterator<Item = u32>) {
    let of = |bits| error((case.ours)(f32::from_bits(bits)), (case.exact)(f64::from(f32::from_bits(bits))));
    let worst = arguments.map(|bits| (of(bits), bits)).fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
    let (error, argument) = (worst.0, f32::from_bits(worst.1));
    assert!(error <= case.bound, "{}({argument:e}) is off by {error} ulp", case.name);
}

/// Every 30,011th pattern, and all within 2000 of a place where something changes.
#[test]
fn errors_are_within_the_bounds() {
    let turning_points =
        [0.0, f32::MIN_POSITIVE, 2.0 / 3.0, 1.0, 4.0 / 3.0, 0.5625, 88.72284, 103.972, 104.0, 128.0, 149.0, 150.0];
    for case in &CASES {
        check(case, (0..=u32::MAX).step_by(30_011));
        for point in turning_points.into_iter().flat_map(|point| [point, -point, 1.0 / point]) {
            let bits = f32::to_bits(point);
            check(case, bits.saturating_sub(2000)..=bits.saturating_add(2000));
        }
    }
}

/// Four thousand million arguments for each function: minutes, and in an optimized build only.
#[test]
#[ignore = "takes minutes"]
fn errors_are_within_the_bounds_everywhere() {
    for case in &CASES {
        check(case, 0..=u32::MAX);
    }
}

/// Bits that no other machine and no other order of operations may change.
#[test]
fn bits_are_pinned() {
    let hash = |ours: fn(f32) -> f32| {
        let results = (0..=u32::MAX).step_by(65_537).map(|bits| ours(f32::from_bits(bits)));
        let bits = results.map(|result| if result.is_nan() { 0 } else { result.to_bits() });
        bits.fold(0xcbf2_9ce4_8422_2325u64, |hash, bits| (hash ^ u64::from(bits)).wrapping_mul(0x100_0000_01b3))
    };
    let hashes = CASES.map(|case| (case.name, format!("{:016x}", hash(case.ours))));
    let pinned = [
        ("exp", "6eb8df0fc0105409"),
        ("exp2", "a33429861a092485"),
        ("log", "8a40c8b04e31ec77"),
        ("log2", "c9121c0d2cdd378d"),
        ("sqrt", "21abc7e9242177f1"),
        ("rsqrt", "3ab6f9590232bbcd"),
        ("recip", "db3d4e30a7fd6470"),
        ("sigmoid", "928d997a7262164d"),
        ("tanh", "d4f4b6f6d0c43584"),
    ]
    .map(|(name, hash)| (name, hash.to_owned()));
    assert_eq!(hashes, pinned);
}
