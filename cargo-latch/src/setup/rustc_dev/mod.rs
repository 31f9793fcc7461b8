//! rustc-dev: the compiler's own crates, which the MIR plugin is built against, and the compiler that loads it.
//!
//! A toolchain of rustup's gets the component. Debian's packages have no such component, but they have the compiler's
//! sources: then the compiler is built from them, once, without optimization (see `build`), into a sysroot of its own
//! (`assemble`). A plugin loads only into the very compiler that it was built against, so [`RustcDev::rustc`] is to be
//! used for both. It is never used to build `core`: the stock compiler does that forty times as fast, and both read the
//! result.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::{SetupError, missing};
use super::home::{Artifact, Home, key_of, remove_folder};
use super::machine::Machine;
use super::packages::Packages;
use super::process;
use super::progress::Progress;
use super::toolchain::{Toolchain, files_in, with_libraries};

mod assemble;
mod build;

/// rustup's components: llvm-tools has the link-time name of the compiler's LLVM.
const COMPONENTS: [&str; 2] = ["rustc-dev", "llvm-tools"];
/// To be raised when `build` or `assemble` make something else of the same compiler.
const LAYOUT: &str = "1";

/// Where rustc-dev is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// rustup's component, in the host toolchain.
    Component,
    /// Built here from the compiler's sources.
    Built,
}

/// A compiler with its own crates.
#[derive(Debug, Clone)]
pub struct RustcDev {
    /// The folder with `bin/rustc` and `lib/`.
    pub sysroot: PathBuf,
    /// Where it is from.
    pub origin: Origin,
}

impl RustcDev {
    /// rustc-dev if it is here; never builds or fetches.
    pub fn find(home: &Home, toolchain: &Toolchain) -> Option<Self> {
        if has_compiler_crates(toolchain) {
            return Some(Self { sysroot: toolchain.sysroot.clone(), origin: Origin::Component });
        }
        home.find(&artifact(toolchain)).map(|sysroot| Self { sysroot, origin: Origin::Built })
    }

    /// rustc-dev, added by rustup or built if it is not here.
    pub fn ensure(
        home: &Home,
        machine: &Machine,
        toolchain: &Toolchain,
        packages: &dyn Packages,
        progress: &Progress,
    ) -> Result<Self, SetupError> {
        if let Some(found) = Self::find(home, toolchain) {
            return Ok(found);
        }
        let not_added = match add_component(machine, toolchain, progress) {
            Ok(()) if has_compiler_crates(toolchain) => {
                return Ok(Self { sysroot: toolchain.sysroot.clone(), origin: Origin::Component });
            }
            Ok(()) => "rustup added the component, but the compiler's crates are not there".to_owned(),
            Err(reason) => reason,
        };
        let source = toolchain.compiler_source().filter(|_| toolchain.compiler.sources);
        let Some(source) = source else { return Err(out_of_reach(toolchain, &not_added)) };
        let sysroot = build_once(home, machine, toolchain, &source, packages, progress)?;
        Ok(Self { sysroot, origin: Origin::Built })
    }

    /// The compiler, with the environment that it needs to run and to load a plugin.
    pub fn rustc(&self) -> Command {
        let mut rustc = with_libraries(&self.rustc_path(), &self.sysroot);
        rustc.env("RUSTC_BOOTSTRAP", "1");
        rustc
    }

    /// The compiler's file.
    pub fn rustc_path(&self) -> PathBuf {
        self.sysroot.join("bin/rustc")
    }

    /// The host toolchain's cargo with this compiler, for building the plugin and for building with it.
    pub fn cargo(&self, toolchain: &Toolchain) -> Command {
        let mut cargo = toolchain.cargo();
        let libraries = with_libraries(&self.rustc_path(), &self.sysroot);
        for (name, value) in libraries.get_envs().filter(|(name, _)| *name == "LD_LIBRARY_PATH") {
            cargo.env(name, value.unwrap_or_default());
        }
        cargo.env("RUSTC", self.rustc_path());
        cargo
    }

    /// The flag that lets a crate link against the compiler's crates, and through them its LLVM.
    pub fn link_flag(&self) -> String {
        format!("-L{}", self.sysroot.join("lib").display())
    }
}

/// What identifies the rustc-dev that is built for a toolchain.
pub fn artifact(toolchain: &Toolchain) -> Artifact {
    let llvm = format!("lib/libLLVM-{}.so", toolchain.compiler.llvm);
    Artifact {
        name: "rustc-dev",
        key: key_of([LAYOUT, &toolchain.version.verbose, &build::settings()]),
        needs: ["bin/rustc", "lib/librustc_driver.so", &llvm].into_iter().map(PathBuf::from).collect(),
    }
}

/// Where the compiler's crates are in a sysroot.
fn host_libraries(sysroot: &Path, toolchain: &Toolchain) -> PathBuf {
    sysroot.join("lib/rustlib").join(&toolchain.version.host).join("lib")
}

fn has_compiler_crates(toolchain: &Toolchain) -> bool {
    let is_one =
        |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("librustc_middle-"));
    files_in(&host_libraries(&toolchain.sysroot, toolchain)).iter().any(is_one)
}

/// Lets rustup add the components; the error is a clause that says why it did not.
fn add_component(machine: &Machine, toolchain: &Toolchain, progress: &Progress) -> Result<(), String> {
    if !toolchain.is_rustups() {
        return Err(format!("{} is not a toolchain of rustup's", toolchain.sysroot.display()));
    }
    if !machine.rustup_downloads {
        return Err("RUSTUP_AUTO_INSTALL=0 keeps rustup from downloading".to_owned());
    }
    let rustup = machine.program("rustup").ok_or("rustup is not on the search path")?;
    let step = progress.step("rustc-dev");
    step.message("adding rustup's component");
    let mut add = Command::new(rustup);
    add.args(["component", "add"]).args(COMPONENTS).arg("--toolchain");
    add.arg(toolchain.sysroot.file_name().unwrap_or(toolchain.compiler.release.as_ref()));
    process::run(&mut add, "add the component").map_err(|error| error.to_string())?;
    step.finish();
    Ok(())
}

fn out_of_reach(toolchain: &Toolchain, not_added: &str) -> SetupError {
    let source = toolchain.sysroot.join("lib/rustlib/src/rust/compiler");
    let remedy = format!(
        "run `rustup component add {} --toolchain {}` where there is a connection; without it, build with `--hints llvm`",
        COMPONENTS.join(" "),
        toolchain.compiler.release
    );
    missing(
        "rustc-dev",
        format_args!("{not_added}; no compiler sources in {} to build it from", source.display()),
        remedy,
    )
}

/// Builds and assembles. What cargo has built stays until the artifact is whole, so that an interrupted build goes on
/// where it was.
fn build_once(
    home: &Home,
    machine: &Machine,
    toolchain: &Toolchain,
    source: &Path,
    packages: &dyn Packages,
    progress: &Progress,
) -> Result<PathBuf, SetupError> {
    let artifact = artifact(toolchain);
    // Not `rustc-dev-…`: that would be taken for an artifact.
    let work = home.root().join(format!("rustc-dev.build-{}", &artifact.key[..12]));
    let folder = home.ensure(&artifact, progress, |partial| {
        let step = progress.step("rustc-dev");
        let built = build::Build { machine, toolchain, source, work: &work, packages, step: &step }.run()?;
        step.message("putting the compiler together");
        assemble::assemble(toolchain, &built, partial)?;
        step.finish();
        Ok(())
    })?;
    remove_folder(&work)?;
    Ok(folder)
}
