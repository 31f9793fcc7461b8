//! Kernel arguments and their check against the parameters that PTX declares.

use crate::ast::Ty;
use crate::launch::{Buffer, LaunchError};
use crate::program::{Func, Param};

/// A type that buffers hold and scalars have.
pub trait Scalar: Copy {
    /// Its size.
    const BYTES: usize;
    /// Its name, for messages.
    const NAME: &'static str;
    /// Appends its bytes, little-endian.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads it from exactly [`Scalar::BYTES`] bytes.
    fn take(bytes: &[u8]) -> Self;
}

macro_rules! scalars {
    ($($t:ty, $name:literal;)*) => {$(
        impl Scalar for $t {
            const BYTES: usize = size_of::<$t>();
            const NAME: &'static str = $name;
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn take(bytes: &[u8]) -> Self {
                let mut b = [0; size_of::<$t>()];
                b.copy_from_slice(&bytes[..size_of::<$t>()]);
                <$t>::from_le_bytes(b)
            }
        }
    )*};
}

scalars! {
    u8, "u8"; i8, "i8"; u16, "u16"; i16, "i16"; u32, "u32"; i32, "i32"; u64, "u64"; i64, "i64"; f32, "f32"; f64, "f64";
    usize, "usize"; isize, "isize"; half::f16, "f16"; half::bf16, "bf16";
}

/// The kind of a scalar argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Float,
    Pointer,
    Struct,
}

/// An argument of a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    bytes: Vec<u8>,
    kind: Kind,
    name: String,
    device: u64,
}

macro_rules! args {
    ($($t:ty, $kind:ident;)*) => {$(
        impl From<$t> for Arg {
            fn from(v: $t) -> Arg {
                let mut bytes = Vec::new();
                v.put(&mut bytes);
                Arg { bytes, kind: Kind::$kind, name: <$t as Scalar>::NAME.into(), device: 0 }
            }
        }
    )*};
}

args! {
    u8, Int; i8, Int; u16, Int; i16, Int; u32, Int; i32, Int; u64, Int; i64, Int; usize, Int; isize, Int;
    f32, Float; f64, Float; half::f16, Float; half::bf16, Float;
}

impl From<bool> for Arg {
    fn from(v: bool) -> Arg {
        Arg { bytes: vec![u8::from(v)], kind: Kind::Int, name: "bool".into(), device: 0 }
    }
}

impl<T: Scalar> From<&Buffer<T>> for Arg {
    fn from(b: &Buffer<T>) -> Arg {
        let name = format!("a buffer of {} {}", b.len(), T::NAME);
        Arg { bytes: b.address().to_le_bytes().to_vec(), kind: Kind::Pointer, name, device: b.device() }
    }
}

impl<T: Scalar> From<Buffer<T>> for Arg {
    fn from(b: Buffer<T>) -> Arg {
        Arg::from(&b)
    }
}

impl Arg {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A structure passed by value, as its bytes.
    pub fn bytes(bytes: Vec<u8>) -> Arg {
        let name = format!("a structure of {} bytes", bytes.len());
        Arg { bytes, kind: Kind::Struct, name, device: 0 }
    }

    /// A pointer computed from [`Buffer::address`], or a null pointer.
    pub fn pointer(address: u64) -> Arg {
        Arg { bytes: address.to_le_bytes().to_vec(), kind: Kind::Pointer, name: "a pointer".into(), device: 0 }
    }
}

/// A parameter in words.
pub(crate) fn describe(p: &Param) -> String {
    let ty = format!("{:?}", p.ty).to_lowercase();
    match (p.array, p.pointer) {
        (true, _) => format!(".{ty}[{}]", p.bytes / p.ty.bytes()),
        (false, true) => format!(".{ty} pointer"),
        (false, false) => format!(".{ty}"),
    }
}

/// Checks the arguments and lays them out.
pub(crate) fn pack(f: &Func, args: &[Arg], device: u64) -> Result<Vec<u8>, LaunchError> {
    if args.len() != f.params.len() {
        return Err(LaunchError::ArgumentCount { kernel: f.name.clone(), wanted: f.params.len(), given: args.len() });
    }
    let mut out = vec![0; f.param_bytes as usize];
    for (index, (p, a)) in f.params.iter().zip(args).enumerate() {
        if !fits(p, a) {
            let (wanted, given) = (describe(p), a.name.clone());
            return Err(LaunchError::ArgumentType { kernel: f.name.clone(), index, wanted, given });
        }
        if a.device != 0 && a.device != device {
            return Err(LaunchError::ForeignBuffer);
        }
        let at = p.offset as usize;
        out[at..at + a.bytes.len()].copy_from_slice(&a.bytes);
    }
    Ok(out)
}

/// A parameter of type `.b…` takes any scalar of its size; `.u…`, `.s…` and `.f…` take their kind; a pointer is 64 bits
/// wide, and where PTX says `.ptr`, only a pointer will do.
fn fits(p: &Param, a: &Arg) -> bool {
    if a.bytes.len() != p.bytes as usize {
        return false;
    }
    let untyped = matches!(p.ty, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64);
    match a.kind {
        Kind::Struct => p.array,
        _ if p.array => false,
        Kind::Pointer => !p.ty.float(),
        Kind::Int => !p.pointer && (untyped || !p.ty.float()),
        Kind::Float => !p.pointer && (untyped || p.ty.float()),
    }
}
