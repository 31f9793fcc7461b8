//! Links the compiler's own libLLVM.
//!
//! rustc ships LLVM as a shared library that exports the whole C API, so the bitcode that this compiler writes and the
//! LLVM that reads it are the same build, and no LLVM package is needed. The library lies in the `lib` folder of the
//! compiler's sysroot: `libLLVM-22-rust-….so` in rustup's toolchains, `libLLVM.so.22.1` in a distribution's. Which one
//! it is, the compiler says.
//!
//! The C API only grows from release to release, so a later LLVM is linked as it is. What it has lost of what is used
//! shows when linking; then inkwell's feature in the workspace's manifest has to follow, and [`OLDEST`].
//!
//! Crates with binaries or tests that end up linking this one read `DEP_LATCH_LLVM_DIR` in their build scripts and add
//! it to their run path.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The LLVM whose C API inkwell is told to expect.
const OLDEST: u32 = 22;

fn main() {
    let folder = PathBuf::from(ask_rustc(&["--print", "sysroot"]).trim()).join("lib");
    let verbose = ask_rustc(&["-vV"]);
    let major = llvm_major(&verbose);
    let Some(library) = find_llvm(&folder, major).filter(|_| major >= OLDEST) else {
        panic!(
            "no libLLVM of at least {OLDEST} in {}: Latch links the LLVM of the compiler for kernels; build through ./latch, which brings that",
            folder.display()
        );
    };
    println!("cargo:major={major}");
    println!("cargo:release={}", fact(&verbose, "release: "));
    println!("cargo:rerun-if-changed={}", library.display());
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!(
        "cargo:rustc-link-lib=dylib:+verbatim={}",
        library.file_name().expect("a file has a name").to_string_lossy()
    );
    println!("cargo:dir={}", folder.display());
}

fn ask_rustc(question: &[&str]) -> String {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC for build scripts");
    let printed = Command::new(&rustc).args(question).output().expect("rustc runs");
    String::from_utf8_lossy(&printed.stdout).into_owned()
}

fn fact<'a>(verbose: &'a str, name: &str) -> &'a str {
    verbose.lines().find_map(|line| line.strip_prefix(name)).expect("rustc says what it is")
}

/// From `LLVM version: 22.1.8`.
fn llvm_major(verbose: &str) -> u32 {
    fact(verbose, "LLVM version: ")
        .split('.')
        .next()
        .and_then(|major| major.parse().ok())
        .expect("LLVM's version is a number")
}

/// The shortest matching name, which is the plain one where links with longer names lie beside it.
fn find_llvm(folder: &Path, major: u32) -> Option<PathBuf> {
    let is_llvm = |name: &str| {
        let versioned = [format!("libLLVM-{major}"), format!("libLLVM.so.{major}")];
        versioned.iter().any(|start| name.starts_with(start)) && name.contains(".so")
    };
    let names = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let name = names.filter(|name| is_llvm(name)).min_by_key(|name| (name.len(), name.clone()))?;
    Some(folder.join(name))
}
