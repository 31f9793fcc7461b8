//! Driving ptxas: its figures, its warnings, and what it refuses.

mod common;

use std::fs;
use std::path::Path;

use common::{ARCHS, assemble, assemble_with, kernel, module, ptxas};
use sass::{AssembleOptions, Error, Ptxas, Report, Severity};

const GOOD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

fn refuse(ptx: &str, arch: &str) -> Error {
    ptxas().assemble(ptx, arch, &AssembleOptions::default()).expect_err("ptxas refuses")
}

#[test]
fn faulty_ptx_gets_every_message_with_the_line_it_speaks_of() {
    let ptx = GOOD.replace("ret;", "\n  .reg .b32 %r<2>;\n  bogus.u32 %r1, 7;\n  add.u32 %r1, %q9;\n");
    let error = refuse(&ptx, "sm_90");
    let Error::Refused { messages, .. } = &error else { panic!("{error:?}") };
    let first = &messages[0];
    assert_eq!((first.severity, first.line), (Severity::Error, Some(6)));
    assert_eq!(first.line_text.as_deref(), Some("bogus.u32 %r1, 7;"));
    assert!(messages.iter().any(|message| message.line == Some(7) && message.text.contains("%q9")));
    let sentence = error.to_string();
    assert!(
        sentence.starts_with("ptxas refused the PTX for sm_90: line 6: Not a name of any known instruction: 'bogus'")
    );
    assert!(sentence.contains("(`bogus.u32 %r1, 7;`), and 2 more"), "{sentence}");
}

#[test]
fn text_that_is_no_ptx_is_refused() {
    assert!(refuse("hello\n", "sm_90").to_string().contains("Missing .version directive"));
    assert!(refuse("", "sm_90").to_string().contains("Missing .version directive"));
}

#[test]
fn a_file_is_named_in_the_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("odd, line 3; x.ptx");
    fs::write(&path, GOOD.replace("ret;", "bogus;")).expect("written");
    let error = ptxas().assemble(&path, "sm_90", &AssembleOptions::default()).expect_err("refused");
    assert!(error.to_string().contains("odd, line 3; x.ptx"), "{error}");
    let Error::Refused { messages, .. } = error else { panic!("{error:?}") };
    assert_eq!(messages[0].line, Some(4));
}

#[test]
fn a_missing_file_is_one_sentence() {
    let error = ptxas().assemble(Path::new("nowhere.ptx"), "sm_90", &AssembleOptions::default()).expect_err("refused");
    assert!(error.to_string().starts_with("cannot read the PTX file `nowhere.ptx`"), "{error}");
}

#[test]
fn an_unknown_architecture_is_named_with_the_known_ones() {
    let error = refuse(GOOD, "sm_99").to_string();
    assert!(error.contains("does not know the architecture `sm_99`"), "{error}");
    assert!(error.contains("sm_80, ") && error.contains("sm_120"), "{error}");
}

#[test]
fn what_is_no_architecture_never_reaches_ptxas() {
    // ptxas takes a virtual architecture and writes nothing.
    for arch in ["compute_80", "80", "sm_80 -g", ""] {
        assert!(matches!(refuse(GOOD, arch), Error::BadArch { .. }), "{arch}");
    }
}

#[test]
fn ptx_for_a_newer_gpu_is_refused_with_both_names() {
    for (target, arch) in [("sm_90", "sm_80"), ("sm_90a", "sm_100")] {
        let error = refuse(&GOOD.replace("sm_80", target), arch).to_string();
        assert!(error.starts_with(&format!("PTX for `{target}` cannot be assembled for `{arch}`")), "{error}");
    }
}

#[test]
fn a_missing_ptxas_is_one_sentence() {
    let missing = Ptxas::new("/nowhere/ptxas");
    let error = missing.assemble(GOOD, "sm_90", &AssembleOptions::default()).expect_err("no ptxas");
    assert!(error.to_string().starts_with("cannot run ptxas at `/nowhere/ptxas`"), "{error}");
    assert!(error.to_string().contains("cargo latch doctor"), "{error}");
}

#[test]
fn a_program_that_is_not_ptxas_is_told_apart_from_faulty_ptx() {
    let wrong = Ptxas::new("false");
    let error = wrong.assemble(GOOD, "sm_90", &AssembleOptions::default()).expect_err("no ptxas");
    assert!(matches!(error, Error::Broken { .. }), "{error:?}");
    let error = Ptxas::new("true").assemble(GOOD, "sm_90", &AssembleOptions::default()).expect_err("no output");
    assert!(matches!(error, Error::Broken { .. }), "{error:?}");
}

#[test]
fn ptx_for_debugging_is_assembled_unoptimized() {
    for arch in ARCHS {
        let cubin = assemble("debug.ptx", arch);
        assert_eq!(cubin.opt_level, 0);
        let debug = &common::report(&cubin).kernels[0];
        let figures = (debug.sass.loops, debug.sass.calls, debug.sass.helper_calls, debug.sass.global_loads);
        assert_eq!(figures, (2, 1, 1, 2), "{arch}");
        let saved = cubin.resources.function("debug", "sum_row").expect("the function");
        assert_eq!(debug.spill_bytes, saved.spill_store_bytes + saved.spill_load_bytes, "{arch}");
    }
    let options = AssembleOptions { debug: true, ..AssembleOptions::default() };
    assert_eq!(assemble_with("taps.ptx", "sm_80", &options).opt_level, 0);
}

