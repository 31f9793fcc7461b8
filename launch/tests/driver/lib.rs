//! A library with the functions of the CUDA driver that launchers call, on the emulator.
//!
//! It lets tests run what goes through a driver on machines without one. What it promises is what CUDA's documentation
//! says of these functions, as far as launchers rely on it: a kernel has 48 KB of shared memory until it asks for more,
//! arguments are read from where the launch points to, and each launch takes a millisecond between the events around
//! it. It knows one device, context and stream. `LATCH_STUB_DRIVER` names what it is to do wrong.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use emulator::{Arg, Buffer, Config, Device, Kernel, Module, Shape};

/// Results, by the driver's numbers.
const SUCCESS: i32 = 0;
const INVALID_VALUE: i32 = 1;
const OUT_OF_MEMORY: i32 = 2;
const NO_DEVICE: i32 = 100;
const INVALID_PTX: i32 = 218;
const NOT_FOUND: i32 = 500;
const LAUNCH_FAILED: i32 = 719;

const SHARED_LIMIT: i32 = 227 << 10;
const SHARED_UNASKED: i32 = 48 << 10;

static DRIVER: LazyLock<Mutex<Driver>> = LazyLock::new(|| Mutex::new(Driver::new()));

struct Driver {
    device: Device,
    buffers: HashMap<u64, Buffer<u8>>,
    modules: Vec<Module>,
    functions: Vec<Function>,
    /// When each event was recorded.
    events: Vec<u32>,
    /// In launches.
    clock: u32,
    /// The last launch did not end well, so nothing works any more.
    is_broken: bool,
}

struct Function {
    kernel: Kernel,
    most_dynamic: i32,
}

impl Driver {
    fn new() -> Driver {
        let mut config = Config::default();
        // A GPU hands out what nobody wrote.
        config.uninitialized = false;
        config.shared_limit = SHARED_LIMIT as u32;
        Driver {
            device: Device::new(config),
            buffers: HashMap::new(),
            modules: Vec::new(),
            functions: Vec::new(),
            events: Vec::new(),
            clock: 0,
            is_broken: false,
        }
    }
}

fn driver() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_to(wrong: &str) -> bool {
    std::env::var("LATCH_STUB_DRIVER").is_ok_and(|value| value == wrong)
}

/// # Safety
/// As all functions here, which take what a program gives the driver: `to` is a place for the value.
unsafe fn put<T>(to: *mut T, value: T) -> i32 {
    // SAFETY: as promised.
    unsafe { to.write(value) };
    SUCCESS
}

/// Functions of the driver: each trusts its pointers as the driver does.
macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $body:block)*) => {$(
        /// As CUDA's documentation says.
        ///
        /// # Safety
        /// The arguments are what the driver expects.
        #[allow(non_snake_case)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> i32 $body
    )*};
}

/// A handle of the thing of that index.
fn handle(index: usize) -> usize {
    index + 1
}

// SAFETY of every block: the program gives pointers to places of the type, as the driver demands.
#[allow(clippy::undocumented_unsafe_blocks)]
mod exported {
    use super::*;

