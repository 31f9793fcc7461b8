//! All objects become one module, of which only what the kernels need is left.

use crate::{Error, inputs::Object};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValue, FunctionValue, GlobalValue, PointerValue};
use std::collections::HashSet;

/// LLVM's number for the calling convention of PTX kernels.
const PTX_KERNEL: u32 = 71;
/// What the CUDA driver defines for every module.
const DRIVER_FUNCTIONS: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// Links the objects, in order.
pub fn merge<'ctx>(context: &'ctx Context, objects: Vec<Object>) -> Result<Module<'ctx>, Error> {
    let whole = context.create_module("latch");
    for object in objects {
        let failed = |message: String| Error::Parse { input: object.name.clone(), message };
        let buffer = MemoryBuffer::create_from_memory_range_copy(&object.bitcode, &object.name);
        let module = Module::parse_bitcode_from_buffer(&buffer, context).map_err(|error| failed(error.to_string()))?;
        if whole.get_first_function().is_none() && whole.get_first_global().is_none() {
            whole.set_triple(&module.get_triple());
            whole.set_data_layout(&module.get_data_layout());
        }
        let unfit = |message: String| Error::Merge { input: object.name.clone(), message };
        whole.link_in_module(module).map_err(|error| unfit(error.to_string()))?;
    }
    Ok(whole)
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
    module.get_functions().filter(|function| function.count_basic_blocks() > 0 && is_kernel(*function))
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
