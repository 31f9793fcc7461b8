//! What queries, keys, values and outputs are made of.
//!
//! All arithmetic is in single precision; elements are converted where they are loaded and stored, several at once, so
//! that each access to memory has 8 or 16 bytes.

use core::mem::transmute_copy;
use device_std::math::{Bf16, F16};
use device_std::{Plain, matrix, unroll, vector};

/// A type of the kernels' inputs and outputs.
pub trait Element: Plain {
    /// Eight neighbours.
    ///
    /// # Safety
    /// They are there, and their address is a multiple of 16.
    unsafe fn load_eight(from: *const Self) -> [f32; 8];

    /// Four neighbours.
    ///
    /// # Safety
    /// They are there, and their address is a multiple of their size together.
    unsafe fn load_four(from: *const Self) -> [f32; 4];

    /// Stores four neighbours.
    ///
    /// # Safety
    /// There is room for them, at an address that is a multiple of their size together.
    unsafe fn store_four(to: *mut Self, values: [f32; 4]);

    /// The nearest value of this type.
    fn from_f32(value: f32) -> Self;

    /// The same value.
    fn to_f32(self) -> f32;
}

impl Element for f32 {
    #[inline(always)]
    unsafe fn load_eight(from: *const f32) -> [f32; 8] {
        // SAFETY: the caller's promise, for each half.
        let [a, b] = unsafe { [vector::load::<f32, 4>(from), vector::load::<f32, 4>(from.add(4))] };
        [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]]
    }

    #[inline(always)]
    unsafe fn load_four(from: *const f32) -> [f32; 4] {
        // SAFETY: the caller's promise.
        unsafe { vector::load(from) }
    }

    #[inline(always)]
    unsafe fn store_four(to: *mut f32, values: [f32; 4]) {
        // SAFETY: the caller's promise.
        unsafe { vector::store(to, values) };
    }

    #[inline(always)]
    fn from_f32(value: f32) -> f32 {
        value
    }

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
}

macro_rules! sixteen_bits {
    ($($format:ident)*) => {$(
        impl Element for $format {
            #[inline(always)]
            unsafe fn load_eight(from: *const $format) -> [f32; 8] {
                // SAFETY: the caller's promise.
                let words: [u32; 4] = unsafe { vector::load(from.cast()) };
                let mut values = [0.0; 8];
                unroll!(for i in 0..4 {
                    values[2 * i] = $format::from_bits(words[i] as u16).to_f32();
                    values[2 * i + 1] = $format::from_bits((words[i] >> 16) as u16).to_f32();
                });
                values
            }

            #[inline(always)]
            unsafe fn load_four(from: *const $format) -> [f32; 4] {
                // SAFETY: the caller's promise; one access of 8 bytes.
                let both: u64 = unsafe { *from.cast() };
                let mut values = [0.0; 4];
                unroll!(for i in 0..4 {
                    values[i] = $format::from_bits((both >> (16 * i)) as u16).to_f32();
                });
                values
            }

            #[inline(always)]
            unsafe fn store_four(to: *mut $format, values: [f32; 4]) {
                let mut both = 0;
                unroll!(for i in 0..4 {
                    both |= u64::from($format::from_f32(values[i]).to_bits()) << (16 * i);
                });
                // SAFETY: the caller's promise; one access of 8 bytes.
                unsafe { *to.cast::<u64>() = both };
            }

            #[inline(always)]
            fn from_f32(value: f32) -> $format {
                $format::from_f32(value)
            }

            #[inline(always)]
            fn to_f32(self) -> f32 {
                self.to_f32()
            }
        }
    )*};
}

sixteen_bits!(F16 Bf16);

/// A type that tensor cores multiply: two of them travel as one word.
pub trait Half: Element + matrix::Element {
    /// Two neighbours.
    ///
    /// # Safety
    /// They are there, at an address that is a multiple of 4.
    #[inline(always)]
    unsafe fn load_two(from: *const Self) -> [f32; 2] {
        // SAFETY: the caller's promise; one access of 4 bytes, of two plain values.
        let [low, high]: [Self; 2] = unsafe { transmute_copy(&*from.cast::<u32>()) };
        [Element::to_f32(low), Element::to_f32(high)]
    }

    /// Stores two neighbours.
    ///
    /// # Safety
    /// There is room for them, at an address that is a multiple of 4.
    #[inline(always)]
    unsafe fn store_two(to: *mut Self, values: [f32; 2]) {
        let both: [Self; 2] = values.map(<Self as Element>::from_f32);
        // SAFETY: the caller's promise; two values of 16 bits are a word.
        unsafe { *to.cast::<u32>() = transmute_copy(&both) };
    }
}

impl Half for F16 {}
impl Half for Bf16 {}
