//! An LLVM context that keeps what LLVM says.
//!
//! LLVM reports trouble to a handler of the context. Without one it prints and ends the process; and the handler that
//! inkwell's own linking call leaves behind points to a dead stack frame. So one handler stands from the first to the
//! last moment, and every stage asks it for errors, also where LLVM's call came back as a success: code generation, for
//! one, goes on after an error and returns text.
//!
//! LLVM also says why it did not unroll a loop, if it is asked before anything else: by an option of its command line,
//! which it has only one of. Only [`Session::listen`] collects it.

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
    LLVMGetFirstGlobalAlias, LLVMGetNextGlobalAlias,
};
use inkwell::llvm_sys::error_handling::LLVMInstallFatalErrorHandler;
use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::llvm_sys::prelude::{LLVMDiagnosticInfoRef, LLVMValueRef};
use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::values::GlobalValue;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Once;
use std::{iter, mem, ptr};

/// A context, and the errors that LLVM has reported in it. The order of the fields is the order in which they are
/// dropped: the context goes before what its handler writes to.
pub struct Session {
    context: Context,
    heard: Box<RefCell<Heard>>,
}

/// What LLVM has said.
#[derive(Default)]
struct Heard {
    errors: Vec<String>,
    /// None while nobody listens.
    remarks: Option<Vec<String>>,
}

impl Session {
    /// A new context.
    pub fn new() -> Session {
        set_options();
        let session = Session { context: Context::create(), heard: Box::default() };
        let heard = ptr::from_ref(&*session.heard).cast_mut().cast::<c_void>();
        // SAFETY: the context is live. What `heard` points to is boxed, so it stays where it is when the session moves,
        // and it lives longer than the context, by the order of the fields.
        unsafe { LLVMContextSetDiagnosticHandler(session.context.raw(), Some(take_down), heard) };
        session
    }

    /// Does something, and returns what LLVM remarked meanwhile.
    pub fn listen<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<String>) {
        self.heard.borrow_mut().remarks = Some(Vec::new());
        let done = work();
        (done, self.heard.borrow_mut().remarks.take().unwrap_or_default())
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Fails with what LLVM has reported since the last call: `failed` if that is why a call failed, or on its own.
    pub fn check<T>(&self, result: Result<T, String>) -> Result<T, String> {
        let said = mem::take(&mut self.heard.borrow_mut().errors);
        match result {
            Ok(value) if said.is_empty() => Ok(value),
            Err(message) if said.is_empty() => Err(message),
            _ => Err(said.join("; ")),
        }
    }

    /// Reads a module, bodies included.
    pub fn read(&self, bitcode: &[u8], name: &str) -> Result<Module<'_>, String> {
        let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, name);
        let module = Module::parse_bitcode_from_buffer(&buffer, &self.context);
        self.check(module.map_err(|message| message.to_string()))
    }

    /// Reads a module without the bodies of its functions, which LLVM reads when something needs them.
    pub fn open(&self, bitcode: &[u8], name: &str) -> Result<Module<'_>, String> {
        let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, name);
        let mut module = ptr::null_mut();
        // SAFETY: the context and the buffer are live, and `module` is where LLVM puts the result. LLVM owns the buffer
        // from here on, so it is not dropped here. The module belongs to this session's context.
        let result = unsafe {
            let failed = LLVMGetBitcodeModuleInContext2(self.context.raw(), buffer.as_mut_ptr(), &mut module) != 0;
            mem::forget(buffer);
            if failed { Err("it is damaged".to_owned()) } else { Ok(Module::new(module)) }
        };
        self.check(result)
    }

    /// Moves everything in `module` to `whole`. Both are of this session.
    pub fn link<'s>(&'s self, whole: &Module<'s>, module: Module<'s>) -> Result<(), String> {
        assert!(whole.get_context() == module.get_context(), "modules of two sessions cannot be linked");
        // SAFETY: both modules are live and of the same context. LLVM deletes the second one, whatever comes out, so it
        // is not dropped here.
        let failed = unsafe { LLVMLinkModules2(whole.as_mut_ptr(), module.as_mut_ptr()) != 0 };
        mem::forget(module);
        self.check(if failed { Err("LLVM does not say why".to_owned()) } else { Ok(()) })
    }
}

