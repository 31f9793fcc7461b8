//! libNVVM's C interface, opened at run time, behind types that cannot be misused.
//!
//! Nothing of it is needed to build Latch or to link by the other route. [`Library`] holds the functions and keeps the
//! file loaded; a [`Program`] borrows it, so none outlives it.

use super::Error;
use std::error::Error as _;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

/// libNVVM's `nvvmResult`: 0 is success.
type Status = c_int;
type Handle = *mut c_void;
type Options = *const *const c_char;

const SUCCESS: Status = 0;
const INVALID_INPUT: Status = 4;

/// The functions, as `nvvm.h` declares them.
struct Functions {
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
    ir_version: unsafe extern "C" fn(*mut c_int, *mut c_int, *mut c_int, *mut c_int) -> Status,
    llvm_version: unsafe extern "C" fn(*const c_char, *mut c_int) -> Status,
    create: unsafe extern "C" fn(*mut Handle) -> Status,
    destroy: unsafe extern "C" fn(*mut Handle) -> Status,
    add_module: unsafe extern "C" fn(Handle, *const c_char, usize, *const c_char) -> Status,
    verify: unsafe extern "C" fn(Handle, c_int, Options) -> Status,
    compile: unsafe extern "C" fn(Handle, c_int, Options) -> Status,
    result_size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
    result: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
    log_size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
    log: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
}

/// A loaded libNVVM.
pub struct Library {
    path: PathBuf,
    functions: Functions,
    /// Keeps the functions' code in memory.
    _file: libloading::Library,
}

/// The versions of what libNVVM reads: of the IR, and of its debug information.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IrVersion {
    /// Major and minor version of the IR, then of debug information: what `!nvvmir.version` lists.
    pub numbers: [u32; 4],
}

impl Library {
    /// Loads a file.
    pub fn open(path: &Path) -> Result<Library, Error> {
        let failed = |reason: String| Error::Load { path: path.to_owned(), reason };
        // A name without a folder would be looked for in the system's.
        let file = path.canonicalize().map_err(|error| failed(error.to_string()))?;
        // SAFETY: loading runs the file's initializers. The user names the file as NVIDIA's libNVVM, whose initializers
        // set up its own memory alone.
        let file = unsafe { libloading::Library::new(file) };
        let file = file.map_err(|error| failed(error.source().map_or(error.to_string(), ToString::to_string)))?;
        let functions =
            Functions::of(&file).map_err(|function| Error::NoFunction { path: path.to_owned(), function })?;
        Ok(Library { path: path.to_owned(), functions, _file: file })
    }

    /// Where it was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The IR that it reads.
    pub fn ir_version(&self) -> Result<IrVersion, Error> {
        let mut numbers = [0; 4];
        let [major, minor, debug_major, debug_minor] = &mut numbers;
        // SAFETY: libNVVM writes one number to each of four places that are live.
        let status = unsafe { (self.functions.ir_version)(major, minor, debug_major, debug_minor) };
        self.check("nvvmIRVersion", status)?;
        Ok(IrVersion { numbers: numbers.map(|number| u32::try_from(number).unwrap_or_default()) })
    }

    /// The LLVM whose IR it reads for an architecture (`compute_100`); none if it does not know that.
    pub fn llvm_version(&self, arch: &CStr) -> Result<Option<u32>, Error> {
        let mut major = 0;
        // SAFETY: the architecture is a C string, and libNVVM writes one number to a live place.
        match unsafe { (self.functions.llvm_version)(arch.as_ptr(), &mut major) } {
            INVALID_INPUT => Ok(None),
            status => {
                self.check("nvvmLLVMVersion", status)?;
                Ok(u32::try_from(major).ok())
            }
        }
    }

    fn check(&self, function: &'static str, status: Status) -> Result<(), Error> {
        if status == SUCCESS { Ok(()) } else { Err(Error::Call { function, reason: self.reason(status) }) }
    }

