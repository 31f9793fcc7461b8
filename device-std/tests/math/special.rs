//! Zeros, infinities, NaNs, the ends of the ranges, and what must be exact.

use device_std::math;

/// Tests for one format, with the exponent of its smallest number and the first that is too large.
macro_rules! format {
    ($module:ident, $float:ident, $least:literal, $most:literal) => {
        mod $module {
            use super::*;

            const INFINITY: $float = $float::INFINITY;

            #[track_caller]
            fn assert_bits(ours: $float, expected: $float) {
                let both_nan = ours.is_nan() && expected.is_nan();
                assert!(both_nan || ours.to_bits() == expected.to_bits(), "{ours:e} is not {expected:e}");
            }

            #[test]
            fn nan_gives_nan() {
                let unary = [
                    math::exp,
                    math::exp2,
                    math::log,
                    math::log2,
                    math::sqrt,
                    math::rsqrt,
                    math::recip,
                    math::sigmoid,
                    math::tanh,
                ];
                for function in unary {
                    assert_bits(function($float::NAN), $float::NAN);
                    assert_bits(function(-$float::NAN), $float::NAN);
                }
                assert_bits(math::fma($float::NAN, 0.0, 1.0), $float::NAN);
            }

            #[test]
            fn ends_of_the_exponentials() {
                for function in [math::exp::<$float>, math::exp2] {
                    assert_bits(function(0.0), 1.0);
                    assert_bits(function(-0.0), 1.0);
                    assert_bits(function(INFINITY), INFINITY);
                    assert_bits(function($float::MAX), INFINITY);
                    assert_bits(function(-INFINITY), 0.0);
                    assert_bits(function($float::MIN), 0.0);
                    assert_bits(function($float::from_bits(1)), 1.0);
                }
                assert_bits(math::exp2($most), INFINITY);
                assert!(math::exp2($float::next_down($most)) < INFINITY);
                assert_bits(math::exp2($least), $float::from_bits(1));
                assert_bits(math::exp2($least - 1.0), 0.0);
                assert_bits(math::exp2($float::next_up($least - 1.0)), $float::from_bits(1));
            }

            #[test]
            fn whole_powers_of_two_are_exact() {
                for k in $least as i32..$most as i32 {
                    let power =
                        (0..k.abs()).fold(1.0, |power: $float, _| if k < 0 { power / 2.0 } else { power * 2.0 });
                    assert_bits(math::exp2(k as $float), power);
                    assert_bits(math::log2(power), k as $float);
                }
            }

            #[test]
            fn ends_of_the_logarithms() {
                for function in [math::log::<$float>, math::log2] {
                    assert_bits(function(1.0), 0.0);
                    assert_bits(function(0.0), -INFINITY);
                    assert_bits(function(-0.0), -INFINITY);
                    assert_bits(function(INFINITY), INFINITY);
                    assert_bits(function(-INFINITY), $float::NAN);
                    assert_bits(function(-$float::from_bits(1)), $float::NAN);
                    assert_bits(function(-1.0), $float::NAN);
                }
            }

            #[test]
            fn roots_and_reciprocals() {
                assert_bits(math::sqrt(-0.0 as $float), -0.0);
                assert_bits(math::sqrt(-1.0 as $float), $float::NAN);
                assert_bits(math::sqrt(INFINITY), INFINITY);
                assert_bits(math::rsqrt(0.0 as $float), INFINITY);
                assert_bits(math::rsqrt(-0.0 as $float), -INFINITY);
                assert_bits(math::rsqrt(INFINITY), 0.0);
                assert_bits(math::rsqrt(-1.0 as $float), $float::NAN);
                assert_bits(math::rsqrt(4.0 as $float), 0.5);
                assert_bits(math::recip(-0.0 as $float), -INFINITY);
                assert_bits(math::recip(-INFINITY), -0.0);
            }

            #[test]
            fn ends_of_the_sigmoid_and_the_tangent() {
                assert_bits(math::sigmoid(0.0 as $float), 0.5);
                assert_bits(math::sigmoid(INFINITY), 1.0);
                assert_bits(math::sigmoid(-INFINITY), 0.0);
                assert_bits(math::sigmoid($float::MIN), 0.0);
                assert_bits(math::tanh(0.0 as $float), 0.0);
                assert_bits(math::tanh(-0.0 as $float), -0.0);
                assert_bits(math::tanh(INFINITY), 1.0);
                assert_bits(math::tanh(-INFINITY), -1.0);
                assert_bits(math::tanh($float::MAX), 1.0);
                assert_bits(math::tanh(-$float::from_bits(1)), -$float::from_bits(1));
            }

            #[test]
            fn the_multiply_add_rounds_once() {
                let above = 1.0 + $float::EPSILON;
                assert_bits(math::fma(above, above, -1.0 - 2.0 * $float::EPSILON), $float::EPSILON * $float::EPSILON);
            }

            /// All pairs of these, against the definitions in words.
            #[test]
            fn extremes_order_zeros_and_treat_nan_as_they_say() {
                let values = [
                    -INFINITY,
                    $float::MIN,
                    -1.0,
                    -$float::from_bits(1),
                    -0.0,
                    0.0,
                    $float::from_bits(1),
                    1.0,
                    $float::MAX,
                    INFINITY,
                    $float::NAN,
                ];
                for (i, x) in values.into_iter().enumerate() {
                    for (j, y) in values.into_iter().enumerate() {
                        // The list is in ascending order up to the NaN.
                        let (low, high) = (values[i.min(j)], values[i.max(j)]);
                        assert_bits(math::min(x, y), low);
                        assert_bits(math::max(x, y), if high.is_nan() { low } else { high });
                        assert_bits(math::minimum(x, y), if high.is_nan() { high } else { low });
                        assert_bits(math::maximum(x, y), high);
                    }
                }
            }
        }
    };
}

format!(single, f32, -149.0, 128.0);
format!(double, f64, -1074.0, 1024.0);

/// On a host the approximations are the functions themselves, but for a product with a constant.
#[test]
fn approximations_approximate() {
    let close = |fast: f32, exact: f32| (fast - exact).abs() <= 1e-5 * exact.abs();
    for x in [0.001f32, 0.3, 1.0, 2.5, 10.0, 60.0] {
        assert!(close(math::fast_exp(-x), math::exp(-x)) && close(math::fast_exp2(x), math::exp2(x)), "{x}");
        assert!(close(math::fast_log(x), math::log(x)) && close(math::fast_log2(x), math::log2(x)), "{x}");
        assert!(close(math::fast_sqrt(x), math::sqrt(x)) && close(math::fast_rsqrt(x), math::rsqrt(x)), "{x}");
        assert!(close(math::fast_recip(x), math::recip(x)) && close(math::fast_div(3.0, x), 3.0 / x), "{x}");
        assert!(close(math::fast_tanh(x), math::tanh(x)) && close(math::fast_sigmoid(-x), math::sigmoid(-x)), "{x}");
    }
    assert_eq!(math::fast_sigmoid(-1000.0), 0.0);
}
