//! The promise: by libNVVM a hint becomes what it becomes by LLVM's own backend, for every shape of loop and in both
//! modes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use cargo_latch::audit::{Entry, audit};
use cargo_latch::build::{BuildArgs, Builder, FpContract, HintMode, Profile, Route, Wanted};
use cargo_latch::setup::{self, Progress};
use emulator::{Arg, Config, Device, Module, Scalar, Shape};
use hint_record::Status;
use latch_tests::{archs, audits, checkout, expected, fixture, latch, shown};

/// libNVVM reads Rust's LLVM for these.
const ARCHS: [&str; 2] = ["sm_100", "sm_120a"];

fn builder(hints: HintMode, profile: Profile, route: Route, fp_contract: FpContract) -> Builder {
    let args = BuildArgs { hints, profile, route, fp_contract, ..BuildArgs::default() };
    Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done")
}

fn by(route: Route, hints: HintMode, profile: Profile, package: &str) -> Vec<Entry> {
    audits(&builder(hints, profile, route, FpContract::Off), package, &ARCHS)
}

/// Marked latches, pragmas, loops and global loads in SASS.
type Figures = (usize, usize, usize, usize);

fn figures(entry: &Entry) -> BTreeMap<&str, Figures> {
    let of = |kernel: &'_ cargo_latch::audit::Kernel| {
        let sass = kernel.sass.expect("NVIDIA's tools are here");
        (kernel.marked_latches, kernel.pragmas, sass.loops, sass.global_loads)
    };
    entry.kernels.iter().map(|kernel| (kernel.name.as_str(), of(kernel))).collect()
}

/// The hints of a package, and the loops and loads of its kernels, are the same by both routes.
#[track_caller]
fn same_table(package: &str, hints: HintMode) {
    let llc = by(Route::Llc, hints, Profile::Release, package);
    let nvvm = by(Route::Nvvm, hints, Profile::Release, package);
    for (llc, nvvm) in llc.iter().zip(&nvvm) {
        assert_eq!((llc.route, nvvm.route), (Route::Llc, Route::Nvvm));
        assert_eq!(figures(llc), figures(nvvm), "{}", llc.arch);
        assert_eq!(llc.hints, nvvm.hints, "{}", llc.arch);
        assert!(nvvm.hints.iter().all(|hint| hint.status == Status::Honoured), "{:?}", nvvm.hints);
        let expected = expected::of_sources(&checkout().join("kernels").join(package).join("src"));
        let found = figures(nvvm);
        for kernel in expected {
            let (_, pragmas, loops, loads) = found[kernel.name.as_str()];
            assert_eq!((loops, loads), (kernel.loops, kernel.loads), "{} on {}", kernel.name, nvvm.arch);
            assert!(pragmas <= loops, "{} on {}", kernel.name, nvvm.arch);
        }
    }
}

#[test]
fn both_routes_have_the_same_table_of_rolled_loops() {
    same_table("nounroll", HintMode::Llvm);
    same_table("nounroll", HintMode::Mir);
}

#[test]
fn both_routes_have_the_same_table_of_unrolled_loops() {
    same_table("unroll", HintMode::Llvm);
    same_table("unroll", HintMode::Mir);
}

#[test]
fn an_unoptimized_build_has_one_pragma_for_each_hinted_loop_and_assembles() {
    for entry in by(Route::Nvvm, HintMode::Llvm, Profile::Dev, "nounroll") {
        for (name, (marked, pragmas, ..)) in figures(&entry) {
            assert_eq!(marked, pragmas, "{name} on {}", entry.arch);
        }
        assert!(entry.hints.iter().all(|hint| hint.status == Status::Honoured), "{:?}", entry.hints);
    }
}

#[test]
fn what_is_left_of_a_hint_is_read_from_libnvvms_own_ptx() {
    for profile in [Profile::Release, Profile::Dev] {
        let builder = builder(HintMode::Llvm, profile, Route::Nvvm, FpContract::Off);
        for package in ["nounroll", "unroll"] {
            let kernels = builder.workspace.kernel_crates(&[package.to_owned()]).expect("it is a kernel crate");
            let built = builder.build(&kernels[0], &archs(&["sm_100"])[0], None).expect("it builds");
            let ptx = built.text.clone();
            let left: Vec<_> = built.report.hints.iter().flat_map(|hint| &hint.left).collect();
            assert!(left.len() > 10, "{package}, {profile}");
            for found in left {
                let label = format!("\n{}:", found.header);
                assert!(found.header.starts_with("$L__BB") && ptx.contains(&label), "{package}, {profile}: {found:?}");
            }
        }
    }
}

