//! The compiler plugin, built for the very compiler that will load it.
//!
//! A codegen backend links against one build of rustc and breaks with any other, so it cannot be shipped and must never
//! be taken for another's. It is built here, in seconds, and kept in the home as
//! `plugin-<key>/librustc_codegen_latch-<key>.so`. The key is a hash of its sources, of the way it is built, and of the
//! compiler: version, and size and time of the driver library. After a change of any of them the name is another and
//! the plugin is built again. The old one may be another checkout's, in use this moment, so it stays for a month.
//!
//! A file that was cut short or edited since is found by the home, and built again too.
//!
//! Wrong where the workspace's manifest gives `codegen-pass` or `hint-record` another edition: that is not part of the
//! key.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};

use crate::checkout;
use crate::setup::error::{SetupError, at};
use crate::setup::home::{Artifact, key_of};
use crate::setup::sources;
use crate::setup::toolchain::files_in;
use crate::setup::{DeviceSysroot, Home, Progress, RustcDev, Toolchain};

/// How long a plugin that this checkout has no use for is kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The library's name without what tells one build from another.
const LIBRARY: &str = "librustc_codegen_latch";
/// The plugin's own workspace, in the checkout.
const BACKEND: &str = "codegen-pass/backend";
/// What the library is made of, in the checkout.
const SOURCES: [&str; 7] = [
    "hint-record/Cargo.toml",
    "hint-record/src",
    "codegen-pass/Cargo.toml",
    "codegen-pass/src",
    "codegen-pass/backend/Cargo.toml",
    "codegen-pass/backend/Cargo.lock",
    "codegen-pass/backend/src",
];
/// Exactly what the lock file says, from this checkout alone: the plugin needs no other crates.
const BUILD: [&str; 5] = ["build", "--release", "--lib", "--locked", "--offline"];
/// To be raised when something else is made of the same sources.
const LAYOUT: &str = "2";
/// Hex digits of the key in the library's name.
const SHOWN_DIGITS: usize = 12;
/// Lines of a failed build's messages that go into the error.
const TAIL_LINES: usize = 30;
/// The variable in which the plugin's tests find core for the GPU.
const DEVICE_SYSROOT: &str = "LATCH_DEVICE_SYSROOT";

/// The plugin for a compiler, built from this checkout if it is not there.
pub fn ensure(compiler: &RustcDev, toolchain: &Toolchain, home: &Home, progress: &Progress) -> Result<PathBuf> {
    ensure_from(&checkout::folder()?, compiler, toolchain, home, progress)
}

/// The plugin for a compiler, built from a given checkout if it is not there.
pub fn ensure_from(
    checkout: &Path,
    compiler: &RustcDev,
    toolchain: &Toolchain,
    home: &Home,
    progress: &Progress,
) -> Result<PathBuf> {
    let build = Build { checkout, compiler, toolchain, home, progress };
    let plugin = Plugin::new(build.key()?);
    let folder = home.ensure(&plugin.artifact, progress, |folder| build.run(&plugin, folder))?;
    Ok(folder.join(plugin.library()))
}

/// The command that runs the plugin's own tests, against core for the GPU in `sysroot`.
pub fn test_command(compiler: &RustcDev, toolchain: &Toolchain, sysroot: &DeviceSysroot) -> Result<Command> {
    let backend = checkout::folder()?.join(BACKEND);
    let mut cargo = cargo(compiler, toolchain);
    cargo.args(["test", "--locked", "--offline", "--target-dir"]).arg(backend.join("target"));
    cargo.current_dir(backend).env(DEVICE_SYSROOT, &sysroot.folder);
    Ok(cargo)
}

/// A plugin, as it lies in the home.
struct Plugin {
    artifact: Artifact,
}

impl Plugin {
    fn new(key: String) -> Plugin {
        let library = PathBuf::from(format!("{LIBRARY}-{}.so", &key[..SHOWN_DIGITS]));
        Plugin { artifact: Artifact { name: "plugin", key, needs: vec![library] } }
    }

    fn library(&self) -> &Path {
        &self.artifact.needs[0]
    }
}

