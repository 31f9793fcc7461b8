//! The promise: the check of the Gated DeltaNet kernels finds nothing wrong with them and notices what is; it is the
//! same on the emulator and on a driver, from the script too. And arrays go through files as they do through memory.
//!
//! The driver is a library in its place that runs kernels on the emulator (`launch/tests/driver`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use cargo_latch::build::outputs::write_whole;
use cargo_latch::build::{BuildArgs, Builder, HintMode, Wanted};
use cargo_latch::setup::{self, Progress};
use device_std::math::{Bf16, F16};
use gated_delta::cases::{Case, usual};
use gated_delta::problem::{Outputs, Sizes};
use gated_delta::{Element, Kernels, OwnedInputs};
use gated_delta_cli::arrays::{Loaded, Stored, write};
use gated_delta_cli::check::{Beside, Report, Scope, check};
use latch_tests::{archs, checkout, shown};
use launch::Emulator;

const HOUR: Duration = Duration::from_secs(3600);

/// The file with the kernels for sm_90.
fn ptx() -> PathBuf {
    let archs = archs(&["sm_90"]);
    let args = BuildArgs { hints: HintMode::Llvm, archs: archs.clone(), ..BuildArgs::default() };
    let builder =
        Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    let found = builder.workspace.kernel_crates(&["gdn".to_owned()]).expect("the package is a kernel crate");
    let built = builder.build(&found[0], &archs[0], None).expect("the package builds");
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("gdn.ptx");
    write_whole(&file, built.text.as_bytes()).expect("the PTX can be written");
    file
}

fn emulated(ptx: &str) -> Report {
    let gpu = Emulator::new("sm_90").expect("the architecture is known");
    let kernels = Kernels::load(gpu, ptx).unwrap_or_else(|error| panic!("{error}"));
    check(&kernels, &Scope::small(HOUR), &mut |_| ())
}

fn program() -> PathBuf {
    setup::beside("gated-delta").expect("`cargo build -p gated-delta-cli` builds the program")
}

/// A command that finds the stand-in where it looks for the driver.
fn on_the_stand_in(program: &Path) -> Command {
    let examples = setup::beside("cargo-latch").expect("cargo-latch has been built").with_file_name("examples");
    assert!(examples.join("libcuda.so").is_file(), "`cargo build -p launch --examples` builds the stand-in");
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", examples).env("LATCH_STUB_DRIVER", "");
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn nothing_is_wrong_with_the_kernels() {
    let report = emulated(&fs::read_to_string(ptx()).expect("the PTX is there"));
    let text = report.text(&Beside::default());
    assert!(report.wrongs().is_empty() && !report.is_cut(), "{text}");
    // As many kernels and types as there are, each with cases.
    assert_eq!(report.accuracy.len(), 4 * 3 + 2, "{text}");
    assert!(report.accuracy.iter().all(|row| row.cases.iter().all(|cell| cell.done().is_some())), "{text}");
    assert!(report.accuracy.iter().all(|row| !row.cases.is_empty()), "{text}");
    assert!(report.repeats.iter().all(|row| row.runs.done() == Some(&3)), "{text}");
    assert!(text.contains("no clock"), "{text}");
}

/// The text with each line of the kernels whose names begin so given to `change`.
fn changed(ptx: &str, kernels: &str, change: impl Fn(&str) -> String) -> String {
    let mut is_inside = false;
    let line = |line: &str| {
        if let Some((_, name)) = line.split_once(".entry ") {
            is_inside = name.starts_with(kernels);
        }
        if is_inside { change(line) } else { line.to_owned() }
    };
    ptx.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_kernel_that_computes_something_else_is_noticed() {
    let ptx = fs::read_to_string(ptx()).expect("the PTX is there");
    // Gates and betas change places.
    let swapped = |line: &str| match (line.contains("_param_3]"), line.contains("_param_4]")) {
        (true, _) => line.replace("_param_3]", "_param_4]"),
        (_, true) => line.replace("_param_4]", "_param_3]"),
        _ => line.to_owned(),
    };
    for kernel in ["gdn_recurrent_f32_64", "gdn_wy_chunk_f16_32", "gdn_wy_mma_bf16"] {
        let other = changed(&ptx, kernel, swapped);
        assert_ne!(ptx, other, "{kernel}");
        let report = emulated(&other);
        let wrongs = report.wrongs();
        assert!(!wrongs.is_empty(), "{kernel}");
        let format = kernel.split('_').find(|part| ["f32", "f16", "bf16"].contains(part)).expect("it is in the name");
        let of_it = |wrong: &String| wrong.contains(format) || wrong.contains("tokens: y is wrong");
        assert!(wrongs.iter().all(of_it), "{kernel}: {wrongs:?}");
        let timed =
            wrongs.iter().any(|wrong| wrong.starts_with("mma on 1 x 20 tokens: the last head, bf16: y is wrong"));
        assert_eq!(timed, kernel == "gdn_wy_mma_bf16", "{kernel}: {wrongs:?}");
    }
}

#[test]
fn the_program_checks_and_times_on_a_driver() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let beside = folder.path().join("fla");
    fs::write(&beside, "# version 7\n1 x 20 0.125\n").expect("a file can be written");
    let ran = on_the_stand_in(&program())
        .args(["check", "--small", "--seconds", "3600", "--ptx"])
        .arg(ptx())
        .arg("--beside")
        .arg(beside)
        .output()
        .expect("the program runs");
    let said = shown(&ran);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    let text = text(&ran);
    assert!(text.starts_with("machine: a stand-in (sm_90, 227 KiB of shared memory a block)\n"), "{said}");
    assert!(text.contains("Nothing was wrong.") && text.contains("FLA here: version 7"), "{said}");
    // Each launch takes the stand-in a millisecond.
    let row = text.lines().find(|line| line.trim_start().starts_with("1 x 20 ")).expect("the shape has a row");
    assert_eq!(row.matches("1.000 (5)").count(), 3, "{said}");
}

#[test]
fn outputs_that_nobody_writes_are_noticed_on_a_driver() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let ptx = fs::read_to_string(ptx()).expect("the PTX is there");
    let silent = |line: &str| if line.contains("st.global") { String::new() } else { line.to_owned() };
    let file = folder.path().join("gdn.ptx");
    fs::write(&file, changed(&ptx, "gdn_recurrent_f32_64", silent)).expect("a file can be written");
    let ran = on_the_stand_in(&program()).args(["check", "--small", "--ptx"]).arg(file).output().expect("it runs");
    let said = shown(&ran);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(text(&ran).contains("recurrent: 1 token, f32: an element of y is NaN"), "{said}");
}

