//! Everything a command line needs to run a kernel: arguments as text, arrays from and to `.npy` files.
//!
//! | argument | is |
//! |---|---|
//! | `7`, `-1.5` | a scalar of the parameter's type |
//! | `u32:7`, `f32:1.5` | a scalar of that type |
//! | `x.npy` | a buffer with the array's content |
//! | `x.npy:y.npy` | the same, written to `y.npy` after the launch |
//! | `f32[1024]` | a buffer that nothing wrote |
//! | `f32[64,16]:y.npy` | the same, written to `y.npy` after the launch, which must have filled it |
//! | `f32[1024]=0` | a buffer of that value, `:y.npy` may follow |
//!
//! Nothing is written unless the kernel ran to its end and every output can be read.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::args::{Arg, describe};
use crate::ast::Ty;
use crate::error::LoadError;
use crate::launch::{Buffer, Config, Device, LaunchError, Module, Report, Shape};
use crate::npy::{Array, NpyError, dtype};

/// A launch as a command line gives it.
#[derive(Debug, Clone)]
pub struct Command {
    /// The kernel; may be left empty if the module has one only.
    pub kernel: String,
    /// Grid, block and dynamic shared memory.
    pub shape: Shape,
    /// The arguments as text.
    pub args: Vec<String>,
    /// What is checked and counted.
    pub config: Config,
}

/// Why a command did not run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The PTX does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The launch failed or the kernel broke a rule.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// An argument is not understood.
    #[error("argument `{text}`: {what}")]
    Argument {
        /// The argument.
        text: String,
        /// What is wrong.
        what: String,
    },
    /// No kernel is named and the module has several or none.
    #[error("name a kernel; the module has {known}")]
    WhichKernel {
        /// The kernels there are.
        known: String,
    },
}

/// A buffer as bytes, and where it goes afterwards.
struct Output {
    buffer: Buffer<u8>,
    dtype: String,
    shape: Vec<usize>,
    path: PathBuf,
}

/// Most bytes a buffer named on a command line may have.
const MAX_BYTES: usize = 1 << 32;

impl Command {
    /// Loads the PTX, launches the kernel, writes the outputs.
    pub fn run(&self, ptx: &str) -> Result<Report, CommandError> {
        let module = Module::load(ptx)?;
        let kernel = module.kernel(&self.which(&module)?)?;
        let mut device = Device::new(self.config.clone());
        let params = &kernel.func().params;
        let (mut args, mut outputs) = (Vec::new(), Vec::new());
        for (k, text) in self.args.iter().enumerate() {
            let ty = params.get(k).filter(|p| !p.array).map(|p| (p.ty, p.pointer, describe(p)));
            args.push(argument(&mut device, text, ty, &mut outputs)?);
        }
        let report = device.launch(&kernel, self.shape, &args)?;
        let mut ready = Vec::new();
        for o in outputs {
            let bytes = device.read_written(&o.buffer)?;
            ready.push((Array { dtype: o.dtype, shape: o.shape, bytes }, o.path));
        }
        for (array, path) in ready {
            array.write(&path)?;
        }
        Ok(report)
    }

    fn which(&self, module: &Module) -> Result<String, CommandError> {
        let known: Vec<&str> = module.kernels().collect();
        match (self.kernel.as_str(), known.as_slice()) {
            ("", [one]) => Ok((*one).to_owned()),
            ("", _) => Err(CommandError::WhichKernel { known: known.join(", ") }),
            (name, _) => Ok(name.to_owned()),
        }
    }
}

/// `x`, `x,y` or `x,y,z` as a grid or block.
pub fn parse_dims(text: &str) -> Result<[u32; 3], String> {
    let mut out = [1; 3];
    let parts: Vec<&str> = text.split([',', 'x']).collect();
    if parts.len() > 3 {
        return Err(format!("`{text}` has more than three dimensions"));
    }
    for (slot, p) in out.iter_mut().zip(parts) {
        *slot = p.trim().parse().map_err(|_| format!("`{text}` is not one to three numbers with commas between"))?;
    }
    Ok(out)
}

fn bad<T>(text: &str, what: impl Into<String>) -> Result<T, CommandError> {
    Err(CommandError::Argument { text: text.into(), what: what.into() })
}

