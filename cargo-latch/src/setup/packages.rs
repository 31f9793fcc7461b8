//! Debian's packages, unpacked into a folder without root: the same script that `./latch` makes the host toolchain
//! with. It holds them to the hashes of the table of [`super::compilers`].

use std::fs;
use std::path::Path;
use std::process::Command;

use super::compilers;
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
        let ours = tempfile::tempdir_in(beside).map_err(at("write in", beside))?;
        let (script, table) = (ours.path().join("packages.sh"), ours.path().join("compilers.txt"));
        for (file, text) in [(&script, SCRIPT), (&table, compilers::TABLE)] {
            fs::write(file, text).map_err(at("write", file))?;
        }
        let mut sh = Command::new("sh");
        sh.arg(&script).arg(&table).arg(folder).args(packages);
        process::run(&mut sh, "unpack Debian's packages").map(drop)
    }
}
