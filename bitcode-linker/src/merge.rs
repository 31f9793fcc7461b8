//! All objects become one module, of which only what the kernels need is left.
//!
//! Objects on the command line are linked in order; of archives, only what these need ([`crate::archive`]).

use crate::Error;
use crate::archive::{self, Members};
use crate::family::Family;
use crate::inputs::Object;
use crate::session::Session;
use crate::symbols::{demangle, is_kernel, kernels};
use crate::target::Gpu;
use inkwell::AddressSpace;
use inkwell::module::{Linkage, Module};
use inkwell::values::{AnyValueEnum, BasicValue, BasicValueEnum, GlobalValue, InstructionValue};
use std::collections::HashSet;

/// The address space of shared memory, on NVIDIA's GPUs and on AMD's.
const SHARED: u16 = 3;

/// Links the objects, and what they need of the archives' members.
pub fn merge<'s>(
    session: &'s Session,
    gpu: &'s Gpu,
    objects: Vec<Object>,
    exported: &[String],
) -> Result<Module<'s>, Error> {
    let whole = session.context().create_module("latch");
    gpu.claim(&whole);
    let (members, objects): (Vec<Object>, Vec<Object>) = objects.into_iter().partition(|object| object.is_member);
    for Object { name, bitcode, .. } in objects {
        let module = session.read(&bitcode, &name).map_err(|message| Error::Parse { input: name.clone(), message })?;
        gpu.check_made_for(&module, &name)?;
        session.link(&whole, module).map_err(|message| Error::Merge { input: name, message })?;
    }
    let exported = exported.iter().map(|name| name.clone().into_bytes());
    let wanted = archive::undefined(&whole).into_iter().chain(exported).collect();
    Members::new(session, gpu, members)?.link_needed(&whole, wanted)?;
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

/// Everything that is used must be defined, here or by the driver. Shared memory without a size is: by the launch.
pub fn check_defined(module: &Module<'_>, family: Family) -> Result<(), Error> {
    let functions = module.get_functions().map(|function| function.as_global_value());
    let space = |variable: &GlobalValue<'_>| variable.as_pointer_value().get_type().get_address_space();
    let variables = module.get_globals().filter(|variable| space(variable) != AddressSpace::from(SHARED));
    for global in functions.chain(variables).filter(|global| global.is_declaration()) {
        let name = global.get_name().to_string_lossy();
        if name.starts_with("llvm.") || family.provided().contains(&&*name) {
            continue;
        }
        if let Some(user) = first_user(global.as_pointer_value().as_basic_value_enum()) {
            return Err(Error::Undefined { symbol: demangle(&name), user });
        }
    }
    Ok(())
}

/// The first function that uses a value, or the first variable that holds it, through constants if need be.
fn first_user(value: BasicValueEnum<'_>) -> Option<String> {
    let user = match value.get_first_use()?.get_user() {
        AnyValueEnum::InstructionValue(instruction) => return function_of(instruction),
        other => BasicValueEnum::try_from(other).ok()?,
    };
    if let Some(instruction) = user.as_instruction_value() {
        return function_of(instruction);
    }
    let name = user.get_name().to_string_lossy();
    if name.is_empty() { first_user(user) } else { Some(demangle(&name)) }
}

fn function_of(instruction: InstructionValue<'_>) -> Option<String> {
    let function = instruction.get_parent()?.get_parent()?;
    Some(demangle(&function.get_name().to_string_lossy()))
}
