//! The promise: for AMD's GPUs the same hints are honoured on the same loops as for NVIDIA's, down to the machine code, and what
//! cannot be had there is refused in one sentence.

use std::fs;
use std::path::Path;

use cargo_latch::audit::Entry;
use cargo_latch::build::{BuildArgs, Builder, HintMode, Profile};
use cargo_latch::setup::{self, Progress};
use cargo_latch::target::Target;
use codegen_pass::report::Status;
use latch_tests::isa::Function;
use latch_tests::{archs, audits, checkout, expected, latch, shown};

const ARCHS: [&str; 2] = ["gfx1100", "gfx942"];

fn builder(hints: HintMode, profile: Profile) -> Builder {
    let args = BuildArgs { hints, profile, target: Some(Target::Amdgcn), ..BuildArgs::default() };
    Builder::new(&checkout(), &args, &Progress::silent()).expect("set-up has been done")
}

/// The kernels' hinted loops.
fn marked(entry: &Entry) -> Vec<(&str, usize)> {
    let mut marked: Vec<_> = entry.kernels.iter().map(|kernel| (&*kernel.name, kernel.marked_latches)).collect();
    marked.sort_unstable();
    marked
}

#[test]
fn the_same_loops_are_marked_as_for_nvidia_and_every_hint_is_honoured() {
    for package in ["nounroll", "unroll"] {
        let builder = builder(HintMode::Llvm, Profile::Release);
        let nvidia = audits(&builder, package, &["sm_90"]).remove(0);
        for entry in audits(&builder, package, &ARCHS) {
            assert_eq!(marked(&entry), marked(&nvidia), "{package} for {}", entry.arch);
            assert_eq!(entry.hints.len(), nvidia.hints.len());
            let lost: Vec<_> = entry.hints.iter().filter(|hint| hint.status != Status::Honoured).collect();
            assert!(lost.is_empty(), "{package} for {}: {lost:?}", entry.arch);
        }
    }
}

#[test]
fn both_modes_give_the_same_records() {
    let [llvm, mir] =
        [HintMode::Llvm, HintMode::Mir].map(|hints| audits(&builder(hints, Profile::Release), "nounroll", &ARCHS));
    for (llvm, mir) in llvm.iter().zip(&mir) {
        assert_eq!((marked(llvm), &llvm.hints), (marked(mir), &mir.hints), "{}", llvm.arch);
    }
}

#[test]
fn the_machine_code_has_the_loops_that_the_kernels_name() {
    let builder = builder(HintMode::Llvm, Profile::Release);
    for package in ["nounroll", "unroll"] {
        let expected = expected::of_sources(&checkout().join("kernels").join(package).join("src"));
        let crates = builder.workspace.kernel_crates(&[package.to_owned()]).expect("a kernel crate").remove(0);
        for arch in archs(&ARCHS) {
            let built = builder.build(&crates, &arch, None).expect("it builds");
            let assembly = fs::read_to_string(&built.ptx).expect("the assembly is there");
            let loops = |kernel: &expected::Expected| Function::of(&assembly, &kernel.name).loops();
            let wrong = expected.iter().filter(|kernel| loops(kernel) != kernel.loops);
            let wrong: Vec<_> = wrong.map(|kernel| format!("{kernel:?}: {} loops", loops(kernel))).collect();
            assert!(wrong.is_empty(), "{package} for {arch}:\n{}", wrong.join("\n"));
        }
    }
}

#[test]
fn an_unoptimized_build_keeps_every_loop() {
    for entry in audits(&builder(HintMode::Llvm, Profile::Dev), "nounroll", &ARCHS) {
        for hint in &entry.hints {
            assert_eq!(hint.status, Status::Honoured, "{hint:?}");
            assert!(hint.instances.iter().all(|instance| instance.loops_after_opt == 1), "{hint:?}");
        }
    }
}

