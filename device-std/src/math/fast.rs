//! Approximations by the GPU's special function units, in single precision, named `fast_…`.
//!
//! One or two instructions each where [`exp`](super::exp) and its like take ten to twenty. Results differ between GPUs
//! and are as good as their vendors say. For NVIDIA's the errors of the instructions are those of the PTX ISA, version
//! 9.1 ("floating point instructions", the notes of each `.approx`), and those of functions made of several follow from
//! them. They are in units of the last place of the exact result (ulp); where the ISA states a relative error e, that
//! is at most e * 2^24 of these. AMD's instructions (`v_exp_f32`, `v_log_f32`, `v_rcp_f32`, `v_rsq_f32`, `v_sqrt_f32`)
//! are good to about 1 ulp and take subnormal arguments and results as 0. On a host these are the default functions,
//! and so better than on a GPU.

use core::f32::consts::{LN_2, LOG2_E};

/// 2^x. Error: 2.5 ulp (`ex2.approx`: 2 ulp from the correctly rounded result).
#[inline(always)]
pub fn fast_exp2(x: f32) -> f32 {
    imp::exp2(x)
}

/// e^x, as [`fast_exp2`]`(x * log2(e))`. Error: 2.5 + 1.3 |x| ulp.
///
/// The product's rounding, and that of log2(e), add |x| * 2^-23.7 to the relative error: 110 ulp at the ends of the
/// range.
#[inline(always)]
pub fn fast_exp(x: f32) -> f32 {
    fast_exp2(x * LOG2_E)
}

/// log2(x). Error: 4 ulp, but from 0.5 to 2, where the result may be close to 0, 2^-22 in absolute terms
/// (`lg2.approx`).
///
/// Negative numbers give NaN, 0 gives -∞.
#[inline(always)]
pub fn fast_log2(x: f32) -> f32 {
    imp::log2(x)
}

/// ln(x), as [`fast_log2`]`(x) * ln(2)`. Error: 5.1 ulp, but from 0.5 to 2 2^-22.2 in absolute terms.
#[inline(always)]
pub fn fast_log(x: f32) -> f32 {
    fast_log2(x) * LN_2
}

/// √x. Error: 2 ulp (`sqrt.approx`: 2^-23).
#[inline(always)]
pub fn fast_sqrt(x: f32) -> f32 {
    imp::sqrt(x)
}

/// 1/√x. Error: 2.2 ulp (`rsqrt.approx`: 2^-22.9).
#[inline(always)]
pub fn fast_rsqrt(x: f32) -> f32 {
    imp::rsqrt(x)
}

/// 1/x. Error: 1 ulp (`rcp.approx`).
#[inline(always)]
pub fn fast_recip(x: f32) -> f32 {
    imp::recip(x)
}

/// x/y. Error: 2 ulp for |y| from 2^-126 to 2^126 (`div.approx`). For a larger |y| the result is 0, or NaN where x is
/// infinite.
#[inline(always)]
pub fn fast_div(x: f32, y: f32) -> f32 {
    imp::div(x, y)
}

/// tanh(x). Error: 2^13 ulp (`tanh.approx`: 2^-11, from sm_75 on).
///
/// On AMD GPUs 1 - 2 / (e^2x + 1) by the other approximations, to 2^-20 in absolute terms.
#[inline(always)]
pub fn fast_tanh(x: f32) -> f32 {
    imp::tanh(x)
}

/// 1 / (1 + e^-x), by [`fast_exp`] and [`fast_recip`]. Error: 8 ulp from -1 on, and 8 + 1.3 |x| ulp below.
///
/// Below about -88 the result is 0, where that of [`sigmoid`](super::sigmoid) is a subnormal number.
#[inline(always)]
pub fn fast_sigmoid(x: f32) -> f32 {
    fast_recip(1.0 + fast_exp(-x))
}

#[cfg(target_arch = "nvptx64")]
mod imp {
    use core::arch::asm;

    // SAFETY: these are LLVM's own declarations of the intrinsics, which have no precondition.
    unsafe extern "unadjusted" {
        #[link_name = "llvm.nvvm.ex2.approx.f32"]
        pub safe fn exp2(x: f32) -> f32;
        #[link_name = "llvm.nvvm.lg2.approx.f"]
        pub safe fn log2(x: f32) -> f32;
        #[link_name = "llvm.nvvm.sqrt.approx.f"]
        pub safe fn sqrt(x: f32) -> f32;
        #[link_name = "llvm.nvvm.rsqrt.approx.f"]
        pub safe fn rsqrt(x: f32) -> f32;
        #[link_name = "llvm.nvvm.div.approx.f"]
        pub safe fn div(x: f32, y: f32) -> f32;
    }

    /// By assembly, as LLVM only has the intrinsic that flushes subnormal numbers. It may be moved: no other thread
    /// takes part in it.
    #[inline(always)]
    pub fn recip(x: f32) -> f32 {
        let y: f32;
        // SAFETY: the instruction reads and writes the registers that it names, and nothing else.
        unsafe { asm!("rcp.approx.f32 {}, {};", out(reg32) y, in(reg32) x, options(pure, nomem, nostack)) };
        y
    }

    /// By assembly, as LLVM has no intrinsic.
    #[inline(always)]
    pub fn tanh(x: f32) -> f32 {
        let y: f32;
        // SAFETY: as in `recip`.
        unsafe { asm!("tanh.approx.f32 {}, {};", out(reg32) y, in(reg32) x, options(pure, nomem, nostack)) };
        y
    }
}

#[cfg(target_arch = "amdgpu")]
mod imp {
    // SAFETY: these are LLVM's own declarations of the intrinsics, which have no precondition.
    unsafe extern "unadjusted" {
        #[link_name = "llvm.amdgcn.exp2.f32"]
        pub safe fn exp2(x: f32) -> f32;
        #[link_name = "llvm.amdgcn.log.f32"]
        pub safe fn log2(x: f32) -> f32;
        #[link_name = "llvm.amdgcn.sqrt.f32"]
        pub safe fn sqrt(x: f32) -> f32;
        #[link_name = "llvm.amdgcn.rsq.f32"]
        pub safe fn rsqrt(x: f32) -> f32;
        #[link_name = "llvm.amdgcn.rcp.f32"]
        pub safe fn recip(x: f32) -> f32;
    }

    #[inline(always)]
    pub fn div(x: f32, y: f32) -> f32 {
        x * recip(y)
    }

    #[inline(always)]
    pub fn tanh(x: f32) -> f32 {
        1.0 - 2.0 * recip(super::fast_exp(x + x) + 1.0)
    }
}

#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
mod imp {
    pub use crate::math::{exp2, log2, recip, rsqrt, sqrt, tanh};

    pub fn div(x: f32, y: f32) -> f32 {
        x / y
    }
}
