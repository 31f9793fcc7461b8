//! lld, which makes a code object of what the linker leaves for AMD's GPUs.
//!
//! rustup's toolchains have it beside the compiler, as `rust-lld`; Debian has it in packages of its own. It must be at least
//! of the compiler's LLVM release: older ones refuse the version of the object format. Nothing is fetched: without lld a
//! build for AMD ends with its assembly.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::SetupError;
use super::home::Home;
use super::machine::{Machine, is_executable};
use super::process;
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
    /// Looks beside the compiler, then on the search path.
    pub fn find(home: &Home, machine: &Machine, toolchain: &Toolchain) -> Option<Lld> {
        let major = toolchain.version.llvm_major();
        let own = toolchain.sysroot.join("lib/rustlib").join(&toolchain.version.host).join("bin/rust-lld");
        let on_path = [format!("ld.lld-{major}"), "ld.lld".to_owned()];
        let on_path = on_path.iter().filter_map(|name| machine.program(name));
        let candidates = std::iter::once(own).filter(|own| is_executable(own)).chain(on_path);
        let lld = |program| Lld { program, sysroot: toolchain.sysroot.clone() };
        let wanted: u32 = major.parse().ok()?;
        candidates.map(lld).find(|lld| lld.release(home).is_some_and(|found| found >= wanted))
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
