//! The promise: without a libNVVM that can be used, its route ends in one clear error. What it makes of kernels is
//! tested with the whole system, which knows where libNVVM is.

mod common;

use common::{KERNEL, Scene};
use std::fs;

#[test]
fn libnvvm_has_to_be_named() {
    let message = Scene::with(KERNEL).refused(&["--route", "nvvm"]);
    assert!(message.contains("`--libnvvm`") && message.contains("take `--route llc`"), "{message}");
}

#[test]
fn a_file_that_is_not_there() {
    let message = Scene::with(KERNEL).refused(&["--route", "nvvm", "--libnvvm", "/nowhere/libnvvm.so.4"]);
    assert!(message.starts_with("cannot load libNVVM from /nowhere/libnvvm.so.4: No such file"), "{message}");
    assert!(message.contains("`cargo latch setup`"), "{message}");
}

#[test]
fn a_file_that_is_no_library() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("libnvvm.so.4");
    fs::write(&file, "not a library").unwrap();
    let message = Scene::with(KERNEL).refused(&["--route", "nvvm", "--libnvvm", file.to_str().unwrap()]);
    assert!(message.starts_with("cannot load libNVVM from ") && message.contains("file too short"), "{message}");
}

#[test]
fn a_library_that_is_another() {
    // Any shared library does; this program has loaded LLVM's.
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let llvm = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|path| path.contains("libLLVM"));
    let message = Scene::with(KERNEL).refused(&["--route", "nvvm", "--libnvvm", llvm.expect("LLVM is loaded")]);
    assert!(message.contains("is no libNVVM that Latch can use: it has no function `nvvm"), "{message}");
}

#[test]
fn the_other_route_needs_none() {
    let ptx = Scene::with(KERNEL).link(&["--route", "llc", "--libnvvm", "/nowhere/libnvvm.so.4"]).unwrap();
    assert!(ptx.contains(".entry k"), "{ptx}");
}
