//! Reductions of 32-bit integers by one of six operations, for which machines may have an instruction.
//!
//! Sums wrap around, and every operation is associative and commutative, so the order of combination does not show: the
//! results are those of [`reduce`](Segments::reduce), whoever computes them.

use super::{Call, Segments, Shuffle, SubGroup};

/// An operation on 32-bit words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordOperation {
    /// The sum, wrapped around.
    Add,
    /// The smaller one, of words without a sign.
    Min,
    /// The larger one, of words without a sign.
    Max,
    /// The smaller one, of words in two's complement.
    SignedMin,
    /// The larger one, of words in two's complement.
    SignedMax,
    /// The bits that are set in both.
    And,
    /// The bits that are set in one or both.
    Or,
    /// The bits that are set in one of them only.
    Xor,
}

impl WordOperation {
    /// The result for two words.
    #[inline(always)]
    pub const fn of(self, a: u32, b: u32) -> u32 {
        match self {
            WordOperation::Add => a.wrapping_add(b),
            WordOperation::Min if b < a => b,
            WordOperation::Max if b > a => b,
            WordOperation::SignedMin if (b as i32) < a as i32 => b,
            WordOperation::SignedMax if b as i32 > a as i32 => b,
            WordOperation::And => a & b,
            WordOperation::Or => a | b,
            WordOperation::Xor => a ^ b,
            WordOperation::Min | WordOperation::Max | WordOperation::SignedMin | WordOperation::SignedMax => a,
        }
    }
}

/// The integers of one word: `u32` and `i32`.
pub trait Word: Shuffle + sealed::Sealed {
    #[doc(hidden)]
    const MIN: WordOperation;
    #[doc(hidden)]
    const MAX: WordOperation;
    #[doc(hidden)]
    fn to_word(self) -> u32;
    #[doc(hidden)]
    fn of_word(word: u32) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! words {
    ($($type:ty: $min:ident, $max:ident;)*) => {$(
        impl sealed::Sealed for $type {}

        impl Word for $type {
            const MIN: WordOperation = WordOperation::$min;
            const MAX: WordOperation = WordOperation::$max;

            #[inline(always)]
            fn to_word(self) -> u32 {
                self as u32
            }

            #[inline(always)]
            fn of_word(word: u32) -> $type {
                word as $type
            }
        }
    )*};
}

words! {
    u32: Min, Max;
    i32: SignedMin, SignedMax;
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident = $operation:expr;)*) => {
        impl<S: SubGroup> Segments<S> {
            $(
                $(#[$doc])*
                ///
                /// The result of [`reduce`](Self::reduce) with that operation, the same in all lanes.
                #[inline(always)]
                #[cfg_attr(on_host, track_caller)]
                pub fn $name<T: Word>(self, value: T) -> T {
                    T::of_word(self.reduce_word(self.call(stringify!($name)), $operation, value.to_word()))
                }
            )*
        }

        $(
            $(#[$doc])*
            ///
            /// One `redux.sync` on NVIDIA GPUs from sm_80 on. The result of [`reduce`](super::reduce) with that
            /// operation, the same in all lanes.
            #[inline(always)]
            #[cfg_attr(on_host, track_caller)]
            pub fn $name<T: Word>(value: T) -> T {
                Segments::<super::Native>::WHOLE.$name(value)
            }
        )*
    };
}

reductions! {
    /// The sum of all lanes' values, wrapped around.
    reduce_add = WordOperation::Add;
    /// The smallest of all lanes' values.
    reduce_min = T::MIN;
    /// The largest of all lanes' values.
    reduce_max = T::MAX;
    /// The bits that are set in all lanes' values.
    reduce_and = WordOperation::And;
    /// The bits that are set in any lane's value.
    reduce_or = WordOperation::Or;
    /// The bits that are set in an odd number of lanes' values.
    reduce_xor = WordOperation::Xor;
}

impl<S: SubGroup> Segments<S> {
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    fn reduce_word(self, call: Call<S>, operation: WordOperation, word: u32) -> u32 {
        match S::reduce_word(call, operation, word) {
            Some(all) => all,
            None => self.reduce(word, |a, b| operation.of(a, b)),
        }
    }
}