/// The functions, variables and aliases of a module.
pub fn globals<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = GlobalValue<'ctx>> {
    let some = |alias: LLVMValueRef| (!alias.is_null()).then_some(alias);
    // SAFETY: the module is live, and LLVM returns its first alias, or null.
    let first = some(unsafe { LLVMGetFirstGlobalAlias(module.as_mut_ptr()) });
    // SAFETY: `last` is an alias of the module, which is borrowed as long as the iterator lives.
    let aliases = iter::successors(first, move |&last| some(unsafe { LLVMGetNextGlobalAlias(last) }));
    // SAFETY: an alias is a global, and lives as long as the module.
    let aliases = aliases.map(|alias| unsafe { GlobalValue::new(alias) });
    module.get_functions().map(|function| function.as_global_value()).chain(module.get_globals()).chain(aliases)
}

/// Makes LLVM say why it does not unroll a loop as a hint asks, and lets it unroll a hinted loop of which only the most
/// turns are known, such as one with a `break`: by default it does so up to 8.
fn set_options() {
    static ASKED: Once = Once::new();
    ASKED.call_once(|| {
        let options = [c"latch-link", c"-pass-remarks-missed=loop-unroll", MOST_TURNS];
        let line = options.map(CStr::as_ptr);
        // SAFETY: the array holds as many strings as it says, all of which live for ever. LLVM's options are one for
        // the whole process; no session is there yet, so nothing of ours runs in LLVM.
        unsafe { LLVMParseCommandLineOptions(line.len() as i32, line.as_ptr(), ptr::null()) }
    });
}

/// As many turns as a hint can ask for copies.
const MOST_TURNS: &CStr = c"-unroll-max-upperbound=1024";

/// LLVM calls this for everything that it reports in the context of a session.
extern "C" fn take_down(info: LLVMDiagnosticInfoRef, heard: *mut c_void) {
    // SAFETY: LLVM hands over a live report. The other pointer is the one that the handler was installed with, which is
    // the session's and outlives the context.
    let (severity, heard) = unsafe { (LLVMGetDiagInfoSeverity(info), &*heard.cast::<RefCell<Heard>>()) };
    let is_trouble = matches!(severity, LLVMDiagnosticSeverity::LLVMDSError | LLVMDiagnosticSeverity::LLVMDSWarning);
    // Remarks on every loop are no trouble.
    if !is_trouble && heard.borrow().remarks.is_none() {
        return;
    }
    // SAFETY: the report is live; its text is LLVM's to allocate and ours to free.
    let text = unsafe {
        let text = LLVMGetDiagInfoDescription(info);
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        copy
    };
    let mut heard = heard.borrow_mut();
    match severity {
        LLVMDiagnosticSeverity::LLVMDSError => heard.errors.push(text),
        LLVMDiagnosticSeverity::LLVMDSWarning => tracing::warn!("LLVM: {text}"),
        _ => heard.remarks.iter_mut().for_each(|remarks| remarks.push(text.clone())),
    }
}

/// Makes this process end with one sentence, and not with a trace of LLVM's stack, where LLVM gives up without a way
/// back. For commands: the process ends.
pub fn end_in_one_sentence() {
    // SAFETY: the handler is a function of this program, with the signature that LLVM asks for.
    unsafe { LLVMInstallFatalErrorHandler(Some(give_up)) }
}

extern "C" fn give_up(reason: *const c_char) {
    // SAFETY: LLVM hands over a C string that lives as long as this call.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    eprintln!("latch-link: LLVM cannot go on: {reason}");
    std::process::exit(1);
}
