//! The launcher that needs no GPU.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use device_std::Plain;
use device_std::shared::{LIMITS, limits};
use emulator::{Config, LaunchError, Report, Shape};

use crate::buffer::{bytes_of, describe, size, values};
use crate::check::{Signature, Text};
use crate::{Address, Arg, Buffer, Device, Error, Launcher};

/// The emulator as a launcher: kernels run on the CPU, every mistake ends a launch with a fault, and costs are counted.
///
/// It stands for one architecture: it takes that one's PTX, and a block may have the shared memory that is there.
pub struct Emulator {
    device: Device,
    emulated: Emulated,
    last: Mutex<Option<Report>>,
}

/// The emulator's memory and cores, which buffers hold on to.
#[derive(Clone)]
struct Emulated(Arc<Mutex<emulator::Device>>);

/// Memory of the emulator, freed when dropped: a kernel that still uses it then faults.
pub struct EmulatedMemory {
    buffer: emulator::Buffer<u8>,
    name: String,
    emulated: Emulated,
}

/// A module on the emulator.
#[derive(Debug, Clone)]
pub struct EmulatedModule {
    module: emulator::Module,
    text: Text,
}

/// A kernel on the emulator.
#[derive(Debug, Clone)]
pub struct EmulatedKernel {
    kernel: emulator::Kernel,
    signature: Signature,
}

impl Emulator {
    /// An emulator of an architecture, `sm_90` or `sm_120a`, with every check on.
    pub fn new(arch: &str) -> Result<Emulator, Error> {
        Emulator::with_config(arch, Config::default())
    }

    /// An emulator of an architecture that checks and counts what `config` says. A block has the architecture's shared
    /// memory, or the configuration's limit where that is less.
    pub fn with_config(arch: &str, mut config: Config) -> Result<Emulator, Error> {
        let known = limits(arch).filter(|_| arch.starts_with("sm_"));
        let bytes = known.ok_or_else(|| unknown(arch))?.block_bytes;
        config.shared_limit = config.shared_limit.min(u32::try_from(bytes).unwrap_or(u32::MAX));
        let device = Device::new("the emulator".to_owned(), arch.to_owned(), config.shared_limit);
        let emulated = Emulated(Arc::new(Mutex::new(emulator::Device::new(config))));
        Ok(Emulator { device, emulated, last: Mutex::new(None) })
    }

    /// Runs a kernel to its end, as [`Launcher::launch`] does, and gives what it cost. The kernel's mistakes are
    /// errors, so this is safe.
    pub fn run(&self, kernel: &EmulatedKernel, shape: Shape, args: &[Arg<'_, Emulator>]) -> Result<Report, Error> {
        *lock(&self.last) = None;
        kernel.signature.launch(&self.device, &shape, 0, args)?;
        let args: Vec<emulator::Arg> = args.iter().map(emulated).collect();
        let report = self.emulated.lock().launch(&kernel.kernel, shape, &args)?;
        *lock(&self.last) = Some(report.clone());
        Ok(report)
    }

    /// What the last launch cost; `None` where there was none or it failed.
    pub fn last_report(&self) -> Option<Report> {
        lock(&self.last).clone()
    }

    fn memory<T>(
        &self,
        len: usize,
        make: impl FnOnce(&mut emulator::Device, String) -> emulator::Buffer<u8>,
    ) -> Buffer<Self, T> {
        let name = format!("a buffer of {}", describe::<T>(len));
        let buffer = make(&mut self.emulated.lock(), name.clone());
        Buffer::new(EmulatedMemory { buffer, name, emulated: self.emulated.clone() }, len, &self.device)
    }
}

/// An emulator of `sm_90`.
impl Default for Emulator {
    fn default() -> Emulator {
        Emulator::new("sm_90").expect("the table of limits has sm_90")
    }
}

impl Launcher for Emulator {
    type Memory = EmulatedMemory;
    type Module = EmulatedModule;
    type Kernel = EmulatedKernel;

