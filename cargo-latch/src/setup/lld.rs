//! lld, which makes a code object of what the linker leaves for AMD's GPUs.
//!
//! rustup's toolchains have it beside the compiler, as `rust-lld`. To a toolchain of Debian's packages belongs Debian's
//! own, which works with the same libLLVM and is fetched with the first code object. Any other is looked for on the
//! search path; it must be at least of the compiler's LLVM release, since older ones refuse the version of the object
//! format. Without lld a build for AMD ends with its assembly.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::{SetupError, missing};
use super::home::{Artifact, Home, key_of};
use super::machine::{Machine, is_executable};
use super::packages::Packages;
use super::process;
use super::progress::Progress;
use super::toolchain::{Toolchain, with_libraries};

/// How to get it.
pub const REMEDY: &str = "take rustup's toolchain, which has it, or on Debian `apt-get install lld-22`";

/// An lld that can link for AMD's GPUs.
#[derive(Debug, Clone)]
pub struct Lld {
    /// The program.
    pub program: PathBuf,
    /// The folder of the toolchain, whose libraries it may need.
    sysroot: PathBuf,
}

impl Lld {
    /// Looks beside the compiler, on the search path, and for what was fetched before.
    pub fn find(home: &Home, machine: &Machine, toolchain: &Toolchain) -> Option<Lld> {
        let major = toolchain.compiler.llvm;
        let own = toolchain.sysroot.join("lib/rustlib").join(&toolchain.version.host).join("bin/rust-lld");
        let on_path = [format!("ld.lld-{major}"), "ld.lld".to_owned()];
        let on_path = on_path.iter().filter_map(|name| machine.program(name));
        let fetched = home.find(&artifact(toolchain)).map(|folder| folder.join(program(toolchain)));
        let candidates = std::iter::once(own).filter(|own| is_executable(own)).chain(on_path).chain(fetched);
        let lld = |program| Lld { program, sysroot: toolchain.sysroot.clone() };
        let wanted: u32 = major.parse().ok()?;
        candidates.map(lld).find(|lld| lld.release(home).is_some_and(|found| found >= wanted))
    }

    /// The same, fetched from Debian's packages where the toolchain comes from there too.
    pub fn ensure(
        home: &Home,
        machine: &Machine,
        toolchain: &Toolchain,
        packages: &dyn Packages,
        progress: &Progress,
    ) -> Result<Lld, SetupError> {
        let looked = || {
            let (major, tried) = (toolchain.compiler.llvm, "looked beside the compiler and on the search path");
            missing(format_args!("lld of LLVM {major} or later"), tried, REMEDY)
        };
        if let Some(found) = Lld::find(home, machine, toolchain) {
            return Ok(found);
        }
        if !toolchain.has_debians_llvm() {
            return Err(looked());
        }
        home.ensure(&artifact(toolchain), progress, |partial| {
            let step = progress.step("lld");
            step.message("fetching it from Debian's packages");
            packages.unpack(&[format!("lld-{}=1:{}*", toolchain.compiler.llvm, toolchain.version.llvm)], partial)?;
            step.finish();
            Ok(())
        })?;
        Lld::find(home, machine, toolchain).ok_or_else(looked)
    }

    /// The major version that it states; none if it does not run.
    fn release(&self, home: &Home) -> Option<u32> {
        let text = process::version_text(home, &self.program, self.command().arg("--version")).ok()?;
        let (_, version) = text.split_once("LLD ")?;
        version.split('.').next()?.parse().ok()
    }

    /// Makes a code object of an object.
    pub fn link(&self, object: &Path, code_object: &Path) -> Result<(), SetupError> {
        let mut lld = self.command();
        lld.args(["-shared", "--no-undefined"]).arg(object).arg("-o").arg(code_object);
        process::run(&mut lld, "make a code object").map(drop)
    }

    fn command(&self) -> Command {
        let mut lld = with_libraries(&self.program, &self.sysroot);
        if self.program.file_name().is_some_and(|name| name == "rust-lld") {
            lld.args(["-flavor", "gnu"]);
        }
        lld
    }
}

/// What identifies the one that is fetched for a toolchain.
pub fn artifact(toolchain: &Toolchain) -> Artifact {
    Artifact { name: "lld", key: key_of([&toolchain.version.llvm]), needs: vec![program(toolchain)] }
}

/// Where Debian's package has it.
fn program(toolchain: &Toolchain) -> PathBuf {
    format!("usr/lib/llvm-{}/bin/ld.lld", toolchain.compiler.llvm).into()
}
