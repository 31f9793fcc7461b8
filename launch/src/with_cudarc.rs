//! GPUs through the CUDA driver, opened at run time.
//!
//! Everything runs on the default stream of the device's primary context, one thing after the other.

use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::sync::Arc;

use cudarc::driver::sys::{
    self, CUdevice_attribute_enum as DeviceAttribute, CUevent_flags, CUfunction_attribute_enum, CUresult,
};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DriverError, LaunchArgs,
    LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;
use device_std::Plain;
use emulator::Shape;

use crate::buffer::{bytes_of, describe, size, values};
use crate::check::{Signature, Text, no_kernel};
use crate::driver::{Attributes, failed, refused, unsigned, words};
use crate::{Arg, Buffer, Device, Error, Launcher};

/// A GPU of this machine.
pub struct Cudarc {
    device: Device,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
}

/// Memory of a GPU.
pub struct CudarcMemory {
    /// At least a byte, since the driver has no empty allocation.
    slice: CudaSlice<u8>,
    address: u64,
    bytes: usize,
}

/// A module on a GPU.
#[derive(Debug, Clone)]
pub struct CudarcModule {
    module: Arc<CudaModule>,
    text: Text,
}

/// A kernel on a GPU.
#[derive(Debug, Clone)]
pub struct CudarcKernel {
    function: CudaFunction,
    signature: Signature,
}

/// The driver of CUDA 12.0, the first that has all functions that are called here.
const OLDEST_DRIVER: i32 = 12_000;

impl Cudarc {
    /// The GPU of that number, from 0, as `nvidia-smi -L` counts them.
    ///
    /// [`Error::NoDriver`] without a driver, [`Error::NoDevice`] without that GPU.
    pub fn open(ordinal: usize) -> Result<Cudarc, Error> {
        let count = device_count()?;
        if ordinal >= count {
            return Err(Error::NoDevice { ordinal, count });
        }
        let opening = |error| failed(format!("open GPU number {ordinal}"), said(error));
        let context = CudaContext::new(ordinal).map_err(opening)?;
        // SAFETY: all work goes to one stream, in order, so there is none to wait for that these events would tell of.
        unsafe { context.disable_event_tracking() };
        let device = describe_device(&context).map_err(opening)?;
        let stream = context.default_stream();
        Ok(Cudarc { device, context, stream })
    }

    fn new_memory(&self, bytes: usize) -> Result<CudarcMemory, DriverError> {
        // SAFETY: the bytes are written before they are read as values, or any bytes are a value of their type.
        let slice = unsafe { self.stream.alloc::<u8>(bytes.max(1)) }?;
        let (address, guard) = slice.device_ptr(&self.stream);
        drop(guard);
        Ok(CudarcMemory { slice, address, bytes })
    }

    fn copy_to(&self, memory: &mut CudarcMemory, from: &[u8]) -> Result<(), DriverError> {
        if !from.is_empty() {
            self.stream.memcpy_htod(from, &mut memory.slice)?;
        }
        self.stream.synchronize()
    }

    fn copy_from(&self, memory: &CudarcMemory, to: &mut [u8]) -> Result<(), DriverError> {
        if memory.bytes > 0 {
            self.stream.memcpy_dtoh(&memory.slice, to)?;
        }
        self.stream.synchronize()
    }