    fn device(&self) -> &Device {
        &self.device
    }

    fn load(&self, ptx: &str) -> Result<EmulatedModule, Error> {
        let text = Text::read(ptx, &self.device)?;
        match emulator::Module::load(ptx) {
            Ok(module) => Ok(EmulatedModule { module, text }),
            Err(error) => Err(Error::Load { device: self.device.name.clone(), why: error.to_string() }),
        }
    }

    fn kernel(&self, module: &EmulatedModule, name: &str) -> Result<EmulatedKernel, Error> {
        let signature = module.text.kernel(name, &self.device)?;
        Ok(EmulatedKernel { kernel: module.module.kernel(name)?, signature })
    }

    fn upload<T: Plain>(&self, data: &[T]) -> Result<Buffer<Self, T>, Error> {
        Ok(self.memory(data.len(), |device, name| device.named(name, bytes_of(data))))
    }

    fn allocate<T: Plain>(&self, len: usize) -> Result<Buffer<Self, T>, Error> {
        let bytes = size::<T>(len)?;
        Ok(self.memory(len, |device, name| device.named_uninit(name, bytes)))
    }

    fn download<T: Plain>(&self, buffer: &Buffer<Self, T>) -> Result<Vec<T>, Error> {
        let memory = buffer.memory(&self.device)?;
        let bytes = memory.read()?;
        values(buffer.len(), |room| {
            room.copy_from_slice(&bytes);
            Ok(())
        })
    }

    unsafe fn launch(&self, kernel: &EmulatedKernel, shape: Shape, args: &[Arg<'_, Self>]) -> Result<(), Error> {
        self.run(kernel, shape, args).map(drop)
    }

    unsafe fn time(
        &self,
        kernel: &EmulatedKernel,
        shape: Shape,
        args: &[Arg<'_, Self>],
        _repeats: u32,
    ) -> Result<Option<Vec<f32>>, Error> {
        kernel.signature.launch(&self.device, &shape, 0, args)?;
        Ok(None)
    }
}

impl EmulatedMemory {
    /// The bytes; all of them are written, unless that is not watched.
    fn read(&self) -> Result<Vec<u8>, Error> {
        let device = self.emulated.lock();
        if !device.config().uninitialized {
            return Ok(device.read(&self.buffer)?);
        }
        device.read_written(&self.buffer).map_err(|error| match error {
            LaunchError::Unwritten { name: buffer, at } => Error::Unwritten { buffer, at },
            other => other.into(),
        })
    }
}

impl Drop for EmulatedMemory {
    fn drop(&mut self) {
        // It fails for a buffer of another device or one that was freed, and this is neither.
        let _ = self.emulated.lock().free(self.buffer);
    }
}

impl Emulated {
    fn lock(&self) -> MutexGuard<'_, emulator::Device> {
        lock(&self.0)
    }
}

/// A panic elsewhere leaves what is guarded here whole: at worst a launch has no report.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn emulated(arg: &Arg<'_, Emulator>) -> emulator::Arg {
    match *arg {
        Arg::Buffer(Address { memory, .. }) => memory.buffer.into(),
        Arg::Null => emulator::Arg::pointer(0),
        Arg::U32(number) => number.into(),
        Arg::U64(number) => number.into(),
        Arg::I32(number) => number.into(),
        Arg::F32(number) => number.into(),
        Arg::F64(number) => number.into(),
    }
}

fn unknown(arch: &str) -> Error {
    let known: Vec<&str> = LIMITS.iter().map(|limits| limits.arch).filter(|arch| arch.starts_with("sm_")).collect();
    Error::UnknownArch { arch: arch.to_owned(), known: known.join(", ") }
}

impl fmt::Debug for Emulator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Emulator").field("device", &self.device).finish_non_exhaustive()
    }
}

impl fmt::Debug for EmulatedMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}
