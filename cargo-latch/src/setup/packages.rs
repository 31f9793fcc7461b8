//! Debian's packages, unpacked into a folder without root: the same script that `./latch` makes the host toolchain with.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::error::{SetupError, at};
use super::process;

const SCRIPT: &str = include_str!("debian-packages.sh");

/// Brings the files of system packages.
pub trait Packages: Sync {
    /// Unpacks the packages (`name` or `name=version`) into `folder`, which is created.
    fn unpack(&self, packages: &[String], folder: &Path) -> Result<(), SetupError>;
}

/// Packages of this machine's Debian release.
#[derive(Debug, Clone, Copy, Default)]
pub struct Debian;

impl Packages for Debian {
    fn unpack(&self, packages: &[String], folder: &Path) -> Result<(), SetupError> {
        let beside = folder.parent().unwrap_or(folder);
        fs::create_dir_all(beside).map_err(at("create", beside))?;
        let script = tempfile::NamedTempFile::new_in(beside).map_err(at("write in", beside))?;
        fs::write(script.path(), SCRIPT).map_err(at("write", script.path()))?;
        let mut sh = Command::new("sh");
        sh.arg(script.path()).arg(folder).args(packages);
        process::run(&mut sh, "unpack Debian's packages").map(drop)
    }
}
