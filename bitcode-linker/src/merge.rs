//! All objects become one module, of which only what the kernels need is left.
//!
//! Objects on the command line are linked in order. Of an archive's members only those are linked that define something:
//! a kernel, an exported symbol, or what another object uses and does not define, until nothing more is needed, whatever
//! the order of the archives. So the core library's 32 objects cost next to nothing where a kernel needs none of them,
//! which is the usual case after `#[inline]` has done its work.

use crate::Error;
use crate::inputs::Object;
use crate::session::Session;
use crate::target::Gpu;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValue, FunctionValue, GlobalValue, PointerValue};
use std::collections::HashSet;

/// LLVM's number for the calling convention of PTX kernels.
const PTX_KERNEL: u32 = 71;
/// What the CUDA driver defines for every module.
const DRIVER_FUNCTIONS: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// Links the objects, and what they need of the archives' members.
pub fn merge<'s>(
    session: &'s Session,
    gpu: &Gpu,
    objects: Vec<Object>,
    exported: &[String],
) -> Result<Module<'s>, Error> {
    let whole = session.context().create_module("latch");
    gpu.claim(&whole);
    let (members, objects): (Vec<Object>, Vec<Object>) = objects.into_iter().partition(|object| object.is_member);
    let damaged = |object: &Object, message| Error::Parse { input: object.name.clone(), message };
    for object in objects {
        let module = session.read(&object.bitcode, &object.name).map_err(|message| damaged(&object, message))?;
        add(session, gpu, &whole, object.name, module)?;
    }
    let mut waiting = Vec::new();
    for object in members {
        let module = session.open(&object.bitcode, &object.name).map_err(|message| damaged(&object, message))?;
        waiting.push(Member { defined: definitions(&module), name: object.name, module });
    }
    let mut wanted: HashSet<Vec<u8>> = exported.iter().map(|name| name.clone().into_bytes()).collect();
    loop {
        wanted.extend(undefined(&whole));
        let (needed, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|member| member.is_needed(&wanted));
        if needed.is_empty() {
            return Ok(whole);
        }
        for member in needed {
            tracing::debug!(name = member.name, "needed");
            add(session, gpu, &whole, member.name, member.module)?;
        }
        waiting = rest;
    }
}

fn add<'s>(
    session: &'s Session,
    gpu: &Gpu,
    whole: &Module<'s>,
    input: String,
    module: Module<'s>,
) -> Result<(), Error> {
    gpu.check_made_for(&module, &input)?;
    session.link(whole, module).map_err(|message| Error::Merge { input, message })
}

/// A member of an archive that nothing has needed so far.
struct Member<'s> {
    name: String,
    module: Module<'s>,
    /// The symbols that other objects can use.
    defined: Vec<Vec<u8>>,
}

impl Member<'_> {
    fn is_needed(&self, wanted: &HashSet<Vec<u8>>) -> bool {
        kernels(&self.module).next().is_some() || self.defined.iter().any(|symbol| wanted.contains(symbol))
    }
}

fn globals<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = GlobalValue<'ctx>> {
    module.get_functions().map(|function| function.as_global_value()).chain(module.get_globals())
}

fn definitions(module: &Module<'_>) -> Vec<Vec<u8>> {
    let hidden = [Linkage::Internal, Linkage::Private, Linkage::AvailableExternally, Linkage::Appending];
    let visible = |global: &GlobalValue<'_>| !global.is_declaration() && !hidden.contains(&global.get_linkage());
    globals(module).filter(visible).map(|global| global.get_name().to_bytes().to_vec()).collect()
}

/// The symbols that a module uses and does not define. What is used weakly can do without a definition.
fn undefined(module: &Module<'_>) -> impl Iterator<Item = Vec<u8>> {
    let is_open = |global: &GlobalValue<'_>| global.is_declaration() && global.get_linkage() == Linkage::External;
    globals(module).filter(is_open).map(|global| global.get_name().to_bytes().to_vec())
}

/// Makes everything but kernels and exported symbols internal, so that what nothing uses can be deleted.
pub fn internalize(module: &Module<'_>, exported: &[String]) -> Result<(), Error> {
    if kernels(module).next().is_none() {
        return Err(Error::NoKernel);
    }
    let exported: HashSet<&str> = exported.iter().map(String::as_str).collect();
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        if !is_kernel(function) && !exported.contains(&*function.get_name().to_string_lossy()) {
            function.set_linkage(Linkage::Internal);
        }
    }
    for global in module.get_globals().filter(|global| is_definition(*global)) {
        let name = global.get_name().to_string_lossy();
        if !name.starts_with("llvm.") && !exported.contains(&*name) {
            global.set_linkage(Linkage::Internal);
        }
    }
    Ok(())
}

fn is_definition(global: GlobalValue<'_>) -> bool {
    global.get_initializer().is_some()
}

/// The kernels, in the module's order.
pub fn kernels<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = FunctionValue<'ctx>> {
    module.get_functions().filter(|function| is_kernel(*function) && !function.as_global_value().is_declaration())
}

fn is_kernel(function: FunctionValue<'_>) -> bool {
    function.get_call_conventions() == PTX_KERNEL
}

/// Every function that is used must be defined, here or by the driver.
pub fn check_defined(module: &Module<'_>) -> Result<(), Error> {
    for function in module.get_functions().filter(|function| function.count_basic_blocks() == 0) {
        let name = function.get_name().to_string_lossy();
        if name.starts_with("llvm.") || DRIVER_FUNCTIONS.contains(&&*name) {
            continue;
        }
        if let Some(user) = first_user(function.as_global_value().as_pointer_value()) {
            return Err(Error::Undefined { symbol: demangle(&name), user });
        }
    }
    Ok(())
}

/// The function of the first instruction that uses a value.
fn first_user(value: PointerValue<'_>) -> Option<String> {
    let user = value.get_first_use()?.get_user();
    let instruction = match user {
        inkwell::values::AnyValueEnum::InstructionValue(instruction) => Some(instruction),
        other => inkwell::values::BasicValueEnum::try_from(other).ok().and_then(|value| value.as_instruction_value()),
    };
    let function = instruction.and_then(|instruction| instruction.get_parent()?.get_parent());
    Some(function.map_or("a constant".to_owned(), |function| demangle(&function.get_name().to_string_lossy())))
}

/// A Rust symbol as the source names it, without its hash.
pub fn demangle(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}
