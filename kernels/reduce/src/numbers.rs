//! The two arithmetics of row kernels: one with pinned bits, and the GPU's approximations.

use device_std::math;

/// The functions that differ.
pub trait Arithmetic {
    /// e^x.
    fn exp(x: f32) -> f32;
    /// 1/x.
    fn recip(x: f32) -> f32;
    /// 1/√x.
    fn rsqrt(x: f32) -> f32;
}

/// `device_std::math`'s functions: the same bits everywhere. A reciprocal has a rare path that is a call to a helper of
/// ptxas.
#[derive(Debug, Clone, Copy)]
pub struct Pinned;

impl Arithmetic for Pinned {
    #[inline(always)]
    fn exp(x: f32) -> f32 {
        math::exp(x)
    }

    #[inline(always)]
    fn recip(x: f32) -> f32 {
        math::recip(x)
    }

    #[inline(always)]
    fn rsqrt(x: f32) -> f32 {
        math::rsqrt(x)
    }
}

/// The special function units' approximations: one or two instructions each, no call. Bits differ from GPU to GPU.
#[derive(Debug, Clone, Copy)]
pub struct Fast;

impl Arithmetic for Fast {
    #[inline(always)]
    fn exp(x: f32) -> f32 {
        math::fast_exp(x)
    }

    #[inline(always)]
    fn recip(x: f32) -> f32 {
        math::fast_recip(x)
    }

    #[inline(always)]
    fn rsqrt(x: f32) -> f32 {
        math::fast_rsqrt(x)
    }
}