    functions! {
        fn cuDriverGetVersion(version: *mut i32) {
            unsafe { put(version, if is_to("be old") { 11_040 } else { 12_080 }) }
        }

        fn cuInit(_flags: u32) {
            if is_to("have no device") { NO_DEVICE } else { SUCCESS }
        }

        fn cuDeviceGetCount(count: *mut i32) {
            unsafe { put(count, 1) }
        }

        fn cuDeviceGet(device: *mut i32, _ordinal: i32) {
            unsafe { put(device, 0) }
        }

        fn cuDeviceGetName(name: *mut c_char, len: i32, _device: i32) {
            let text = c"a stand-in";
            assert!(text.count_bytes() < len as usize);
            unsafe { std::ptr::copy(text.as_ptr(), name, text.count_bytes() + 1) };
            SUCCESS
        }

        fn cuDeviceGetAttribute(value: *mut i32, attribute: i32, _device: i32) {
            let number = match attribute {
                75 => 9,
                76 => 0,
                97 => SHARED_LIMIT,
                115 => 0,
                other => unimplemented!("device attribute {other}"),
            };
            unsafe { put(value, number) }
        }

        fn cuDevicePrimaryCtxRetain(context: *mut usize, _device: i32) {
            unsafe { put(context, 1) }
        }

        fn cuDevicePrimaryCtxRelease_v2(_device: i32) {
            SUCCESS
        }

        fn cuCtxGetCurrent(context: *mut usize) {
            unsafe { put(context, 1) }
        }

        fn cuCtxSetCurrent(_context: usize) {
            SUCCESS
        }

        fn cuCtxSynchronize() {
            if driver().is_broken { LAUNCH_FAILED } else { SUCCESS }
        }

        fn cuStreamCreateWithPriority(stream: *mut usize, _flags: u32, _priority: i32) {
            unsafe { put(stream, 1) }
        }

        fn cuStreamDestroy_v2(_stream: usize) {
            SUCCESS
        }

        fn cuStreamSynchronize(_stream: usize) {
            if driver().is_broken { LAUNCH_FAILED } else { SUCCESS }
        }

        fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
            match bytes {
                0 => return INVALID_VALUE,
                _ if bytes > 1 << 30 => return OUT_OF_MEMORY,
                _ => {}
            }
            let mut driver = driver();
            let buffer = driver.device.named_uninit(format!("{bytes} bytes"), bytes);
            driver.buffers.insert(buffer.address(), buffer);
            unsafe { put(address, buffer.address()) }
        }

        fn cuMemFree_v2(address: u64) {
            let mut driver = driver();
            let buffer = driver.buffers.remove(&address);
            buffer.map_or(INVALID_VALUE, |buffer| driver.device.free(buffer).map_or(INVALID_VALUE, |()| SUCCESS))
        }