#[test]
fn the_optimization_level_reaches_ptxas() {
    let at = |opt_level| AssembleOptions { opt_level, ..AssembleOptions::default() };
    let loops = |opt_level| {
        let report = common::report(&assemble_with("taps.ptx", "sm_90", &at(opt_level)));
        report.kernel("taps_default").expect("the kernel").sass.loops
    };
    assert_eq!((loops(0), loops(3)), (1, 0));
}

#[test]
fn a_loss_of_speed_is_a_warning_where_it_happens() {
    let cubin = assemble("wgmma.ptx", "sm_90a");
    let serialized: Vec<_> = cubin.warnings().filter(|warning| warning.text.contains("are serialized")).collect();
    let [warning] = serialized[..] else { panic!("{serialized:?}") };
    assert!(warning.text.contains("'serialized'"), "{warning}");
    assert_eq!(warning.code.as_deref(), Some("C7514"));
    assert_eq!(assemble("taps.ptx", "sm_90").warnings().count(), 0);
}

#[test]
fn recursion_is_a_warning_and_its_stack_a_lower_bound() {
    let cubin = assemble("calls.ptx", "sm_90");
    assert!(cubin.warnings().any(|warning| warning.text.contains("'recurses' cannot be statically determined")));
    let kernel = kernel("calls.ptx", "recurses", "sm_90");
    assert!(kernel.extra.stack_is_lower_bound && kernel.stack_bytes > 0);
}

#[test]
fn registers_and_stack_cover_the_callees() {
    for arch in ARCHS {
        let made = module("calls.ptx", arch);
        let frame = |kernel: &str, function: &str| {
            made.0.resources.function(kernel, function).expect("the function").stack_frame_bytes
        };
        let report = Report::of(&made.0, &sass::Program::of(&made.1)).expect("a report");
        let (one, two) = (report.kernel("calls_one").expect("one"), report.kernel("calls_two").expect("two"));
        assert!(one.stack_bytes > 0, "{arch}");
        assert_eq!(one.stack_bytes, frame("calls_one", "sum_row"), "{arch}");
        let chain = frame("calls_two", "multiply_rows") + frame("calls_two", "sum_row");
        assert_eq!(two.stack_bytes, chain, "{arch}: the chain holds both functions");
        // The kernel touches few registers itself.
        let highest = highest_register(&made.1, "calls_two", true).max(highest_register(&made.1, "calls_two", false));
        assert!(two.registers > highest, "{arch}: {} registers, but R{highest} is used", two.registers);
        assert!(highest_register(&made.1, "calls_two", true) > highest_register(&made.1, "calls_two", false), "{arch}");
    }
}

/// The highest general register that the kernel's code, or its callees', names.
fn highest_register(module: &sass::Module, kernel: &str, callees: bool) -> u32 {
    let program = sass::Program::of(module);
    let kernel = program.kernel(kernel).expect("the kernel");
    let functions = kernel.functions().skip(usize::from(callees)).take(if callees { usize::MAX } else { 1 });
    let mut highest = 0;
    for function in functions {
        for block in 0..function.graph.blocks.len() {
            for operand in function.code(block).iter().flat_map(|instruction| &instruction.operands) {
                let words = operand.split(|c: char| !c.is_ascii_alphanumeric());
                highest = words.filter_map(|word| word.strip_prefix('R')?.parse().ok()).fold(highest, u32::max);
            }
        }
    }
    highest
}

#[test]
fn spills_are_stores_plus_loads_and_show_in_the_code() {
    let tight = AssembleOptions { max_registers: Some(24), ..AssembleOptions::default() };
    for arch in ARCHS {
        let report = common::report(&assemble_with("spills.ptx", arch, &tight));
        let spilled = report.kernel("spills").expect("the kernel");
        assert!(spilled.registers <= 24, "{arch}");
        assert!(spilled.spill_bytes > 0, "{arch}");
        assert!(spilled.sass.local_loads > 0 && spilled.sass.local_stores > 0, "{arch}");
        let cubin = assemble_with("spills.ptx", arch, &tight);
        let own = &cubin.resources.kernel("spills").expect("the kernel").own;
        assert_eq!(spilled.spill_bytes, own.spill_store_bytes + own.spill_load_bytes, "{arch}");
        let roomy = kernel("spills.ptx", "spills", arch);
        assert_eq!((roomy.spill_bytes, roomy.sass.local_loads), (0, 0), "{arch}");
    }
}

#[test]
fn a_cubin_is_written_whole_or_not_at_all() {
    let cubin = assemble("taps.ptx", "sm_90");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("taps.cubin");
    cubin.write_to(&path).expect("written");
    assert_eq!(fs::read(&path).expect("read"), cubin.image);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else is left");
    let error = cubin.write_to(&folder.path().join("nowhere/taps.cubin")).expect_err("no such folder");
    assert!(error.to_string().starts_with("cannot write `"), "{error}");
}

#[test]
fn the_release_is_known() {
    let version = ptxas().version().expect("a version");
    assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()), "{version}");
}
