//! Values as words of input and output.

use device_std::Plain;
use device_std::math::{Bf16, F16};
use device_std::subgroup::Shuffle;

/// A value that fits into two words.
pub trait Value: Shuffle {
    /// The value with these bits; bits that it has no place for are dropped.
    fn from_bits(bits: u128) -> Self;
    /// The value's bits, and zeros above.
    fn bits(self) -> u128;

    /// The value of two words, the low one first.
    #[inline(always)]
    fn of(low: u64, high: u64) -> Self {
        Self::from_bits(u128::from(high) << 64 | u128::from(low))
    }

    /// The value as two words, the low one first.
    #[inline(always)]
    fn words(self) -> [u64; 2] {
        [self.bits() as u64, (self.bits() >> 64) as u64]
    }
}

macro_rules! integers {
    ($($type:ty: $unsigned:ty;)*) => {$(
        impl Value for $type {
            #[inline(always)]
            fn from_bits(bits: u128) -> $type {
                bits as $type
            }

            #[inline(always)]
            fn bits(self) -> u128 {
                self as $unsigned as u128
            }
        }
    )*};
}

integers! {
    u8: u8; u16: u16; u32: u32; u64: u64; u128: u128; usize: usize;
    i8: u8; i16: u16; i32: u32; i64: u64; i128: u128; isize: usize;
}

macro_rules! floats {
    ($($(#[$meta:meta])* $type:ty: $unsigned:ty;)*) => {$(
        $(#[$meta])*
        impl Value for $type {
            #[inline(always)]
            fn from_bits(bits: u128) -> $type {
                <$type>::from_bits(bits as $unsigned)
            }

            #[inline(always)]
            fn bits(self) -> u128 {
                u128::from(self.to_bits())
            }
        }
    )*};
}

floats! {
    F16: u16;
    Bf16: u16;
    f32: u32;
    f64: u64;
    #[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
    f16: u16;
}

impl Value for bool {
    #[inline(always)]
    fn from_bits(bits: u128) -> bool {
        bits & 1 != 0
    }

    #[inline(always)]
    fn bits(self) -> u128 {
        u128::from(self)
    }
}

impl Value for char {
    #[inline(always)]
    fn from_bits(bits: u128) -> char {
        char::from_u32(bits as u32).unwrap_or('\0')
    }

    #[inline(always)]
    fn bits(self) -> u128 {
        u128::from(self as u32)
    }
}

/// Two words of one value.
#[derive(Debug, Clone, Copy, PartialEq, Plain)]
#[repr(C)]
pub struct Pair {
    /// In the low word.
    pub value: f32,
    /// In the high word.
    pub index: u32,
}

impl Value for Pair {
    #[inline(always)]
    fn from_bits(bits: u128) -> Pair {
        Pair { value: f32::from_bits(bits as u32), index: (bits >> 32) as u32 }
    }

    #[inline(always)]
    fn bits(self) -> u128 {
        u128::from(self.value.to_bits()) | u128::from(self.index) << 32
    }
}

/// Eleven bytes, at addresses that are no multiple of four: two words and three bytes of a third.
#[derive(Debug, Clone, Copy, PartialEq, Plain)]
#[repr(C)]
pub struct Odd {
    tag: u8,
    bytes: [[u8; 2]; 5],
}

impl Value for Odd {
    #[inline(always)]
    fn from_bits(bits: u128) -> Odd {
        let bytes = bits.to_le_bytes();
        let mut odd = Odd { tag: bytes[0], bytes: [[0; 2]; 5] };
        let mut at = 0;
        while at < 5 {
            odd.bytes[at] = [bytes[2 * at + 1], bytes[2 * at + 2]];
            at += 1;
        }
        odd
    }

    #[inline(always)]
    fn bits(self) -> u128 {
        let mut bytes = [0; 16];
        bytes[0] = self.tag;
        let mut at = 0;
        while at < 5 {
            [bytes[2 * at + 1], bytes[2 * at + 2]] = self.bytes[at];
            at += 1;
        }
        u128::from_le_bytes(bytes)
    }
}

impl Value for (u8, char, f64) {
    #[inline(always)]
    fn from_bits(bits: u128) -> Self {
        (bits as u8, Value::from_bits(bits >> 32), f64::from_bits((bits >> 64) as u64))
    }

    #[inline(always)]
    fn bits(self) -> u128 {
        u128::from(self.0) | self.1.bits() << 32 | self.2.bits() << 64
    }
}
