//! GPUs through `cust`, for programs that use Rust-CUDA's host crate already and share its context.
//!
//! Compiling this needs a CUDA installation, and the program is linked with the driver's library; `DOCS_RS=1 cargo
//! check` type-checks it anywhere. `cust` has no call for some things of the driver that came after it; those go
//! through its bindings.

use std::ffi::c_void;
use std::fmt;
use std::rc::Rc;

use cust::context::{Context, CurrentContext};
use cust::error::{CudaError, CudaResult};
use cust::event::{Event, EventFlags};
use cust::function::{BlockSize, Function, GridSize};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust::sys::{self, CUdevice_attribute, CUfunction_attribute, CUresult};
use device_std::Plain;
use emulator::Shape;

use crate::buffer::{bytes_of, describe, size, values};
use crate::check::{Signature, Text, no_kernel};
use crate::driver::{Attributes, failed, refused, unsigned, words};
use crate::{Arg, Buffer, Device, Error, Launcher};

/// A GPU of this machine.
pub struct Cust {
    device: Device,
    stream: Stream,
    context: Rc<Context>,
}

/// Memory of a GPU.
pub struct CustMemory {
    buffer: DeviceBuffer<u8>,
    // Dropped after the memory, which is part of it.
    _context: Rc<Context>,
}

/// A module on a GPU.
#[derive(Debug, Clone)]
pub struct CustModule {
    module: Rc<Module>,
    text: Text,
    // Dropped after the module, which is part of it.
    context: Rc<Context>,
}

/// A kernel on a GPU.
#[derive(Debug, Clone)]
pub struct CustKernel {
    module: Rc<Module>,
    signature: Signature,
    // Dropped after the module, which is part of it.
    _context: Rc<Context>,
}

impl Cust {
    /// The GPU of that number, from 0, as `nvidia-smi -L` counts them; [`Error::NoDevice`] if there is none.
    ///
    /// Its primary context becomes current in the calling thread, as it does in every method.
    pub fn open(ordinal: usize) -> Result<Cust, Error> {
        let count = device_count().map_err(|error| failed("start", said(error)))?;
        let number = u32::try_from(ordinal).ok().filter(|_| ordinal < count);
        let number = number.ok_or(Error::NoDevice { ordinal, count })?;
        Cust::on(number).map_err(|error| failed(format!("open GPU number {ordinal}"), said(error)))
    }

    fn on(number: u32) -> CudaResult<Cust> {
        let gpu = cust::device::Device::get_device(number)?;
        let context = Rc::new(Context::new(gpu)?);
        let attribute = |attribute| {
            let mut value = 0;
            // SAFETY: the driver writes one number, and the device is one of its own.
            result(unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, gpu.as_raw()) })?;
            Ok(unsigned(value))
        };
        let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let limit = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let device = Device::new(gpu.name()?, format!("sm_{major}{minor}"), limit);
        Ok(Cust { device, stream: Stream::new(StreamFlags::DEFAULT, None)?, context })
    }

    /// Makes the context current, which another launcher or the program may have changed.
    fn enter(&self) -> Result<(), Error> {
        CurrentContext::set_current(&*self.context).map_err(|error| failed("switch to its context", said(error)))
    }

    fn memory(&self, buffer: DeviceBuffer<u8>) -> CustMemory {
        CustMemory { buffer, _context: self.context.clone() }
    }

    /// Checks a launch and has the driver allow it.
    fn prepare<'k>(
        &self,
        kernel: &'k CustKernel,
        shape: &Shape,
        args: &[Arg<'_, Self>],
    ) -> Result<Function<'k>, Error> {
        self.enter()?;
        let signature = &kernel.signature;
        let asking = |error| failed(format!("say what kernel `{}` needs", signature.name), said(error));
        let function = kernel.module.get_function(&signature.name).map_err(asking)?;
        let attributes = attributes(&function).map_err(asking)?;
        if let Some(bytes) = attributes.check(signature, &self.device, shape, args)? {
            let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function is the driver's own and its module is alive.
            let allowed = unsafe { sys::cuFuncSetAttribute(function.to_raw(), attribute, bytes) };
            if allowed != CUresult::CUDA_SUCCESS {
                return Err(refused(signature, &self.device, shape, format!("{allowed:?}")));
            }
        }
        Ok(function)
    }

    /// # Safety
    /// The kernel may run with these arguments.
    unsafe fn start(&self, function: &Function<'_>, shape: Shape, words: &mut [u64]) -> CudaResult<()> {
        let pointers: Vec<*mut c_void> = words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect();
        let ([x, y, z], [columns, rows, layers]) = (shape.grid, shape.block);
        let (grid, block) = (GridSize::xyz(x, y, z), BlockSize::xyz(columns, rows, layers));
        // SAFETY: there is a pointer for each parameter, to a word at least as large, and the driver copies them before
        // this returns; the rest is the caller's promise.
        unsafe { self.stream.launch(function, grid, block, shape.shared_bytes, &pointers) }
    }
}

impl Launcher for Cust {
    type Memory = CustMemory;
    type Module = CustModule;
    type Kernel = CustKernel;

    fn device(&self) -> &Device {
        &self.device
    }

    fn load(&self, ptx: &str) -> Result<CustModule, Error> {
        let text = Text::read(ptx, &self.device)?;
        self.enter()?;
        let refused = |error| Error::Load { device: self.device.name.clone(), why: said(error) };
        let module = Rc::new(Module::from_ptx(ptx, &[]).map_err(refused)?);
        Ok(CustModule { module, text, context: self.context.clone() })
    }

