//! The approximations: what a host computes, and the worst that the instructions of NVIDIA's GPUs may.
//!
//! The PTX ISA grants each instruction an error. Here the functions are computed with instructions that take all of it, up
//! or down, and double precision in between, and must keep to the bounds in the functions' documentation. The GPU's own
//! results lie in between.

use super::ulp::{distance, unit};
use device_std::math;
use std::f32::consts::{LN_2, LOG2_E};

/// What the ISA grants: an error in units of the last place, relative, or absolute.
#[derive(Clone, Copy)]
enum Granted {
    Ulps(f64),
    Relative(f64),
    Absolute(f64),
}
use Granted::{Absolute, Relative, Ulps};

/// A result that is off by all that is granted, in that direction.
fn off(exact: f64, granted: Granted, direction: f64) -> f64 {
    let by = match granted {
        Ulps(ulps) => ulps * unit(exact),
        Relative(error) => error * exact.abs(),
        Absolute(error) => error,
    };
    exact + direction * by
}

/// 2 ulp from the correctly rounded result.
fn ex2(x: f64, direction: f64) -> f64 {
    off(x.exp2(), Ulps(2.5), direction)
}

fn lg2(x: f64, direction: f64) -> f64 {
    let granted = if x > 0.5 && x < 2.0 { Absolute(f64::exp2(-22.0)) } else { Relative(f64::exp2(-22.0)) };
    off(x.log2(), granted, direction)
}

fn rcp(x: f64, direction: f64) -> f64 {
    off(1.0 / x, Ulps(1.0), direction)
}

/// Rounded to single precision, as every result of an instruction is.
fn rounded(x: f64) -> f64 {
    f64::from(x as f32)
}

/// A function: on the host; in double precision; by instructions that are off in two directions; its bound.
struct Case {
    name: &'static str,
    ours: fn(f32) -> f32,
    exact: fn(f64) -> f64,
    worst: fn(f64, [f64; 2]) -> f64,
    bound: fn(f64) -> Granted,
    range: (f32, f32),
}

/// From 0.5 to 2 a logarithm's error is absolute.
fn logarithm(x: f64, near: f64, far: f64) -> Granted {
    if x > 0.5 && x < 2.0 { Absolute(near) } else { Ulps(far) }
}

const CASES: [Case; 9] = [
    Case {
        name: "fast_exp2",
        ours: math::fast_exp2,
        exact: f64::exp2,
        worst: |x, [up, _]| ex2(x, up),
        bound: |_| Ulps(2.5),
        range: (-126.0, 127.9),
    },
    Case {
        name: "fast_exp",
        ours: math::fast_exp,
        exact: f64::exp,
        worst: |x, [up, _]| ex2(rounded(x * f64::from(LOG2_E)), up),
        bound: |x| Ulps(2.5 + 1.3 * x.abs()),
        range: (-87.0, 88.0),
    },
    Case {
        name: "fast_log2",
        ours: math::fast_log2,
        exact: f64::log2,
        worst: |x, [up, _]| lg2(x, up),
        bound: |x| logarithm(x, f64::exp2(-22.0), 4.0),
        range: (1.0e-30, 1.0e30),
    },
    Case {
        name: "fast_log",
        ours: math::fast_log,
        exact: f64::ln,
        // The product is rounded: half an ulp, in the other direction's name.
        worst: |x, [up, other]| off(lg2(x, up) * f64::from(LN_2), Ulps(0.5), other),
        bound: |x| logarithm(x, f64::exp2(-22.2), 5.1),
        range: (1.0e-30, 1.0e30),
    },
    Case {
        name: "fast_sqrt",
        ours: math::fast_sqrt,
        exact: f64::sqrt,
        worst: |x, [up, _]| off(x.sqrt(), Relative(f64::exp2(-23.0)), up),
        bound: |_| Ulps(2.0),
        range: (1.0e-30, 1.0e30),
    },
    Case {
        name: "fast_rsqrt",
        ours: math::fast_rsqrt,
        exact: |x| 1.0 / x.sqrt(),
        worst: |x, [up, _]| off(1.0 / x.sqrt(), Relative(f64::exp2(-22.9)), up),
        bound: |_| Ulps(2.2),
        range: (1.0e-30, 1.0e30),
    },
    Case {
        name: "fast_recip",
        ours: math::fast_recip,
        exact: |x| 1.0 / x,
        worst: |x, [up, _]| rcp(x, up),
        bound: |_| Ulps(1.0),
        range: (1.0e-30, 1.0e30),
    },
    Case {
        name: "fast_tanh",
        ours: math::fast_tanh,
        exact: f64::tanh,
        worst: |x, [up, _]| off(x.tanh(), Relative(f64::exp2(-11.0)), up),
        bound: |_| Ulps(8192.0),
        range: (-20.0, 20.0),
    },
    Case {
        name: "fast_sigmoid",
        ours: math::fast_sigmoid,
        exact: |x| 1.0 / (1.0 + (-x).exp()),
        worst: |x, [up, other]| {
            // The sum is rounded, in the same direction as its greater part.
            let sum = 1.0 + ex2(rounded(-x * f64::from(LOG2_E)), up);
            rcp(off(sum, Ulps(0.5), up), other)
        },
        bound: |x| Ulps(8.0 + if x < -1.0 { 1.3 * x.abs() } else { 0.0 }),
        range: (-87.0, 20.0),
    },
];

/// Arguments all over a range, in equal steps and, where it has one sign, in equal ratios.
fn arguments((first, last): (f32, f32)) -> impl Iterator<Item = f32> {
    const MANY: u32 = 40_000;
    let part = |i: u32| i as f32 / MANY as f32;
    let steps = (0..=MANY).map(move |i| first + (last - first) * part(i));
    let quotient = f64::from(last) / f64::from(first);
    let ratio = move |i| (f64::from(first) * quotient.powf(f64::from(part(i)))) as f32;
    let ratios = (0..=MANY).map(ratio).filter(move |_| first > 0.0);
    steps.chain(ratios).filter(move |x| (first..=last).contains(x))
}

#[track_caller]
fn check(case: &Case, x: f32, found: f64) {
    let wide = f64::from(x);
    let exact = (case.exact)(wide);
    let (error, bound) = match (case.bound)(wide) {
        Ulps(ulps) => (distance(found, exact), ulps),
        Absolute(error) | Relative(error) => ((found - exact).abs(), error),
    };
    // A bound may be met exactly, and double precision is off by a few of its own ulp.
    assert!(error <= bound * (1.0 + 1.0e-7), "{}({x:e}) is off by {error}, for at most {bound}", case.name);
}

#[test]
fn hosts_keep_the_bounds() {
    for case in &CASES {
        for x in arguments(case.range) {
            check(case, x, f64::from((case.ours)(x)));
        }
    }
}

#[test]
fn instructions_that_err_by_all_they_may_keep_the_bounds() {
    for case in &CASES {
        for x in arguments(case.range) {
            for directions in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
                check(case, x, (case.worst)(f64::from(x), directions));
            }
        }
    }
}

#[test]
fn quotients_are_close() {
    for (x, y) in arguments((0.1, 10.0)).zip(arguments((-3.0, 200.0)).filter(|y| *y != 0.0)) {
        let error = distance(f64::from(math::fast_div(x, y)), f64::from(x) / f64::from(y));
        assert!(error <= 2.0, "{x:e} / {y:e} is off by {error} ulp");
    }
}
