//! Double precision, on a sample of each range where the functions work differently.

use astro_float_num::{BigFloat, Consts, RoundingMode::ToEven};
use device_std::math;

/// Bits of the reference.
const PRECISION: usize = 192;

/// A number that is twice rounded is off by no more than this beyond the bound.
const SLACK: f64 = 1e-9;

type Exact = fn(&BigFloat, &mut Consts) -> BigFloat;

struct Case {
    name: &'static str,
    ours: fn(f64) -> f64,
    exact: Exact,
    bound: f64,
    ranges: &'static [(f64, f64)],
}

const CASES: [Case; 8] = [
    Case {
        name: "exp",
        ours: math::exp,
        exact: |x, consts| x.exp(PRECISION, ToEven, consts),
        bound: 0.97,
        ranges: &[(-0.4, 0.4), (-3.0, 3.0), (-708.0, 709.7), (-745.0, -708.0)],
    },
    Case {
        name: "exp2",
        ours: math::exp2,
        exact: |x, consts| x.mul(&consts.ln_2(PRECISION, ToEven), PRECISION, ToEven).exp(PRECISION, ToEven, consts),
        bound: 0.87,
        ranges: &[(-0.51, 0.51), (-3.0, 3.0), (-1022.0, 1023.9), (-1074.0, -1022.0)],
    },
    Case {
        name: "log",
        ours: math::log,
        exact: |x, consts| x.ln(PRECISION, ToEven, consts),
        bound: 0.86,
        ranges: &[(0.6, 0.7), (0.7, 1.0), (1.0, 1.4), (1.4, 3.0), (3.0, 1e300), (5e-324, 2.2e-308), (0.9999, 1.0001)],
    },
    Case {
        name: "log2",
        ours: math::log2,
        exact: |x, consts| x.log2(PRECISION, ToEven, consts),
        bound: 0.9,
        ranges: &[(0.6, 0.7), (0.7, 1.0), (1.0, 1.4), (1.4, 3.0), (3.0, 1e300), (5e-324, 2.2e-308), (0.9999, 1.0001)],
    },
    Case {
        name: "sqrt",
        ours: math::sqrt,
        exact: |x, _| x.sqrt(PRECISION, ToEven),
        bound: 0.5,
        ranges: &[(1.0, 4.0), (5e-324, 2.2e-308)],
    },
    Case {
        name: "rsqrt",
        ours: math::rsqrt,
        exact: |x, _| x.sqrt(PRECISION, ToEven).reciprocal(PRECISION, ToEven),
        bound: 1.5,
        ranges: &[(1.0, 4.0), (5e-324, 2.2e-308)],
    },
    Case {
        name: "sigmoid",
        ours: math::sigmoid,
        exact: |x, consts| {
            let one = BigFloat::from_f64(1.0, PRECISION);
            x.neg().exp(PRECISION, ToEven, consts).add(&one, PRECISION, ToEven).reciprocal(PRECISION, ToEven)
        },
        bound: 2.41,
        ranges: &[(-1.0, 1.0), (-8.0, 8.0), (-700.0, 40.0), (-745.0, -708.0)],
    },
    Case {
        name: "tanh",
        ours: math::tanh,
        exact: |x, consts| x.tanh(PRECISION, ToEven, consts),
        bound: 1.45,
        ranges: &[(-0.57, 0.57), (0.5, 0.7), (-3.0, -0.7), (1e-9, 1e-5), (0.0, 22.0)],
    },
];

/// A double as a reference number. The library does not take subnormal ones, so these are made larger, and smaller
/// again.
fn big(x: f64) -> BigFloat {
    if x.abs() >= f64::MIN_POSITIVE {
        return BigFloat::from_f64(x, PRECISION);
    }
    let mut lifted = BigFloat::from_f64(x * f64::exp2(200.0), PRECISION);
    if let Some(exponent) = lifted.exponent() {
        lifted.set_exponent(exponent - 200);
    }
    lifted
}

/// How far a result is off, in units of the last place of the exact one.
fn error(ours: f64, exact: &BigFloat) -> f64 {
    let difference = big(ours).sub(exact, PRECISION, ToEven);
    let (Some(exponent), Some((mantissa, .., size, _))) = (exact.exponent(), difference.as_raw_parts()) else {
        return f64::INFINITY;
    };
    // A mantissa is below 1, and its last word is the highest.
    let top = *mantissa.last().expect("a mantissa") as f64;
    let last_place = (exponent - 1).max(-1022) - 52;
    top * f64::exp2(f64::from(size - 64 - last_place))
}

fn check(case: &Case, samples: usize) {
    let mut consts = Consts::new().expect("memory for constants");
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as f64 * f64::exp2(-53.0)
    };
    for (least, most) in case.ranges {
        for _ in 0..samples {
            let x = least + (most - least) * random();
            let error = error((case.ours)(x), &(case.exact)(&big(x), &mut consts));
            assert!(error <= case.bound + SLACK, "{}({x:e}) is off by {error} ulp", case.name);
        }
    }
}

#[test]
fn errors_are_within_the_bounds() {
    CASES.iter().for_each(|case| check(case, 150));
}

/// The bounds of the documentation come from this many.
#[test]
#[ignore = "takes an hour"]
fn errors_are_within_the_bounds_for_many() {
    CASES.iter().for_each(|case| check(case, 60_000));
}

#[test]
fn bits_are_pinned() {
    let hash = |case: &Case| {
        let arguments = (0..20_000u64).map(|i| f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let moderate = (0..20_000).map(|i| f64::from(i) * 0.037 - 300.0);
        let results = arguments.chain(moderate).map(case.ours);
        let bits = results.map(|result| if result.is_nan() { 0 } else { result.to_bits() });
        bits.fold(0xcbf2_9ce4_8422_2325u64, |hash, bits| (hash ^ bits).wrapping_mul(0x100_0000_01b3))
    };
    let hashes: Vec<_> = CASES.iter().map(|case| (case.name, format!("{:016x}", hash(case)))).collect();
    let pinned = [
        ("exp", "a4a914e1d0d2d3b7"),
        ("exp2", "2f91a108fcee3e5b"),
        ("log", "8d7d3b46768985fe"),
        ("log2", "d9f2b7fc3aadadd8"),
        ("sqrt", "b8d97df08a659609"),
        ("rsqrt", "f6afcbb983fcef28"),
        ("sigmoid", "bd6ad1d14d236340"),
        ("tanh", "db16721950d07e80"),
    ];
    assert_eq!(hashes, pinned.map(|(name, hash)| (name, hash.to_owned())));
}
