//! What the launchers on a CUDA driver share: arguments as words, and what the driver knows of a compiled kernel.

use emulator::Shape;

use crate::check::Signature;
use crate::{Arg, Device, Error, Launcher};

/// Each argument's bits in a word of its own, where `address` gives those of a buffer. The driver reads as many of a
/// word's bytes, from the lowest on, as the parameter has.
pub(crate) fn words<L: Launcher>(args: &[Arg<'_, L>], address: impl Fn(&L::Memory) -> u64) -> Vec<u64> {
    args.iter().map(|arg| arg.bits(&address)).collect()
}

/// What the driver says of a kernel as it is compiled for the device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attributes {
    /// The most threads of a block, which the kernel's registers limit.
    pub threads: u32,
    /// Bytes of static shared memory.
    pub fixed: u32,
    /// Bytes of dynamic shared memory that a launch may have without asking for more.
    pub dynamic: u32,
}

impl Attributes {
    /// Checks a launch; the bytes of dynamic shared memory that the driver must allow the kernel first, if any.
    pub(crate) fn check<L: Launcher>(
        &self,
        signature: &Signature,
        device: &Device,
        shape: &Shape,
        args: &[Arg<'_, L>],
    ) -> Result<Option<i32>, Error> {
        signature.launch(device, shape, self.fixed, args)?;
        let threads: u32 = shape.block.iter().product();
        if threads > self.threads {
            let kernel = signature.name.clone();
            let what = format!("a block of {threads} threads; as it is compiled here it takes {}", self.threads);
            return Err(Error::Shape { kernel, what });
        }
        let bytes = shape.shared_bytes;
        // The limit of the device, which was just checked, is far below that of the type.
        Ok((bytes > self.dynamic).then(|| i32::try_from(bytes).unwrap_or(i32::MAX)))
    }
}

/// The driver's refusal of more shared memory.
pub(crate) fn refused(signature: &Signature, device: &Device, shape: &Shape, why: String) -> Error {
    let (kernel, bytes, limit) = (signature.name.clone(), shape.shared_bytes, device.shared_limit);
    Error::Refused { kernel, bytes, limit, why }
}

/// The driver's numbers are not negative.
pub(crate) fn unsigned(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// An error of the driver in the midst of something.
pub(crate) fn failed(doing: impl Into<String>, why: String) -> Error {
    Error::Driver { doing: doing.into(), why }
}
