//! The elementary functions, written once for both formats.
//!
//! Every operation is one of IEEE 754's (addition, subtraction, multiplication, division, fused multiply-add), so that
//! the bits are the same wherever it runs. Products are added by fused multiply-adds that are written as such; the only
//! other product that reaches an addition is one with a power of two, in `sigmoid` and `tanh`, and is exact where it
//! counts. So a compiler that contracts changes no bit either. There are no tables, and a branch only where two halves
//! of a function have nothing in common; the rest are selects.
//!
//! - **Exponential.** x = k ln 2 + r with k whole and |r| <= ln 2 / 2; e^x = 2^k e^r. k comes from adding and
//!   subtracting 1.5 * 2^MANTISSA, which rounds to a whole number and leaves it in the low bits of the sum. ln 2 is
//!   split in two; x - k times the first part is exact in a fused multiply-add. e^r = 1 + (r + r² q(r)). Scaling by 2^k
//!   is two multiplications, so that results below the normal numbers are rounded as late as can be.
//! - **Logarithm.** x = 2^e (1 + f) with 1 + f in [2/3, 4/3); e's part and f are added exactly, as a sum and its
//!   rounding error, and the rest of the series, at most a fifth of the result, is added to the error first. There is
//!   no division, which on NVIDIA GPUs is a call in double precision. For base 2 the product of f and the two-part
//!   log2(e) is kept exactly.
//! - **tanh** is an odd polynomial below 0.5625, and 1 - 2 / (e^2x + 1) above.
//! - **sigmoid** is 1 / (1 + e^-x), with e^-|x| on both sides, so that it never overflows and keeps small results.
//!
//! The polynomials are minimax in the error of the whole result, from Remez's exchange in 45 digits; coefficients are
//! rounded to the format, and those after a fixed one computed for its rounded value.

/// `c0 + c1 x + c2 x² + …`, from the inside out.
macro_rules! horner {
    ($x:expr; $c:expr) => { $c };
    ($x:expr; $c:expr, $($rest:expr),+) => { fma(horner!($x; $($rest),+), $x, $c) };
}

