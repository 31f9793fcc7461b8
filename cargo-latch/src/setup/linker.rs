//! `latch-link`, built with the compiler for kernels.
//!
//! The command builds on any stable Rust, but the linker links the libLLVM of the very compiler whose bitcode it reads.
//! Where it does not lie beside the command, it is built once for a compiler from its sources, and kept under a hash of
//! them. The program names the toolchain's folder, where that library is, so the folder is part of the key.
//!
//! Wrong where a crate that it is built from stands outside [`SOURCES`]: then a change there builds nothing anew.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::{SetupError, at, missing};
use super::home::{Artifact, Home, key_of, remove_folder};
use super::process;
use super::progress::Progress;
use super::sources;
use super::toolchain::Toolchain;

/// What it is made of, relative to the folder of the sources.
const SOURCES: [&str; 11] = [
    "Cargo.toml",
    "Cargo.lock",
    "hint-record",
    "codegen-pass/Cargo.toml",
    "codegen-pass/src",
    "nounroll-metadata/Cargo.toml",
    "nounroll-metadata/build.rs",
    "nounroll-metadata/src",
    "bitcode-linker/build.rs",
    "bitcode-linker/src",
    "result-cache/src",
];
/// Exactly what the lock file says.
const BUILD: [&str; 5] = ["build", "--release", "--locked", "--package", "bitcode-linker"];
/// Somebody waits for this build, and nearly all of the linker's time is LLVM's: so optimized a little, and without
/// debug information, which would be most of the program.
const PROFILE: [(&str, &str); 2] = [("CARGO_PROFILE_RELEASE_DEBUG", "0"), ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")];
const PROGRAM: &str = "latch-link";

/// The linker that was built for a toolchain, if it was.
pub fn find(home: &Home, toolchain: &Toolchain, sources: &Path) -> Option<PathBuf> {
    home.find(&artifact(toolchain, sources).ok()?).map(|folder| folder.join(PROGRAM))
}

/// The linker for a toolchain, built from the workspace in `sources` if it was not.
pub fn ensure(home: &Home, toolchain: &Toolchain, sources: &Path, progress: &Progress) -> Result<PathBuf, SetupError> {
    if toolchain.llvm_library().is_none() {
        return Err(missing(
            "the compiler's libLLVM",
            format_args!("looked in {}", toolchain.sysroot.join("lib").display()),
            format_args!(
                "take rustup's toolchain: `rustup toolchain install {} -c rust-src`",
                toolchain.compiler.release
            ),
        ));
    }
    let folder = home.ensure(&artifact(toolchain, sources)?, progress, |partial| {
        let step = progress.step("linker");
        step.message("building latch-link with the compiler for kernels (a minute, once)");
        build(toolchain, sources, partial)?;
        step.finish();
        Ok(())
    })?;
    Ok(folder.join(PROGRAM))
}

/// What identifies the linker that is built from sources for a toolchain.
pub fn artifact(toolchain: &Toolchain, sources: &Path) -> Result<Artifact, SetupError> {
    let mut parts = sources::parts(sources, &SOURCES)?;
    parts.push(format!("{BUILD:?} {PROFILE:?}").into_bytes());
    parts.push(toolchain.version.verbose.clone().into_bytes());
    parts.push(toolchain.sysroot.as_os_str().as_encoded_bytes().to_owned());
    Ok(Artifact { name: "linker", key: key_of(parts), needs: vec![PROGRAM.into()] })
}

fn build(toolchain: &Toolchain, sources: &Path, partial: &Path) -> Result<(), SetupError> {
    let (target, host) = (partial.join("target"), &toolchain.version.host);
    let mut cargo = toolchain.plain_cargo();
    // With the target spelled out, no setting of the user's can choose another.
    cargo.current_dir(sources).args(BUILD).args(["--target", host]).arg("--target-dir").arg(&target);
    cargo.envs(PROFILE);
    process::run(&mut cargo, "build latch-link")?;
    let built = target.join(host).join("release").join(PROGRAM);
    fs::rename(&built, partial.join(PROGRAM)).map_err(at("take the linker from", &built))?;
    remove_folder(&target)
}
