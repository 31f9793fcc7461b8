//! The device sysroot: `core` and `compiler_builtins` for the GPU, as unoptimized bitcode.
//!
//! rustc ships neither for GPUs, so they are built once for a target from rust-src by the stock compiler, and every
//! kernel build uses them by `--sysroot`. The flags are what the link stage needs: loop hints must be resolved before
//! any LLVM pass has run, so `-Cno-prepopulate-passes` keeps the passes away. On NVIDIA's target `-Clto=off` keeps away
//! thin-local LTO, whose `available_externally` bodies and `.llvm.N` names ptxas and libNVVM refuse. On AMD's, objects
//! are bitcode only with `-Clinker-plugin-lto`, and those of compiler_builtins not even then: `-Cembed-bitcode` puts it
//! beside their machine code. One sysroot serves every architecture of its target: the link stage takes the name that
//! AMD's has to be given off again.
//!
//! Wrong where rust-src is edited in place: the key holds the compiler's version and the flags, not the sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::{SetupError, at, missing};
use super::home::{Artifact, Home, key_of, link_or_copy, remove_folder};
use super::process;
use super::progress::Progress;
use super::toolchain::{Toolchain, files_in};
use crate::target::Target;

/// How the toolchain's compiler has to compile everything for a target, and a GPU where one has to be named.
fn build_flags(toolchain: &Toolchain, target: Target) -> Vec<&'static str> {
    let cpu = (target == Target::Amdgcn).then_some("-Ctarget-cpu=gfx1100");
    toolchain.compiler.core_flags(target).chain(cpu).collect()
}
/// To be raised when this file makes something else of the same compiler and flags.
const LAYOUT: &str = "1";

const CRATES: [&str; 2] = ["core", "compiler_builtins"];
/// `[workspace]` keeps cargo from looking for one above; the profile is spelled out so that a key's content is one
/// thing.
const MANIFEST: &str = r#"[package]
name = "device-sysroot"
version = "0.0.0"
edition = "2024"

[workspace]

[profile.release]
opt-level = 3
debug = 0
debug-assertions = false
overflow-checks = false
codegen-units = 16
"#;

/// The device sysroot.
#[derive(Debug, Clone)]
pub struct DeviceSysroot {
    /// What `--sysroot` is given.
    pub folder: PathBuf,
}

impl DeviceSysroot {
    /// The sysroot if it is there.
    pub fn find(home: &Home, toolchain: &Toolchain, target: Target) -> Option<Self> {
        home.find(&artifact(toolchain, target)).map(|folder| Self { folder })
    }

    /// The sysroot, built if it is not there.
    pub fn ensure(home: &Home, toolchain: &Toolchain, target: Target, progress: &Progress) -> Result<Self, SetupError> {
        let folder = home.ensure(&artifact(toolchain, target), progress, |partial| {
            let step = progress.step("device sysroot");
            step.message(&format!("building core for {}", target.triple()));
            build(toolchain, target, partial)?;
            step.finish();
            Ok(())
        })?;
        Ok(Self { folder })
    }

    /// The libraries themselves.
    pub fn libraries(&self, target: Target) -> impl Iterator<Item = PathBuf> {
        let folder = self.folder.join(libraries(target));
        CRATES.iter().map(move |name| folder.join(library(name)))
    }
}

/// What identifies the sysroot that belongs to a toolchain.
pub fn artifact(toolchain: &Toolchain, target: Target) -> Artifact {
    let facts = [LAYOUT, toolchain.version.verbose.as_str(), MANIFEST, target.triple()];
    let facts = facts.into_iter().chain(build_flags(toolchain, target));
    Artifact {
        name: match target {
            Target::Nvptx => "sysroot",
            Target::Amdgcn => "amdgcn-sysroot",
        },
        key: key_of(facts),
        needs: CRATES.iter().map(|name| libraries(target).join(library(name))).collect(),
    }
}

fn libraries(target: Target) -> PathBuf {
    Path::new("lib/rustlib").join(target.triple()).join("lib")
}

fn library(name: &str) -> String {
    format!("lib{name}.rlib")
}

fn build(toolchain: &Toolchain, target: Target, partial: &Path) -> Result<(), SetupError> {
    if toolchain.library_source().is_none() {
        return Err(missing(
            "the component rust-src",
            format_args!("looked in {}", toolchain.sysroot.join("lib/rustlib/src/rust/library").display()),
            format_args!("run `rustup component add rust-src --toolchain {}`", toolchain.version.release),
        ));
    }
    let work = partial.join("work");
    write_crate(&work)?;
    process::run(&mut cargo(toolchain, target, &work), "build the device sysroot")?;
    let libraries = partial.join(libraries(target));
    fs::create_dir_all(&libraries).map_err(at("create", &libraries))?;
    keep_libraries(&work.join("target").join(target.triple()).join("release/deps"), &libraries)?;
    remove_folder(&work)
}

fn write_crate(work: &Path) -> Result<(), SetupError> {
    let source = work.join("src");
    fs::create_dir_all(&source).map_err(at("create", &source))?;
    for (file, text) in [(work.join("Cargo.toml"), MANIFEST), (source.join("lib.rs"), "#![no_std]\n")] {
        fs::write(&file, text).map_err(at("write", &file))?;
    }
    Ok(())
}

fn cargo(toolchain: &Toolchain, target: Target, work: &Path) -> Command {
    let mut cargo = toolchain.plain_cargo();
    cargo.args(["build", "--release", "-Zbuild-std=core", "--target", target.triple()]);
    cargo.arg("--manifest-path").arg(work.join("Cargo.toml")).arg("--target-dir").arg(work.join("target"));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", build_flags(toolchain, target).join("\u{1f}"));
    cargo
}

/// Cargo's file names carry a hash; without it, what an artifact needs can be named. rustc takes either.
fn keep_libraries(built: &Path, libraries: &Path) -> Result<(), SetupError> {
    for rlib in files_in(built).iter().filter(|file| file.extension().is_some_and(|extension| extension == "rlib")) {
        let file = rlib.file_name().unwrap_or_default().to_string_lossy();
        if let Some(name) = CRATES.iter().find(|name| file.starts_with(&format!("lib{name}-"))) {
            link_or_copy(rlib, &libraries.join(library(name)))?;
        }
    }
    Ok(())
}
