//! Floats where only integers are atomic: the same bits, and additions in a loop that tries until nobody was faster.

use super::operations::Operations;
use super::order::{AnyOrder, AnyScope};

macro_rules! floats {
    ($($type:ty: $bits:ty;)*) => {$(
        impl Operations for $type {
            #[inline(always)]
            unsafe fn load<O: AnyOrder, S: AnyScope>(place: *mut Self) -> Self {
                // SAFETY: (here and below) the caller's promise, and an integer of the float's size and alignment.
                <$type>::from_bits(unsafe { <$bits>::load::<O, S>(place.cast()) })
            }

            #[inline(always)]
            unsafe fn store<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) {
                // SAFETY: as above.
                unsafe { <$bits>::store::<O, S>(place.cast(), value.to_bits()) };
            }

            #[inline(always)]
            unsafe fn swap<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self {
                // SAFETY: as above.
                <$type>::from_bits(unsafe { <$bits>::swap::<O, S>(place.cast(), value.to_bits()) })
            }

            #[inline(always)]
            unsafe fn compare_exchange<O: AnyOrder, S: AnyScope>(place: *mut Self, expected: Self, new: Self) -> Self {
                let (expected, new) = (expected.to_bits(), new.to_bits());
                // SAFETY: as above.
                <$type>::from_bits(unsafe { <$bits>::compare_exchange::<O, S>(place.cast(), expected, new) })
            }

            #[inline(always)]
            unsafe fn fetch_add<O: AnyOrder, S: AnyScope>(place: *mut Self, value: Self) -> Self {
                // SAFETY: as above.
                let mut before = unsafe { <$bits>::load::<super::Relaxed, S>(place.cast()) };
                loop {
                    let sum = (<$type>::from_bits(before) + value).to_bits();
                    // SAFETY: as above.
                    let found = unsafe { <$bits>::compare_exchange::<O, S>(place.cast(), before, sum) };
                    if found == before {
                        return <$type>::from_bits(before);
                    }
                    before = found;
                }
            }
        }
    )*};
}

floats! {
    f32: u32;
    f64: u64;
}