        fn cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) {
            let from = unsafe { std::slice::from_raw_parts(from, bytes) };
            let mut driver = driver();
            let Some(buffer) = driver.buffers.get(&to).copied() else { return INVALID_VALUE };
            driver.device.write(&buffer, from).map_or(INVALID_VALUE, |()| SUCCESS)
        }

        fn cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, _stream: usize) {
            unsafe { cuMemcpyHtoD_v2(to, from, bytes) }
        }

        fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) {
            let driver = driver();
            let content = driver.buffers.get(&from).and_then(|buffer| driver.device.read(buffer).ok());
            let Some(content) = content.filter(|content| content.len() >= bytes) else { return INVALID_VALUE };
            unsafe { std::ptr::copy(content.as_ptr(), to, bytes) };
            SUCCESS
        }

        fn cuMemcpyDtoHAsync_v2(to: *mut u8, from: u64, bytes: usize, _stream: usize) {
            unsafe { cuMemcpyDtoH_v2(to, from, bytes) }
        }

        fn cuModuleLoadData(module: *mut usize, image: *const c_char) {
            unsafe { cuModuleLoadDataEx(module, image, 0, std::ptr::null(), std::ptr::null()) }
        }

        fn cuModuleLoadDataEx(
            module: *mut usize,
            image: *const c_char,
            count: u32,
            options: *const u32,
            settings: *const *mut c_void
        ) {
            let text = unsafe { CStr::from_ptr(image) }.to_string_lossy();
            match Module::load(&text) {
                Ok(loaded) => {
                    let mut driver = driver();
                    driver.modules.push(loaded);
                    unsafe { put(module, handle(driver.modules.len() - 1)) }
                }
                Err(error) => {
                    // Options 5 and 6 are a buffer for errors and its size.
                    if count == 2 && unsafe { options.read() == 5 && options.add(1).read() == 6 } {
                        let said = format!("ptxas application ptx input:\n   {error}\n");
                        assert!(said.len() < unsafe { settings.add(1).read() }.addr());
                        unsafe { std::ptr::copy(said.as_ptr(), settings.read().cast(), said.len()) };
                    }
                    INVALID_PTX
                }
            }
        }

        fn cuModuleUnload(_module: usize) {
            SUCCESS
        }

        fn cuModuleGetFunction(function: *mut usize, module: usize, name: *const c_char) {
            let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
            let mut driver = driver();
            let Ok(kernel) = driver.modules[module - 1].kernel(&name) else { return NOT_FOUND };
            driver.functions.push(Function { kernel, most_dynamic: SHARED_UNASKED });
            unsafe { put(function, handle(driver.functions.len() - 1)) }
        }

        fn cuFuncGetAttribute(value: *mut i32, attribute: i32, function: usize) {
            let number = match attribute {
                0 if is_to("have few registers") => 32,
                0 => 1024,
                1 if is_to("have static memory") => 1024,
                1 => 0,
                8 => driver().functions[function - 1].most_dynamic,
                other => unimplemented!("function attribute {other}"),
            };
            unsafe { put(value, number) }
        }

        fn cuFuncSetAttribute(function: usize, attribute: i32, value: i32) {
            if attribute != 8 || value > SHARED_LIMIT || is_to("refuse shared memory") {
                return INVALID_VALUE;
            }
            driver().functions[function - 1].most_dynamic = value;
            SUCCESS
        }

        fn cuEventCreate(event: *mut usize, flags: u32) {
            // Without this flag alone, events have times.
            assert_eq!(flags & 2, 0);
            let mut driver = driver();
            driver.events.push(0);
            unsafe { put(event, handle(driver.events.len() - 1)) }
        }

        fn cuEventDestroy_v2(_event: usize) {
            SUCCESS
        }

        fn cuEventRecord(event: usize, _stream: usize) {
            let mut driver = driver();
            driver.events[event - 1] = driver.clock;
            SUCCESS
        }

        fn cuEventSynchronize(_event: usize) {
            SUCCESS
        }

        fn cuEventElapsedTime(milliseconds: *mut f32, start: usize, end: usize) {
            let driver = driver();
            unsafe { put(milliseconds, driver.events[end - 1] as f32 - driver.events[start - 1] as f32) }
        }

        fn cuGetErrorString(error: i32, text: *mut *const c_char) {
            let said = match error {
                INVALID_VALUE => c"invalid argument",
                OUT_OF_MEMORY => c"out of memory",
                LAUNCH_FAILED => c"unspecified launch failure",
                _ => c"something else",
            };
            unsafe { put(text, said.as_ptr()) }
        }

        fn cuLaunchKernel(
            function: usize,
            grid_x: u32,
            grid_y: u32,
            grid_z: u32,
            block_x: u32,
            block_y: u32,
            block_z: u32,
            shared_bytes: u32,
            _stream: usize,
            parameters: *const *const u8,
            _extra: *const c_void
        ) {
            let mut driver = driver();
            driver.clock += 1;
            let Function { kernel, most_dynamic } = &driver.functions[function - 1];
            if shared_bytes > *most_dynamic as u32 {
                return INVALID_VALUE;
            }
            let kernel = kernel.clone();
            let declared = kernel.parameters();
            let args: Vec<Arg> = declared
                .iter()
                .enumerate()
                .map(|(index, declared)| unsafe { argument(declared, parameters.add(index).read()) })
                .collect();
            let shape = Shape { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared_bytes };
            // A kernel's mistake shows when the program waits for it.
            driver.is_broken |= driver.device.launch(&kernel, shape, &args).is_err();
            SUCCESS
        }
    }
}

/// The argument at `from` for a parameter.
///
/// # Safety
/// There are as many bytes as the parameter has.
unsafe fn argument(declared: &str, from: *const u8) -> Arg {
    // SAFETY: as promised; a word may lie anywhere.
    unsafe {
        match declared {
            ".u64 pointer" => Arg::pointer(from.cast::<u64>().read_unaligned()),
            ".f32" => from.cast::<f32>().read_unaligned().into(),
            ".f64" => from.cast::<f64>().read_unaligned().into(),
            ".u64" => from.cast::<u64>().read_unaligned().into(),
            ".u32" | ".s32" | ".b32" => from.cast::<u32>().read_unaligned().into(),
            other => unimplemented!("a parameter {other}"),
        }
    }
}
