//! Instructions that threads execute together are made `convergent` where the compiler has not done so.
//!
//! Shuffles, votes, barriers and matrix instructions mean something only if all threads that they name arrive together.
//! LLVM keeps them so if the call is `convergent`: no pass may make it depend on a condition that it did not depend on
//! before. rustc marks functions that way, but not calls of inline assembly, and LLVM's own declarations leave out the
//! matrix instructions ([`INTRINSICS`]). So before anything is optimized, every call whose assembly names such an
//! instruction ([`MNEMONICS`]), and every call of such an intrinsic, is marked here. The functions around them carry
//! the attribute already; LLVM takes it off those alone that call nothing convergent.
//!
//! On AMD's GPUs every instruction works on the lanes that are active, and which mnemonics look at other lanes is a
//! matter of operands too (DPP). So all assembly is marked there; LLVM's own declarations are right.
//!
//! What this does not do: `convergent` forbids new conditions, not copies. Unrolling, inlining and jump threading onto
//! the same condition may still write an instruction out more than once, which is right for a shuffle, and wrong for
//! assembly that defines a label. What assembly calls or branches to outside itself is not seen.

use crate::Error;
use crate::family::Family;
use crate::pipeline::{Link, Pass, Skip};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::ContextRef;
use inkwell::llvm_sys::core::{LLVMGetCalledValue, LLVMGetInlineAsmAsmString};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, CallSiteValue, InstructionOpcode, InstructionValue};
use nounroll_metadata::ffi;

/// How the names of PTX instructions start that threads execute together. Each ends at a dot or with the name: `bar` is
/// `bar.sync` and `bar.warp.sync`, and not `barrier.sync`.
const MNEMONICS: [&str; 20] = [
    "activemask",
    "bar",
    "barrier",
    "cp.async.bulk",
    "cp.async.mbarrier",
    "cp.reduce.async.bulk",
    "elect",
    "ldmatrix",
    "match",
    "mbarrier",
    "mma",
    "movmatrix",
    "redux",
    "setmaxnreg",
    "shfl",
    "stmatrix",
    "tcgen05",
    "vote",
    "wgmma",
    "wmma",
];

/// The intrinsics for them that LLVM 22 declares without `convergent`, by their prefixes. For the other mnemonics LLVM
/// has either a declaration that says it or no intrinsic.
const INTRINSICS: [&str; 3] = ["llvm.nvvm.mma.", "llvm.nvvm.wmma.", "llvm.nvvm.tcgen05.mma."];

pub const PASS: Pass = Pass {
    does: "makes calls `convergent` that threads execute together",
    skip: Skip::Refused(
        "the optimizer could make a shuffle or a barrier depend on a condition that it did not depend on",
    ),
    ..Pass::new("mark-convergent", run)
};

fn run(link: &mut Link<'_>) -> Result<(), Error> {
    mark(&link.module, link.gpu.family);
    Ok(())
}

/// Marks every call of the module that needs it.
fn mark(module: &Module<'_>, family: Family) {
    let convergent = convergent(module.get_context());
    let mut marked = 0;
    for block in module.get_functions().flat_map(|function| function.get_basic_block_iter()) {
        for call in block.get_instructions().filter(|&instruction| needs_mark(instruction, family)) {
            if let Ok(call) = CallSiteValue::try_from(call) {
                call.add_attribute(AttributeLoc::Function, convergent);
                marked += 1;
            }
        }
    }
    tracing::debug!(calls = marked, "made convergent");
}

fn convergent(context: ContextRef<'_>) -> Attribute {
    context.create_enum_attribute(Attribute::get_named_enum_kind_id("convergent"), 0)
}

fn needs_mark(instruction: InstructionValue<'_>, family: Family) -> bool {
    if instruction.get_opcode() != InstructionOpcode::Call {
        return false;
    }
    if family == Family::Amdgcn {
        return ffi::calls_inline_asm(instruction);
    }
    if let Some(text) = assembly(instruction) {
        return is_collective(&text);
    }
    let callee = ffi::called_function(instruction);
    callee.is_some_and(|callee| {
        let name = callee.get_name().to_string_lossy();
        INTRINSICS.iter().any(|prefix| name.starts_with(prefix))
    })
}