#[test]
fn the_script_does_all_of_it_in_a_prepared_folder() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path();
    let sources = checkout().join("kernels/gdn");
    fs::copy(sources.join("gpu-check"), path.join("gpu-check")).expect("the script is there");
    fs::copy(program(), path.join("gated-delta")).expect("the program is there");
    fs::copy(ptx(), path.join("gdn.sm_90.ptx")).expect("the PTX is there");
    // In Python's place: it prints a time for a size, and fails at the next.
    let python = "echo '1 x 20 0.500'; echo 'ModuleNotFoundError: fla' >&2; exit 1";
    fs::write(path.join("fla_times.py"), python).expect("a file can be written");
    let script = path.join("gpu-check");
    let ran = on_the_stand_in(&script).args(["--small"]).env("PYTHON", "sh").output().expect("it runs");
    let said = shown(&ran);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    let text = text(&ran);
    assert!(text.contains("FLA is not timed, or not at all sizes: ModuleNotFoundError: fla"), "{said}");
    assert!(text.contains("Nothing was wrong."), "{said}");

    // Without a GPU.
    let ran = on_the_stand_in(&script).env("LATCH_STUB_DRIVER", "have no device").output().expect("it runs");
    assert_eq!(ran.status.code(), Some(0), "{}", shown(&ran));
    assert!(shown(&ran).contains("no GPU: there is no GPU number 0"), "{}", shown(&ran));
}

/// A problem through the program and its files.
fn through_files<T: Element + Stored>(ptx: &Path, options: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = |name: &str| folder.path().join(format!("{name}.npy"));
    let sizes = Sizes { sequences: vec![20, 0, 7], heads: 2, key_heads: 1, dk: 16, dv: 8 };
    let case = Case { name: "files", problem: usual(sizes, 5), calls: Vec::new() }.rounded(T::FORMAT);
    let problem = &case.problem;
    let put = |name: &str, values: &[f32], shape: &[usize]| {
        let values: Vec<T> = values.iter().map(|value| T::from_f32(*value)).collect();
        write(&file(name), &values, shape).expect("a file can be written");
    };
    put("q", &problem.q, &[27, 1, 16]);
    put("k", &problem.k, &[27, 1, 16]);
    put("v", &problem.v, &[27, 2, 8]);
    write(&file("g"), &problem.g, &[27, 2]).expect("a file can be written");
    write(&file("beta"), &problem.beta, &[27, 2]).expect("a file can be written");
    write(&file("state"), problem.state.as_deref().expect("there is one"), &[3, 2, 8, 16]).expect("written");
    write(&file("starts"), &[0i64, 20, 20, 27], &[4]).expect("a file can be written");
    let mut command = on_the_stand_in(&program());
    command.args(["run", "--ptx"]).arg(ptx).args(options);
    for name in ["q", "k", "v", "g", "beta", "state", "starts", "out-y", "out-state"] {
        command.arg(format!("--{name}")).arg(file(name));
    }
    let ran = command.output().expect("the program runs");
    assert_eq!(ran.status.code(), Some(0), "{}", shown(&ran));
    let (y, state) = (Loaded::<3>::read(&file("out-y")), Loaded::<4>::read(&file("out-state")));
    let (y, state) = (y.expect("it is written"), state.expect("it is written"));
    assert_eq!((y.shape, state.shape), ([27, 2, 8], [3, 2, 8, 16]));
    let outputs = Outputs { y: y.values::<T>().expect("of the inputs' type"), state: state.values().expect("floats") };
    case.check(T::FORMAT, &outputs.to_f32()).unwrap_or_else(|wrong| panic!("{wrong}"));
    // The same bits as from memory.
    let gpu = Emulator::new("sm_90").expect("the architecture is known");
    let kernels = Kernels::load(gpu, &fs::read_to_string(ptx).expect("the PTX is there")).expect("it is right");
    let inputs = OwnedInputs::<T>::new(problem);
    let call = kernels.prepare(&inputs.view()).expect("the arguments are right");
    assert_eq!(call.run(call.choose()).map(|outputs| outputs.to_f32()), Ok(outputs.to_f32()));
}

#[test]
fn arrays_in_files_are_computed_as_in_memory() {
    let ptx = ptx();
    through_files::<f32>(&ptx, &[]);
    through_files::<F16>(&ptx, &["--on", "emulator"]);
    through_files::<Bf16>(&ptx, &["--on", "gpu"]);
}