#[test]
fn the_report_of_an_audit_knows_no_sass() {
    let arguments = ["audit", "-p", "nounroll", "--hints", "llvm", "--target", "amdgcn", "--json"];
    let output = latch(&checkout(), &arguments);
    assert!(output.status.success(), "{}", shown(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(report[0]["arch"], "gfx1100", "the default");
    for kernel in report[0]["kernels"].as_array().expect("a list") {
        for unknown in ["sass", "registers", "spill_bytes", "stack_bytes", "shared_bytes"] {
            assert!(kernel[unknown].is_null(), "{kernel}");
        }
        assert_eq!(kernel["pragmas"], 0, "{kernel}");
    }
}

#[test]
fn every_stage_can_be_looked_at() {
    let inspect = |stage: &str| {
        let arguments =
            ["inspect", "taps_rolled", "-p", "nounroll", "--hints", "llvm", "--arch", "gfx942", "--emit", stage];
        let output = latch(&checkout(), &arguments);
        assert!(output.status.success(), "{stage}: {}", shown(&output));
        String::from_utf8(output.stdout).expect("it is text")
    };
    assert!(inspect("mir").contains("__latch_loop_body"));
    assert!(inspect("llvm").contains("llvm.loop.unroll.disable"));
    assert!(inspect("llvm-opt").contains("define amdgpu_kernel void @taps_rolled"));
    assert!(inspect("asm").contains("s_cbranch"));
    let hints = inspect("hints");
    assert!(hints.contains("optimized") && !hints.contains("PTX") && !hints.contains("SASS"), "{hints}");
}

#[track_caller]
fn refused(arguments: &[&str], said: &str) {
    let output = latch(&checkout(), arguments);
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(said) && !text.contains("panicked"), "{text}");
}

#[test]
fn what_is_not_for_amd_is_refused() {
    let build = |more: &[&'static str]| [&["build", "-p", "nounroll", "--hints", "llvm"], more].concat();
    refused(&build(&["--arch", "gfx9999"]), "error: `gfx9999` is no GPU that Rust 1.96.0 knows; it knows gfx");
    refused(
        &build(&["--arch", "gfx"]),
        "`gfx` is no GPU architecture: write sm_80, sm_90, sm_120a, …, or gfx942, gfx1100",
    );
    refused(
        &build(&["--target", "amdgcn", "--arch", "sm_90"]),
        "error: `sm_90` is no GPU of `--target amdgcn`: write gfx942, gfx1100",
    );
    refused(&build(&["--target", "nvptx", "--arch", "gfx942"]), "error: `gfx942` is no GPU of `--target nvptx`");
    refused(
        &build(&["--target", "amdgcn", "--route", "nvvm"]),
        "error: libNVVM makes code for NVIDIA's GPUs alone: take `--route llc` for gfx1100",
    );
    let inspect = |stage: &'static str, arch: &'static str| {
        ["inspect", "taps_rolled", "-p", "nounroll", "--hints", "llvm", "--arch", arch, "--emit", stage]
    };
    for stage in ["ptx", "sass", "cfg"] {
        refused(&inspect(stage, "gfx942"), "error: gfx942 has no PTX and no SASS: its machine code is `--emit asm`");
    }
    refused(&inspect("asm", "sm_90"), "error: the machine code of sm_90 is `--emit sass`");
    refused(
        &["run", "taps_rolled", "-p", "nounroll", "--arch", "gfx942", "--grid", "1", "--block", "1"],
        "error: the emulator runs PTX, and gfx942 has none",
    );
}

#[test]
fn both_makers_in_one_build_and_a_code_object_where_lld_is_here() {
    let output = latch(&checkout(), &["build", "-p", "nounroll", "--hints", "llvm", "--arch", "gfx942,sm_90"]);
    assert!(output.status.success(), "{}", shown(&output));
    let (files, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let files: Vec<&str> = files.lines().collect();
    let extensions: Vec<&str> = files.iter().filter_map(|file| Path::new(file).extension()?.to_str()).collect();
    let tools = builder(HintMode::Llvm, Profile::Release).tools;
    if setup::ensure_lld(&tools, &Progress::silent()).is_ok() {
        assert_eq!(extensions, ["s", "hsaco", "ptx", "cubin"], "{said}");
        assert!(fs::read(files[1]).expect("it was written").starts_with(b"\x7fELF"));
    } else {
        assert_eq!(extensions, ["s", "ptx", "cubin"], "{said}");
        assert!(said.contains("assembly only, no code object: "), "{said}");
    }
}