    fn kernel(&self, module: &CustModule, name: &str) -> Result<CustKernel, Error> {
        let signature = module.text.kernel(name, &self.device)?;
        self.enter()?;
        module.module.get_function(name).map_err(|error| match error {
            CudaError::NotFound => no_kernel(name),
            _ => failed(format!("find kernel `{name}`"), said(error)),
        })?;
        Ok(CustKernel { module: module.module.clone(), signature, _context: module.context.clone() })
    }

    fn upload<T: Plain>(&self, data: &[T]) -> Result<Buffer<Self, T>, Error> {
        self.enter()?;
        let copied = DeviceBuffer::from_slice(bytes_of(data)).and_then(|buffer| {
            // The copy may still be on its way, on another stream than the kernels'.
            CurrentContext::synchronize()?;
            Ok(buffer)
        });
        let failed = |error| failed(format!("upload {}", describe::<T>(data.len())), said(error));
        Ok(Buffer::new(self.memory(copied.map_err(failed)?), data.len(), &self.device))
    }

    fn allocate<T: Plain>(&self, len: usize) -> Result<Buffer<Self, T>, Error> {
        self.enter()?;
        // SAFETY: any bytes are a value of the buffer's type.
        let buffer = unsafe { DeviceBuffer::uninitialized(size::<T>(len)?) };
        let failed = |error| failed(format!("allocate {}", describe::<T>(len)), said(error));
        Ok(Buffer::new(self.memory(buffer.map_err(failed)?), len, &self.device))
    }

    fn download<T: Plain>(&self, buffer: &Buffer<Self, T>) -> Result<Vec<T>, Error> {
        let memory = buffer.memory(&self.device)?;
        self.enter()?;
        values(buffer.len(), |room| {
            let copied = memory.buffer.copy_to(room);
            copied.map_err(|error| failed(format!("download {}", describe::<T>(buffer.len())), said(error)))
        })
    }

    unsafe fn launch(&self, kernel: &CustKernel, shape: Shape, args: &[Arg<'_, Self>]) -> Result<(), Error> {
        let function = self.prepare(kernel, &shape, args)?;
        let mut words = words(args, |memory| memory.buffer.as_device_ptr().as_raw());
        // SAFETY: that the kernel may run with these arguments is the caller's promise.
        let launched = unsafe { self.start(&function, shape, &mut words) };
        let ended = launched.and_then(|()| self.stream.synchronize());
        ended.map_err(|error| failed(format!("run kernel `{}`", kernel.signature.name), said(error)))
    }

    unsafe fn time(
        &self,
        kernel: &CustKernel,
        shape: Shape,
        args: &[Arg<'_, Self>],
        repeats: u32,
    ) -> Result<Option<Vec<f32>>, Error> {
        let function = self.prepare(kernel, &shape, args)?;
        let mut words = words(args, |memory| memory.buffer.as_device_ptr().as_raw());
        let event = || Event::new(EventFlags::DEFAULT);
        let mut timed = || {
            let events = (0..repeats).map(|_| Ok((event()?, event()?))).collect::<CudaResult<Vec<_>>>()?;
            // SAFETY: that the kernel may run with these arguments, so many times, is the caller's promise.
            unsafe { self.start(&function, shape, &mut words) }?;
            for (start, end) in &events {
                start.record(&self.stream)?;
                // SAFETY: as above.
                unsafe { self.start(&function, shape, &mut words) }?;
                end.record(&self.stream)?;
            }
            self.stream.synchronize()?;
            events.iter().map(|(start, end)| end.elapsed_time_f32(start)).collect::<CudaResult<Vec<_>>>()
        };
        let failed = |error| failed(format!("time kernel `{}`", kernel.signature.name), said(error));
        timed().map(Some).map_err(failed)
    }
}

/// How many GPUs the driver has.
fn device_count() -> CudaResult<usize> {
    let counted = cust::init(cust::CudaFlags::empty()).and_then(|()| cust::device::Device::num_devices());
    match counted {
        Ok(count) => Ok(count as usize),
        Err(CudaError::NoDevice) => Ok(0),
        Err(error) => Err(error),
    }
}

fn attributes(function: &Function<'_>) -> CudaResult<Attributes> {
    let get = |attribute| {
        let mut value = 0;
        // SAFETY: the driver writes one number; the function is its own and the module is alive.
        result(unsafe { sys::cuFuncGetAttribute(&mut value, attribute, function.to_raw()) })?;
        Ok(unsigned(value))
    };
    Ok(Attributes {
        threads: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        fixed: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        dynamic: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
    })
}

/// A result of the bindings as one of `cust`, which keeps this to itself.
fn result(result: CUresult) -> CudaResult<()> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        CUresult::CUDA_ERROR_INVALID_VALUE => Err(CudaError::InvalidValue),
        _ => Err(CudaError::UnknownError),
    }
}

/// An error of the driver by its name and in its words.
fn said(error: CudaError) -> String {
    format!("{} ({error:?})", error.to_string().trim_matches('"'))
}

impl fmt::Debug for Cust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Cust").field("device", &self.device).finish_non_exhaustive()
    }
}

impl fmt::Debug for CustMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.buffer.len())
    }
}
