//! What can go wrong between a host program and a kernel, one sentence each: what, where, and what to do.
//!
//! Launchers find the same mistakes with the same words, except for those that only a driver or only the emulator can
//! see.

use emulator::{Fault, LaunchError};
use thiserror::Error;

/// A launcher that could not be had, or something that it could not do.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The library of NVIDIA's driver cannot be opened.
    #[error(
        "there is no CUDA driver on this machine (its library, {library}, cannot be opened): install NVIDIA's driver, or \
         give the container access to the GPU, or use the emulator"
    )]
    NoDriver {
        /// The library that was looked for.
        library: &'static str,
    },
    /// The driver works, and has no such GPU.
    #[error(
        "there is no GPU number {ordinal}: the CUDA driver has {count}; see `nvidia-smi -L` and CUDA_VISIBLE_DEVICES"
    )]
    NoDevice {
        /// The number asked for, from 0.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// An architecture that the emulator has no figures of.
    #[error("the emulator does not know the architecture `{arch}`; it knows {known}")]
    UnknownArch {
        /// The name asked for.
        arch: String,
        /// The names that are known.
        known: String,
    },
    /// PTX for another GPU.
    #[error("the PTX is for {target} and the device is {arch}: build the kernels with `--arch {arch}`")]
    Target {
        /// The module's target.
        target: String,
        /// The device's architecture.
        arch: String,
    },
    /// Text that does not load.
    #[error("the PTX cannot be loaded on {device}: {why}")]
    Load {
        /// The device.
        device: String,
        /// What the emulator or the driver says.
        why: String,
    },
    /// No such kernel in the module.
    #[error("the module has no kernel `{name}`; {known}")]
    NoKernel {
        /// The name asked for.
        name: String,
        /// The kernels there are, in words.
        known: String,
    },
    /// Too few or too many arguments.
    #[error(
        "kernel `{kernel}` takes {wanted} arguments, {given} were given; its parameters are {parameters} (a slice has two, \
         its buffer and its length)"
    )]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// Parameters it has.
        wanted: usize,
        /// Arguments given.
        given: usize,
        /// The parameters as PTX declares them.
        parameters: String,
    },
    /// An argument that does not fit its parameter.
    #[error("argument {index} of kernel `{kernel}`: the parameter is {wanted}, the argument is {given}")]
    ArgumentType {
        /// The kernel.
        kernel: String,
        /// Position, from 0.
        index: usize,
        /// The parameter as PTX declares it.
        wanted: String,
        /// The argument, in words.
        given: String,
    },
    /// A buffer of another launcher of the same kind.
    #[error("{buffer} belongs to another launcher: use a buffer only with the launcher that made it")]
    ForeignBuffer {
        /// The buffer, in words, and its place.
        buffer: String,
    },
    /// A module or a kernel of another launcher of the same kind.
    #[error("{what} belongs to another launcher: load the PTX with the launcher that is to run it")]
    ForeignModule {
        /// The module or the kernel.
        what: String,
    },
    /// A grid or block that the device or the kernel does not take.
    #[error("kernel `{kernel}` cannot be launched so: {what}")]
    Shape {
        /// The kernel.
        kernel: String,
        /// What is wrong, and the limit.
        what: String,
    },
    /// More shared memory than a block can have.
    #[error(
        "kernel `{kernel}` is launched with {dynamic} bytes of dynamic shared memory{}, and a block on {arch} has \
         {limit}: use a smaller tile, or a variant of the kernel for this GPU",
        in_addition(*fixed)
    )]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// Bytes of dynamic shared memory asked for.
        dynamic: u32,
        /// Bytes of its static shared memory; 0 where it has none.
        fixed: u32,
        /// The device's architecture.
        arch: String,
        /// Bytes that a block can have of both together.
        limit: u32,
    },
    /// The driver did not let the kernel have more shared memory than it has by default.
    #[error(
        "the CUDA driver refused kernel `{kernel}` {bytes} bytes of dynamic shared memory, of {limit} that a block can \
         have: {why}"
    )]
    Refused {
        /// The kernel.
        kernel: String,
        /// Bytes asked for.
        bytes: u32,
        /// Bytes that a block on this device can have.
        limit: u32,
        /// What the driver says.
        why: String,
    },
    /// A buffer that is not written in full cannot be read.
    #[error("{buffer}: byte {at} was never written, so it cannot be downloaded: does the launch have enough threads?")]
    Unwritten {
        /// The buffer, in words.
        buffer: String,
        /// The first such byte.
        at: u64,
    },
    /// A buffer larger than the address space.
    #[error("a buffer of {len} {element} is larger than any memory")]
    TooLarge {
        /// Elements asked for.
        len: usize,
        /// Their type.
        element: &'static str,
    },
    /// The kernel broke a rule while the emulator ran it.
    #[error(transparent)]
    Fault(Box<Fault>),
    /// What only the emulator checks.
    #[error(transparent)]
    Emulator(LaunchError),
    /// The driver could not do something.
    #[error("the CUDA driver could not {doing}: {why}")]
    Driver {
        /// What it was to do.
        doing: String,
        /// What it says.
        why: String,
    },
}

impl From<LaunchError> for Error {
    fn from(error: LaunchError) -> Error {
        match error {
            LaunchError::Fault(fault) => Error::Fault(fault),
            LaunchError::Shape { kernel, what } => Error::Shape { kernel, what },
            other => Error::Emulator(other),
        }
    }
}

fn in_addition(fixed: u32) -> String {
    if fixed == 0 { String::new() } else { format!(" besides its {fixed} static ones") }
}