    /// Checks a launch and has the driver allow it.
    fn prepare(&self, kernel: &CudarcKernel, shape: &Shape, args: &[Arg<'_, Self>]) -> Result<(), Error> {
        let CudarcKernel { function, signature } = kernel;
        let asking = |error| failed(format!("say what kernel `{}` needs", signature.name), said(error));
        let attributes = attributes(function).map_err(asking)?;
        if let Some(bytes) = attributes.check(signature, &self.device, shape, args)? {
            let attribute = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let allowed = function.set_attribute(attribute, bytes);
            allowed.map_err(|error| refused(signature, &self.device, shape, said(error)))?;
        }
        Ok(())
    }

    /// What the driver's compiler says of text that the driver refuses, in one line.
    fn log(&self, ptx: &str) -> Option<String> {
        use sys::CUjit_option_enum::{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        let text = CString::new(ptx).ok()?;
        let mut log = vec![0u8; 4096];
        let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut settings = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len())];
        let mut module = std::ptr::null_mut();
        self.context.bind_to_thread().ok()?;
        // SAFETY: the text ends in a zero byte; there are two options with a setting each: a buffer, and its size,
        // which the driver wants in place of a pointer; all of them outlive the call, and the driver writes no more
        // than that.
        let result = unsafe {
            let settings = settings.as_mut_ptr();
            sys::cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), settings)
        };
        if result == CUresult::CUDA_SUCCESS {
            // SAFETY: the module was just loaded and nothing else knows of it.
            let _ = unsafe { sys::cuModuleUnload(module) };
            return None;
        }
        let log = CStr::from_bytes_until_nul(&log).ok()?.to_string_lossy();
        let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        (!lines.is_empty()).then(|| lines.join("; "))
    }
}

impl Launcher for Cudarc {
    type Memory = CudarcMemory;
    type Module = CudarcModule;
    type Kernel = CudarcKernel;

    fn device(&self) -> &Device {
        &self.device
    }

    fn load(&self, ptx: &str) -> Result<CudarcModule, Error> {
        let text = Text::read(ptx, &self.device)?;
        let refused = |error| {
            let why = self.log(ptx).unwrap_or_else(|| said(error));
            Error::Load { device: self.device.name.clone(), why }
        };
        let module = self.context.load_module(Ptx::from_src(ptx)).map_err(refused)?;
        Ok(CudarcModule { module, text })
    }

    fn kernel(&self, module: &CudarcModule, name: &str) -> Result<CudarcKernel, Error> {
        let signature = module.text.kernel(name, &self.device)?;
        let function = module.module.load_function(name).map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_NOT_FOUND => no_kernel(name),
            _ => failed(format!("find kernel `{name}`"), said(error)),
        })?;
        Ok(CudarcKernel { function, signature })
    }

    fn upload<T: Plain>(&self, data: &[T]) -> Result<Buffer<Self, T>, Error> {
        let bytes = bytes_of(data);
        let copied = self.new_memory(bytes.len()).and_then(|mut memory| {
            self.copy_to(&mut memory, bytes)?;
            Ok(memory)
        });
        let failed = |error| failed(format!("upload {}", describe::<T>(data.len())), said(error));
        Ok(Buffer::new(copied.map_err(failed)?, data.len(), &self.device))
    }

    fn allocate<T: Plain>(&self, len: usize) -> Result<Buffer<Self, T>, Error> {
        let memory = self.new_memory(size::<T>(len)?);
        let failed = |error| failed(format!("allocate {}", describe::<T>(len)), said(error));
        Ok(Buffer::new(memory.map_err(failed)?, len, &self.device))
    }

    fn download<T: Plain>(&self, buffer: &Buffer<Self, T>) -> Result<Vec<T>, Error> {
        let memory = buffer.memory(&self.device)?;
        values(buffer.len(), |room| {
            let copied = self.copy_from(memory, room);
            copied.map_err(|error| failed(format!("download {}", describe::<T>(buffer.len())), said(error)))
        })
    }

    unsafe fn launch(&self, kernel: &CudarcKernel, shape: Shape, args: &[Arg<'_, Self>]) -> Result<(), Error> {
        self.prepare(kernel, &shape, args)?;
        let words = words(args, |memory| memory.address);
        let mut launch = builder(&self.stream, kernel, &words);
        // SAFETY: that the kernel may run with these arguments is the caller's promise.
        let launched = unsafe { launch.launch(config(shape)) };
        let ended = launched.and_then(|_| self.stream.synchronize());
        ended.map_err(|error| failed(format!("run kernel `{}`", kernel.signature.name), said(error)))
    }

    unsafe fn time(
        &self,
        kernel: &CudarcKernel,
        shape: Shape,
        args: &[Arg<'_, Self>],
        repeats: u32,
    ) -> Result<Option<Vec<f32>>, Error> {
        self.prepare(kernel, &shape, args)?;
        let words = words(args, |memory| memory.address);
        let mut launch = builder(&self.stream, kernel, &words);
        let mut timed = || {
            let events =
                (0..repeats).map(|_| Ok((self.event()?, self.event()?))).collect::<Result<Vec<_>, DriverError>>()?;
            // SAFETY: that the kernel may run with these arguments, so many times, is the caller's promise.
            unsafe { launch.launch(config(shape)) }?;
            for (start, end) in &events {
                start.record(&self.stream)?;
                // SAFETY: as above.
                unsafe { launch.launch(config(shape)) }?;
                end.record(&self.stream)?;
            }
            self.stream.synchronize()?;
            events.iter().map(|(start, end)| start.elapsed_ms(end)).collect::<Result<Vec<_>, _>>()
        };
        let failed = |error| failed(format!("time kernel `{}`", kernel.signature.name), said(error));
        timed().map(Some).map_err(failed)
    }
}

impl Cudarc {
    fn event(&self) -> Result<CudaEvent, DriverError> {
        self.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT))
    }
}

