//! The numbers that can be atomic.

use super::operations::{IntegerOperations, Operations};

/// A number that can be atomic.
pub trait Value: Operations {
    /// Whether two numbers have the same bits.
    fn same_bits(self, other: Self) -> bool;
}

/// An integer that can be atomic.
pub trait Integer: Value + IntegerOperations {
    /// The number that gives 0 when it is added.
    fn wrapping_neg(self) -> Self;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Value for $type {
            #[inline(always)]
            fn same_bits(self, other: $type) -> bool {
                self == other
            }
        }

        impl Integer for $type {
            #[inline(always)]
            fn wrapping_neg(self) -> $type {
                <$type>::wrapping_neg(self)
            }
        }
    )*};
}

integers!(u32 i32 u64 i64);

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl Value for $type {
            #[inline(always)]
            fn same_bits(self, other: $type) -> bool {
                self.to_bits() == other.to_bits()
            }
        }
    )*};
}

floats!(f32 f64);
