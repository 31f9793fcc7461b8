//! The 16-bit formats: every value, and every place where rounding changes its mind.

use device_std::math::{Bf16, F16};

/// The number that some bits stand for, by the definition of the format.
fn decoded(bits: u16, mantissa_bits: u32) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent_bits = 15 - mantissa_bits;
    let exponent = i32::from((bits & 0x7fff) >> mantissa_bits);
    let mantissa = f64::from(bits & ((1 << mantissa_bits) - 1)) / f64::from(1 << mantissa_bits);
    let bias = (1 << (exponent_bits - 1)) - 1;
    if exponent == (1 << exponent_bits) - 1 {
        return if mantissa == 0.0 { sign * f64::INFINITY } else { f64::NAN };
    }
    let significand = if exponent == 0 { mantissa } else { 1.0 + mantissa };
    sign * significand * f64::exp2(f64::from(exponent.max(1) - bias))
}

/// Checks one format: its mantissa bits, and its conversions by bits.
fn check(mantissa_bits: u32, to_f32: fn(u16) -> f32, from_f32: fn(f32) -> u16) {
    for bits in 0..=u16::MAX {
        let exact = decoded(bits, mantissa_bits);
        let wide = to_f32(bits);
        if exact.is_nan() {
            assert!(wide.is_nan() && decoded(from_f32(wide), mantissa_bits).is_nan(), "{bits:#x}");
            continue;
        }
        assert_eq!(f64::from(wide).to_bits(), exact.to_bits(), "{bits:#x}");
        assert_eq!(from_f32(wide), bits);
        check_above(bits, mantissa_bits, wide, from_f32);
    }
    for nan in [f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001), f32::from_bits(0xffff_ffff)] {
        assert!(decoded(from_f32(nan), mantissa_bits).is_nan());
    }
    assert_eq!(from_f32(f32::MAX), from_f32(f32::INFINITY));
    assert_eq!(from_f32(f32::from_bits(1)), if mantissa_bits == 10 { 0 } else { from_f32(0.0) });
}

/// Around the middle between a number and the next further from 0.
fn check_above(bits: u16, mantissa_bits: u32, wide: f32, from_f32: fn(f32) -> u16) {
    if wide.is_infinite() {
        return;
    }
    let next = bits + 1;
    // The next one after the largest would be as far again as the largest is from its neighbour.
    let below = decoded(bits - u16::from(bits & 0x7fff != 0), mantissa_bits);
    let after = decoded(next, mantissa_bits);
    let after = if after.is_infinite() { f64::from(wide) + (f64::from(wide) - below) } else { after };
    let middle = ((f64::from(wide) + after) / 2.0) as f32;
    assert_eq!(f64::from(middle), (f64::from(wide) + after) / 2.0, "single precision holds the middle");
    let even = if bits & 1 == 0 { bits } else { next };
    let towards_zero = f32::from_bits(middle.to_bits() - 1);
    let away = f32::from_bits(middle.to_bits() + 1);
    assert_eq!((from_f32(towards_zero), from_f32(middle), from_f32(away)), (bits, even, next), "above {bits:#x}");
}

#[test]
fn binary16_converts_both_ways() {
    check(10, |bits| F16::from_bits(bits).to_f32(), |value| F16::from_f32(value).to_bits());
}

#[test]
fn bfloat16_converts_both_ways() {
    check(7, |bits| Bf16::from_bits(bits).into(), |value| Bf16::from_f32(value).to_bits());
}

#[test]
fn they_are_shown_as_numbers() {
    assert_eq!(format!("{:?} {:?}", F16::from_f32(1.5), Bf16::default()), "1.5 0.0");
}
