//! The promise: the machine code of every kernel holds the loops and loads that the kernel's documentation names, on every
//! architecture and in both modes; and an unoptimized build keeps one pragma for each loop that is to stay.

use cargo_latch::audit::{Entry, Kind};
use cargo_latch::build::{HintMode, Profile};
use codegen_pass::report::Status;
use latch_tests::{audits, builder, checkout, expected};

const ARCHS: [&str; 3] = ["sm_80", "sm_90", "sm_120a"];

#[track_caller]
fn check(package: &str, hints: HintMode) {
    let expected = expected::of_sources(&checkout().join("kernels").join(package).join("src"));
    for entry in audits(&builder(&checkout(), hints, Profile::Release), package, &ARCHS) {
        let mut found = entry.kernels.clone();
        found.sort_by(|one, other| one.name.cmp(&other.name));
        assert_eq!(found.len(), expected.len(), "every kernel says what it holds");
        let mut wrong = Vec::new();
        for (kernel, expected) in found.iter().zip(&expected) {
            let sass = kernel.sass.expect("NVIDIA's tools are here");
            assert!(sass.loops >= kernel.pragmas, "{} on {}: a pragma without a loop", kernel.name, entry.arch);
            if (&kernel.name, sass.loops, sass.global_loads) != (&expected.name, expected.loops, expected.loads) {
                wrong.push(format!("{expected:?}: {} loops, {} loads", sass.loops, sass.global_loads));
            }
            let memory = (kernel.spill_bytes, sass.local_loads, sass.local_stores);
            assert_eq!(memory, (Some(0), 0, 0), "{} on {}: spills or local memory", kernel.name, entry.arch);
        }
        assert!(wrong.is_empty(), "{}, {}:\n{}", entry.arch, entry.mode, wrong.join("\n"));
        let dropped: Vec<_> = entry.hints.iter().filter(|hint| hint.status != Status::Honoured).collect();
        assert!(dropped.is_empty(), "{dropped:?}");
    }
}

#[test]
fn rolled_loops_hold_with_hints_resolved_on_bitcode() {
    check("nounroll", HintMode::Llvm);
}

#[test]
fn rolled_loops_hold_with_hints_resolved_on_mir() {
    check("nounroll", HintMode::Mir);
}

#[test]
fn unrolled_loops_hold_with_hints_resolved_on_bitcode() {
    check("unroll", HintMode::Llvm);
}

#[test]
fn unrolled_loops_hold_with_hints_resolved_on_mir() {
    check("unroll", HintMode::Mir);
}

/// Loops that are to stay, in all functions of the module.
fn rolled_loops(entry: &Entry) -> usize {
    let rolled = entry.hints.iter().filter(|hint| hint.kind == Kind::Nounroll);
    rolled.flat_map(|hint| &hint.instances).map(|instance| instance.loops_after_opt).sum()
}

#[test]
fn an_unoptimized_build_has_one_pragma_for_each_rolled_loop_and_assembles() {
    for hints in [HintMode::Llvm, HintMode::Mir] {
        for entry in audits(&builder(&checkout(), hints, Profile::Dev), "nounroll", &ARCHS) {
            assert_eq!(entry.hints.len(), rolled_loops(&entry), "one loop a hint");
            for kernel in &entry.kernels {
                assert_eq!(kernel.pragmas, kernel.marked_latches, "{} on {}", kernel.name, entry.arch);
                assert!(kernel.sass.is_some(), "ptxas took {} for {}", kernel.name, entry.arch);
            }
        }
    }
}