/// The kernel's PTX and machine code.
fn code(route: Route, fp_contract: FpContract) -> [String; 2] {
    let (route, fp_contract) = (route.to_string(), if fp_contract == FpContract::On { "on" } else { "off" });
    ["ptx", "sass"].map(|stage| {
        let options = ["-p", "nounroll", "--hints", "llvm", "--arch", "sm_100"];
        let choice = ["--route", &route, "--fp-contract", fp_contract];
        let output =
            latch(&checkout(), &[&["inspect", "taps_rolled", "--emit", stage][..], &options, &choice].concat());
        assert!(output.status.success(), "{}", shown(&output));
        String::from_utf8(output.stdout).expect("it is text")
    })
}

#[test]
fn products_and_sums_are_fused_on_demand_alone_by_both_routes() {
    for route in [Route::Llc, Route::Nvvm] {
        let [ptx, sass] = code(route, FpContract::Off);
        assert!(ptx.contains("mul.rn.f32") && ptx.contains("add.rn.f32") && !ptx.contains("fma"), "{route}: {ptx}");
        assert!(sass.contains("FMUL") && sass.contains("FADD") && !sass.contains("FFMA"), "{route}: {sass}");
        let [ptx, sass] = code(route, FpContract::On);
        assert!(ptx.contains("fma.rn.f32") && !ptx.contains("mul.rn.f32"), "{route}: {ptx}");
        assert!(sass.contains("FFMA") && !sass.contains("FMUL"), "{route}: {sass}");
    }
}

/// The module that a route makes of the kernels that have to be adapted.
fn adapted(route: Route, profile: Profile) -> Module {
    let args = BuildArgs { hints: HintMode::Llvm, profile, route, ..BuildArgs::default() };
    let builder =
        Builder::new(&fixture("adapted"), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    let kernels = builder.workspace.kernel_crates(&[]).expect("it is a kernel crate");
    let built = builder.build(&kernels[0], &archs(&["sm_100"])[0], None).expect("it builds");
    Module::load(&built.text).expect("the emulator reads it")
}

/// What a kernel makes of its inputs, bit for bit.
fn run<T: Scalar>(module: &Module, kernel: &str, inputs: &[Vec<T>]) -> Vec<u32> {
    let mut device = Device::new(Config::default());
    let count = inputs[0].len();
    let mut arguments: Vec<Arg> = inputs.iter().map(|input| device.buffer(input).into()).collect();
    let output = device.uninit::<u32>(count);
    arguments.push((&output).into());
    let kernel = module.kernel(kernel).expect("the kernel is there");
    device.launch(&kernel, Shape::line(1, count as u32), &arguments).expect("the kernel runs");
    device.read_written(&output).expect("every element was written")
}

#[test]
fn what_is_written_otherwise_computes_the_same() {
    let bytes: Vec<u8> = (0..=255).step_by(5).collect();
    let other = |shift: usize| bytes.iter().cycle().skip(shift).take(bytes.len()).copied().collect::<Vec<u8>>();
    let words: Vec<u32> = (0..64u32).map(|k| k.wrapping_mul(0x9e37_79b9) >> (k % 24)).collect();
    let turned: Vec<u32> = words.iter().rev().copied().collect();
    let floats: Vec<f32> = words.iter().map(|&word| word as i32 as f32 * 0.25 - 7.5).collect();
    for profile in [Profile::Release, Profile::Dev] {
        let [llc, nvvm] = [Route::Llc, Route::Nvvm].map(|route| adapted(route, profile));
        for shift in [0, 1, 17, 40] {
            let inputs = [bytes.clone(), other(shift)];
            assert_eq!(run(&llc, "bytes", &inputs), run(&nvvm, "bytes", &inputs), "{profile}, shifted by {shift}");
        }
        let inputs = [words.clone(), turned.clone()];
        assert_eq!(run(&llc, "words", &inputs), run(&nvvm, "words", &inputs), "{profile}");
        let inputs = [floats.clone()];
        assert_eq!(run(&llc, "floats", &inputs), run(&nvvm, "floats", &inputs), "{profile}");
        let expected: Vec<u32> = floats.iter().map(|x| (x.abs() + (x * 0.5).round_ties_even()).to_bits()).collect();
        assert_eq!(run(&nvvm, "floats", &inputs), expected, "{profile}");
        let expected: Vec<u32> = words.iter().map(|x| (x ^ x.rotate_left(3)).wrapping_add(*x)).collect();
        assert_eq!(run(&nvvm, "atomics", std::slice::from_ref(&words)), expected, "{profile}");
    }
}

#[track_caller]
fn refused(arguments: &[&str], said: &str) {
    let output = latch(&checkout(), &[arguments, &["-p", "nounroll", "--hints", "llvm"]].concat());
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(said), "{text}");
}

