//! What ptxas makes of loops, told loop by loop, on three architectures.

mod common;

use std::fs;

use sass::{AssembleOptions, Error, Program, PtxModule, Verdict, Witness, one_statement_a_line, same_code, split, tie};

const ARCHS: [&str; 3] = ["sm_80", "sm_90", "sm_120a"];

fn witness(text: &str, arch: &str) -> Witness {
    Witness::of(&common::ptxas(), &common::nvdisasm(), text, arch, &AssembleOptions::default())
        .unwrap_or_else(|error| panic!("{arch}: {error}"))
}

fn text(file: &str) -> String {
    fs::read_to_string(common::data(file)).expect("the file")
}

/// The loops of a file, as `kernel function label: fate`, the fate with the copies of every instance.
fn fates(file: &str, arch: &str) -> Vec<String> {
    let text = text(file);
    let ptx = PtxModule::parse(&text).expect("PTX");
    let module = witness(&text, arch).module;
    let mut lines = Vec::new();
    for kernel in tie(&ptx, &Program::of(&module)) {
        for tied in &kernel.loops {
            let function = tied.ptx_function(&ptx);
            let label = &function.get(tied.id).labels()[0];
            let copies: Vec<u32> = tied.instances.iter().map(|instance| instance.copies).collect();
            lines.push(format!("{} {} {label}: {:?} {copies:?}", kernel.name, function.name, tied.verdict));
        }
    }
    lines.sort();
    lines
}

#[test]
fn every_fate_of_a_loop() {
    let expected = [
        "bare bare INNER: Alive [1]",
        "bare bare OUTER: Alive [1]",
        "by_four by_four TURN: Alive [4]",
        "calls calls TURN: Alive [1]",
        "calls power POWER: Alive [1]",
        "flat flat TURN: Gone []",
        "inlined inlined TURN: Alive [1]",
        "inlined small SMALL: Alive [1]",
        "lost lost INNER: Gone []",
        "lost lost OUTER: Alive [1]",
        "table table TURN: Alive [1]",
        "two_doors two_doors TURN: Alive [1]",
    ];
    for arch in ARCHS {
        assert_eq!(fates("fates.ptx", arch), expected, "{arch}");
    }
}

#[test]
fn a_verdict_is_found_by_kernel_function_and_label() {
    let text = text("fates.ptx");
    let ptx = PtxModule::parse(&text).expect("PTX");
    let module = witness(&text, "sm_90").module;
    let tied = tie(&ptx, &Program::of(&module));
    let calls = tied.iter().find(|kernel| kernel.name == "calls").expect("the kernel");
    let found = calls.find(&ptx, "power", "POWER").expect("the loop");
    assert_eq!((found.verdict, found.copies(), found.instances.len()), (Verdict::Alive, 1, 1));
    assert_eq!(found.instances[0].section, ".text.calls");
    assert!(calls.find(&ptx, "power", "TURN").is_none() && calls.find(&ptx, "bare", "OUTER").is_none());
}

/// What the compilers make of our own kernels: each loop with the pragma lives, once.
#[test]
fn every_loop_that_must_stay_is_there() {
    for (file, arch) in [("llc", "sm_90"), ("llc", "sm_120a"), ("nvvm", "sm_120a")] {
        let text = split(&text(&format!("split/nounroll-{file}.lines.ptx"))).code;
        let text = one_statement_a_line(&text);
        let ptx = PtxModule::parse(&text).expect("PTX");
        let module = witness(&text, arch).module;
        let tied = tie(&ptx, &Program::of(&module));
        let loops =
            tied.iter().flat_map(|kernel| &kernel.loops).filter(|tied| tied.ptx_function(&ptx).get(tied.id).nounroll());
        let fates: Vec<(Verdict, u32)> = loops.map(|tied| (tied.verdict, tied.copies())).collect();
        assert!(
            fates.len() >= 15 && fates.iter().all(|fate| *fate == (Verdict::Alive, 1)),
            "{file}, {arch}: {fates:?}"
        );
    }
}

#[test]
fn all_code_is_a_block_s_or_unknown() {
    let text = text("fates.ptx");
    let ptx = PtxModule::parse(&text).expect("PTX");
    let module = witness(&text, "sm_120a").module;
    let program = Program::of(&module);
    for (kernel, tied) in program.kernels().zip(tie(&ptx, &program)) {
        let blocks = tied.functions.iter().flat_map(|&at| (0..ptx.functions()[at].blocks.len()).map(move |b| (at, b)));
        let code = blocks.filter_map(|(function, block)| tied.code_of(function, block));
        let known: usize = code.map(|code| code.fixed.len() + code.loose.len()).sum();
        assert_eq!(known + tied.unknown.len(), kernel.instructions().len(), "{}", tied.name);
        assert!(tied.unknown.len() < 6, "{}: {}", tied.name, tied.unknown.len());
    }
}

#[test]
fn a_witness_is_made_of_the_code_alone() {
    let (ptxas, nvdisasm, options) = (common::ptxas(), common::nvdisasm(), AssembleOptions::default());
    let text = text("split/nounroll-nvvm.lines.ptx");
    let error = Witness::of(&ptxas, &nvdisasm, &text, "sm_120a", &options).expect_err("locations");
    assert!(matches!(error, Error::HasLocations { line } if line > 1), "{error}");
    let code = split(&text).code;
    let made = Witness::of(&ptxas, &nvdisasm, &code, "sm_120a", &options).expect("a witness");
    let plain = ptxas.assemble(&code, "sm_120a", &options).expect("a cubin");
    assert_eq!(made.cubin.image, plain.image, "what is shipped is assembled without line information");
}

#[test]
fn code_is_compared_byte_for_byte() {
    let first = common::assemble("fates.ptx", "sm_90").image;
    assert_eq!(same_code(&first, &first), Ok(vec![]));
    let options = AssembleOptions { opt_level: 1, ..AssembleOptions::default() };
    let second = common::assemble_with("fates.ptx", "sm_90", &options).image;
    let differs = same_code(&first, &second).expect("two cubins");
    assert!(differs.contains(&".text.by_four".to_owned()), "{differs:?}");
    let other = common::assemble("switch.ptx", "sm_90").image;
    assert!(same_code(&first, &other).expect("two cubins").contains(&".text.flat".to_owned()));
    for image in [&b"hello"[..], &[], &first[..first.len() / 2]] {
        let error = same_code(&first, image).expect_err("no cubin");
        assert!(error.to_string().starts_with("the cubin is not an ELF file"), "{error}");
    }
}
