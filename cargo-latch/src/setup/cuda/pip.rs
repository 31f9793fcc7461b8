//! pip, run so that it is the installed one and nothing else.
//!
//! `python3 -I` takes no module from the current folder, from `PYTHONPATH` or from the user's own site folder, in none
//! of which a `pip` has to be the real one; and the current folder is one of ours, since stand-ins for `python3` such
//! as pyenv's look into it too. The user's settings for pip (`PIP_INDEX_URL`, `pip.conf`) hold all the same, which is
//! what `pip --isolated` would not let them: a mirror or a proxy is the only way to the wheels on some machines, and
//! whatever comes is held to its hash.
//!
//! Wrong where pip is installed for the user alone (`pip install --user`), and where a setting names a relative path.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::wheels::{WHEEL_VERSION, Wheel};
use crate::setup::error::{SetupError, at, missing};
use crate::setup::machine::Machine;
use crate::setup::process;

/// Brings wheels into a folder.
pub trait Fetch: Sync {
    /// Whether it can be tried, or what is missing for it.
    fn ready(&self) -> Result<(), SetupError> {
        Ok(())
    }

    /// Whether a wheel may have this hash: only if it is pinned. Made-up wheels have others.
    fn is_pinned(&self, wheel: &Wheel, hash: &str) -> bool {
        wheel.hashes().contains(&hash)
    }

    /// Puts the wheels, as they are, into `folder`.
    fn wheels(&self, wheels: &[Wheel], folder: &Path) -> Result<(), SetupError>;
}

/// Fetches by `pip download`, with the user's own pip configuration.
#[derive(Debug, Clone)]
pub struct Pip {
    python: Option<PathBuf>,
}

impl Pip {
    /// The pip of the `python3` on the search path.
    pub fn of(machine: &Machine) -> Self {
        Self { python: machine.program("python3") }
    }

    /// pip in a folder, without code from anywhere but its installation. `-B`: nothing is written there.
    fn pip(&self, folder: &Path) -> Result<Command, SetupError> {
        let python = self.python.as_deref().ok_or_else(|| no_pip("python3", "not on the search path"))?;
        let mut pip = Command::new(python);
        pip.current_dir(folder).args(["-I", "-B", "-m", "pip"]);
        Ok(pip)
    }
}

impl Fetch for Pip {
    fn ready(&self) -> Result<(), SetupError> {
        // Not `temp_dir()`, where anybody can put things.
        process::run(self.pip(Path::new("/"))?.arg("--version"), "run pip").map_err(|_| {
            let python = self.python.as_deref().unwrap_or(Path::new("python3")).display();
            no_pip("pip", &format!("{python} -I -m pip does not run"))
        })?;
        Ok(())
    }

    fn wheels(&self, wheels: &[Wheel], folder: &Path) -> Result<(), SetupError> {
        let list = folder.join("requirements.txt");
        fs::write(&list, requirements(wheels)).map_err(at("write", &list))?;
        let mut pip = self.pip(folder)?;
        pip.args(["download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]);
        pip.arg("--requirement").arg(&list).arg("--dest").arg(folder);
        process::run(&mut pip, "download NVIDIA's tools from PyPI")?;
        fs::remove_file(&list).map_err(at("remove", &list))
    }
}

fn no_pip(what: &str, tried: &str) -> SetupError {
    missing(
        what,
        format_args!("{tried}, and PyPI's wheels of ptxas and nvdisasm are fetched with it"),
        "install python3 and pip (on Debian: `apt-get install python3-pip`), or CUDA 12.8 or newer and set CUDA_HOME to it",
    )
}

/// A requirements file: every wheel at its version, with the hashes that it may have.
fn requirements(wheels: &[Wheel]) -> String {
    let line = |wheel: &Wheel| {
        let [x86_64, aarch64] = wheel.hashes();
        format!("{}=={WHEEL_VERSION} --hash=sha256:{x86_64} --hash=sha256:{aarch64}\n", wheel.name)
    };
    wheels.iter().map(line).collect()
}
