//! The promise: the loops and loads that the table names are what the machine code holds, in both modes.

use cargo_latch::build::{HintMode, Profile};
use codegen_pass::report::Status;
use latch_tests::{audits, builder, checkout};

const ARCHS: [&str; 3] = ["sm_80", "sm_90", "sm_120a"];

/// Kernel, marked latches, loops and global loads in SASS.
const NOUNROLL: [(&str, usize, usize, usize); 13] = [
    ("taps_default", 0, 0, 8),
    ("taps_rolled", 1, 1, 2),
    ("rolled_in_device_fn", 1, 1, 1),
    ("range_for", 1, 1, 1),
    ("while_loop", 1, 1, 1),
    ("while_let", 1, 1, 1),
    ("loop_break", 1, 1, 1),
    ("two_continues", 1, 1, 1),
    ("labelled_continue", 2, 2, 1),
    ("nested_inner", 1, 4, 4),
    ("nested_outer", 1, 1, 4),
    ("nested_both", 2, 2, 1),
    ("siblings", 2, 2, 6),
];

#[track_caller]
fn check(hints: HintMode) {
    for entry in audits(&builder(&checkout(), hints, Profile::Release), "nounroll", &ARCHS) {
        assert_eq!(entry.kernels.len(), NOUNROLL.len(), "every kernel stands in the table");
        for (name, marked, loops, loads) in NOUNROLL {
            let kernel = entry.kernels.iter().find(|kernel| kernel.name == name);
            let kernel = kernel.unwrap_or_else(|| panic!("{name} is a kernel"));
            let sass = kernel.sass.expect("NVIDIA's tools are here");
            let place = format!("{name} on {}", entry.arch);
            assert_eq!((kernel.marked_latches, sass.loops, sass.global_loads), (marked, loops, loads), "{place}");
            assert!(sass.loops >= kernel.pragmas, "{place}: a pragma without a loop");
            assert_eq!((kernel.spill_bytes, sass.local_loads, sass.local_stores), (Some(0), 0, 0), "{place}");
        }
        assert!(entry.hints.iter().all(|hint| hint.status == Status::Honoured), "{:?}", entry.hints);
    }
}

#[test]
fn hints_resolved_on_bitcode_hold_in_the_machine_code() {
    check(HintMode::Llvm);
}

#[test]
fn hints_resolved_on_mir_hold_in_the_machine_code() {
    check(HintMode::Mir);
}

#[test]
fn an_unoptimized_build_has_one_pragma_for_each_hinted_loop_and_assembles() {
    for hints in [HintMode::Llvm, HintMode::Mir] {
        for entry in audits(&builder(&checkout(), hints, Profile::Dev), "nounroll", &ARCHS) {
            for (name, marked, ..) in NOUNROLL {
                let kernel = entry.kernels.iter().find(|kernel| kernel.name == name);
                let kernel = kernel.unwrap_or_else(|| panic!("{name} is a kernel"));
                assert_eq!(kernel.pragmas, marked, "{name} on {}", entry.arch);
                assert!(kernel.sass.is_some(), "ptxas took {name} for {}", entry.arch);
            }
        }
    }
}
