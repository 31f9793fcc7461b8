//! Links the compiler's own libLLVM.
//!
//! rustc ships LLVM as a shared library that exports the whole C API, so the bitcode that this compiler writes and the
//! LLVM that reads it are the same build, and no LLVM package is needed. The library lies in the `lib` folder of the
//! compiler's sysroot: `libLLVM-22-rust-….so` in rustup's toolchains, `libLLVM.so.22.1` in a distribution's.
//!
//! Crates with binaries or tests that end up linking this one read `DEP_LATCH_LLVM_DIR` in their build scripts and add
//! it to their run path.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const MAJOR: &str = "22";

fn main() {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC for build scripts");
    let printed = Command::new(&rustc).args(["--print", "sysroot"]).output().expect("rustc runs");
    let sysroot = PathBuf::from(String::from_utf8_lossy(&printed.stdout).trim());
    let folder = sysroot.join("lib");
    let Some(library) = find_llvm(&folder) else {
        panic!(
            "no libLLVM {MAJOR} in {}: Latch links the LLVM of Rust 1.96.0; build through ./latch, which brings that toolchain",
            folder.display()
        );
    };
    println!("cargo:rerun-if-changed={}", library.display());
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!(
        "cargo:rustc-link-lib=dylib:+verbatim={}",
        library.file_name().expect("a file has a name").to_string_lossy()
    );
    println!("cargo:dir={}", folder.display());
}

/// The shortest matching name, which is the plain one where links with longer names lie beside it.
fn find_llvm(folder: &Path) -> Option<PathBuf> {
    let is_llvm = |name: &str| {
        let versioned = [format!("libLLVM-{MAJOR}"), format!("libLLVM.so.{MAJOR}")];
        versioned.iter().any(|start| name.starts_with(start)) && name.contains(".so")
    };
    let names = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let name = names.filter(|name| is_llvm(name)).min_by_key(|name| (name.len(), name.clone()))?;
    Some(folder.join(name))
}
