//! What a kernel's machine code holds, on every architecture.

mod common;

use common::{ARCHS, kernel, module, module_at, report_of};
use sass::{Counts, Extra, Program, SymbolKind};

/// Loops, loads, stores, calls and helper calls of a kernel on every architecture.
fn expect(file: &str, name: &str, loops: usize, loads: usize, stores: usize, calls: usize, helper_calls: usize) {
    for arch in ARCHS {
        let found = kernel(file, name, arch);
        let Counts { instructions, local_loads, local_stores, .. } = found.sass;
        let (global_loads, global_stores) = (loads, stores);
        let expected =
            Counts { loops, instructions, global_loads, global_stores, local_loads, local_stores, calls, helper_calls };
        assert_eq!(found.sass, expected, "{name} on {arch}");
        assert_eq!(found.extra.unresolved_jumps, 0, "{name} on {arch}");
    }
}

#[test]
fn ptxas_unrolls_four_taps_unless_the_pragma_forbids_it() {
    expect("taps.ptx", "taps_default", 0, 8, 1, 0, 0);
    expect("taps.ptx", "taps_rolled", 1, 2, 1, 0, 0);
}

#[test]
fn loops_beside_and_inside_each_other() {
    expect("loops.ptx", "nested", 2, 1, 1, 0, 0);
    expect("loops.ptx", "two_loops", 2, 2, 2, 0, 0);
    for arch in ARCHS {
        let made = module("loops.ptx", arch);
        let program = Program::of(&made.1);
        let depths = |name: &str| -> Vec<(u32, Option<usize>)> {
            let kernel = program.kernel(name).expect("the kernel");
            kernel.function().loops.iter().map(|found| (found.depth, found.parent)).collect()
        };
        assert_eq!(depths("nested"), [(1, None), (2, Some(0))], "{arch}");
        assert_eq!(depths("two_loops"), [(1, None), (1, None)], "{arch}");
    }
}

#[test]
fn convergence_barriers_add_no_loop() {
    expect("loops.ptx", "divergent", 1, 4, 2, 0, 0);
    for arch in ARCHS {
        let made = module("loops.ptx", arch);
        let program = Program::of(&made.1);
        let kernel = program.kernel("divergent").expect("the kernel");
        let uses = |mnemonic: &str| kernel.instructions().iter().any(|i| i.mnemonic() == mnemonic);
        assert!(uses("BSSY") && uses("BSYNC"), "on {arch} the kernel no longer tests what it is for");
    }
}

#[test]
fn a_way_out_of_both_loops_leaves_two() {
    expect("loops.ptx", "early_return", 2, 1, 3, 0, 0);
}

#[test]
fn the_padding_is_no_loop_even_where_code_runs_up_to_it() {
    expect("loops.ptx", "forever", 1, 1, 1, 0, 0);
    expect("loops.ptx", "trap_last", 0, 0, 1, 0, 0);
}

#[test]
fn a_cycle_with_two_entries_is_reported() {
    // At level 3 ptxas makes it a natural loop by copying one half.
    for arch in ARCHS {
        let report = report_of(&module_at(0, "loops.ptx", arch));
        let irreducible = |name: &str| report.kernel(name).expect("the kernel").extra.irreducible;
        assert!(irreducible("irreducible"), "{arch}");
        assert!(!irreducible("nested"), "{arch}");
        assert_eq!(report.kernel("irreducible").expect("the kernel").sass.loops, 0, "{arch}");
    }
}

#[test]
fn a_kernel_s_figures_cover_the_functions_it_can_call_each_once() {
    expect("calls.ptx", "calls_one", 1, 1, 1, 1, 0);
    expect("calls.ptx", "calls_two", 2, 1, 1, 3, 0);
}

#[test]
fn a_call_through_a_register_may_go_to_any_device_function() {
    // The second call is the one inside the function with the outer loop.
    expect("calls.ptx", "calls_by_pointer", 2, 2, 1, 2, 0);
}

#[test]
fn a_callee_that_never_returns_adds_no_loop() {
    expect("calls.ptx", "panics", 0, 0, 2, 1, 0);
    expect("calls.ptx", "panics_in_loop", 1, 1, 2, 1, 0);
    for arch in ARCHS {
        let made = module("calls.ptx", arch);
        let program = Program::of(&made.1);
        let kernel = program.kernel("panics_in_loop").expect("the kernel");
        let [(_, found)] = kernel.loops()[..] else { panic!("one loop") };
        assert!(!found.holds("CALL"), "on {arch} the call is on the way out");
    }
}

#[test]
fn recursion_and_functions_outside_the_ptx() {
    expect("calls.ptx", "recurses", 0, 0, 1, 3, 0);
    expect("calls.ptx", "prints", 0, 0, 0, 1, 0);
}

