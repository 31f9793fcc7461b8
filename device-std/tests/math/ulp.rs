//! How far a result in single precision is off.

/// A unit in the last place of a single-precision number of that size.
pub fn unit(exact: f64) -> f64 {
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    f64::exp2(f64::from(exponent.max(-126) - 23))
}

/// The distance in units of the last place of the exact result.
pub fn distance(found: f64, exact: f64) -> f64 {
    (found - exact).abs() / unit(exact)
}
