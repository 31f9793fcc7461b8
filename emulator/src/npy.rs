//! Arrays from and to NumPy's `.npy` files, versions 1 to 3, little-endian numbers in C order.

use std::io::Write;
use std::path::Path;

use thiserror::Error;

/// Why a `.npy` file cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The file system refused.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// The content is not an array that kernels can take.
    #[error("{path}: {what}")]
    Format {
        /// The file.
        path: String,
        /// What is wrong.
        what: String,
    },
}

/// An array: its element type as NumPy spells it (`<f4`), its shape, its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// `<f4`, `<i8`, `|u1`…
    pub dtype: String,
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
    /// The elements.
    pub bytes: Vec<u8>,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy's name of a type of this library.
pub fn dtype(name: &str) -> Option<&'static str> {
    Some(match name {
        "u8" => "|u1",
        "i8" => "|i1",
        "u16" => "<u2",
        "i16" => "<i2",
        "u32" => "<u4",
        "i32" => "<i4",
        "u64" => "<u8",
        "i64" => "<i8",
        "f16" => "<f2",
        // NumPy has no bf16; its bits travel as integers.
        "bf16" => "<u2",
        "f32" => "<f4",
        "f64" => "<f8",
        _ => return None,
    })
}

impl Array {
    /// Bytes of an element.
    pub fn item_bytes(&self) -> usize {
        item_bytes(&self.dtype).unwrap_or(1)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Array, NpyError> {
        let name = path.display().to_string();
        let data = std::fs::read(path).map_err(|error| NpyError::Io { path: name.clone(), error })?;
        Array::parse(&data).map_err(|what| NpyError::Format { path: name, what })
    }

    /// Parses a file's content.
    pub fn parse(data: &[u8]) -> Result<Array, String> {
        let rest = data.strip_prefix(MAGIC).ok_or("not a .npy file")?;
        let (&[major, _], rest) = rest.split_first_chunk::<2>().ok_or("the file ends in its header")?;
        let (length, rest) = match major {
            1 => {
                let (n, rest) = rest.split_first_chunk::<2>().ok_or("the file ends in its header")?;
                (usize::from(u16::from_le_bytes(*n)), rest)
            }
            2 | 3 => {
                let (n, rest) = rest.split_first_chunk::<4>().ok_or("the file ends in its header")?;
                (u32::from_le_bytes(*n) as usize, rest)
            }
            v => return Err(format!("version {v} of .npy is not known")),
        };
        let (header, body) = rest.split_at_checked(length).ok_or("the file ends in its header")?;
        let header = std::str::from_utf8(header).map_err(|_| "the header is not text")?;
        let dtype = quoted(header, "descr").ok_or("the header names no simple element type")?;
        let size = item_bytes(&dtype).ok_or_else(|| format!("elements of type `{dtype}` are not supported"))?;
        if field(header, "fortran_order").is_some_and(|f| f.starts_with("True")) {
            return Err("the array is in Fortran order; save it with numpy.ascontiguousarray".into());
        }
        let shape = shape(header).ok_or("the header has no shape")?;
        let want = shape.iter().try_fold(size, |n, &d| n.checked_mul(d)).ok_or("the shape is too large")?;
        if body.len() != want {
            return Err(format!("the shape needs {want} bytes, the file has {}", body.len()));
        }
        Ok(Array { dtype, shape, bytes: body.to_vec() })
    }

    /// The content of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let dims: Vec<String> = self.shape.iter().map(|d| format!("{d},")).collect();
        let mut header =
            format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", self.dtype, dims.join(" "));
        // NumPy aligns the data to 64 bytes; the header ends with a newline.
        let pad = (64 - (MAGIC.len() + 4 + header.len() + 1) % 64) % 64;
        header.push_str(&" ".repeat(pad));
        header.push('\n');
        let mut out = MAGIC.to_vec();
        out.extend([1, 0]);
        out.extend((header.len() as u16).to_le_bytes());
        out.extend(header.as_bytes());
        out.extend(&self.bytes);
        out
    }

    /// Writes a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), NpyError> {
        let fail = |error| NpyError::Io { path: path.display().to_string(), error };
        let mut partial = path.as_os_str().to_owned();
        partial.push(format!(".{}.partial", std::process::id()));
        let put = || {
            let mut f = std::fs::File::create(&partial)?;
            f.write_all(&self.to_bytes())?;
            f.sync_all()?;
            std::fs::rename(&partial, path)
        };
        put().map_err(|e| {
            // What is left of a failed write is of no use; that it may not exist is fine.
            let _ = std::fs::remove_file(&partial);
            fail(e)
        })
    }
}

fn item_bytes(dtype: &str) -> Option<usize> {
    let kind = dtype.strip_prefix(['<', '|', '='])?;
    Some(match kind {
        "u1" | "i1" | "b1" => 1,
        "u2" | "i2" | "f2" => 2,
        "u4" | "i4" | "f4" => 4,
        "u8" | "i8" | "f8" => 8,
        _ => return None,
    })
}

/// The text behind a key of the header's dictionary.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{key}'"))?;
    Some(header[at + key.len() + 2..].trim_start().strip_prefix(':')?.trim_start())
}

fn quoted(header: &str, key: &str) -> Option<String> {
    let v = field(header, key)?.strip_prefix('\'')?;
    Some(v[..v.find('\'')?].to_owned())
}

fn shape(header: &str) -> Option<Vec<usize>> {
    let v = field(header, "shape")?.strip_prefix('(')?;
    let inner = &v[..v.find(')')?];
    inner.split(',').map(str::trim).filter(|s| !s.is_empty()).map(|s| s.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_the_data_is_aligned() {
        for shape in [vec![], vec![3], vec![2, 0, 5], vec![7, 11]] {
            let n: usize = shape.iter().product();
            let a = Array { dtype: "<f4".into(), shape, bytes: (0..4 * n).map(|b| b as u8).collect() };
            let file = a.to_bytes();
            assert_eq!((file.len() - a.bytes.len()) % 64, 0);
            assert_eq!(Array::parse(&file), Ok(a));
        }
    }

    #[test]
    fn every_truncation_and_nonsense_is_an_error() {
        let a = Array { dtype: "<u2".into(), shape: vec![4], bytes: vec![0; 8] };
        let file = a.to_bytes();
        for n in 0..file.len() {
            assert!(Array::parse(&file[..n]).is_err(), "{n}");
        }
        for (from, to) in [("<u2", "<c8"), ("False", "True "), ("(4,)", "(9,)"), ("'shape'", "'shone'")] {
            let text: Vec<u8> = String::from_utf8_lossy(&file).replace(from, to).into_bytes();
            assert!(Array::parse(&text).is_err(), "{to}");
        }
    }
}
