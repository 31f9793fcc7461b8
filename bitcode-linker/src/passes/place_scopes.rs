//! Scopes of atomic operations on AMD's GPUs.
//!
//! LLVM has scopes on its atomic instructions, and Rust has no way to name one. So device-std calls a marker straight
//! before each such instruction, `__latch_atomic_scope(reach)`, which nobody defines, and this stage gives the
//! instruction its scope and erases the call, before anything is optimized. What is not marked has the scope of the
//! system, which is the widest.
//!
//! Straight before means: the first atomic instruction that is reached from the call without a branch to choose.

use crate::Error;
use crate::pipeline::{Link, Pass, Skip};
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::{LLVMGetSyncScopeID, LLVMIsAtomic, LLVMSetAtomicSyncScopeID};
use inkwell::values::{AsValueRef, BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue};
use nounroll_metadata::ffi;
use std::collections::HashSet;
use std::iter;

const MARKER: &str = "__latch_atomic_scope";
/// LLVM's names of the scopes, by the marker's number: the block's, the GPU's, the system's.
const SCOPES: [&str; 3] = ["workgroup", "agent", ""];

pub const PASS: Pass = Pass {
    does: "gives atomic operations the scopes that markers name",
    skip: Skip::Refused("nobody defines the function that names a scope"),
    ..Pass::new("place-scopes", place)
};

/// Replaces every marker of the module.
fn place(link: &mut Link<'_>) -> Result<(), Error> {
    let module = &link.module;
    let Some(marker) = module.get_function(MARKER).filter(|marker| marker.count_basic_blocks() == 0) else {
        return Ok(());
    };
    for function in module.get_functions() {
        let blocks = function.get_basic_block_iter();
        let calls = blocks.flat_map(|block| block.get_instructions()).filter(|&it| is_marker(it));
        for call in calls.collect::<Vec<_>>() {
            let function = || crate::symbols::demangle(&function.get_name().to_string_lossy());
            let unmatched = || Error::AtomicScope { function: function() };
            let scope = scope(call).ok_or_else(unmatched)?;
            set_scope(following(call).find(|&it| is_atomic(it)).ok_or_else(unmatched)?, scope);
            call.erase_from_basic_block();
        }
    }
    if marker.as_global_value().as_pointer_value().get_first_use().is_none() {
        // SAFETY: nothing in the module uses the declaration, and the handle is not used again.
        unsafe { marker.delete() };
    }
    Ok(())
}

fn is_marker(instruction: InstructionValue<'_>) -> bool {
    instruction.get_opcode() == InstructionOpcode::Call
        && ffi::called_function(instruction).is_some_and(|callee| callee.get_name().to_bytes() == MARKER.as_bytes())
}

fn scope(call: InstructionValue<'_>) -> Option<&'static str> {
    let BasicValueEnum::IntValue(reach) = call.get_operand(0)?.value()? else { return None };
    SCOPES.get(usize::try_from(reach.get_zero_extended_constant()?).ok()?).copied()
}

/// The instructions after one, as far as there is but one way to go.
fn following<'ctx>(start: InstructionValue<'ctx>) -> impl Iterator<Item = InstructionValue<'ctx>> {
    let mut entered: HashSet<BasicBlock<'ctx>> = HashSet::new();
    iter::successors(Some(start), move |&last| {
        last.get_next_instruction().or_else(|| match ffi::successors(last)[..] {
            [next] if entered.insert(next) => next.get_first_instruction(),
            _ => None,
        })
    })
    .skip(1)
}

fn is_atomic(instruction: InstructionValue<'_>) -> bool {
    // SAFETY: the question may be asked of any live instruction.
    unsafe { LLVMIsAtomic(instruction.as_value_ref()) != 0 }
}

fn set_scope(instruction: InstructionValue<'_>, scope: &str) {
    let Some(block) = instruction.get_parent() else { return };
    let context = block.get_context();
    // SAFETY: LLVM reads as many bytes of the name as it is told. The instruction is live and atomic, and so has a
    // scope.
    unsafe {
        let id = LLVMGetSyncScopeID(context.raw(), scope.as_ptr().cast(), scope.len());
        LLVMSetAtomicSyncScopeID(instruction.as_value_ref(), id);
    }
}