#[test]
fn an_older_architecture_is_refused_with_the_other_routes_name() {
    let said = "error: libNVVM takes what Rust writes for sm_100 and later: take `--route llc` for sm_90";
    refused(&["build", "--route", "nvvm", "--arch", "sm_100,sm_90"], said);
}

#[test]
fn the_linker_asks_libnvvm_itself_which_architectures_it_takes() {
    let builder = builder(HintMode::Llvm, Profile::Release, Route::Nvvm, FpContract::Off);
    let libnvvm = builder.tools().cuda.as_ref().ok().and_then(|cuda| cuda.libnvvm.clone()).expect("it is here");
    let linker = setup::latch_link().expect("the linker has been built");
    let nothing = checkout().join("README.md");
    let output = Command::new(linker)
        .args(["--route", "nvvm", "--target-cpu", "sm_90", "-o", "never.ptx", "--libnvvm"])
        .args([&libnvvm, &nothing])
        .output()
        .expect("it runs");
    let said = "libNVVM compiles for sm_90 only what LLVM 7 wrote";
    assert!(
        shown(&output).contains(said) && shown(&output).contains("take `--route llc` for sm_90"),
        "{}",
        shown(&output)
    );
}

#[test]
fn libnvvm_shows_no_module_that_it_has_optimized() {
    let arguments = ["inspect", "taps_rolled", "--emit", "llvm-opt", "--route", "nvvm", "--arch", "sm_100"];
    refused(&arguments, "error: libNVVM shows no module that it has optimized");
}

/// A CUDA toolkit with the two tools that Latch asks for, and nothing else.
fn toolkit_without_libnvvm(folder: &Path, builder: &Builder) {
    let cuda = builder.tools().cuda.as_ref().expect("NVIDIA's tools are here");
    fs::create_dir(folder.join("bin")).expect("it can be made");
    for tool in [&cuda.ptxas, &cuda.nvdisasm] {
        symlink(tool, folder.join("bin").join(tool.file_name().expect("a tool has a name"))).expect("it can be made");
    }
}

#[test]
fn a_toolkit_without_libnvvm_is_named_with_the_ways_out() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    toolkit_without_libnvvm(folder.path(), &builder(HintMode::Llvm, Profile::Release, Route::Llc, FpContract::Off));
    let program = setup::beside("cargo-latch").expect("cargo-latch has been built");
    let run = |route: &str| {
        Command::new(&program)
            .args(["build", "-p", "nounroll", "--hints", "llvm", "--arch", "sm_100", "--route", route])
            .current_dir(checkout())
            .env("CUDA_HOME", folder.path())
            .output()
            .expect("cargo-latch runs")
    };
    let output = run("nvvm");
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    for said in ["`--route nvvm` needs libNVVM", "unset CUDA_HOME", "`--route llc` needs none"] {
        assert!(shown(&output).contains(said), "{said}: {}", shown(&output));
    }
    assert!(run("llc").status.success());
}

#[test]
fn the_report_names_the_route() {
    let builder = builder(HintMode::Llvm, Profile::Release, Route::Nvvm, FpContract::Off);
    let kernels = builder.workspace.kernel_crates(&["nounroll".to_owned()]).expect("it is a kernel crate");
    let entry = audit(&builder, &kernels[0], &archs(&["sm_100"])[0]).expect("it builds");
    let report = serde_json::to_value(&entry).expect("a report is plain data");
    assert_eq!(report["route"], "nvvm");
}