/// All that a build depends on.
struct Build<'a> {
    checkout: &'a Path,
    compiler: &'a RustcDev,
    toolchain: &'a Toolchain,
    home: &'a Home,
    progress: &'a Progress,
}

impl Build<'_> {
    /// The hash that tells this plugin from all others.
    fn key(&self) -> Result<String> {
        let mut parts: Vec<Vec<u8>> = [LAYOUT].iter().chain(&BUILD).map(|&part| part.into()).collect();
        parts.push(self.toolchain.version.verbose.clone().into());
        parts.push(driver_identity(&self.compiler.sysroot)?.into());
        parts.extend(
            sources::parts(self.checkout, &SOURCES)
                .context("cannot read the plugin's sources in the checkout of Latch")?,
        );
        Ok(key_of(parts))
    }

    /// Builds into `folder`; with success, removes plugins from long ago.
    fn run(&self, plugin: &Plugin, folder: &Path) -> Result<(), SetupError> {
        let step = self.progress.step("plugin");
        step.message("building the compiler plugin");
        let target = folder.join("target");
        self.run_cargo(&target)?;
        let built = target.join(&self.toolchain.version.host).join("release").join(format!("{LIBRARY}.so"));
        let library = folder.join(plugin.library());
        fs::rename(&built, &library).map_err(at("take the plugin from", &built))?;
        fs::remove_dir_all(&target).map_err(at("remove", &target))?;
        self.remove_old(plugin, folder)?;
        step.finish();
        Ok(())
    }

    fn run_cargo(&self, target: &Path) -> Result<(), SetupError> {
        let mut cargo = cargo(self.compiler, self.toolchain);
        cargo.current_dir(self.checkout.join(BACKEND)).args(BUILD).arg("--target-dir").arg(target);
        // With the target spelled out, no setting of the user's can choose another.
        cargo.args(["--target", &self.toolchain.version.host]);
        let output = cargo.stdin(Stdio::null()).output().map_err(|source| SetupError::Start {
            purpose: "build the compiler plugin".to_owned(),
            program: cargo.get_program().to_string_lossy().into_owned(),
            source,
        })?;
        if output.status.success() {
            return Ok(());
        }
        Err(SetupError::Failed {
            purpose: "build the compiler plugin".to_owned(),
            command: format!("cargo {}", BUILD.join(" ")),
            status: output.status.to_string(),
            tail: last_lines(&String::from_utf8_lossy(&output.stderr)),
        })
    }

    /// Called with the lock on plugins, so that `folder` is the only one in work.
    fn remove_old(&self, plugin: &Plugin, folder: &Path) -> Result<(), SetupError> {
        let is_old = |other: &PathBuf| {
            let built = fs::metadata(other).and_then(|about| about.modified());
            built.is_ok_and(|built| built.elapsed().is_ok_and(|age| age > KEPT))
        };
        for other in self.home.stale(&plugin.artifact).iter().filter(|other| *other != folder && is_old(other)) {
            fs::remove_dir_all(other).map_err(at("remove", other))?;
        }
        Ok(())
    }
}

/// cargo with the compiler that has rustc-dev, without settings from the environment.
fn cargo(compiler: &RustcDev, toolchain: &Toolchain) -> Command {
    let mut cargo = toolchain.plain_cargo();
    let with_compiler = compiler.cargo(toolchain);
    cargo.envs(with_compiler.get_envs().filter_map(|(name, value)| Some((name, value?))));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", compiler.link_flag());
    cargo
}

/// Name, size and time of the library that the compiler consists of: two builds of one version differ in them.
fn driver_identity(sysroot: &Path) -> Result<String> {
    let folder = sysroot.join("lib");
    let mut drivers = Vec::new();
    for file in files_in(&folder) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("librustc_driver") {
            let read = || io::Result::Ok((file.metadata()?.len(), file.metadata()?.modified()?));
            let (size, time) = read().map_err(at("read", &file))?;
            drivers.push(format!("{name} {size} {}", time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()));
        }
    }
    ensure!(!drivers.is_empty(), "there is no librustc_driver in {}: that is no whole compiler", folder.display());
    drivers.sort();
    Ok(drivers.join("\n"))
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}
