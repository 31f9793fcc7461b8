//! What Rust's `compiler_fence` leaves of itself once the optimizer is done: nothing.
//!
//! Such a fence keeps the compiler from moving accesses, and is no instruction. LLVM writes it as a fence among one
//! thread (`fence syncscope("singlethread")`), which its code generation for NVIDIA's GPUs cannot select, and which
//! libNVVM would take for a fence of the machine. So an empty piece of assembly that may touch all memory takes its
//! place: it keeps accesses where they are for as long as anybody compiles, and is a comment in PTX. AMD's code
//! generation knows the fence.

use super::OPTIMIZE;
use crate::family::Family;
use crate::pipeline::{Pass, Skip};
use inkwell::llvm_sys::core::LLVMIsAtomicSingleThread;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue};

pub const PASS: Pass = Pass {
    does: "replaces `compiler_fence`, which is no instruction, by assembly that is none",
    family: Some(Family::Nvptx),
    after: &[OPTIMIZE.name],
    skip: Skip::Refused("code generation has no instruction for a fence of the compiler"),
    ..Pass::new("drop-compiler-fences", |link| {
        drop_all(&link.module);
        Ok(())
    })
};

fn drop_all(module: &Module<'_>) {
    let blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    let fences: Vec<_> =
        blocks.flat_map(|block| block.get_instructions()).filter(|&it| is_compiler_fence(it)).collect();
    fences.into_iter().for_each(replace);
}

fn is_compiler_fence(instruction: InstructionValue<'_>) -> bool {
    // SAFETY: the scope is asked of a live fence only, which has one.
    instruction.get_opcode() == InstructionOpcode::Fence
        && unsafe { LLVMIsAtomicSingleThread(instruction.as_value_ref()) != 0 }
}

fn replace(fence: InstructionValue<'_>) {
    let context = fence.get_parent().expect("a fence is in a block").get_context();
    let nothing = context.void_type().fn_type(&[], false);
    let clobbers = "~{memory}".to_owned();
    let assembly = context.create_inline_asm(nothing, String::new(), clobbers, true, false, None, false);
    let builder = context.create_builder();
    builder.position_before(&fence);
    builder.build_indirect_call(nothing, assembly, &[], "").expect("the builder stands before an instruction");
    fence.erase_from_basic_block();
}
