//! Shared memory: what kernels ask for by a marker becomes variables of the shared address space.
//!
//! A Rust static cannot be in shared memory, so device-std calls two functions that nobody defines, and this stage puts
//! an address in place of each call, before anything is optimized:
//! - `__latch_shared_array(bytes, align)` is a variable of that size: one for each function that holds such a call.
//!   That function is an instance of device-std's own, never inlined by rustc, so that instances tell arrays apart.
//!   From here on it gives a constant, and is free to be inlined;
//! - `__latch_shared_dynamic()` is the one variable of unknown size that stands for what the launch adds.
//!
//! The address is cast to the generic address space, which is what a Rust pointer is; the optimizer finds its way back,
//! so that accesses come out as `ld.shared` and `st.shared`.

use super::SHARED;
use crate::Error;
use crate::pipeline::{Link, Pass, Skip};
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{
    BasicValue, BasicValueEnum, CallSiteValue, FunctionValue, GlobalValue, InstructionOpcode, InstructionValue,
    PointerValue,
};

const ARRAY_MARKER: &str = "__latch_shared_array";
const DYNAMIC_MARKER: &str = "__latch_shared_dynamic";
/// What the launch's memory is aligned to.
const DYNAMIC_ALIGN: u32 = 16;

pub const PASS: Pass = Pass {
    does: "puts variables of the shared address space where kernels ask for shared memory",
    skip: Skip::Refused("nobody defines the functions that stand for shared memory"),
    ..Pass::new("place-shared", place)
};

/// Replaces every marker of the module.
fn place(link: &mut Link<'_>) -> Result<(), Error> {
    let module = &link.module;
    place_arrays(module)?;
    place_dynamic(module);
    for marker in [ARRAY_MARKER, DYNAMIC_MARKER].iter().filter_map(|name| module.get_function(name)) {
        if marker.as_global_value().as_pointer_value().get_first_use().is_none() {
            // SAFETY: nothing in the module uses the declaration, and the handle is not used again.
            unsafe { marker.delete() };
        }
    }
    Ok(())
}

fn place_arrays(module: &Module<'_>) -> Result<(), Error> {
    let inline = |name| Attribute::get_named_enum_kind_id(name);
    let functions: Vec<_> = module.get_functions().collect();
    for (at, function) in functions.into_iter().enumerate() {
        let calls = calls(function, ARRAY_MARKER);
        let Some(&first) = calls.first() else { continue };
        let unreadable =
            || Error::SharedArray { function: crate::symbols::demangle(&function.get_name().to_string_lossy()) };
        let bytes = constant(first, 0).and_then(|bytes| u32::try_from(bytes).ok()).ok_or_else(unreadable)?;
        let align = constant(first, 1).and_then(|align| u32::try_from(align).ok()).ok_or_else(unreadable)?;
        if calls.iter().any(|&call| (constant(call, 0), constant(call, 1)) != (constant(first, 0), constant(first, 1)))
        {
            return Err(unreadable());
        }
        let array = variable(module, &format!("latch_shared_{at}"), bytes, align, Linkage::Internal);
        let context = module.get_context();
        array.set_initializer(&context.i8_type().array_type(bytes).get_undef());
        replace(module, calls, array);
        function.remove_enum_attribute(AttributeLoc::Function, inline("noinline"));
        function.remove_enum_attribute(AttributeLoc::Function, inline("optnone"));
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(inline("alwaysinline"), 0));
    }
    Ok(())
}

fn place_dynamic(module: &Module<'_>) {
    let calls: Vec<_> = module.get_functions().flat_map(|function| calls(function, DYNAMIC_MARKER)).collect();
    if !calls.is_empty() {
        let memory = variable(module, "latch_dynamic_shared", 0, DYNAMIC_ALIGN, Linkage::External);
        replace(module, calls, memory);
    }
}

fn variable<'ctx>(module: &Module<'ctx>, name: &str, bytes: u32, align: u32, linkage: Linkage) -> GlobalValue<'ctx> {
    let ty = module.get_context().i8_type().array_type(bytes);
    let global = module.add_global(ty, Some(AddressSpace::from(SHARED)), name);
    global.set_linkage(linkage);
    global.set_alignment(align);
    global
}

/// The calls of a marker in a function.
fn calls<'ctx>(function: FunctionValue<'ctx>, marker: &str) -> Vec<InstructionValue<'ctx>> {
    let is_call = |instruction: &InstructionValue<'ctx>| {
        instruction.get_opcode() == InstructionOpcode::Call
            && callee(*instruction).is_some_and(|callee| callee.get_name().to_bytes() == marker.as_bytes())
    };
    function.get_basic_block_iter().flat_map(|block| block.get_instructions()).filter(is_call).collect()
}

fn callee(call: InstructionValue<'_>) -> Option<PointerValue<'_>> {
    match call.get_operand(call.get_num_operands().checked_sub(1)?)?.value()? {
        BasicValueEnum::PointerValue(callee) => Some(callee),
        _ => None,
    }
}

fn constant(call: InstructionValue<'_>, at: u32) -> Option<u64> {
    match call.get_operand(at)?.value()? {
        BasicValueEnum::IntValue(value) => value.get_zero_extended_constant(),
        _ => None,
    }
}

/// Puts the variable's generic address in place of each call.
fn replace<'ctx>(module: &Module<'ctx>, calls: Vec<InstructionValue<'ctx>>, variable: GlobalValue<'ctx>) {
    let generic = module.get_context().ptr_type(AddressSpace::default());
    let address = variable.as_pointer_value().const_address_space_cast(generic);
    for call in calls {
        let result = CallSiteValue::try_from(call).ok().and_then(|call| call.try_as_basic_value().basic());
        if let Some(BasicValueEnum::PointerValue(result)) = result {
            result.replace_all_uses_with(address);
        }
        call.erase_from_basic_block();
    }
}
