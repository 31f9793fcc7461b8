//! Inclusive ranges that LLVM can unroll completely.
//!
//! The iterator of `a..=b` keeps a flag for "the last value was handed out", which hides the number of turns from LLVM:
//! with a `break` in the body, with a shift by the loop variable, or in a triangular nest, the loop stays, whatever the
//! hint. `#[unroll]` therefore replaces an inclusive range, written as such, by [`Counted`], which knows its number of
//! turns from the start. It yields the same values in the same order, for every pair of bounds, the type's last value
//! included.
//!
//! What is replaced is decided by method lookup: `Inclusive(range).counted()` finds the inherent method where the range
//! is one of integers up to 64 bits, and the trait method, which returns the range as it is, for all others (128-bit
//! integers, `char`, an integer type that is a generic parameter). Those loops are left to LLVM as they are.

use core::ops::RangeInclusive;

/// An inclusive range on its way to become a [`Counted`].
pub struct Inclusive<R>(pub R);

impl<T: Integer> Inclusive<RangeInclusive<T>> {
    /// The same values, counted.
    ///
    /// The range is one that was just written as `a..=b`, so it has not been iterated.
    #[inline]
    pub fn counted(self) -> Counted<T> {
        let (first, last) = self.0.into_inner();
        let left = match first.distance_to(last) {
            Some(distance) => u128::from(distance) + 1,
            None => 0,
        };
        Counted { next: first, step: T::ONE, left }
    }
}

/// The way out for ranges of other types.
pub trait Uncounted {
    /// The range itself.
    type Range;

    /// The range as it is.
    fn counted(self) -> Self::Range;
}

impl<R> Uncounted for Inclusive<R> {
    type Range = R;

    #[inline]
    fn counted(self) -> R {
        self.0
    }
}

/// The values of an inclusive range, possibly reversed and stepped.
///
/// `left` turns remain: at most 2^64, since a range of 64-bit integers can have one more value than they can count.
/// `step` is what leads to the next value, in wrapping arithmetic, so that it can be negative in an unsigned type.
#[derive(Debug, Clone)]
pub struct Counted<T> {
    next: T,
    step: T,
    left: u128,
}

impl<T: Integer> Counted<T> {
    /// The same values from the last to the first, as `Iterator::rev`.
    #[inline]
    #[must_use]
    pub fn rev(self) -> Counted<T> {
        let last = self.next.wrapping_add(self.step.wrapping_mul(T::truncate(self.left.wrapping_sub(1) as u64)));
        Counted { next: last, step: T::truncate(0).wrapping_sub(self.step), left: self.left }
    }

    /// Every `step`th value from the first on, as `Iterator::step_by`.
    ///
    /// # Panics
    /// If `step` is 0.
    #[inline]
    #[must_use]
    pub fn step_by(self, step: usize) -> Counted<T> {
        assert!(step != 0);
        let step = step as u64;
        // The number of steps between the first and the last value fits 64 bits, and is divided there.
        let left = if self.left == 0 { 0 } else { u128::from((self.left - 1) as u64 / step) + 1 };
        Counted { next: self.next, step: self.step.wrapping_mul(T::truncate(step)), left }
    }
}

impl<T: Integer> Iterator for Counted<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.left == 0 {
            return None;
        }
        self.left = self.left.wrapping_sub(1);
        let value = self.next;
        self.next = value.wrapping_add(self.step);
        Some(value)
    }
}

