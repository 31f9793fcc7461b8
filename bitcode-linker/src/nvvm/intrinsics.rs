//! Intrinsics that libNVVM's verifier does not know, and what it knows in their place.
//!
//! A prefetch is advice and goes. An absolute value has an intrinsic of NVVM's own, and rounding in the current mode is
//! rounding to even, the only mode that there is on a GPU ([`SAME`]). For others (`llvm.round`, `llvm.exp`, …) nothing
//! stands ready that gives the same bits; libNVVM then says itself what it does not know.

use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue};
use nounroll_metadata::ffi;

/// An intrinsic on one float type, and the one that stands for it.
const SAME: [(&str, &str); 3] =
    [("llvm.fabs", "llvm.nvvm.fabs"), ("llvm.rint", "llvm.roundeven"), ("llvm.nearbyint", "llvm.roundeven")];
const TYPES: [&str; 4] = ["f16", "bf16", "f32", "f64"];

/// Puts known ones in the place of others; what was done, one sentence each.
pub fn rewrite(module: &Module<'_>) -> Vec<String> {
    let mut changes = Vec::new();
    for (old, new) in SAME {
        for ty in TYPES {
            let replaced = module.get_function(&format!("{old}.{ty}")).and_then(|old| replace(module, old, new));
            changes.extend(replaced.map(|()| format!("{old}.{ty} made {new}.{ty}")));
        }
    }
    match remove_prefetches(module) {
        0 => {}
        count => changes.push(format!("{count} call(s) of llvm.prefetch removed")),
    }
    changes
}

fn replace<'ctx>(module: &Module<'ctx>, old: FunctionValue<'ctx>, new: &str) -> Option<()> {
    let ty = old.get_type().get_return_type()?;
    let new = Intrinsic::find(new)?.get_declaration(module, &[ty])?;
    old.replace_all_uses_with(new);
    // SAFETY: nothing uses the declaration any more, and the handle is not used again.
    unsafe { old.delete() };
    Some(())
}

fn remove_prefetches(module: &Module<'_>) -> usize {
    let is_prefetch = |instruction: &InstructionValue<'_>| {
        let callee = ffi::called_function(*instruction);
        callee.is_some_and(|callee| callee.get_name().to_bytes().starts_with(b"llvm.prefetch."))
    };
    let blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    let calls: Vec<_> = blocks.flat_map(|block| block.get_instructions()).filter(is_prefetch).collect();
    calls.iter().for_each(|call| call.erase_from_basic_block());
    calls.len()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{body, parse};
    use super::*;
    use inkwell::context::Context;

    #[test]
    fn known_ones_stand_in_for_others() {
        let context = Context::create();
        let text = "declare float @llvm.fabs.f32(float)\ndeclare double @llvm.rint.f64(double)\n\
                    declare half @llvm.nearbyint.f16(half)\ndeclare float @llvm.floor.f32(float)\n\
                    declare void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)\n\
                    define void @f(ptr %p, float %x, double %y, half %z) {\n\
                    %a = call float @llvm.fabs.f32(float %x)\n%b = call double @llvm.rint.f64(double %y)\n\
                    %c = call half @llvm.nearbyint.f16(half %z)\n%d = call float @llvm.floor.f32(float %x)\n\
                    call void @llvm.prefetch.p0(ptr %p, i32 0, i32 3, i32 1)\nret void\n}\n";
        let module = parse(&context, text);
        assert_eq!(rewrite(&module).len(), 4);
        let expected = [
            "%a = call float @llvm.nvvm.fabs.f32(float %x)",
            "%b = call double @llvm.roundeven.f64(double %y)",
            "%c = call half @llvm.roundeven.f16(half %z)",
            "%d = call float @llvm.floor.f32(float %x)",
            "ret void",
        ];
        assert_eq!(body(&module, "f"), expected);
        assert!(rewrite(&module).is_empty(), "once is enough");
    }
}