fn argument(
    device: &mut Device,
    text: &str,
    param: Option<(Ty, bool, String)>,
    outputs: &mut Vec<Output>,
) -> Result<Arg, CommandError> {
    if let Some((name, rest)) = text.split_once('[')
        && dtype(name).is_some()
    {
        return fresh(device, text, name, rest, outputs);
    }
    if text.ends_with(".npy") {
        return file(device, text, outputs);
    }
    if let Some((name, value)) = text.split_once(':') {
        return match scalar(name, value) {
            Some(a) => Ok(a),
            None => bad(text, format!("`{value}` is not a value of type `{name}`")),
        };
    }
    let Some((ty, pointer, words)) = param else {
        return bad(text, "write a type before the value, as in `u32:7`: the parameter's is not known");
    };
    if pointer {
        return bad(text, format!("the parameter is {words}: give a .npy file or a buffer such as `f32[1024]`"));
    }
    let name = match ty {
        Ty::B8 | Ty::U8 => "u8",
        Ty::S8 => "i8",
        Ty::B16 | Ty::U16 => "u16",
        Ty::S16 => "i16",
        Ty::B32 | Ty::U32 => "u32",
        Ty::S32 => "i32",
        Ty::S64 => "i64",
        Ty::F16 => "f16",
        Ty::Bf16 => "bf16",
        Ty::F32 => "f32",
        Ty::F64 => "f64",
        _ => "u64",
    };
    // A negative number for an unsigned parameter means its bits, as in C.
    let signed = name.replace('u', "i");
    match scalar(name, text).or_else(|| scalar(&signed, text)) {
        Some(a) => Ok(a),
        None => bad(text, format!("it does not fit the parameter, which is {words}")),
    }
}

fn scalar(name: &str, value: &str) -> Option<Arg> {
    let v = value.trim();
    Some(match name {
        "u8" => Arg::from(v.parse::<u8>().ok()?),
        "i8" => Arg::from(v.parse::<i8>().ok()?),
        "u16" => Arg::from(v.parse::<u16>().ok()?),
        "i16" => Arg::from(v.parse::<i16>().ok()?),
        "u32" => Arg::from(v.parse::<u32>().ok()?),
        "i32" => Arg::from(v.parse::<i32>().ok()?),
        "u64" | "usize" => Arg::from(v.parse::<u64>().ok()?),
        "i64" => Arg::from(v.parse::<i64>().ok()?),
        "f16" => Arg::from(half::f16::from_f64(v.parse().ok()?)),
        "bf16" => Arg::from(half::bf16::from_f64(v.parse().ok()?)),
        "f32" => Arg::from(v.parse::<f32>().ok()?),
        "f64" => Arg::from(v.parse::<f64>().ok()?),
        "bool" => Arg::from(v.parse::<bool>().ok()?),
        _ => return None,
    })
}

/// The bytes of a scalar.
fn scalar_bytes(name: &str, value: &str) -> Option<Vec<u8>> {
    scalar(name, value).map(Arg::into_bytes)
}

/// `x.npy` or `x.npy:y.npy`.
fn file(device: &mut Device, text: &str, outputs: &mut Vec<Output>) -> Result<Arg, CommandError> {
    let (from, to) = match text.split_once(".npy:") {
        Some((stem, to)) => (format!("{stem}.npy"), Some(to)),
        None => (text.to_owned(), None),
    };
    let array = Array::read(Path::new(&from))?;
    let buffer = device.buffer(&array.bytes);
    if let Some(to) = to {
        outputs.push(Output { buffer, dtype: array.dtype, shape: array.shape, path: to.into() });
    }
    Ok(buffer.into())
}

/// `f32[64,16]`, with `=value` and `:y.npy` behind it.
fn fresh(
    device: &mut Device,
    text: &str,
    name: &str,
    rest: &str,
    outputs: &mut Vec<Output>,
) -> Result<Arg, CommandError> {
    let Some((dims, tail)) = rest.split_once(']') else { return bad(text, "`]` is missing") };
    let shape: Option<Vec<usize>> = dims.split(',').map(|d| d.trim().parse().ok()).collect();
    let Some(shape) = shape else { return bad(text, "the sizes in brackets must be numbers") };
    let Some(dtype) = dtype(name) else { return bad(text, format!("`{name}` is not a type")) };
    let size = Array { dtype: dtype.into(), shape: Vec::new(), bytes: Vec::new() }.item_bytes();
    let bytes = shape.iter().try_fold(size, |n, &d| n.checked_mul(d)).filter(|n| *n <= MAX_BYTES);
    let Some(bytes) = bytes else { return bad(text, format!("a buffer may have {MAX_BYTES} bytes at most")) };
    let (value, path) = match tail.split_once(':') {
        Some((v, p)) => (v, Some(p)),
        None => (tail, None),
    };
    let buffer = match value.strip_prefix('=') {
        Some(v) => match scalar_bytes(name, v) {
            Some(one) => device.buffer(&one.repeat(bytes / size)),
            None => return bad(text, format!("`{v}` is not a value of type `{name}`")),
        },
        None if value.is_empty() => device.uninit::<u8>(bytes),
        None => return bad(text, "after the brackets come `=value`, `:file.npy` or nothing"),
    };
    if let Some(p) = path {
        outputs.push(Output { buffer, dtype: dtype.into(), shape, path: p.into() });
    }
    Ok(buffer.into())
}
