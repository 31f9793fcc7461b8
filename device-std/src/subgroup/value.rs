//! Which values can be exchanged, and how they are cut into 32-bit words.

use crate::Plain;
use core::ptr;

/// A value that lanes can exchange, word by word.
///
/// Implemented for `bool`, `char`, everything [`Plain`] (integers of 8 to 128 bits, floats by their bits, arrays,
/// structs that derive it), and tuples of up to four such values. Types of up to four bytes travel as one
/// zero-extended word, longer ones from their lowest address on, so 8-byte numbers as low and high word.
///
/// An exchange may give back any word at all where its source lane does not exist, so an implementation must make a
/// value of whatever comes.
pub trait Shuffle: Copy {
    /// The number of words; 1 means that one native shuffle moves the value.
    const WORDS: usize;

    /// The value with each of its words replaced by what `exchange` returns for it, called once for each, in order.
    fn map_words(self, exchange: &mut impl FnMut(u32) -> u32) -> Self;
}

impl<T: Plain> Shuffle for T {
    const WORDS: usize = size_of::<T>().div_ceil(WORD);

    #[inline(always)]
    fn map_words(mut self, exchange: &mut impl FnMut(u32) -> u32) -> T {
        let bytes = ptr::from_mut(&mut self).cast::<u8>();
        let mut at = 0;
        while at < size_of::<T>() {
            // SAFETY: `at` is inside the value, which is borrowed by nothing else, and `T` is plain: its bytes are all
            // initialised, and whatever is written makes a value again.
            unsafe {
                let place = bytes.add(at);
                store::<T>(place, at, exchange(load::<T>(place, at)));
            }
            at = at.wrapping_add(WORD);
        }
        self
    }
}

/// Bytes of a word.
const WORD: usize = 4;

/// The word at `place`, `at` bytes into a `T`, zero-extended where fewer than four bytes are left.
///
/// # Safety
/// The bytes are initialised and can be read.
#[inline(always)]
unsafe fn load<T>(place: *const u8, at: usize) -> u32 {
    // SAFETY: the caller's promise holds for as many bytes as are left, and none beyond is read.
    unsafe {
        match size_of::<T>().wrapping_sub(at) {
            1 => u32::from(place.read()),
            2 => u32::from(place.cast::<u16>().read_unaligned()),
            3 => u32::from(place.cast::<u16>().read_unaligned()) | u32::from(place.add(2).read()) << 16,
            _ => place.cast::<u32>().read_unaligned(),
        }
    }
}

/// Writes what [`load`] would read; bits beyond the value are dropped.
///
/// # Safety
/// The bytes can be written.
#[inline(always)]
unsafe fn store<T>(place: *mut u8, at: usize, word: u32) {
    // SAFETY: the caller's promise holds for as many bytes as are left, and none beyond is written.
    unsafe {
        match size_of::<T>().wrapping_sub(at) {
            1 => place.write(word as u8),
            2 => place.cast::<u16>().write_unaligned(word as u16),
            3 => {
                place.cast::<u16>().write_unaligned(word as u16);
                place.add(2).write((word >> 16) as u8);
            }
            _ => place.cast::<u32>().write_unaligned(word),
        }
    }
}

impl Shuffle for bool {
    const WORDS: usize = 1;

    #[inline(always)]
    fn map_words(self, exchange: &mut impl FnMut(u32) -> u32) -> bool {
        exchange(u32::from(self)) & 1 != 0
    }
}

impl Shuffle for char {
    const WORDS: usize = 1;

    /// A word that is no character (it can only come from a lane that does not exist) leaves the lane's own.
    #[inline(always)]
    fn map_words(self, exchange: &mut impl FnMut(u32) -> u32) -> char {
        char::from_u32(exchange(self as u32)).unwrap_or(self)
    }
}

macro_rules! tuples {
    ($($name:ident $index:tt),+) => {
        impl<$($name: Shuffle),+> Shuffle for ($($name,)+) {
            const WORDS: usize = 0 $(+ $name::WORDS)+;

            #[inline(always)]
            fn map_words(self, exchange: &mut impl FnMut(u32) -> u32) -> Self {
                ($(self.$index.map_words(exchange),)+)
            }
        }
    };
}

tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);

/// A lane, or a distance between lanes: any integer of up to 64 bits.
///
/// It is compared in full width. A negative one is, as all numbers beyond the last lane, no lane's.
pub trait Lane: Copy + sealed::Sealed {
    /// The number, sign-extended.
    fn widen(self) -> u64;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! lanes {
    ($($type:ty)*) => {$(
        impl sealed::Sealed for $type {}

        impl Lane for $type {
            #[inline(always)]
            fn widen(self) -> u64 {
                self as u64
            }
        }
    )*};
}

lanes!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

#[cfg(test)]
mod tests {
    use super::{Lane, Shuffle};
    use std::vec::Vec;

    /// The words of a value, which must come back as the same value.
    fn words<T: Shuffle + PartialEq + std::fmt::Debug>(value: T) -> Vec<u32> {
        let mut words = Vec::new();
        let same = value.map_words(&mut |word| {
            words.push(word);
            word
        });
        assert_eq!(same, value);
        assert_eq!(words.len(), T::WORDS);
        words
    }

    #[test]
    fn narrow_values_are_one_zero_extended_word() {
        assert_eq!(words(true), [1]);
        assert_eq!(words(-1i8), [0xff]);
        assert_eq!(words(-2i16), [0xfffe]);
        assert_eq!(words('ß'), [0xdf]);
        assert_eq!(words(-0.0f32), [0x8000_0000]);
    }

    #[test]
    fn wide_values_are_their_words_from_the_low_one_on() {
        assert_eq!(words(0x1122_3344_5566_7788u64), [0x5566_7788, 0x1122_3344]);
        assert_eq!(words(u128::from(u64::MAX) + 1), [0, 0, 1, 0]);
        assert_eq!(words([1u8, 2, 3, 4, 5]), [0x0403_0201, 5]);
        assert_eq!(words([1u8, 2, 3]), [0x0003_0201]);
        assert_eq!(words([0xffu8; 7]), [0xffff_ffff, 0x00ff_ffff]);
        assert_eq!(words((1u8, 2.0f64, 'c', [7u16; 3])), [1, 0, 0x4000_0000, 99, 0x0007_0007, 7]);
        assert!(words(()).is_empty());
    }

    #[test]
    fn a_float_keeps_the_payload_of_its_nan() {
        let signalling = f64::from_bits(0x7ff4_0000_dead_beef);
        assert_eq!(signalling.map_words(&mut |word| word).to_bits(), signalling.to_bits());
    }

    #[test]
    fn whatever_a_missing_lane_gives_becomes_a_value() {
        assert_eq!('x'.map_words(&mut |_| 0xd800), 'x');
        assert_eq!('x'.map_words(&mut |_| u32::MAX), 'x');
        assert!(!true.map_words(&mut |_| 0xfffe));
        assert_eq!(7u8.map_words(&mut |_| 0x1_02), 2);
    }

    #[test]
    fn negative_lanes_are_beyond_every_lane() {
        assert_eq!((-1i8).widen(), u64::MAX);
        assert_eq!((-1isize).widen(), u64::MAX);
        assert_eq!(u32::MAX.widen(), 0xffff_ffff);
    }
}
