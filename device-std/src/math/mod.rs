//! Elementary functions for `f32` and `f64`, and the 16-bit formats.
//!
//! ```
//! use device_std::math;
//!
//! assert_eq!(math::exp2(3.0f32), 8.0);
//! assert_eq!(math::sigmoid(0.0f64), 0.5);
//! assert_eq!(math::max(f64::NAN, 1.0), 1.0);
//! ```
//!
//! **The same bits everywhere.** All functions here consist of IEEE 754's basic operations, in an order that leaves
//! nothing to a compiler's choice (`algorithm`), so that a GPU and a host agree on every result but the sign and
//! payload of a NaN. No vendor's library is needed. An existing `no_std` library was not taken for this: the usual one
//! keeps a table in memory for `exp2`, reads volatile memory to raise flags that a GPU does not have, and divides where
//! division is a call. The `fast_…` functions are the GPU's own approximations, and differ between GPUs.
//!
//! **Errors** are stated as the largest distance from the exact result in units of the last place of that result (ulp),
//! as `single, double`. Half an ulp is correct rounding. Those in single precision are the largest over all arguments,
//! found by trying every one; those in double precision are bounds that 60,000 random arguments of each of forty ranges
//! stayed below.
//!
//! **On a host** the fused multiply-add is one instruction where the target has it (`-Ctarget-cpu=native`), and else a
//! call to the C library, ten to the function: right, and slow.
//!
//! **Special values.** A NaN gives a NaN, and what has no result in the reals is a NaN. Nothing panics and nothing else
//! is excluded: subnormal arguments and results are as exact as others.

mod algorithm;
mod double;
mod fast;
mod half;
mod primitive;
mod single;

pub use fast::{
    fast_div, fast_exp, fast_exp2, fast_log, fast_log2, fast_recip, fast_rsqrt, fast_sigmoid, fast_sqrt, fast_tanh,
};
pub use half::{Bf16, F16};

mod sealed {
    pub trait Sealed {}

    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! real {
    ($($(#[$doc:meta])* $name:ident($($argument:ident),*);)*) => {
        /// The formats that the functions of this module take: `f32` and `f64`.
        pub trait Real: Copy + sealed::Sealed {
            $(
                #[doc(hidden)]
                fn $name(self $(, $argument: Self)*) -> Self;
            )*
        }

        real!(one f32, single, $($name($($argument),*);)*);
        real!(one f64, double, $($name($($argument),*);)*);

        $(
            $(#[$doc])*
            #[inline]
            pub fn $name<T: Real>(x: T $(, $argument: T)*) -> T {
                x.$name($($argument),*)
            }
        )*
    };
    (one $float:ident, $module:ident, $($name:ident($($argument:ident),*);)*) => {
        impl Real for $float {
            $(
                #[inline]
                fn $name(self $(, $argument: Self)*) -> Self {
                    $module::$name(self $(, $argument)*)
                }
            )*
        }
    };
}

real! {
    /// e^x. Error: 0.98, 0.97 ulp.
    ///
    /// ∞ where the result is beyond the largest number, 0 where it is below half the smallest; e^-∞ is 0, e^0 is 1.
    exp();

    /// 2^x. Error: 0.87, 0.87 ulp; exact for whole numbers.
    ///
    /// ∞ from 128 (1024) on, and 0 up to -150 (-1075); 2^-∞ is 0.
    exp2();

    /// The natural logarithm. Error: 0.85, 0.86 ulp.
    ///
    /// -∞ for both zeros, NaN for negative numbers, ∞ for ∞, +0 for 1.
    log();

    /// The logarithm to base 2. Error: 0.88, 0.9 ulp; exact for powers of two.
    ///
    /// -∞ for both zeros, NaN for negative numbers, ∞ for ∞, +0 for 1.
    log2();

    /// √x, correctly rounded: 0.5 ulp. -0 for -0, NaN for other negative numbers.
    ///
    /// On NVIDIA GPUs the double-precision root is a call to a helper of `ptxas`.
    sqrt();

    /// 1/√x. Error: 1.5, 1.5 ulp. ∞ for 0, -∞ for -0, 0 for ∞, NaN for negative numbers.
    rsqrt();

    /// 1/x, correctly rounded: 0.5 ulp. ∞ for 0, -∞ for -0, zeros for infinities.
    ///
    /// On NVIDIA GPUs, division and this have a rare path that is a call to a helper of `ptxas`; [`fast_recip`] has
    /// none.
    recip();

    /// x * y + z, rounded once: 0.5 ulp.
    fma(y, z);

    /// The logistic function, 1 / (1 + e^-x). Error: 2.41, 2.41 ulp.
    ///
    /// 0 for -∞ and 1 for ∞; far below 0 it is e^x, down to the subnormal numbers.
    sigmoid();

    /// The hyperbolic tangent. Error: 1.43, 1.45 ulp. ±1 for ±∞, ±0 for ±0.
    tanh();

    /// The smaller of two numbers; the other one where one is a NaN, a NaN where both are. -0 is smaller than +0.
    ///
    /// IEEE 754-2019's `minimumNumber`. Unlike `f32::min` it leaves nothing open about zeros.
    min(y);

    /// The larger of two numbers; the other one where one is a NaN, a NaN where both are. -0 is smaller than +0.
    ///
    /// IEEE 754-2019's `maximumNumber`. Unlike `f32::max` it leaves nothing open about zeros.
    max(y);

    /// The smaller of two numbers; a NaN where one of them is. -0 is smaller than +0.
    ///
    /// IEEE 754-2019's `minimum`.
    minimum(y);

    /// The larger of two numbers; a NaN where one of them is. -0 is smaller than +0.
    ///
    /// IEEE 754-2019's `maximum`.
    maximum(y);
}