/// How many GPUs the driver has; an error if there is no driver, or one too old.
fn device_count() -> Result<usize, Error> {
    // SAFETY: this opens the driver's library, which trusts its own initialization as every program that uses it does.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoDriver { library: if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so" } });
    }
    let mut version = 0;
    // SAFETY: the driver writes one number; this may be called before anything else.
    let result = unsafe { sys::cuDriverGetVersion(&mut version) }.result();
    result.map_err(|error| failed("say its version", said(error)))?;
    if version < OLDEST_DRIVER {
        let why = format!(
            "it is that of CUDA {}.{}, and 12.0 is the oldest that will do",
            version / 1000,
            version % 1000 / 10
        );
        return Err(failed("be used", why));
    }
    match CudaContext::device_count() {
        Ok(count) => Ok(usize::try_from(count).unwrap_or(0)),
        Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)) => Ok(0),
        Err(error) => Err(failed("start", said(error))),
    }
}

fn describe_device(context: &Arc<CudaContext>) -> Result<Device, DriverError> {
    let (major, minor) = context.compute_capability()?;
    let limit = context.attribute(DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
    Ok(Device::new(context.name()?, format!("sm_{major}{minor}"), unsigned(limit)))
}

fn attributes(function: &CudaFunction) -> Result<Attributes, DriverError> {
    use CUfunction_attribute_enum::{
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    };
    let get = |attribute| function.get_attribute(attribute).map(unsigned);
    Ok(Attributes {
        threads: get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        fixed: get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        dynamic: get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
    })
}

fn builder<'a>(stream: &'a CudaStream, kernel: &'a CudarcKernel, words: &'a [u64]) -> LaunchArgs<'a> {
    let mut builder = stream.launch_builder(&kernel.function);
    for word in words {
        builder.arg(word);
    }
    builder
}

fn config(shape: Shape) -> LaunchConfig {
    LaunchConfig { grid_dim: shape.grid.into(), block_dim: shape.block.into(), shared_mem_bytes: shape.shared_bytes }
}

/// An error of the driver by its name and in its words.
fn said(error: DriverError) -> String {
    let words = error.error_string().map(CStr::to_string_lossy).unwrap_or_default();
    format!("{words} ({:?})", error.0)
}

impl fmt::Debug for Cudarc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Cudarc").field("device", &self.device).finish_non_exhaustive()
    }
}

impl fmt::Debug for CudarcMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes at {:#x}", self.bytes, self.address)
    }
}