/// The functions for one format.
///
/// `mantissa` is the number of stored mantissa bits. `ln2` and `log2e` are split for fused multiply-adds, `ln2_short`
/// so that the product of its first part and any exponent is exact. `exp_range` and `exp2_range` are arguments whose
/// results round to 0 and to infinity. The polynomials: `exp` is q in e^r = 1 + r + r² q; `exp2` is q in 2^r = 1 + r q;
/// `log` is q in log(1 + f) = f - f²/2 + f³ q; `log2` is q in log2(1 + f) = f log2(e) + f² q; `tanh` is q in tanh(x) =
/// x + x³ q(x²).
macro_rules! functions {
    (
        $float:ident, $bits:ident, $int:ident;
        mantissa: $mantissa:literal;
        ln2: $ln2:expr, $ln2_low:expr;
        ln2_short: $ln2_short:expr, $ln2_short_low:expr;
        log2e: $log2e:expr, $log2e_low:expr;
        exp_range: $exp_least:expr, $exp_most:expr;
        exp2_range: $exp2_least:expr, $exp2_most:expr;
        exp: [$($exp:expr),*];
        exp2: [$($exp2:expr),*];
        log: [$($log:expr),*];
        log2: [$($log2:expr),*];
        tanh: [$($tanh:expr),*];
    ) => {
        use core::hint::select_unpredictable;

        pub use crate::math::primitive::$float::{fma, max, maximum, min, minimum, sqrt};

        const BIAS: $int = $float::MAX_EXP as $int - 1;
        /// Added to a number of modest size, it leaves the number rounded to a whole one in the low bits.
        const ROUND: $float = 1.5 * (1u64 << $mantissa) as $float;
        /// Makes every number below the normal ones a normal one, exactly.
        const LIFT: $float = (1u64 << ($mantissa + 1)) as $float;
        /// The bits of 2/3, rounded down.
        const TWO_THIRDS: $bits = ($float::to_bits(2.0 / 3.0) >> 1) << 1;

        /// The whole number that was left in the low bits of a sum with `ROUND`.
        #[inline(always)]
        fn whole(sum: $float) -> $int {
            sum.to_bits().wrapping_sub(ROUND.to_bits()) as $int
        }

        /// `value * 2^k`, rounded once.
        #[inline(always)]
        fn scale(value: $float, k: $int) -> $float {
            let half = k >> 1;
            value * power(half) * power(k.wrapping_sub(half))
        }

        /// `2^k` for a normal result; of no meaning for others.
        #[inline(always)]
        fn power(k: $int) -> $float {
            $float::from_bits((k.wrapping_add(BIAS) as $bits) << $mantissa)
        }

        /// A number brought into a range; a NaN stays one.
        #[inline(always)]
        fn clamp(x: $float, least: $float, most: $float) -> $float {
            let x = if x > most { most } else { x };
            if x < least { least } else { x }
        }

        #[inline]
        pub fn exp(x: $float) -> $float {
            let x = clamp(x, $exp_least, $exp_most);
            let sum = fma(x, $log2e, ROUND);
            let k = sum - ROUND;
            let r = fma(-k, $ln2_low, fma(-k, $ln2, x));
            let tail = fma(r * r, horner!(r; $($exp),*), r);
            scale(1.0 + tail, whole(sum))
        }

        #[inline]
        pub fn exp2(x: $float) -> $float {
            let x = clamp(x, $exp2_least, $exp2_most);
            let sum = x + ROUND;
            let r = x - (sum - ROUND);
            scale(fma(r, horner!(r; $($exp2),*), 1.0), whole(sum))
        }

        /// The exponent e and f of a positive number `2^e (1 + f)`, with 1 + f from 2/3 to 4/3.
        #[inline(always)]
        fn split(x: $float) -> ($float, $float) {
            let small = x < $float::MIN_POSITIVE;
            let (lifted, lift) = if small { (x * LIFT, $mantissa + 1) } else { (x, 0) };
            let above = lifted.to_bits().wrapping_sub(TWO_THIRDS);
            let e = (above as $int >> $mantissa) - lift;
            let fraction = $float::from_bits((above & ((1 << $mantissa) - 1)).wrapping_add(TWO_THIRDS));
            (e as $float, fraction - 1.0)
        }

        /// A logarithm with its values for what is no positive number.
        #[inline(always)]
        fn logarithm(x: $float, result: $float) -> $float {
            let special = if x == 0.0 { $float::NEG_INFINITY } else { x };
            let special = if x < 0.0 { $float::NAN } else { special };
            select_unpredictable(x > 0.0 && x < $float::INFINITY, result, special)
        }

        #[inline]
        pub fn log(x: $float) -> $float {
            let (e, f) = split(x);
            let high = fma(e, $ln2_short, f);
            let error = fma(e, $ln2_short, -high) + f;
            let tail = fma(f * f, fma(f, horner!(f; $($log),*), -0.5), fma(e, $ln2_short_low, error));
            logarithm(x, high + tail)
        }

        #[inline]
        pub fn log2(x: $float) -> $float {
            let (e, f) = split(x);
            let high = fma(f, $log2e, e);
            let error = fma(f, $log2e, e - high);
            let tail = fma(f * f, horner!(f; $($log2),*), fma(f, $log2e_low, error));
            logarithm(x, high + tail)
        }

        #[inline]
        pub fn recip(x: $float) -> $float {
            1.0 / x
        }

        #[inline]
        pub fn rsqrt(x: $float) -> $float {
            1.0 / sqrt(x)
        }

        #[inline]
        pub fn sigmoid(x: $float) -> $float {
            let below = exp(-x.abs());
            let numerator = if x < 0.0 { below } else { 1.0 };
            numerator / (1.0 + below)
        }

        #[inline]
        pub fn tanh(x: $float) -> $float {
            let size = x.abs();
            let result = if size < 0.5625 {
                let square = size * size;
                fma(size * square, horner!(square; $($tanh),*), size)
            } else {
                1.0 - 2.0 / (exp(size + size) + 1.0)
            };
            result.copysign(x)
        }
    };
}

pub(super) use {functions, horner};
