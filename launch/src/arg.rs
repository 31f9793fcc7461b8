//! Arguments of a launch: a buffer's address, or a number.

use std::fmt;

use crate::{Buffer, Device, Error, Launcher};

/// An argument of a launch, made by `From` or by [`Buffer::arg`] and [`Buffer::slice`].
#[allow(missing_docs)]
pub enum Arg<'a, L: Launcher> {
    /// The address of a buffer.
    Buffer(Address<'a, L>),
    /// No address, for a parameter that a kernel can do without.
    Null,
    U32(u32),
    U64(u64),
    I32(i32),
    F32(f32),
    F64(f64),
}

/// The address of a buffer, which it borrows.
pub struct Address<'a, L: Launcher> {
    pub(crate) memory: &'a L::Memory,
    pub(crate) owner: u64,
    pub(crate) len: usize,
    pub(crate) element: &'static str,
}

impl<L: Launcher> Arg<'_, L> {
    /// Its size as a parameter.
    pub(crate) fn bytes(&self) -> u32 {
        match self {
            Arg::U32(_) | Arg::I32(_) | Arg::F32(_) => 4,
            Arg::Buffer(_) | Arg::Null | Arg::U64(_) | Arg::F64(_) => 8,
        }
    }

    /// Its bits, the lowest first, where `address` gives those of a buffer.
    #[cfg(any(feature = "cudarc", feature = "cust"))]
    pub(crate) fn bits(&self, address: impl FnOnce(&L::Memory) -> u64) -> u64 {
        match *self {
            Arg::Buffer(Address { memory, .. }) => address(memory),
            Arg::Null => 0,
            Arg::U32(number) => number.into(),
            Arg::U64(number) => number,
            Arg::I32(number) => number.cast_unsigned().into(),
            Arg::F32(number) => number.to_bits().into(),
            Arg::F64(number) => number.to_bits(),
        }
    }

    /// Whether it may be used on this device, where it is argument `index` of `kernel`.
    pub(crate) fn check_owner(&self, device: &Device, index: usize, kernel: &str) -> Result<(), Error> {
        match self {
            Arg::Buffer(address) if address.owner != device.id => {
                Err(Error::ForeignBuffer { buffer: format!("argument {index} of kernel `{kernel}`, {self},") })
            }
            _ => Ok(()),
        }
    }
}

macro_rules! numbers {
    ($($type:ident $variant:ident;)*) => {$(
        impl<L: Launcher> From<$type> for Arg<'_, L> {
            fn from(number: $type) -> Self {
                Arg::$variant(number)
            }
        }
    )*};
}

numbers! { u32 U32; u64 U64; i32 I32; f32 F32; f64 F64; }

/// A length is 64 bits wide.
impl<L: Launcher> From<usize> for Arg<'_, L> {
    fn from(number: usize) -> Self {
        Arg::U64(number as u64)
    }
}

impl<'a, L: Launcher, T> From<&'a Buffer<L, T>> for Arg<'a, L> {
    fn from(buffer: &'a Buffer<L, T>) -> Self {
        buffer.arg()
    }
}

// Not derived: a derived one would ask that the launcher can be copied.
impl<L: Launcher> Clone for Arg<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Launcher> Copy for Arg<'_, L> {}

impl<L: Launcher> Clone for Address<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Launcher> Copy for Address<'_, L> {}

/// The argument in words, for messages.
impl<L: Launcher> fmt::Display for Arg<'_, L> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Buffer(Address { len, element, .. }) => write!(formatter, "a buffer of {len} {element}"),
            Arg::Null => formatter.write_str("no buffer"),
            Arg::U32(number) => write!(formatter, "the u32 {number}"),
            Arg::U64(number) => write!(formatter, "the u64 {number}"),
            Arg::I32(number) => write!(formatter, "the i32 {number}"),
            Arg::F32(number) => write!(formatter, "the f32 {number}"),
            Arg::F64(number) => write!(formatter, "the f64 {number}"),
        }
    }
}

impl<L: Launcher> fmt::Debug for Arg<'_, L> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
