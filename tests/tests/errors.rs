//! The promise: bad input gets one clear error, exit code 2, and leaves no half-written output.

use std::fs;
use std::path::Path;

use latch_tests::{checkout, fixture, latch, shown};

#[track_caller]
fn fails(folder: &Path, arguments: &[&str], said: &str) {
    let output = latch(folder, arguments);
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(said), "{text}");
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn an_architecture_that_is_none() {
    fails(&checkout(), &["build", "--arch", "sm90"], "`sm90` is no GPU architecture: write sm_80, sm_90, sm_120a");
}

#[test]
fn an_architecture_that_the_compiler_does_not_know() {
    let arguments = ["build", "-p", "nounroll", "--hints", "llvm", "--arch", "sm_80,sm_999"];
    fails(&checkout(), &arguments, "`sm_999` is no GPU that Rust 1.96.0 knows; it knows sm_");
}

#[test]
fn a_package_that_is_none() {
    fails(&checkout(), &["build", "-p", "nothing"], "`nothing` is no kernel crate of this workspace; it has ");
}

#[test]
fn a_kernel_that_is_none() {
    let arguments = ["inspect", "tap", "-p", "nounroll", "--hints", "llvm", "--emit", "ptx"];
    fails(&checkout(), &arguments, "there is no kernel `tap`; there are ");
}

#[test]
fn a_folder_without_a_workspace() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    fails(folder.path(), &["build"], "cargo cannot read the workspace");
}

#[test]
fn a_workspace_without_kernels() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    // The library that an example is does not make a package a kernel crate.
    let manifest = format!(
        "[package]\nname = \"empty\"\nversion = \"0.1.0\"\n[workspace]\n[dependencies]\ndevice-std = {{ path = {:?} }}\n\
         [[example]]\nname = \"driver\"\npath = \"src/lib.rs\"\ncrate-type = [\"cdylib\"]\n",
        checkout().join("device-std")
    );
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("written");
    fs::create_dir(folder.path().join("src")).expect("made");
    fs::write(folder.path().join("src/lib.rs"), "").expect("written");
    fails(folder.path(), &["build"], "is a kernel crate: one depends on device-std");
}

#[test]
fn a_kernel_that_does_not_compile_leaves_the_last_ptx_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let manifest = format!(
        "[package]\nname = \"broken\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n\
         [dependencies]\ndevice-std = {{ path = {:?} }}\n[workspace]\n",
        checkout().join("device-std")
    );
    let source = "#![no_std]\n#![feature(abi_gpu_kernel)]\n#[device_std::kernel]\npub fn good() {}\n";
    fs::create_dir(folder.path().join("src")).expect("made");
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("written");
    fs::write(folder.path().join("src/lib.rs"), source).expect("written");
    let good = latch(folder.path(), &["build", "--hints", "llvm"]);
    assert!(good.status.success(), "{}", shown(&good));
    let ptx = String::from_utf8_lossy(&good.stdout).lines().next().expect("a path is printed").to_owned();
    let before = fs::read(&ptx).expect("the PTX is there");

    fs::write(folder.path().join("src/lib.rs"), format!("{source}fn f() {{ nothing() }}\n")).expect("written");
    fails(folder.path(), &["build", "--hints", "llvm"], "`broken` does not build for sm_90");
    assert_eq!(fs::read(&ptx).expect("the PTX is still there"), before);

    let undefined = format!(
        "{source}unsafe extern \"C\" {{ safe fn elsewhere(); }}\n#[device_std::kernel]\npub fn calls() {{ elsewhere() }}\n"
    );
    fs::write(folder.path().join("src/lib.rs"), undefined).expect("written");
    fails(
        folder.path(),
        &["build", "--hints", "llvm"],
        "`elsewhere` is not defined by any object; it is used in `calls`",
    );
    assert_eq!(fs::read(&ptx).expect("the PTX is still there"), before);
}

#[test]
fn a_hint_that_makes_no_sense_is_an_error_at_its_place() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let manifest = format!(
        "[package]\nname = \"hints\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n\
         [dependencies]\ndevice-std = {{ path = {:?} }}\n[workspace]\n",
        checkout().join("device-std")
    );
    let source = "#![no_std]\n#![feature(abi_gpu_kernel)]\n#[device_std::kernel]\npub fn k() {\n    #[nounroll(2)]\n    loop {}\n}\n";
    fs::create_dir(folder.path().join("src")).expect("made");
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("written");
    fs::write(folder.path().join("src/lib.rs"), source).expect("written");
    fails(folder.path(), &["build", "--hints", "llvm"], "src/lib.rs:5:");
}

#[test]
fn the_crate_of_hopeless_hints_still_builds() {
    let output = latch(&fixture("dropped"), &["build", "--hints", "llvm", "--level", "warn"]);
    assert!(output.status.success(), "{}", shown(&output));
}
