//! An installed CUDA toolkit, found by `CUDA_HOME`, `CUDA_PATH`, the usual place, and the search path, in this order.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{CudaTools, Origin, first_file};
use crate::setup::error::{SetupError, missing};
use crate::setup::home::Home;
use crate::setup::machine::{Machine, is_executable};
use crate::setup::process;

/// The first CUDA whose tools know sm_120a.
pub const OLDEST: (u32, u32) = (12, 8);

/// An installed CUDA toolkit that is new enough.
#[derive(Debug, Clone)]
pub struct Toolkit {
    root: PathBuf,
    ptxas: PathBuf,
    nvdisasm: PathBuf,
    version: String,
}

impl Toolkit {
    /// The first that is whole and new enough; the error says what was found instead.
    pub fn find(home: &Home, machine: &Machine) -> Result<Self, SetupError> {
        let mut seen = Vec::new();
        for (root, ptxas, nvdisasm) in candidates(machine) {
            match oldest_version(home, &ptxas, &nvdisasm) {
                Ok(version) if number(&version) >= Some(OLDEST) => return Ok(Self { root, ptxas, nvdisasm, version }),
                Ok(version) => seen.push(format!("{} is CUDA {version}", root.display())),
                Err(error) => seen.push(error.to_string()),
            }
        }
        let seen = if seen.is_empty() { "none found".to_owned() } else { seen.join("; ") };
        let (major, minor) = OLDEST;
        Err(missing(
            format_args!("a CUDA toolkit of version {major}.{minor} or newer"),
            seen,
            "install one and set CUDA_HOME, or let Latch fetch PyPI's wheels",
        ))
    }

    /// Its compiler driver.
    pub fn nvcc(&self) -> Option<PathBuf> {
        Some(self.root.join("bin/nvcc")).filter(|nvcc| is_executable(nvcc))
    }
}

impl From<Toolkit> for CudaTools {
    fn from(toolkit: Toolkit) -> Self {
        let libnvvm =
            first_file(&toolkit.root, &["nvvm/lib64/libnvvm.so.4", "nvvm/lib/libnvvm.so.4", "lib64/libnvvm.so.4"]);
        let Toolkit { root, ptxas, nvdisasm, version } = toolkit;
        Self { ptxas, nvdisasm, libnvvm, version, origin: Origin::Toolkit(root) }
    }
}

/// Root, ptxas and nvdisasm of every place that has both tools.
fn candidates(machine: &Machine) -> Vec<(PathBuf, PathBuf, PathBuf)> {
    let in_root = |root: &PathBuf| (root.clone(), root.join("bin/ptxas"), root.join("bin/nvdisasm"));
    let on_path = || {
        let ptxas = machine.program("ptxas")?;
        // The file on the path is often a link into the toolkit, where libNVVM is.
        let real = ptxas.canonicalize().unwrap_or_else(|_| ptxas.clone());
        let root = real.parent().and_then(Path::parent)?.to_path_buf();
        Some((root, ptxas, machine.program("nvdisasm")?))
    };
    let mut found: Vec<_> = machine.cuda_roots.iter().map(in_root).chain(on_path()).collect();
    found.retain(|(_, ptxas, nvdisasm)| is_executable(ptxas) && is_executable(nvdisasm));
    found
}

/// The older of the two tools' versions: both have to know the architecture.
fn oldest_version(home: &Home, ptxas: &Path, nvdisasm: &Path) -> Result<String, SetupError> {
    let versions = [tool_version(home, ptxas)?, tool_version(home, nvdisasm)?];
    Ok(versions.into_iter().min_by_key(|version| number(version)).unwrap_or_default())
}

/// From `Cuda compilation tools, release 13.5, V13.5.37`.
fn tool_version(home: &Home, program: &Path) -> Result<String, SetupError> {
    let text = process::version_text(home, program, Command::new(program).arg("--version"))?;
    let version = text.split_whitespace().find_map(|word| word.strip_prefix('V').filter(|rest| number(rest).is_some()));
    version.map(str::to_owned).ok_or_else(|| {
        missing(
            format_args!("a version in what {} --version prints", program.display()),
            text.trim(),
            "take another toolkit, or unset CUDA_HOME to let Latch fetch PyPI's wheels",
        )
    })
}

fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_versions_as_numbers() {
        assert!(number("12.10.1") > Some(OLDEST) && number("9.2.88") < Some(OLDEST));
        assert_eq!(number("release"), None);
    }
}
