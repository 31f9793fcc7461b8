//! Atomic loads and stores as libNVVM's verifier will have them.
//!
//! It refuses `load atomic` and `store atomic` of every ordering. PTX gives a volatile access the semantics of a
//! relaxed one at system scope, and a fence beside it makes it an acquire or a release, so they become that:
//!
//! | atomic | becomes |
//! |---|---|
//! | relaxed load or store | volatile |
//! | acquire load | volatile, then `fence acquire` |
//! | release store | `fence release`, then volatile |
//! | sequentially consistent load | `fence seq_cst`, volatile, then `fence acquire` |
//! | sequentially consistent store | `fence seq_cst`, then volatile |
//!
//! The last two are how LLVM's own code generation for PTX does it. A fence orders more than the one access it stands
//! beside, so the code may be slower than `ld.acquire` would be, and never weaker. A scope narrower than the system is
//! widened to it. Read-modify-write operations are not touched.

use inkwell::AtomicOrdering;
use inkwell::llvm_sys::core::LLVMSetAtomicSingleThread;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue};

/// Rewrites them all; how many there were.
pub fn rewrite(module: &Module<'_>) -> usize {
    let blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    let accesses: Vec<(InstructionValue<'_>, AtomicOrdering)> = blocks
        .flat_map(|block| block.get_instructions())
        .filter_map(|access| Some((access, ordering(access)?)))
        .collect();
    for (access, ordering) in &accesses {
        rewrite_access(*access, *ordering);
    }
    accesses.len()
}

/// The ordering of an atomic load or store.
fn ordering(access: InstructionValue<'_>) -> Option<AtomicOrdering> {
    let is_access = matches!(access.get_opcode(), InstructionOpcode::Load | InstructionOpcode::Store);
    let ordering = is_access.then(|| access.get_atomic_ordering().ok()).flatten()?;
    (ordering != AtomicOrdering::NotAtomic).then_some(ordering)
}

fn rewrite_access(access: InstructionValue<'_>, ordering: AtomicOrdering) {
    let is_load = access.get_opcode() == InstructionOpcode::Load;
    let before = match ordering {
        AtomicOrdering::SequentiallyConsistent => Some(AtomicOrdering::SequentiallyConsistent),
        AtomicOrdering::Release => Some(AtomicOrdering::Release),
        _ => None,
    };
    let acquires = matches!(ordering, AtomicOrdering::Acquire | AtomicOrdering::SequentiallyConsistent);
    let block = access.get_parent().expect("an access is in a block");
    let builder = block.get_context().create_builder();
    if let Some(before) = before {
        builder.position_before(&access);
        build_fence(&builder, before);
    }
    if let Some(next) = access.get_next_instruction().filter(|_| is_load && acquires) {
        builder.position_before(&next);
        build_fence(&builder, AtomicOrdering::Acquire);
    }
    // SAFETY: the access is a live atomic load or store, which has a scope; the system's is the one that no atomic must
    // name.
    unsafe { LLVMSetAtomicSingleThread(access.as_value_ref(), 0) };
    access.set_atomic_ordering(AtomicOrdering::NotAtomic).expect("a load or store may be none");
    access.set_volatile(true).expect("a load or store may be volatile");
}

fn build_fence(builder: &inkwell::builder::Builder<'_>, ordering: AtomicOrdering) {
    builder.build_fence(ordering, false, "").expect("a fence may have this ordering");
}

#[cfg(test)]
mod tests {
    use super::super::testing::{body, parse};
    use super::*;
    use inkwell::context::Context;

    #[track_caller]
    fn becomes(access: &str, expected: &[&str]) {
        let context = Context::create();
        let module = parse(&context, &format!("define void @f(ptr %p, i32 %x) {{\n{access}\nret void\n}}\n"));
        rewrite(&module);
        let expected: Vec<&str> = expected.iter().copied().chain(["ret void"]).collect();
        assert_eq!(body(&module, "f"), expected);
    }

    #[test]
    fn loads_are_no_weaker() {
        let volatile = "%v = load volatile i32, ptr %p, align 4";
        becomes("%v = load atomic i32, ptr %p unordered, align 4", &[volatile]);
        becomes("%v = load atomic i32, ptr %p monotonic, align 4", &[volatile]);
        becomes("%v = load atomic i32, ptr %p acquire, align 4", &[volatile, "fence acquire"]);
        let whole = ["fence seq_cst", volatile, "fence acquire"];
        becomes("%v = load atomic i32, ptr %p seq_cst, align 4", &whole);
        becomes("%v = load atomic i32, ptr %p syncscope(\"block\") seq_cst, align 4", &whole);
    }

    #[test]
    fn stores_are_no_weaker() {
        let volatile = "store volatile i32 %x, ptr %p, align 4";
        becomes("store atomic i32 %x, ptr %p monotonic, align 4", &[volatile]);
        becomes("store atomic i32 %x, ptr %p release, align 4", &["fence release", volatile]);
        becomes("store atomic i32 %x, ptr %p seq_cst, align 4", &["fence seq_cst", volatile]);
    }

    #[test]
    fn all_else_stays() {
        for other in [
            "%v = load i32, ptr %p, align 4",
            "%v = load volatile i32, ptr %p, align 4",
            "store i32 %x, ptr %p, align 4",
            "%v = atomicrmw add ptr %p, i32 %x seq_cst, align 4",
            "%v = cmpxchg ptr %p, i32 %x, i32 0 acq_rel acquire, align 4",
            "fence seq_cst",
        ] {
            becomes(other, &[other]);
        }
    }
}
