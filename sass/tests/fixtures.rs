//! Disassembled kernels kept as text: the analysis needs no CUDA.
//!
//! The texts are nvdisasm's output for the PTX files of `tests/data`. After a change to those, or for a new release of
//! the tools, `cargo test -p sass --test fixtures -- --ignored` writes them anew.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use sass::{Counts, Module, Program, SymbolKind};

const FIXTURES: [(&str, &str); 9] = [
    ("calls", "sm_100"),
    ("collectives", "sm_80"),
    ("collectives", "sm_120a"),
    ("lines", "sm_90"),
    ("loops", "sm_90"),
    ("memory", "sm_80"),
    ("switch", "sm_80"),
    ("taps", "sm_120a"),
    ("wgmma", "sm_90a"),
];

fn path(name: &str, arch: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format!("{name}.{arch}.sass"))
}

fn fixture(name: &str, arch: &str) -> Module {
    let text = fs::read_to_string(path(name, arch)).expect("the fixture");
    Module::parse(&text).unwrap_or_else(|error| panic!("{name} for {arch}: {error}"))
}

#[test]
#[ignore = "writes the fixtures"]
fn write_the_fixtures() {
    for (name, arch) in FIXTURES {
        let cubin = common::assemble(&format!("{name}.ptx"), arch);
        fs::write(path(name, arch), common::nvdisasm().text(&cubin).expect("text")).expect("written");
    }
}

#[test]
fn every_fixture_is_in_the_list_and_the_other_way_round() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    let mut listed: Vec<PathBuf> = FIXTURES.iter().map(|(name, arch)| path(name, arch)).collect();
    found.sort();
    listed.sort();
    assert_eq!(found, listed);
}

/// Loops, global loads, global stores, calls and helper calls.
fn figures(module: &Module, kernel: &str) -> [usize; 5] {
    let program = Program::of(module);
    let counts = Counts::of(&program.kernel(kernel).unwrap_or_else(|| panic!("there is no {kernel}")));
    [counts.loops, counts.global_loads, counts.global_stores, counts.calls, counts.helper_calls]
}

#[test]
fn figures_without_cuda() {
    let taps = fixture("taps", "sm_120a");
    assert_eq!(figures(&taps, "taps_default"), [0, 8, 1, 0, 0]);
    assert_eq!(figures(&taps, "taps_rolled"), [1, 2, 1, 0, 0]);
    let loops = fixture("loops", "sm_90");
    let expected = [
        ("nested", [2, 1, 1, 0, 0]),
        ("two_loops", [2, 2, 2, 0, 0]),
        ("divergent", [1, 4, 2, 0, 0]),
        ("early_return", [2, 1, 3, 0, 0]),
        ("forever", [1, 1, 1, 0, 0]),
        ("trap_last", [0, 0, 1, 0, 0]),
    ];
    for (name, figures_of_it) in expected {
        assert_eq!(figures(&loops, name), figures_of_it, "{name}");
    }
    let calls = fixture("calls", "sm_100");
    assert_eq!(figures(&calls, "calls_one"), [1, 1, 1, 1, 0]);
    assert_eq!(figures(&calls, "calls_two"), [2, 1, 1, 3, 0]);
    assert_eq!(figures(&calls, "panics_in_loop"), [1, 1, 2, 1, 0]);
    assert_eq!(figures(&fixture("lines", "sm_90"), "lines"), [1, 1, 1, 0, 1]);
    assert_eq!(figures(&fixture("switch", "sm_80"), "switch_in_loop"), [1, 2, 3, 0, 0]);
    assert_eq!(figures(&fixture("memory", "sm_80"), "generic"), [0, 2, 1, 0, 0]);
    assert_eq!(figures(&fixture("wgmma", "sm_90a"), "pipelined"), [1, 0, 1, 0, 0]);
    for arch in ["sm_80", "sm_120a"] {
        assert_eq!(figures(&fixture("collectives", arch), "collectives"), [1, 2, 2, 0, 0], "{arch}");
    }
}

