//! The promise: the machine code of every kernel holds the loops and loads that the kernel's documentation names, on
//! every architecture and in both modes; and an unoptimized build keeps one pragma for each loop that is to stay.

use cargo_latch::audit::Entry;
use cargo_latch::build::{BuildArgs, Builder, HintMode, Profile, Route, Wanted};
use cargo_latch::setup::Progress;
use hint_record::{HintKind, Status};
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
    let rolled = entry.hints.iter().filter(|hint| hint.kind == HintKind::Nounroll);
    rolled.flat_map(|hint| &hint.instances).map(|instance| instance.loops_after_opt).sum()
}

/// The kernel's loops and global loads.
fn figures(entry: &Entry, name: &str) -> (usize, usize) {
    let kernel = entry.kernels.iter().find(|kernel| kernel.name == name).expect("the kernel is there");
    let sass = kernel.sass.expect("NVIDIA's tools are here");
    (sass.loops, sass.global_loads)
}

/// The six kernels that the project was started for, and the two that peers get wrong, by the numbers.
#[test]
fn the_table() {
    let nvvm = BuildArgs { route: Route::Nvvm, ..BuildArgs::default() };
    for (args, names) in [(BuildArgs::default(), &ARCHS[..]), (nvvm, &["sm_100", "sm_120a"])] {
        for hints in [HintMode::Llvm, HintMode::Mir] {
            let args = BuildArgs { hints, ..args.clone() };
            let builder =
                Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
            let (rolled, unrolled) = (audits(&builder, "nounroll", names), audits(&builder, "unroll", names));
            for (rolled, unrolled) in rolled.iter().zip(&unrolled) {
                let place = format!("{} by {}, mode {}", rolled.arch, rolled.route, rolled.mode);
                assert_eq!(figures(rolled, "taps_default"), (0, 8), "{place}");
                assert_eq!(figures(rolled, "taps_rolled"), (1, 2), "{place}");
                assert_eq!(figures(rolled, "rolled_in_device_fn"), (1, 1), "{place}");
                assert_eq!(figures(unrolled, "rolled_k_unrolled_inner"), (1, 4), "{place}");
                assert_eq!(figures(unrolled, "rolled_inside_full_unroll"), (4, 4), "{place}");
                assert_eq!(figures(unrolled, "rolled_inside_partial_unroll"), (7, 5), "{place}");
                assert_eq!(figures(unrolled, "by_four"), (1, 8), "{place}");
                assert_eq!(figures(unrolled, "triangle"), (0, 28), "{place}");
            }
        }
    }
}

#[test]
fn an_unoptimized_build_has_one_pragma_for_each_rolled_loop_and_assembles() {
    for hints in [HintMode::Llvm, HintMode::Mir] {
        let builder = builder(&checkout(), hints, Profile::Dev);
        let rolled = audits(&builder, "nounroll", &ARCHS);
        rolled.iter().for_each(|entry| assert_eq!(entry.hints.len(), rolled_loops(entry), "one loop a hint"));
        for entry in rolled.iter().chain(&audits(&builder, "unroll", &ARCHS)) {
            for kernel in &entry.kernels {
                assert!(kernel.sass.is_some(), "ptxas took {} for {}", kernel.name, entry.arch);
            }
            let pragmas: usize = entry.kernels.iter().map(|kernel| kernel.pragmas).sum();
            assert_eq!(pragmas, rolled_loops(entry), "{} on {}", entry.package, entry.arch);
        }
    }
}
