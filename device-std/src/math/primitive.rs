//! The operations that IEEE 754 fixes to the last bit: fused multiply-add, square root, minimum and maximum.
//!
//! On GPUs each is one instruction or a fixed sequence of them; on a host it is the standard library's, or plain
//! comparisons where that leaves the sign of zero open.

macro_rules! primitives {
    ($($float:ident, $maximum_number:literal, $minimum_number:literal, $maximum:literal, $minimum:literal;)*) => {$(
        pub mod $float {
            #[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
            mod device {
                // SAFETY: these are LLVM's own declarations of the intrinsics, which have no precondition.
                unsafe extern "unadjusted" {
                    #[link_name = $maximum_number]
                    pub safe fn max(x: $float, y: $float) -> $float;
                    #[link_name = $minimum_number]
                    pub safe fn min(x: $float, y: $float) -> $float;
                    #[link_name = $maximum]
                    pub safe fn maximum(x: $float, y: $float) -> $float;
                    #[link_name = $minimum]
                    pub safe fn minimum(x: $float, y: $float) -> $float;
                }

                #[inline(always)]
                pub fn fma(x: $float, y: $float, z: $float) -> $float {
                    core::$float::math::mul_add(x, y, z)
                }

                #[inline(always)]
                pub fn sqrt(x: $float) -> $float {
                    core::$float::math::sqrt(x)
                }
            }

            #[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
            mod host {
                pub fn max(x: $float, y: $float) -> $float {
                    // Where `x` is a NaN, no comparison holds, and the larger one is `y`.
                    if y.is_nan() { x } else { larger(x, y) }
                }

                pub fn min(x: $float, y: $float) -> $float {
                    -max(-x, -y)
                }

                pub fn maximum(x: $float, y: $float) -> $float {
                    if x.is_nan() || y.is_nan() { x + y } else { larger(x, y) }
                }

                pub fn minimum(x: $float, y: $float) -> $float {
                    -maximum(-x, -y)
                }

                /// The larger of two numbers; the positive one of two zeros.
                fn larger(x: $float, y: $float) -> $float {
                    if x > y || (x == y && x.is_sign_positive()) { x } else { y }
                }

                pub fn fma(x: $float, y: $float, z: $float) -> $float {
                    x.mul_add(y, z)
                }

                pub fn sqrt(x: $float) -> $float {
                    x.sqrt()
                }
            }

            #[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
            pub use device::{fma, max, maximum, min, minimum, sqrt};
            #[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
            pub use host::{fma, max, maximum, min, minimum, sqrt};
        }
    )*};
}

primitives! {
    f32, "llvm.maximumnum.f32", "llvm.minimumnum.f32", "llvm.maximum.f32", "llvm.minimum.f32";
    f64, "llvm.maximumnum.f64", "llvm.minimumnum.f64", "llvm.maximum.f64", "llvm.minimum.f64";
}