#[test]
fn functions_of_a_section_have_their_kinds_and_names() {
    let calls = fixture("calls", "sm_100");
    assert_eq!(calls.arch, "sm_100");
    let section = calls.sections.iter().find(|section| section.name == ".text.calls_two").expect("the section");
    let found: Vec<_> = section.symbols.iter().map(|s| (s.short_name("calls_two"), s.kind)).collect();
    let expected =
        [("calls_two", SymbolKind::Kernel), ("multiply_rows", SymbolKind::Device), ("sum_row", SymbolKind::Device)];
    assert_eq!(found, expected);
    let lines = fixture("lines", "sm_90");
    let helper = &lines.sections[0].symbols[1];
    assert_eq!(helper.kind, SymbolKind::Arithmetic);
    assert_eq!(helper.short_name("lines"), "__cuda_sm3x_div_rn_noftz_f32_slowpath");
}

#[test]
fn an_instruction_knows_where_it_was_written_and_inlined() {
    let module = fixture("lines", "sm_90");
    let program = Program::of(&module);
    let kernel = program.kernel("lines").expect("the kernel");
    let [(_, found)] = kernel.loops()[..] else { panic!("one loop") };
    let source = found.source().expect("a source line");
    assert_eq!(source.to_string(), "inner.rs:4, inlined at kernel.rs:7, inlined at kernel.rs:12");
    assert_eq!((&*source.innermost().file, source.innermost().line), ("inner.rs", 4));
    let lines: Vec<String> = found.lines().iter().map(|frame| format!("{}:{}", frame.file, frame.line)).collect();
    assert_eq!(lines, ["inner.rs:4", "kernel.rs:7", "kernel.rs:12"]);
    let last_store = kernel.instructions().into_iter().find(|i| i.is("STG")).expect("a store");
    assert_eq!(last_store.source.as_ref().map(ToString::to_string).as_deref(), Some("kernel.rs:14"));
}

#[test]
fn a_helper_has_no_source_line() {
    let module = fixture("lines", "sm_90");
    let program = Program::of(&module);
    let kernel = program.kernel("lines").expect("the kernel");
    let helper = kernel.functions().find(|function| function.is_helper()).expect("the division");
    assert!((0..helper.graph.blocks.len()).flat_map(|block| helper.code(block)).all(|i| i.source.is_none()));
}

#[test]
fn a_loop_names_its_header_its_latches_and_its_instructions() {
    let module = fixture("loops", "sm_90");
    let program = Program::of(&module);
    let kernel = program.kernel("nested").expect("the kernel");
    let [(_, outer), (_, inner)] = kernel.loops()[..] else { panic!("two loops") };
    assert!(outer.header < inner.header && inner.latches[0] < outer.latches[0]);
    let holds = |address: u64| outer.instructions.iter().any(|i| i.address == address);
    assert!(inner.instructions.iter().all(|i| holds(i.address)), "an outer loop holds the inner one");
    assert!(inner.holds("LDG") && !inner.holds("STG") && outer.holds("STG"));
    let latch = inner.instructions.last().expect("instructions");
    assert_eq!((latch.mnemonic(), latch.address), ("BRA", inner.latches[0]));
}

#[test]
fn the_listings_show_functions_loops_and_lines() {
    let module = fixture("lines", "sm_90");
    let program = Program::of(&module);
    let kernel = program.kernel("lines").expect("the kernel");
    let sass = kernel.sass();
    for part in
        ["kernel lines\n", "    // inner.rs:4, inlined at kernel.rs:7", "// loop 1, depth 1, back from 0x", "  FADD "]
    {
        assert!(sass.contains(part), "{part}\n{sass}");
    }
    assert!(sass.contains("helper of ptxas __cuda_sm3x_div_rn_noftz_f32_slowpath\n"));
    assert!(!sass.contains(" NOP"), "padding is left out");
    let cfg = kernel.cfg();
    assert!(cfg.starts_with("kernel lines\n    0: 0x0000 to 0x"), "{cfg}");
    assert!(cfg.contains("(jump)") && cfg.contains("(next)") && cfg.contains("(returned)") && cfg.contains("-> end"));
    let dot = kernel.dot();
    assert!(dot.starts_with("digraph \"lines\" {") && dot.ends_with("}\n"));
    let edges = cfg.matches("(jump)").count() + cfg.matches("(next)").count() + cfg.matches("(returned)").count();
    assert_eq!(dot.matches(" -> ").count(), edges);
}