/// The integers of at most 64 bits.
pub trait Integer: Copy + sealed::Sealed {
    /// The number 1.
    const ONE: Self;
    /// How far `last` lies above `self`; `None` where it lies below.
    fn distance_to(self, last: Self) -> Option<u64>;
    /// The low bits of a number.
    fn truncate(number: u64) -> Self;
    /// Sum, wrapped around.
    fn wrapping_add(self, other: Self) -> Self;
    /// Difference, wrapped around.
    fn wrapping_sub(self, other: Self) -> Self;
    /// Product, wrapped around.
    fn wrapping_mul(self, other: Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($signed:ty, $unsigned:ty;)*) => {$(
        integers!(one $signed, $unsigned);
        integers!(one $unsigned, $unsigned);
    )*};
    (one $type:ty, $unsigned:ty) => {
        impl sealed::Sealed for $type {}

        impl Integer for $type {
            const ONE: $type = 1;

            #[inline]
            fn distance_to(self, last: $type) -> Option<u64> {
                if self <= last { Some(last.wrapping_sub(self) as $unsigned as u64) } else { None }
            }

            #[inline]
            fn truncate(number: u64) -> $type {
                number as $type
            }

            #[inline]
            fn wrapping_add(self, other: $type) -> $type {
                <$type>::wrapping_add(self, other)
            }

            #[inline]
            fn wrapping_sub(self, other: $type) -> $type {
                <$type>::wrapping_sub(self, other)
            }

            #[inline]
            fn wrapping_mul(self, other: $type) -> $type {
                <$type>::wrapping_mul(self, other)
            }
        }
    };
}

integers! {
    i8, u8;
    i16, u16;
    i32, u32;
    i64, u64;
    isize, usize;
}

#[cfg(test)]
mod tests {
    use super::{Inclusive, Uncounted};
    use std::vec::Vec;

    /// All bounds and all steps of the 8-bit types, against the standard library.
    #[test]
    fn every_range_of_a_byte_is_the_standard_one() {
        for first in u8::MIN..=u8::MAX {
            for last in u8::MIN..=u8::MAX {
                assert!(Inclusive(first..=last).counted().eq(first..=last));
                assert!(Inclusive(first..=last).counted().rev().eq((first..=last).rev()));
                let (first, last) = (first as i8, last as i8);
                assert!(Inclusive(first..=last).counted().eq(first..=last));
            }
        }
    }

    #[test]
    fn steps_of_a_byte_are_the_standard_ones() {
        let ends = [0u8, 1, 2, 3, 100, 127, 128, 129, 253, 254, 255];
        for first in ends {
            for last in ends {
                for step in [1, 2, 3, 5, 127, 128, 254, 255, 256, 257, 1000, usize::MAX] {
                    let range = || Inclusive(first..=last).counted();
                    assert!(range().step_by(step).eq((first..=last).step_by(step)), "{first}..={last} by {step}");
                    assert!(range().rev().step_by(step).eq((first..=last).rev().step_by(step)));
                    let signed = first as i8..=last as i8;
                    assert!(Inclusive(signed.clone()).counted().rev().step_by(step).eq(signed.rev().step_by(step)));
                }
            }
        }
    }

    #[test]
    fn the_ends_of_wide_types_are_reached() {
        fn values<T>(values: impl Iterator<Item = T>) -> Vec<T> {
            values.take(5).collect()
        }
        assert_eq!(values(Inclusive(u64::MAX - 1..=u64::MAX).counted()), [u64::MAX - 1, u64::MAX]);
        assert_eq!(values(Inclusive(i64::MAX..=i64::MAX).counted()), [i64::MAX]);
        assert_eq!(values(Inclusive(i64::MIN..=i64::MAX).counted().rev()).last(), Some(&(i64::MAX - 4)));
        assert_eq!(values(Inclusive(0..=u64::MAX).counted().step_by(1 << 63)), [0, 1 << 63]);
        assert_eq!(values(Inclusive(0..=u64::MAX).counted()), [0, 1, 2, 3, 4]);
        assert_eq!(Inclusive(0..=u64::MAX).counted().left, 1 << 64);
    }

    #[test]
    fn other_types_keep_their_range() {
        assert_eq!(Inclusive('a'..='c').counted(), 'a'..='c');
        assert_eq!(Inclusive(u128::MAX..=u128::MAX).counted(), u128::MAX..=u128::MAX);
    }

    #[test]
    #[should_panic(expected = "step != 0")]
    fn no_step_is_refused_as_the_standard_library_does() {
        let _ = Inclusive(0..=3).counted().step_by(0);
    }
}
