//! Everything that is used must be defined, here or by the driver. Shared memory without a size is: by the launch.

use super::SHARED;
use crate::Error;
use crate::pipeline::{Link, Pass, Skip};
use crate::symbols::demangle;
use inkwell::AddressSpace;
use inkwell::values::{AnyValueEnum, BasicValue, BasicValueEnum, GlobalValue, InstructionValue};

pub const PASS: Pass = Pass {
    does: "refuses a module that uses what nobody defines",
    skip: Skip::Refused("the driver would refuse to load the code"),
    ..Pass::new("check-defined", check_defined)
};

fn check_defined(link: &mut Link<'_>) -> Result<(), Error> {
    let Link { module, gpu, .. } = link;
    let functions = module.get_functions().map(|function| function.as_global_value());
    let space = |variable: &GlobalValue<'_>| variable.as_pointer_value().get_type().get_address_space();
    let variables = module.get_globals().filter(|variable| space(variable) != AddressSpace::from(SHARED));
    for global in functions.chain(variables).filter(|global| global.is_declaration()) {
        let name = global.get_name().to_string_lossy();
        if name.starts_with("llvm.") || gpu.family.provided().contains(&&*name) {
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
