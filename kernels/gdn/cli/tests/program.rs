//! The program without compiled kernels: what it says of files and machines that will not do.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use emulator::npy::Array;
use launch::{Cudarc, Error};

const EMPTY: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

fn program(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gated-delta"));
    command.args(arguments).current_dir(folder).output().expect("the program runs")
}

#[track_caller]
fn fails_with(folder: &Path, arguments: &[&str], wanted: &str) {
    let ran = program(folder, arguments);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains(wanted), "{said}");
}

fn array(folder: &Path, name: &str, dtype: &str, shape: &[usize]) {
    let mut array = Array { dtype: dtype.to_owned(), shape: shape.to_vec(), bytes: Vec::new() };
    array.bytes = vec![0; array.item_bytes() * shape.iter().product::<usize>()];
    array.write(&folder.join(name)).expect("a file can be written");
}

/// A folder with arrays that fit each other, and PTX without kernels.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path();
    fs::write(path.join("gdn.ptx"), EMPTY).expect("a file can be written");
    for (name, shape) in [("q.npy", [5, 1, 16]), ("k.npy", [5, 1, 16]), ("v.npy", [5, 2, 8])] {
        array(path, name, "<f4", &shape);
    }
    array(path, "g.npy", "<f4", &[5, 2]);
    folder
}

const RUN: [&str; 15] = [
    "run", "--ptx", "gdn.ptx", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--g", "g.npy", "--beta", "g.npy",
    "--out-y", "y.npy",
];

#[test]
fn files_that_will_not_do_are_named_and_nothing_is_written() {
    let folder = folder();
    let path = folder.path();
    array(path, "flat.npy", "<f4", &[80]);
    array(path, "double.npy", "<f8", &[5, 1, 16]);
    array(path, "half.npy", "<f2", &[5, 1, 16]);
    array(path, "early.npy", "<i8", &[1]);
    let with = |flag: &str, file: &'static str| -> Vec<&str> {
        let at = RUN.iter().position(|argument| *argument == flag).expect("the flag is there");
        let mut arguments = RUN.to_vec();
        arguments[at + 1] = file;
        arguments
    };
    fails_with(path, &with("--q", "none.npy"), "none.npy: ");
    fails_with(path, &with("--q", "flat.npy"), "flat.npy: the array has 1 dimensions, and should have 3");
    fails_with(path, &with("--q", "double.npy"), "double.npy: elements are <f8, and should be <f4, <f2, or <u2");
    fails_with(path, &with("--k", "half.npy"), "half.npy: elements are <f2, and should be <f4");
    fails_with(path, &with("--k", "v.npy"), "`k` has the shape [5, 2, 8]");
    fails_with(path, &[&RUN[..], &["--starts", "early.npy"]].concat(), "`starts` does not go from 0 to the 5 tokens");
    fails_with(path, &[&RUN[..], &["--kernel", "mma"]].concat(), "the kernel for tensor cores is for `dk` = 128");
    fails_with(path, &RUN, "the module has no kernel `gdn_recurrent_f32_64`");
    assert!(!path.join("y.npy").exists());
}

#[test]
fn ptx_that_will_not_do_is_named() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("text.ptx"), "no PTX").expect("a file can be written");
    fs::create_dir(path.join("empty")).expect("a folder can be made");
    let check = |file| ["check", "--small", "--emulator", "--ptx", file];
    fails_with(path, &check("none.ptx"), "cannot read none.ptx");
    fails_with(path, &check("text.ptx"), "text.ptx is not PTX");
    fails_with(path, &check("empty"), "there is no PTX in empty: `cargo latch build -p gdn` makes it");
}

#[test]
fn kernels_that_are_missing_fail_the_check() {
    let folder = folder();
    let ran = program(folder.path(), &["check", "--small", "--emulator", "--ptx", "gdn.ptx"]);
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(
        said.contains("results are wrong:")
            && said.contains("recurrent: 1 token, f32: the module has no kernel `gdn_recurrent_f32_64`"),
        "{said}"
    );
    assert!(said.contains("  and ") && said.contains("mma on 1 x 5 tokens, bf16: WRONG"), "{said}");
}

#[test]
fn without_time_everything_is_cut_and_said_to_be() {
    let folder = folder();
    let ran = program(folder.path(), &["check", "--small", "--emulator", "--ptx", "gdn.ptx", "--seconds", "0"]);
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(said.contains("There was no time for what is marked `cut`."), "{said}");
    assert!(said.contains("recurrent on 1 x 5 tokens, bf16: cut") && said.contains("Nothing was wrong."), "{said}");
}

#[test]
fn no_gpu_is_said_and_no_failure() {
    let none = match Cudarc::open(0) {
        Err(error @ (Error::NoDriver { .. } | Error::NoDevice { .. })) => error.to_string(),
        // The machine has one, or one that does not work: nothing to see here.
        _ => return,
    };
    let folder = folder();
    let checked = program(folder.path(), &["check", "--ptx", "gdn.ptx"]);
    assert_eq!(checked.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&checked.stdout), format!("no GPU, so nothing was checked: {none}\n"));
    let asked = program(folder.path(), &["gpu"]);
    assert_eq!((asked.status.code(), &*asked.stdout), (Some(0), &b""[..]));
    assert!(String::from_utf8_lossy(&asked.stderr).contains(&none));
    let ran = program(folder.path(), &[&RUN[..], &["--on", "gpu"]].concat());
    assert_eq!(ran.status.code(), Some(2));
}
