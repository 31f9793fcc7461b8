//! Puts the built compiler together as a sysroot, in the form that rustup's component has.
//!
//! The compiler finds its libraries from the place of `librustc_driver.so`. A plugin is linked against that one library
//! and reads the other crates' metadata, so of those only `.rmeta` files and procedural macros are kept: the `.rlib`
//! files are most of the size and never linked. The standard library is the stock compiler's.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::host_libraries;
use crate::setup::error::{SetupError, at, missing};
use crate::setup::home::link_or_copy;
use crate::setup::toolchain::{Toolchain, files_in};

/// Fills `sysroot` from `built`, cargo's output folder.
pub(super) fn assemble(toolchain: &Toolchain, built: &Path, sysroot: &Path) -> Result<(), SetupError> {
    let libraries = host_libraries(sysroot, toolchain);
    for folder in [sysroot.join("bin"), sysroot.join("lib"), libraries.clone()] {
        fs::create_dir_all(&folder).map_err(at("create", &folder))?;
    }
    link_or_copy(&built.join("rustc-main"), &sysroot.join("bin/rustc"))?;
    link_or_copy(&built.join("deps/librustc_driver.so"), &sysroot.join("lib/librustc_driver.so"))?;
    add_llvm(toolchain, &sysroot.join("lib"))?;
    add_files(&host_libraries(&toolchain.sysroot, toolchain), &["rlib", "rmeta"], &libraries)?;
    add_files(&built.join("deps"), &["rmeta", "so"], &libraries)
}

/// LLVM under the name that the loader looks for, and under the one that the linker does.
fn add_llvm(toolchain: &Toolchain, lib: &Path) -> Result<(), SetupError> {
    let library = toolchain.llvm_library().and_then(|library| library.canonicalize().ok()).ok_or_else(|| {
        let tried = format!("looked in {}", toolchain.sysroot.join("lib").display());
        missing("the compiler's libLLVM", tried, "remove the toolchain and run `./latch` again")
    })?;
    let name = library.file_name().unwrap_or_default();
    link_or_copy(&library, &lib.join(name))?;
    let linker_name = lib.join(format!("libLLVM-{}.so", toolchain.compiler.llvm));
    if linker_name.exists() { Ok(()) } else { symlink(name, &linker_name) }
}

fn add_files(from: &Path, extensions: &[&str], to: &Path) -> Result<(), SetupError> {
    for file in files_in(from) {
        let kept = file.extension().and_then(OsStr::to_str).is_some_and(|extension| extensions.contains(&extension));
        if let Some(name) = file.file_name().filter(|_| kept) {
            link_or_copy(&file, &to.join(name))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(target: &OsStr, link: &Path) -> Result<(), SetupError> {
    std::os::unix::fs::symlink(target, link).map_err(at("create", link))
}

#[cfg(not(unix))]
fn symlink(target: &OsStr, link: &Path) -> Result<(), SetupError> {
    link_or_copy(&link.with_file_name(target), link)
}
