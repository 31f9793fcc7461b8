//! Arrays of NumPy's files as typed ones. Reading and writing the files is the emulator's.
//!
//! Queries, keys and values are `float32`, `float16`, or bfloat16, which NumPy has not: its bits travel as `uint16`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use device_std::math::{Bf16, F16};
use emulator::npy::Array;
use gated_delta::problem::Format;

/// A type that has files.
pub trait Stored: Sized {
    /// NumPy's name of it.
    const DTYPE: &'static str;
    /// From its bytes, the lowest first.
    fn from_bytes(bytes: &[u8]) -> Self;
    /// Its bytes, the lowest first.
    fn put(&self, to: &mut Vec<u8>);
}

macro_rules! stored {
    ($($type:ty: $dtype:literal, $bits:ty, $from:expr, $to:expr;)+) => {$(
        impl Stored for $type {
            const DTYPE: &'static str = $dtype;

            fn from_bytes(bytes: &[u8]) -> $type {
                let mut word = [0; size_of::<$bits>()];
                word.copy_from_slice(bytes);
                $from(<$bits>::from_le_bytes(word))
            }

            fn put(&self, to: &mut Vec<u8>) {
                to.extend($to(*self).to_le_bytes());
            }
        }
    )+};
}

stored! {
    f32: "<f4", u32, f32::from_bits, f32::to_bits;
    F16: "<f2", u16, F16::from_bits, F16::to_bits;
    Bf16: "<u2", u16, Bf16::from_bits, Bf16::to_bits;
    i32: "<i4", i32, std::convert::identity, std::convert::identity;
    i64: "<i8", i64, std::convert::identity, std::convert::identity;
    u32: "<u4", u32, std::convert::identity, std::convert::identity;
}

/// A file's array with `N` dimensions.
#[derive(Debug, Clone)]
pub struct Loaded<const N: usize> {
    array: Array,
    path: PathBuf,
    /// Sizes of its dimensions.
    pub shape: [usize; N],
}

impl<const N: usize> Loaded<N> {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Loaded<N>> {
        let array = Array::read(path)?;
        let found = array.shape.len();
        let Ok(shape) = array.shape.clone().try_into() else {
            bail!("{}: the array has {found} dimensions, and should have {N}", path.display());
        };
        Ok(Loaded { array, path: path.to_owned(), shape })
    }

    /// The element type of queries, keys and values.
    pub fn format(&self) -> Result<Format> {
        Ok(match self.array.dtype.as_str() {
            "<f4" => Format::F32,
            "<f2" => Format::F16,
            "<u2" => Format::Bf16,
            other => bail!(
                "{}: elements are {other}, and should be <f4, <f2, or <u2 for the bits of bfloat16",
                self.path.display()
            ),
        })
    }

    /// The elements.
    pub fn values<T: Stored>(&self) -> Result<Vec<T>> {
        let found = &self.array.dtype;
        ensure!(found == T::DTYPE, "{}: elements are {found}, and should be {}", self.path.display(), T::DTYPE);
        Ok(self.array.bytes.chunks_exact(size_of::<T>()).map(T::from_bytes).collect())
    }
}

/// Whole numbers of any usual type, none of them negative or beyond 32 bits.
pub fn indices(path: &Path) -> Result<Vec<u32>> {
    let loaded = Loaded::<1>::read(path)?;
    let wide: Vec<i64> = match loaded.array.dtype.as_str() {
        "<i8" => loaded.values()?,
        "<i4" => loaded.values::<i32>()?.into_iter().map(i64::from).collect(),
        "<u4" => return loaded.values(),
        other => bail!("{}: elements are {other}, and should be <i4, <i8 or <u4", path.display()),
    };
    let narrow = wide.iter().map(|number| u32::try_from(*number)).collect::<Result<Vec<u32>, _>>();
    narrow.with_context(|| format!("{}: a token's number is out of range", path.display()))
}

/// Writes a file, whole or not at all.
pub fn write<T: Stored>(path: &Path, values: &[T], shape: &[usize]) -> Result<()> {
    let mut bytes = Vec::with_capacity(size_of_val(values));
    values.iter().for_each(|value| value.put(&mut bytes));
    Array { dtype: T::DTYPE.to_owned(), shape: shape.to_vec(), bytes }.write(path)?;
    Ok(())
}
