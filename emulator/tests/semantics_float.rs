//! Floating-point instructions against `rustc_apfloat`, the port of LLVM's softfloat, bit for bit: every format,
//! rounding and operation; approximations against f64 with the error that the ISA grants.

// The unordered comparisons are written as PTX defines them, as negations.
#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::double_comparisons,
    clippy::nonminimal_bool,
    clippy::too_many_arguments
)]

mod common;

use common::eval;
use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const ROUNDS: [(&str, Round); 4] = [
    ("rn", Round::NearestTiesToEven),
    ("rz", Round::TowardZero),
    ("rm", Round::TowardNegative),
    ("rp", Round::TowardPositive),
];

/// Bits of a format's value, specials and near-ties often.
fn bits(width: u32, fraction: u32) -> impl Strategy<Value = u64> {
    let mask = if width == 64 { !0 } else { (1u64 << width) - 1 };
    let exponent = mask >> 1 & !((1 << fraction) - 1);
    let one = exponent >> 1 & exponent;
    prop_oneof![
        4 => any::<u64>().prop_map(move |v| v & mask),
        1 => prop::sample::select(vec![0, 1, 1 << (width - 1), exponent, exponent | 1 << (width - 1), exponent - 1, mask >> 1, 1 << fraction, (1 << fraction) - 1]),
        3 => (any::<u64>(), -30i64..30).prop_map(move |(v, e)| (one as i64 + (e << fraction)) as u64 & exponent | v & (mask & !exponent)),
        1 => (0u64..8, any::<bool>()).prop_map(move |(v, s)| v | if s { 1 << (width - 1) } else { 0 }),
    ]
}

fn column(width: u32, fraction: u32) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(bits(width, fraction), 64)
}

