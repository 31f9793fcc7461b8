//! The two 16-bit formats, as storage: arithmetic is done in single precision.
//!
//! [`F16`] is IEEE 754's binary16 (5 exponent bits, 10 mantissa bits, up to 65504); [`Bf16`] has the 8 exponent bits of
//! an `f32` and 7 mantissa bits. Both convert to `f32` exactly, and from it to the nearest value, of two equally near
//! ones to the one whose last bit is 0. Numbers too large become infinite, those too small for a normal number stay
//! subnormal. A NaN becomes a quiet NaN of unspecified sign and payload; all other results have the same bits
//! everywhere.
//!
//! On GPUs the conversions of [`F16`] are single instructions, those of [`Bf16`] a few integer ones.

use crate::Plain;
use core::hint::select_unpredictable;

/// An IEEE 754 binary16 number, kept as its bits.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct F16(u16);

/// A bfloat16 number, kept as its bits: the upper half of an `f32`.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bf16(u16);

macro_rules! bits {
    ($($format:ident)*) => {$(
        impl $format {
            /// The number with these bits: sign, exponent, mantissa from the highest bit on.
            #[inline]
            pub const fn from_bits(bits: u16) -> $format {
                $format(bits)
            }

            /// The number's bits.
            #[inline]
            pub const fn to_bits(self) -> u16 {
                self.0
            }
        }

        impl core::fmt::Debug for $format {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.to_f32().fmt(formatter)
            }
        }

        impl From<$format> for f32 {
            #[inline]
            fn from(value: $format) -> f32 {
                value.to_f32()
            }
        }

        // SAFETY: the format is a `u16`, and every pattern of its bits a number, an infinity or a NaN.
        unsafe impl Plain for $format {}
    )*};
}

bits!(F16 Bf16);

impl F16 {
    /// The nearest number, ties to even.
    #[inline]
    pub fn from_f32(value: f32) -> F16 {
        F16(imp::to_f16(value))
    }

    /// The same number.
    #[inline]
    pub fn to_f32(self) -> f32 {
        imp::from_f16(self.0)
    }
}

impl Bf16 {
    /// The nearest number, ties to even.
    #[inline]
    pub fn from_f32(value: f32) -> Bf16 {
        let bits = value.to_bits();
        // Half of the last place that stays, less one where that place is even: a carry rounds up, to infinity too.
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        let quiet_nan = bits >> 16 | 0x40;
        Bf16(select_unpredictable(value.is_nan(), quiet_nan, rounded) as u16)
    }

    /// The same number.
    #[inline]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
mod imp {
    #[inline(always)]
    pub fn to_f16(value: f32) -> u16 {
        (value as f16).to_bits()
    }

    #[inline(always)]
    pub fn from_f16(bits: u16) -> f32 {
        f16::from_bits(bits) as f32
    }
}

#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
mod imp {
    //! By arithmetic in single precision, which rounds as wanted where the last places are made to coincide.

    const SIGN: u32 = 1 << 31;

    pub fn to_f16(value: f32) -> u16 {
        let sign = ((value.to_bits() & SIGN) >> 16) as u16;
        let size = value.abs();
        let bits = if size.is_nan() {
            0x7e00
        } else if size >= 65520.0 {
            // Halfway between the largest number and the next power of two, and all above.
            0x7c00
        } else if size < f32::from_bits(0x3880_0000) {
            // Below 2^-14 the last place is 2^-24, as that of 0.5 is in single precision.
            ((size + 0.5).to_bits() - 0.5f32.to_bits()) as u16
        } else {
            // The exponent's bias is 112 less, and 13 bits of mantissa are rounded away.
            let bits = size.to_bits() - (112 << 23);
            (bits.wrapping_add(0xfff + (bits >> 13 & 1)) >> 13) as u16
        };
        sign | bits
    }

    pub fn from_f16(bits: u16) -> f32 {
        let sign = u32::from(bits & 0x8000) << 16;
        let size = u32::from(bits & 0x7fff);
        let wide = match size {
            0..0x400 => (size as f32 * f32::from_bits(0x3380_0000)).to_bits(),
            0x400..0x7c00 => (size << 13) + (112 << 23),
            0x7c00 => f32::INFINITY.to_bits(),
            _ => f32::NAN.to_bits() | size << 13,
        };
        f32::from_bits(sign | wide)
    }
}
