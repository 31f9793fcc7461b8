//! The promise: for AMD's GPUs the same hints are honoured on the same loops as for NVIDIA's, down to the machine code,
//! and what cannot be had there is refused in one sentence.

use std::fs;
use std::path::Path;

use cargo_latch::audit::Entry;
use cargo_latch::build::{BuildArgs, Builder, HintMode, Profile, Wanted};
use cargo_latch::setup::{self, Progress};
use cargo_latch::target::Target;
use hint_record::Status;
use latch_tests::isa::Function;
use latch_tests::{archs, audits, checkout, expected, latch, shown};

const ARCHS: [&str; 2] = ["gfx1100", "gfx942"];

fn builder(hints: HintMode, profile: Profile) -> Builder {
    let args = BuildArgs { hints, profile, target: Some(Target::Amdgcn), ..BuildArgs::default() };
    Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done")
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
            let assembly = built.text.clone();
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

/// A workspace with a kernel crate for each of the two makers, which its manifest says in these words.
fn workspace(targets: [&str; 2]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let write = |file: &str, text: &str| {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("written");
    };
    write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"other\"]\n");
    for (name, targets) in ["one", "other"].iter().zip(targets) {
        let library = checkout().join("device-std");
        write(
            &format!("{name}/Cargo.toml"),
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[package.metadata.latch]\n\
                 targets = {targets}\n[lib]\ncrate-type = [\"cdylib\"]\n[dependencies]\ndevice-std = {{ path = {library:?} }}\n"
            ),
        );
        write(
            &format!("{name}/src/lib.rs"),
            "#![no_std]\n#![feature(abi_gpu_kernel)]\n#[device_std::kernel]\npub fn k() {}\n",
        );
    }
    folder
}

#[test]
fn a_crate_is_built_for_those_it_is_for() {
    let folder = workspace(["[\"nvptx\"]", "[\"amdgcn\", \"nvptx\"]"]);
    let build = |more: &[&str]| latch(folder.path(), &[&["build", "--hints", "llvm", "--emit", "ptx"], more].concat());
    let both = build(&["--arch", "sm_90,gfx942"]);
    assert!(both.status.success(), "{}", shown(&both));
    let made = String::from_utf8_lossy(&both.stdout).into_owned();
    let names: Vec<&str> = made.lines().filter_map(|file| Path::new(file).file_name()?.to_str()).collect();
    assert_eq!(names, ["one.ptx", "other.ptx", "other.s"]);
    let named = build(&["-p", "one", "--arch", "gfx942"]);
    assert_eq!(named.status.code(), Some(2), "{}", shown(&named));
    let said = "error: `one` is not for gfx942: its Cargo.toml says that it is for nvptx";
    assert!(shown(&named).contains(said), "{}", shown(&named));
}

#[test]
fn targets_that_are_none_are_refused() {
    for wrong in ["\"nvptx\"", "[]", "[\"spirv\"]"] {
        let output = latch(workspace(["[\"nvptx\"]", wrong]).path(), &["build", "--hints", "llvm"]);
        assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
        assert!(shown(&output).contains("other/Cargo.toml is no list of nvptx and amdgcn"), "{}", shown(&output));
    }
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
    let tools = builder(HintMode::Llvm, Profile::Release);
    let tools = tools.tools();
    if setup::ensure_lld(tools, &Progress::silent()).is_ok() {
        assert_eq!(extensions, ["s", "hsaco", "ptx", "cubin"], "{said}");
        let code_object = fs::read(files[1]).expect("it was written");
        assert!(code_object.starts_with(b"\x7fELF"));
        // A shared object for AMD's GPUs, whose kernels the runtimes find by these symbols.
        assert_eq!((code_object[16], code_object[18]), (3, 224));
        let descriptor = b"\0taps_rolled.kd\0";
        assert!(code_object.windows(descriptor.len()).any(|bytes| bytes == descriptor));
    } else {
        assert_eq!(extensions, ["s", "ptx", "cubin"], "{said}");
        assert!(said.contains("assembly only, no code object: "), "{said}");
    }
}