/// One format: its PTX name, register type, and the reference.
fn check<F: Float>(name: &str, reg: &str, round: &str, r: Round, a: &[u64], b: &[u64], c: &[u64], nan: Option<u64>) {
    type Op<F> = fn(F, F, F, Round) -> F;
    let all: [(&str, usize, Op<F>); 5] = [
        ("add", 2, |a, b, _, r| a.add_r(b, r).value),
        ("sub", 2, |a, b, _, r| a.sub_r(b, r).value),
        ("mul", 2, |a, b, _, r| a.mul_r(b, r).value),
        ("fma", 3, |a, b, c, r| a.mul_add_r(b, c, r).value),
        ("div", 2, |a, b, _, r| a.div_r(b, r).value),
    ];
    let wide = matches!(name, "f32" | "f64");
    for (op, n, f) in all {
        if !wide && (op == "div" || round != "rn") {
            continue;
        }
        let operands = [a.to_vec(), b.to_vec(), c.to_vec()];
        let names = if n == 3 { "%v1, %v2, %v3" } else { "%v1, %v2" };
        let types = [reg, reg, reg, reg];
        let got = eval(&format!("{op}.{round}.{name} %v0, {names};"), &types[..=n], &operands[..n]);
        for k in 0..a.len() {
            let [x, y, z] = [a[k], b[k], c[k]].map(|v| F::from_bits(u128::from(v)));
            let want = f(x, y, z, r);
            if want.is_nan() {
                assert!(
                    F::from_bits(u128::from(got[k])).is_nan(),
                    "{op}.{round}.{name} {:x} {:x} {:x}",
                    a[k],
                    b[k],
                    c[k]
                );
                assert!(nan.is_none_or(|n| n == got[k]), "{op}.{round}.{name}: the NaN is {:x}", got[k]);
            } else {
                assert_eq!(u128::from(got[k]), want.to_bits(), "{op}.{round}.{name} {:x} {:x} {:x}", a[k], b[k], c[k]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn arithmetic_f32(a in column(32, 23), b in column(32, 23), c in column(32, 23)) {
        for (name, r) in ROUNDS {
            check::<Single>("f32", "b32", name, r, &a, &b, &c, Some(0x7fff_ffff));
        }
    }

    #[test]
    fn arithmetic_f64(a in column(64, 52), b in column(64, 52), c in column(64, 52)) {
        for (name, r) in ROUNDS {
            check::<Double>("f64", "b64", name, r, &a, &b, &c, None);
        }
    }

    #[test]
    fn arithmetic_halves(a in column(16, 10), b in column(16, 10), c in column(16, 10), d in column(16, 7), e in column(16, 7), f in column(16, 7)) {
        check::<Half>("f16", "b16", "rn", Round::NearestTiesToEven, &a, &b, &c, Some(0x7fff));
        check::<BFloat>("bf16", "b16", "rn", Round::NearestTiesToEven, &d, &e, &f, Some(0x7fff));
    }

    #[test]
    fn fused_sums_that_nearly_cancel(a in column(32, 23), b in column(32, 23), ulps in prop::collection::vec(-3i64..4, 64)) {
        // c is the product's negative, a few units off: the rounding of the product shows.
        let c: Vec<u64> = a.iter().zip(&b).zip(&ulps).map(|((a, b), u)| {
            let p = -(f32::from_bits(*a as u32) * f32::from_bits(*b as u32));
            u64::from((p.to_bits() as i64 + u) as u32)
        }).collect();
        for (name, r) in ROUNDS {
            check::<Single>("f32", "b32", name, r, &a, &b, &c, Some(0x7fff_ffff));
        }
    }

    #[test]
    fn square_roots_and_reciprocals(a in column(32, 23), d in column(64, 52)) {
        let got = eval("sqrt.rn.f32 %v0, %v1;", &["b32", "b32"], std::slice::from_ref(&a));
        for (g, a) in got.iter().zip(&a) {
            let want = f32::from_bits(*a as u32).sqrt();
            prop_assert!(want.is_nan() && *g == 0x7fff_ffff || u64::from(want.to_bits()) == *g, "{a:x}");
        }
        let got = eval("sqrt.rn.f64 %v0, %v1;", &["b64", "b64"], std::slice::from_ref(&d));
        for (g, a) in got.iter().zip(&d) {
            let want = f64::from_bits(*a).sqrt();
            prop_assert!(want.is_nan() && f64::from_bits(*g).is_nan() || want.to_bits() == *g, "{a:x}");
        }
        // Directed roots: the largest single whose square is not above, the smallest whose square is not below.
        for (round, up) in [("rm", false), ("rz", false), ("rp", true)] {
            let positive: Vec<u64> = a.iter().map(|v| v & 0x7fff_ffff).filter(|v| *v < 0x7f80_0000).collect();
            let got = eval(&format!("sqrt.{round}.f32 %v0, %v1;"), &["b32", "b32"], std::slice::from_ref(&positive));
            for (g, a) in got.iter().zip(&positive) {
                let (root, x) = (f32::from_bits(*g as u32), f64::from(f32::from_bits(*a as u32)));
                let square = |v: f32| f64::from(v) * f64::from(v);
                if up {
                    prop_assert!(square(root) >= x && (root == 0.0 || square(root.next_down()) < x), "{a:x}");
                } else {
                    prop_assert!(square(root) <= x && square(root.next_up()) > x, "{a:x}");
                }
            }
        }
        for (round, r) in ROUNDS {
            let got = eval(&format!("rcp.{round}.f32 %v0, %v1;"), &["b32", "b32"], std::slice::from_ref(&a));
            for (g, a) in got.iter().zip(&a) {
                let want = Single::from_bits(0x3f80_0000).div_r(Single::from_bits(u128::from(*a)), r).value;
                prop_assert!(want.is_nan() || u128::from(*g) == want.to_bits(), "rcp.{round} {a:x}");
            }
        }
    }

    #[test]
    fn conversions_between_floats(d in column(64, 52), s in column(32, 23), h in column(16, 10), b in column(16, 7)) {
        for (round, r) in ROUNDS {
            narrow::<Double, Single>("f32.f64", "b32", "b64", round, r, &d)?;
            narrow::<Double, Half>("f16.f64", "b16", "b64", round, r, &d)?;
            narrow::<Single, Half>("f16.f32", "b16", "b32", round, r, &s)?;
            narrow::<Single, BFloat>("bf16.f32", "b16", "b32", round, r, &s)?;
        }
        narrow::<Half, Single>("f32.f16", "b32", "b16", "", Round::NearestTiesToEven, &h)?;
        narrow::<Half, Double>("f64.f16", "b64", "b16", "", Round::NearestTiesToEven, &h)?;
        narrow::<BFloat, Single>("f32.bf16", "b32", "b16", "", Round::NearestTiesToEven, &b)?;
        narrow::<Single, Double>("f64.f32", "b64", "b32", "", Round::NearestTiesToEven, &s)?;
        let got = eval("cvt.rn.f16x2.f32 %v0, %v1, %v2;", &["b32", "b32", "b32"], &[s.clone(), s.iter().rev().copied().collect()]);
        for (k, g) in got.iter().enumerate() {
            let one = |bits: u64| { let v = half::f16::from_f32(f32::from_bits(bits as u32)); if v.is_nan() { 0x7fff } else { u64::from(v.to_bits()) } };
            prop_assert_eq!(*g, one(s[k]) << 16 | one(s[s.len() - 1 - k]));
        }
    }

    #[test]
    fn conversions_to_integers_saturate(d in column(64, 52), s in column(32, 23)) {
        let modes = [("rni", Round::NearestTiesToEven), ("rzi", Round::TowardZero), ("rmi", Round::TowardNegative), ("rpi", Round::TowardPositive)];
        for (mode, r) in modes {
            for (ty, width, signed) in [("s8", 8, true), ("u8", 8, false), ("u16", 16, false), ("s32", 32, true), ("u32", 32, false), ("s64", 64, true), ("u64", 64, false)] {
                let reg = if width == 64 { "b64" } else { "b32" };
                let got = eval(&format!("cvt.{mode}.{ty}.f32 %v0, %v1;"), &[reg, "b32"], std::slice::from_ref(&s));
                let wide = eval(&format!("cvt.{mode}.{ty}.f64 %v0, %v1;"), &[reg, "b64"], std::slice::from_ref(&d));
                for k in 0..s.len() {
                    prop_assert_eq!(got[k], to_int(Single::from_bits(u128::from(s[k])), r, width, signed), "cvt.{}.{}.f32 {:x}", mode, ty, s[k]);
                    prop_assert_eq!(wide[k], to_int(Double::from_bits(u128::from(d[k])), r, width, signed), "cvt.{}.{}.f64 {:x}", mode, ty, d[k]);
                }
            }
        }
    }

    #[test]
    fn conversions_from_integers(v in prop::collection::vec(any::<u64>(), 64), shift in 0u32..64) {
        let v: Vec<u64> = v.iter().map(|v| v >> shift).collect();
        for (round, r) in ROUNDS {
            let got = eval(&format!("cvt.{round}.f32.u64 %v0, %v1;"), &["b32", "b64"], std::slice::from_ref(&v));
            let signed = eval(&format!("cvt.{round}.f64.s64 %v0, %v1;"), &["b64", "b64"], std::slice::from_ref(&v));
            let half = eval(&format!("cvt.{round}.f16.s32 %v0, %v1;"), &["b16", "b32"], std::slice::from_ref(&v));
            for k in 0..v.len() {
                prop_assert_eq!(u128::from(got[k]), Single::from_u128_r(u128::from(v[k]), r).value.to_bits());
                prop_assert_eq!(u128::from(signed[k]), Double::from_i128_r(i128::from(v[k] as i64), r).value.to_bits());
                prop_assert_eq!(u128::from(half[k]), Half::from_i128_r(i128::from(v[k] as i32), r).value.to_bits());
            }
        }
    }

    #[test]
    fn flushing_and_saturation(a in column(32, 23), b in column(32, 23)) {
        let flush = |v: f32| if v.is_subnormal() { 0f32.copysign(v) } else { v };
        let got = eval("mul.rn.ftz.f32 %v0, %v1, %v2;", &["b32", "b32", "b32"], &[a.clone(), b.clone()]);
        let fma = eval("fma.rn.ftz.sat.f32 %v0, %v1, %v2, %v2;", &["b32", "b32", "b32"], &[a.clone(), b.clone()]);
        for k in 0..a.len() {
            let [x, y] = [a[k], b[k]].map(|v| flush(f32::from_bits(v as u32)));
            let want = flush(x * y);
            prop_assert!(want.is_nan() || u64::from(want.to_bits()) == got[k], "{:x} {:x}", a[k], b[k]);
            let exact = x.mul_add(y, y);
            let want = if exact.is_nan() { 0.0 } else { flush(exact).clamp(0.0, 1.0) };
            prop_assert_eq!(f32::from_bits(fma[k] as u32), want, "{:x} {:x}", a[k], b[k]);
        }
    }

    #[test]
    fn minimum_and_maximum(a in column(32, 23), b in column(32, 23)) {
        let got = eval("min.f32 %v0, %v1, %v2;", &["b32", "b32", "b32"], &[a.clone(), b.clone()]);
        let nan = eval("max.NaN.f32 %v0, %v1, %v2;", &["b32", "b32", "b32"], &[a.clone(), b.clone()]);
        for k in 0..a.len() {
            let [x, y] = [a[k], b[k]].map(|v| Single::from_bits(u128::from(v)));
            // minimum() orders -0 below +0 as PTX does; it differs from it for NaN only.
            let want = match (x.is_nan(), y.is_nan()) {
                (true, true) => 0x7fff_ffff,
                (true, false) => b[k],
                (false, true) => a[k],
                _ => x.minimum(y).to_bits() as u64,
            };
            prop_assert_eq!(got[k], want);
            let want = if x.is_nan() || y.is_nan() { 0x7fff_ffff } else { x.maximum(y).to_bits() as u64 };
            prop_assert_eq!(nan[k], want);
        }
    }

    #[test]
    fn packed_singles_are_two_singles(a in column(32, 23), b in column(32, 23), c in column(32, 23)) {
        let pair = |v: &[u64]| -> Vec<u64> { v.chunks(2).map(|p| p[0] | p[1] << 32).collect() };
        let fma = eval("fma.rn.f32 %v0, %v1, %v2, %v3;", &["b32"; 4], &[a.clone(), b.clone(), c.clone()]);
        let sub = eval("sub.rn.f32 %v0, %v1, %v2;", &["b32"; 3], &[a.clone(), b.clone()]);
        prop_assert_eq!(eval("fma.rn.f32x2 %v0, %v1, %v2, %v3;", &["b64"; 4], &[pair(&a), pair(&b), pair(&c)]), pair(&fma));
        prop_assert_eq!(eval("sub.rn.f32x2 %v0, %v1, %v2;", &["b64"; 3], &[pair(&a), pair(&b)]), pair(&sub));
        for mode in ["rz", "rm.ftz", "rp.ftz", "rn.ftz"] {
            let fma = eval(&format!("fma.{mode}.f32 %v0, %v1, %v2, %v3;"), &["b32"; 4], &[a.clone(), b.clone(), c.clone()]);
            let mul = eval(&format!("mul.{mode}.f32 %v0, %v1, %v2;"), &["b32"; 3], &[a.clone(), b.clone()]);
            prop_assert_eq!(eval(&format!("fma.{mode}.f32x2 %v0, %v1, %v2, %v3;"), &["b64"; 4], &[pair(&a), pair(&b), pair(&c)]), pair(&fma));
            prop_assert_eq!(eval(&format!("mul.{mode}.f32x2 %v0, %v1, %v2;"), &["b64"; 3], &[pair(&a), pair(&b)]), pair(&mul));
        }
    }

    #[test]
    fn halves_added_to_singles_are_made_singles_first(h in column(16, 10), g in column(16, 10), b in column(16, 7), c in column(32, 23)) {
        for (ty, h, g) in [("f16", &h, &g), ("bf16", &b, &b)] {
            let wide = |v: &Vec<u64>| eval(&format!("cvt.f32.{ty} %v0, %v1;"), &["b32", "b16"], std::slice::from_ref(v));
            for (op, round) in [("add", "rn"), ("sub", "rz"), ("add", "rm.sat")] {
                let (mode, last) = (format!("{op}.{round}.f32"), c.clone());
                let want = eval(&format!("{mode} %v0, %v1, %v2;"), &["b32"; 3], &[wide(h), last.clone()]);
                let got = eval(&format!("{mode}.{ty} %v0, %v1, %v2;"), &["b32", "b16", "b32"], &[h.clone(), last]);
                prop_assert_eq!(got, want, "{}.{}", mode, ty);
            }
            let want = eval("fma.rp.f32 %v0, %v1, %v2, %v3;", &["b32"; 4], &[wide(h), wide(g), c.clone()]);
            let got = eval(&format!("fma.rp.f32.{ty} %v0, %v1, %v2, %v3;"), &["b32", "b16", "b16", "b32"], &[h.clone(), g.clone(), c.clone()]);
            prop_assert_eq!(got, want);
        }
    }

    #[test]
    fn comparisons(a in column(32, 23), b in column(32, 23), same in prop::collection::vec(any::<bool>(), 64)) {
        let b: Vec<u64> = a.iter().zip(&b).zip(&same).map(|((a, b), s)| if *s { *a } else { *b }).collect();
        type Test = fn(f32, f32) -> bool;
        let all: [(&str, Test); 14] = [
            ("eq", |a, b| a == b), ("ne", |a, b| a < b || a > b), ("lt", |a, b| a < b), ("le", |a, b| a <= b), ("gt", |a, b| a > b), ("ge", |a, b| a >= b),
            ("equ", |a, b| !(a < b || a > b)), ("neu", |a, b| a != b), ("ltu", |a, b| !(a >= b)), ("leu", |a, b| !(a > b)), ("gtu", |a, b| !(a <= b)), ("geu", |a, b| !(a < b)),
            ("num", |a, b| !a.is_nan() && !b.is_nan()), ("nan", |a, b| a.is_nan() || b.is_nan()),
        ];
        for (name, f) in all {
            let got = eval(&format!("setp.{name}.f32 %v0, %v1, %v2;"), &["pred", "b32", "b32"], &[a.clone(), b.clone()]);
            let double = eval(&format!("{{.reg .f64 %x, %y; cvt.f64.f32 %x, %v1; cvt.f64.f32 %y, %v2; setp.{name}.f64 %v0, %x, %y;}}"), &["pred", "b32", "b32"], &[a.clone(), b.clone()]);
            for k in 0..a.len() {
                let want = u64::from(f(f32::from_bits(a[k] as u32), f32::from_bits(b[k] as u32)));
                prop_assert_eq!((got[k], double[k]), (want, want), "{} {:x} {:x}", name, a[k], b[k]);
            }
        }
    }

    #[test]
    fn approximations_are_within_what_the_isa_grants(a in prop::collection::vec(-100f32..100.0, 64)) {
        let x: Vec<u64> = a.iter().map(|v| u64::from(v.to_bits())).collect();
        let one = |inst: &str| -> Vec<f64> {
            eval(&format!("{inst} %v0, %v1;"), &["b32", "b32"], std::slice::from_ref(&x)).iter().map(|v| f64::from(f32::from_bits(*v as u32))).collect()
        };
        let relative = |got: f64, want: f64, bound: f64| (got - want).abs() <= want.abs() * bound;
        let (ex2, rcp, lg2, sin, tanh, rsqrt, sqrt) = (one("ex2.approx.f32"), one("rcp.approx.f32"), one("lg2.approx.f32"), one("sin.approx.f32"), one("tanh.approx.f32"), one("rsqrt.approx.f32"), one("sqrt.approx.f32"));
        for k in 0..a.len() {
            let v = f64::from(a[k]);
            prop_assert!(relative(ex2[k], v.exp2(), 2f64.powi(-22)));
            prop_assert!(relative(rcp[k], 1.0 / v, 2f64.powi(-23)));
            prop_assert!(relative(tanh[k], v.tanh(), 2f64.powi(-11)));
            if v > 0.0 {
                prop_assert!((lg2[k] - v.log2()).abs() <= 2f64.powi(-22) * v.log2().abs().max(1.0));
                prop_assert!(relative(rsqrt[k], 1.0 / v.sqrt(), 2f64.powf(-22.9)));
                prop_assert!(relative(sqrt[k], v.sqrt(), 2f64.powi(-23)));
            }
            if v.abs() < std::f64::consts::PI {
                prop_assert!((sin[k] - v.sin()).abs() <= 2f64.powf(-20.5));
            }
        }
    }
}

fn narrow<F: Float + FloatConvert<G>, G: Float>(
    ty: &str,
    d: &str,
    s: &str,
    round: &str,
    r: Round,
    v: &[u64],
) -> Result<(), TestCaseError> {
    let dot = if round.is_empty() { "" } else { "." };
    let got = eval(&format!("cvt{dot}{round}.{ty} %v0, %v1;"), &[d, s], &[v.to_vec()]);
    for (g, v) in got.iter().zip(v) {
        let want: G = F::from_bits(u128::from(*v)).convert_r(r, &mut false).value;
        let ours = G::from_bits(u128::from(*g));
        prop_assert!(
            want.is_nan() && ours.is_nan() || u128::from(*g) == want.to_bits(),
            "cvt{}{}.{} {:x}: {:x}",
            dot,
            round,
            ty,
            v,
            g
        );
    }
    Ok(())
}

/// The reference's saturating conversion, as the register's bits.
fn to_int<F: Float>(v: F, r: Round, width: usize, signed: bool) -> u64 {
    let mask = if width == 64 { !0 } else { u64::from(u32::MAX) };
    if v.is_nan() {
        return if width == 64 { 1 << 63 } else { 0 };
    }
    let bits = if signed {
        v.to_i128_r(width, r, &mut false).value as u64
    } else {
        v.to_u128_r(width, r, &mut false).value as u64
    };
    bits & mask
}
