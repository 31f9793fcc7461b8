//! The functions of `math`.

use crate::pieces;
use device_std::math::{self, Bf16, F16};

pieces! {
    /// e^x.
    exp_f32(x: f32) -> f32 = math::exp(x);
    /// 2^x.
    exp2_f32(x: f32) -> f32 = math::exp2(x);
    /// The natural logarithm.
    log_f32(x: f32) -> f32 = math::log(x);
    /// The logarithm to base 2.
    log2_f32(x: f32) -> f32 = math::log2(x);
    /// √x.
    sqrt_f32(x: f32) -> f32 = math::sqrt(x);
    /// 1/√x.
    rsqrt_f32(x: f32) -> f32 = math::rsqrt(x);
    /// 1/x.
    recip_f32(x: f32) -> f32 = math::recip(x);
    /// x * x + x, rounded once.
    fma_f32(x: f32) -> f32 = math::fma(x, x, x);
    /// The logistic function.
    sigmoid_f32(x: f32) -> f32 = math::sigmoid(x);
    /// The hyperbolic tangent.
    tanh_f32(x: f32) -> f32 = math::tanh(x);
    /// Minima and maxima that pass NaNs over.
    numbers_f32(x: f32, other: f32) -> [f32; 2] = [math::min(x, other), math::max(x, other)];
    /// Minima and maxima that pass NaNs on.
    extremes_f32(x: f32, other: f32) -> [f32; 2] = [math::minimum(x, other), math::maximum(x, other)];

    /// e^x.
    exp_f64(x: f64) -> f64 = math::exp(x);
    /// 2^x.
    exp2_f64(x: f64) -> f64 = math::exp2(x);
    /// The natural logarithm.
    log_f64(x: f64) -> f64 = math::log(x);
    /// The logarithm to base 2.
    log2_f64(x: f64) -> f64 = math::log2(x);
    /// √x.
    sqrt_f64(x: f64) -> f64 = math::sqrt(x);
    /// 1/√x.
    rsqrt_f64(x: f64) -> f64 = math::rsqrt(x);
    /// 1/x.
    recip_f64(x: f64) -> f64 = math::recip(x);
    /// x * x + x, rounded once.
    fma_f64(x: f64) -> f64 = math::fma(x, x, x);
    /// The logistic function.
    sigmoid_f64(x: f64) -> f64 = math::sigmoid(x);
    /// The hyperbolic tangent.
    tanh_f64(x: f64) -> f64 = math::tanh(x);
    /// Minima and maxima that pass NaNs over.
    numbers_f64(x: f64, other: f64) -> [f64; 2] = [math::min(x, other), math::max(x, other)];
    /// Minima and maxima that pass NaNs on.
    extremes_f64(x: f64, other: f64) -> [f64; 2] = [math::minimum(x, other), math::maximum(x, other)];

    /// To and from the 16-bit formats.
    narrow_f16(x: f32) -> F16 = F16::from_f32(x);
    /// To and from the 16-bit formats.
    widen_f16(x: F16) -> f32 = x.to_f32();
    /// To and from the 16-bit formats.
    narrow_bf16(x: f32) -> Bf16 = Bf16::from_f32(x);
    /// To and from the 16-bit formats.
    widen_bf16(x: Bf16) -> f32 = x.to_f32();

    /// An approximation.
    fast_exp(x: f32) -> f32 = math::fast_exp(x);
    /// An approximation.
    fast_exp2(x: f32) -> f32 = math::fast_exp2(x);
    /// An approximation.
    fast_log(x: f32) -> f32 = math::fast_log(x);
    /// An approximation.
    fast_log2(x: f32) -> f32 = math::fast_log2(x);
    /// An approximation.
    fast_sqrt(x: f32) -> f32 = math::fast_sqrt(x);
    /// An approximation.
    fast_rsqrt(x: f32) -> f32 = math::fast_rsqrt(x);
    /// An approximation.
    fast_recip(x: f32) -> f32 = math::fast_recip(x);
    /// An approximation of other / x.
    fast_div(x: f32, other: f32) -> f32 = math::fast_div(other, x);
    /// An approximation.
    fast_tanh(x: f32) -> f32 = math::fast_tanh(x);
    /// An approximation.
    fast_sigmoid(x: f32) -> f32 = math::fast_sigmoid(x);
}