/// The text of the inline assembly that a call is.
fn assembly(call: InstructionValue<'_>) -> Option<String> {
    if !ffi::calls_inline_asm(call) {
        return None;
    }
    let mut length = 0;
    // SAFETY: the callee is a piece of assembly, which has a text of the length that LLVM writes to `length`. It lives
    // as long as the context, and is copied.
    let text = unsafe {
        let text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call.as_value_ref()), &mut length);
        std::slice::from_raw_parts(text.cast::<u8>(), length)
    };
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Does PTX name an instruction that threads execute together?
fn is_collective(ptx: &str) -> bool {
    without_comments(ptx).split(['\n', ';', '{', '}']).any(|statement| {
        let name = instruction_name(statement);
        MNEMONICS
            .iter()
            .any(|mnemonic| name.strip_prefix(mnemonic).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    })
}

/// The name with its qualifiers: without the labels and the predicate before it, and the operands behind.
fn instruction_name(statement: &str) -> &str {
    let mut words = without_labels(statement).split_whitespace();
    let first = words.next().unwrap_or_default();
    if first.starts_with('@') { words.next().unwrap_or_default() } else { first }
}

/// A label ends at a colon; two colons stand inside the names of some instructions.
fn without_labels(mut statement: &str) -> &str {
    while let Some((_, rest)) = statement.split_once(':').filter(|(_, rest)| !rest.starts_with(':')) {
        statement = rest;
    }
    statement
}

fn without_comments(ptx: &str) -> String {
    let mut kept = String::with_capacity(ptx.len());
    let mut rest = ptx;
    while let Some(start) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let (before, comment) = rest.split_at(start);
        kept.push_str(before);
        kept.push(' ');
        let end = if comment.starts_with("//") { comment.find('\n') } else { comment.find("*/").map(|at| at + 2) };
        rest = end.map_or("", |end| &comment[end..]);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    #[test]
    fn assembly_is_read_statement_by_statement() {
        let collective = [
            "bar.sync 0;",
            "barrier.cluster.arrive.release.aligned;",
            "activemask.b32 $0;",
            "{ .reg .pred p; elect.sync $0|p, $1; }",
            "{\n.reg .pred p;\n@p shfl.sync.bfly.b32 $0, $1, 1, 31, -1;\n}",
            "@!%p1 vote.sync.ballot.b32 $0, p, $1;",
            "mov.u32 $0, 1; match.any.sync.b32 $0, $1, $2",
            "retry: redux.sync.add.s32 $0, $1, $2;",
            "retry:redux.sync.add.s32 $0, $1, $2;",
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};",
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0}, $1, $2, p, 1, 1, 0, 0;",
            "wgmma.fence.sync.aligned;",
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];",
            "/* wait */ bar.warp.sync -1; // all",
        ];
        for text in collective {
            assert!(is_collective(text), "{text}");
        }
        let alone = [
            "",
            "// bar.sync 0;",
            "/* bar.sync 0;\n vote */ mov.b32 $0, $1;",
            "mov.b32 bar, $1;",
            "barrel.sync 0;",
            "membar.gl;",
            "fence.proxy.async.shared::cta;",
            "cp.async.ca.shared.global [$0], [$1], 16;",
            "cp.async.wait_group 0;",
            "fma.rn.f32 $0, $1, $2, $3; // mma",
            "ld.shared::cluster.b32 $0, [$1];",
            "matching.x $0;",
        ];
        for text in alone {
            assert!(!is_collective(text), "{text}");
        }
    }

    const MODULE: &str = r#"
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define i32 @f(i32 %x, ptr %callee) {
  %shuffled = call i32 asm "shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "=r,r"(i32 %x)
  %moved = call i32 asm "mov.b32 $0, $1;", "=r,r"(i32 %x)
  %product = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, float 0.0, float 0.0, float 0.0, float 0.0)
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pointed = call i32 %callee()
  ret i32 %shuffled
}
"#;

    #[test]
    fn calls_are_marked_one_by_one() {
        assert_eq!(marked(Family::Nvptx), [true, false, true, false, false]);
    }

    #[test]
    fn all_assembly_for_amd_is_marked() {
        assert_eq!(marked(Family::Amdgcn), [true, true, false, false, false]);
    }

    /// Which calls of the module above get the attribute.
    fn marked(family: Family) -> Vec<bool> {
        let context = Context::create();
        let text = MemoryBuffer::create_from_memory_range_copy(MODULE.as_bytes(), "test");
        let module = context.create_module_from_ir(text).expect("the module parses");
        mark(&module, family);
        assert!(module.verify().is_ok());
        let block =
            module.get_function("f").and_then(|function| function.get_first_basic_block()).expect("it is there");
        let kind = Attribute::get_named_enum_kind_id("convergent");
        let is_marked = |call: InstructionValue<'_>| {
            let call = CallSiteValue::try_from(call).ok()?;
            Some(call.get_enum_attribute(AttributeLoc::Function, kind).is_some())
        };
        block.get_instructions().filter_map(is_marked).collect()
    }
}