#[test]
fn a_jump_through_a_table_goes_to_every_target() {
    expect("switch.ptx", "switch_in_loop", 1, 2, 3, 0, 0);
    for arch in ARCHS {
        let made = module("switch.ptx", arch);
        let program = Program::of(&made.1);
        let kernel = program.kernel("switch_in_loop").expect("the kernel");
        let widest = kernel.function().graph.blocks.iter().map(|block| block.edges.len()).max();
        assert_eq!(widest, Some(8), "{arch}");
    }
}

#[test]
fn exact_arithmetic_calls_helpers() {
    expect("arithmetic.ptx", "divide_f32", 0, 1, 1, 0, 1);
    expect("arithmetic.ptx", "root_f32", 0, 1, 1, 0, 1);
    expect("arithmetic.ptx", "divide_and_root_f64", 0, 1, 1, 0, 2);
    expect("arithmetic.ptx", "divide_u64_in_loop", 1, 1, 1, 0, 2);
}

#[test]
fn collectives_under_divergence_are_no_arithmetic() {
    expect("collectives.ptx", "collectives", 1, 2, 2, 0, 0);
    let support_calls = |arch| kernel("collectives.ptx", "collectives", arch).extra.support_calls;
    assert_eq!(support_calls("sm_80"), 7);
    assert_eq!(support_calls("sm_90"), 0);
    let made = module("collectives.ptx", "sm_80");
    let is_support = |kind: SymbolKind| kind == SymbolKind::Support;
    assert!(made.1.sections[0].symbols.iter().skip(1).all(|symbol| is_support(symbol.kind)));
}

#[test]
fn local_memory_is_counted_apart() {
    for arch in ARCHS {
        let found = kernel("memory.ptx", "local_array", arch);
        assert_eq!((found.sass.local_loads, found.sass.local_stores), (1, 1), "{arch}");
        assert_eq!((found.sass.global_loads, found.sass.global_stores), (1, 1), "{arch}");
        assert_eq!((found.stack_bytes, found.spill_bytes), (128, 0), "{arch}");
    }
}

#[test]
fn shared_memory_is_not_global() {
    expect("memory.ptx", "shared_tile", 0, 1, 1, 0, 0);
    for arch in ARCHS {
        assert_eq!(kernel("memory.ptx", "shared_tile", arch).shared_bytes, 1024, "{arch}");
    }
}

#[test]
fn generic_accesses_are_global_atomics_and_asynchronous_copies_are_not() {
    expect("memory.ptx", "generic", 0, 2, 1, 0, 0);
    expect("memory.ptx", "atomics", 0, 1, 1, 0, 0);
    expect("memory.ptx", "copies", 0, 0, 0, 0, 0);
}

#[test]
fn a_swap_loop_of_ptxas_is_a_loop_and_can_be_told() {
    expect("memory.ptx", "swap_loop", 1, 1, 1, 0, 0);
    for arch in ARCHS {
        let made = module("memory.ptx", arch);
        let program = Program::of(&made.1);
        let kernel = program.kernel("swap_loop").expect("the kernel");
        assert!(kernel.loops().iter().all(|(_, found)| found.holds("ATOMS")), "{arch}");
    }
}

#[test]
fn a_loop_tells_whether_it_holds_tensor_core_instructions() {
    let made = module("wgmma.ptx", "sm_90a");
    let program = Program::of(&made.1);
    for kernel in program.kernels() {
        let [(_, found)] = kernel.loops()[..] else { panic!("one loop in {}", kernel.name()) };
        assert!(found.holds("HGMMA") && !found.holds("HMMA"), "{}", kernel.name());
    }
}

#[test]
fn unoptimized_code_has_the_loops_of_the_source() {
    let loops =
        [("nested", 2), ("two_loops", 2), ("divergent", 1), ("early_return", 2), ("forever", 1), ("trap_last", 0)];
    for arch in ARCHS {
        let report = report_of(&module_at(0, "loops.ptx", arch));
        for (name, expected) in loops {
            assert_eq!(report.kernel(name).expect("the kernel").sass.loops, expected, "{name} on {arch}");
        }
    }
}

#[test]
fn the_report_has_the_audit_s_field_names() {
    let report = report_of(&module("taps.ptx", "sm_80"));
    let json = serde_json::to_value(&report.kernels[0]).expect("JSON");
    for field in ["name", "registers", "spill_bytes", "stack_bytes", "shared_bytes"] {
        assert!(!json[field].is_null(), "{field}");
    }
    let counts = [
        "loops",
        "instructions",
        "global_loads",
        "global_stores",
        "local_loads",
        "local_stores",
        "calls",
        "helper_calls",
    ];
    for field in counts {
        assert!(json["sass"][field].is_u64(), "{field}");
    }
    assert_eq!(report.kernels[0].extra, Extra::default());
    let back: sass::KernelReport = serde_json::from_value(json).expect("the same report");
    assert_eq!(back, report.kernels[0]);
}
