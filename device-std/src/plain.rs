//! Values that are their bytes: what may travel between threads as words and lie in memory that nobody has written.

/// A type without padding, every bit pattern of which is a value.
///
/// Sub-groups move such values as 32-bit words, and shared memory hands them out before anything was stored. Derive it
/// for structs: `#[derive(Clone, Copy, Plain)] #[repr(C)] struct Pair { value: f32, lane: u32 }`. The derive macro
/// refuses padding and fields that are not plain themselves.
///
/// `bool` and `char` are not plain, as not all their bit patterns are values; sub-groups shuffle them all the same.
///
/// ```compile_fail
/// #[derive(Clone, Copy, device_std::Plain)]
/// #[repr(C)]
/// struct Flag {
///     set: bool,
/// }
/// ```
///
/// # Safety
/// No byte of a value is padding, and all bit patterns of the type's size are values of it.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty)*) => {$(
        // SAFETY: numbers have no padding, and every bit pattern is a number.
        unsafe impl Plain for $type {}
    )*};
}

plain!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
#[cfg(not(on_host))]
plain!(f16);

// SAFETY: an array has no bytes but those of its elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

// SAFETY: no byte, so none that is padding, and one value for the only pattern.
unsafe impl Plain for () {}