    fn reason(&self, status: Status) -> String {
        // SAFETY: libNVVM returns a C string of its own for every number, or null, which is not read.
        unsafe {
            let text = (self.functions.error_string)(status);
            if text.is_null() { status.to_string() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
        }
    }
}

impl Functions {
    /// Looks the functions up; the error is the name of one that is missing.
    fn of(file: &libloading::Library) -> Result<Functions, &'static str> {
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the field's type is the function's declaration in nvvm.h, which has not changed since the
                // library's major version, the 4 in its file name, came out.
                unsafe { file.get(concat!($name, "\0").as_bytes()) }.map(|symbol| *symbol).map_err(|_| $name)?
            };
        }
        Ok(Functions {
            error_string: function!("nvvmGetErrorString"),
            ir_version: function!("nvvmIRVersion"),
            llvm_version: function!("nvvmLLVMVersion"),
            create: function!("nvvmCreateProgram"),
            destroy: function!("nvvmDestroyProgram"),
            add_module: function!("nvvmAddModuleToProgram"),
            verify: function!("nvvmVerifyProgram"),
            compile: function!("nvvmCompileProgram"),
            result_size: function!("nvvmGetCompiledResultSize"),
            result: function!("nvvmGetCompiledResult"),
            log_size: function!("nvvmGetProgramLogSize"),
            log: function!("nvvmGetProgramLog"),
        })
    }
}

/// A compilation.
pub struct Program<'l> {
    library: &'l Library,
    handle: Handle,
}

/// Why a step failed, in libNVVM's words.
pub struct Failure(pub String);

impl<'l> Program<'l> {
    /// A compilation of one module, given as bitcode.
    pub fn new(library: &'l Library, bitcode: &[u8], name: &CStr) -> Result<Program<'l>, Error> {
        let mut program = Program { library, handle: ptr::null_mut() };
        // SAFETY: libNVVM writes the new handle to a live place. `program` destroys it, whatever happens.
        let status = unsafe { (library.functions.create)(&mut program.handle) };
        library.check("nvvmCreateProgram", status)?;
        // SAFETY: the handle is live, the bytes are as many as are given, and the name is a C string; libNVVM copies
        // both.
        let status = unsafe {
            (library.functions.add_module)(program.handle, bitcode.as_ptr().cast(), bitcode.len(), name.as_ptr())
        };
        library.check("nvvmAddModuleToProgram", status)?;
        Ok(program)
    }

    /// Holds the module against the rules of NVVM IR; what libNVVM remarks comes back.
    pub fn verify(&self, options: &[CString]) -> Result<String, Failure> {
        self.run(self.library.functions.verify, options)
    }

    /// Compiles the module; what libNVVM remarks comes back.
    pub fn compile(&self, options: &[CString]) -> Result<String, Failure> {
        self.run(self.library.functions.compile, options)
    }

    fn run(
        &self,
        step: unsafe extern "C" fn(Handle, c_int, Options) -> Status,
        options: &[CString],
    ) -> Result<String, Failure> {
        let raw: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(raw.len()).expect("there are few options");
        // SAFETY: the handle is live, and there are as many C strings as `count` says, all of which outlive the call.
        let status = unsafe { step(self.handle, count, raw.as_ptr()) };
        let log = self.log();
        if status == SUCCESS {
            return Ok(log);
        }
        let reason = self.library.reason(status);
        Err(Failure(if log.is_empty() { reason } else { log }))
    }

    /// What libNVVM has said of the last step, on one line.
    fn log(&self) -> String {
        let text = self.text(self.library.functions.log_size, self.library.functions.log).unwrap_or_default();
        let lines = String::from_utf8_lossy(&text).into_owned();
        lines.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What the compilation has made.
    pub fn ptx(&self) -> Result<String, Error> {
        let text = self.text(self.library.functions.result_size, self.library.functions.result);
        let text = text
            .map_err(|status| Error::Call { function: "nvvmGetCompiledResult", reason: self.library.reason(status) })?;
        Ok(String::from_utf8(text)?)
    }

    /// A text that libNVVM holds, without the zero at its end.
    fn text(
        &self,
        size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
        copy: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
    ) -> Result<Vec<u8>, Status> {
        let mut length = 0;
        // SAFETY: the handle is live, and libNVVM writes a length to a live place.
        let status = unsafe { size(self.handle, &mut length) };
        if status != SUCCESS {
            return Err(status);
        }
        let mut text = vec![0u8; length];
        // SAFETY: the handle is live, and the buffer has the length that libNVVM has asked for, its final zero
        // included.
        let status = unsafe { copy(self.handle, text.as_mut_ptr().cast()) };
        if status != SUCCESS {
            return Err(status);
        }
        text.truncate(text.iter().position(|&byte| byte == 0).unwrap_or(length));
        Ok(text)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle is live and not used again. What libNVVM says of it is of no use any more.
            unsafe { (self.library.functions.destroy)(&mut self.handle) };
        }
    }
}
