//! Typed buffers over a launcher's untyped memory, and their values as bytes.
//!
//! Values are [`Plain`]: they have no padding, and any bytes are a value, so both directions are copies of bytes. GPUs
//! and the emulator are little-endian, as is every host that has them.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use device_std::Plain;

use crate::arg::Address;
use crate::{Arg, Device, Error, Launcher};

/// `len` values of type `T` in the memory of a launcher of kind `L`, freed when dropped.
pub struct Buffer<L: Launcher, T> {
    memory: L::Memory,
    len: usize,
    owner: u64,
    of: PhantomData<T>,
}

impl<L: Launcher, T> Buffer<L, T> {
    pub(crate) fn new(memory: L::Memory, len: usize, device: &Device) -> Buffer<L, T> {
        Buffer { memory, len, owner: device.id, of: PhantomData }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its address, for a parameter `*const T` or `*mut T`.
    pub fn arg(&self) -> Arg<'_, L> {
        let Buffer { memory, len, owner, .. } = self;
        Arg::Buffer(Address { memory, owner: *owner, len: *len, element: type_name::<T>() })
    }

    /// Its address and its length, for a parameter `&[T]` or `PerThread<T>`, which is two arguments.
    pub fn slice(&self) -> [Arg<'_, L>; 2] {
        [self.arg(), Arg::from(self.len)]
    }

    /// The memory, if it is that of this device.
    pub(crate) fn memory(&self, device: &Device) -> Result<&L::Memory, Error> {
        if self.owner == device.id {
            return Ok(&self.memory);
        }
        Err(Error::ForeignBuffer { buffer: format!("the buffer of {}", describe::<T>(self.len)) })
    }
}

impl<L: Launcher, T> fmt::Debug for Buffer<L, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Buffer({})", describe::<T>(self.len))
    }
}

/// So many elements of a type, in words.
pub(crate) fn describe<T>(len: usize) -> String {
    format!("{len} {}", type_name::<T>())
}

/// The bytes of so many elements.
pub(crate) fn size<T>(len: usize) -> Result<usize, Error> {
    let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
    bytes.ok_or(Error::TooLarge { len, element: type_name::<T>() })
}

/// Values as their bytes.
pub(crate) fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: the bytes are those of the slice, which the result borrows; `Plain` says that none of them is padding, so
    // all are initialized.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// `len` values of which `fill` writes every byte.
///
/// # Errors
/// Those of `fill`.
pub(crate) fn values<T: Plain>(len: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), Error>) -> Result<Vec<T>, Error> {
    let bytes = size::<T>(len)?;
    let mut values = Vec::<T>::with_capacity(len);
    // SAFETY: the vector has room for `len` elements, which are `bytes` bytes, and zero is a value of each byte.
    let room = unsafe {
        values.as_mut_ptr().write_bytes(0, len);
        std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), bytes)
    };
    fill(room)?;
    // SAFETY: all bytes of the elements are initialized, and `Plain` says that any bytes are a value.
    unsafe { values.set_len(len) };
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::{bytes_of, size, values};
    use crate::Error;

    #[test]
    fn bytes_go_there_and_back() {
        let numbers = [1.5f64, -0.0, f64::MAX];
        let copied = values::<f64>(3, |bytes| {
            bytes.copy_from_slice(bytes_of(&numbers));
            Ok(())
        });
        assert_eq!(copied, Ok(numbers.to_vec()));
        assert_eq!(bytes_of(&[0x0403_0201u32, 5]), [1, 2, 3, 4, 5, 0, 0, 0]);
    }

    #[test]
    fn types_without_bytes_have_values_too() {
        assert_eq!(values::<()>(3, |_| Ok(())), Ok(vec![(); 3]));
        assert_eq!(bytes_of(&[(); 3]), []);
    }

    #[test]
    fn a_size_that_no_memory_has_is_an_error() {
        assert_eq!(size::<u8>(usize::MAX), Err(Error::TooLarge { len: usize::MAX, element: "u8" }));
        assert_eq!(size::<u64>(1 << 61), Err(Error::TooLarge { len: 1 << 61, element: "u64" }));
        assert_eq!(size::<u64>(3), Ok(24));
    }

    #[test]
    fn an_error_while_filling_is_the_result() {
        let error = Error::TooLarge { len: 1, element: "u8" };
        assert_eq!(values::<u8>(1, |_| Err(error.clone())), Err(error));
    }
}
