//! NVIDIA's tools: ptxas, nvdisasm and libNVVM, from an installed CUDA toolkit or from PyPI's wheels.
//!
//! A toolkit is taken if its ptxas and nvdisasm know the newest architecture that Latch builds for; else, or where
//! there is none, the wheels are fetched into the home. Neither a driver nor a GPU is needed. libNVVM is optional in a
//! toolkit.

use std::path::{Path, PathBuf};

use super::error::SetupError;
use super::home::Home;
use super::machine::Machine;
use super::progress::Progress;

mod pip;
mod toolkit;
mod wheels;

pub use pip::{Fetch, Pip};
pub use toolkit::{OLDEST, Toolkit};
pub use wheels::{WHEEL_VERSION, Wheel, artifact};

/// Where the tools are from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// An installed CUDA toolkit, with its root.
    Toolkit(PathBuf),
    /// PyPI's wheels, unpacked in the home.
    Wheels(PathBuf),
}

/// NVIDIA's tools.
#[derive(Debug, Clone)]
pub struct CudaTools {
    /// The assembler.
    pub ptxas: PathBuf,
    /// The disassembler.
    pub nvdisasm: PathBuf,
    /// `libnvvm.so.4`, for the route by libNVVM; a toolkit may come without.
    pub libnvvm: Option<PathBuf>,
    /// The tools' version, such as `13.5.37`.
    pub version: String,
    /// Where they are from.
    pub origin: Origin,
}

impl CudaTools {
    /// The tools that are here already.
    pub fn find(home: &Home, machine: &Machine) -> Option<Self> {
        Toolkit::find(home, machine).ok().map(Self::from).or_else(|| wheels::find(home))
    }

    /// The tools, fetched if there are none.
    pub fn ensure(home: &Home, machine: &Machine, fetch: &dyn Fetch, progress: &Progress) -> Result<Self, SetupError> {
        match Self::find(home, machine) {
            Some(tools) => Ok(tools),
            None => wheels::ensure(home, fetch, progress),
        }
    }
}

/// NVIDIA's own compiler, to compare with; no build needs it.
#[derive(Debug, Clone)]
pub struct Nvcc {
    /// The compiler driver, which finds its parts beside itself.
    pub nvcc: PathBuf,
}

impl Nvcc {
    /// nvcc of an installed toolkit, else from the wheels, fetched if they are not here.
    pub fn ensure(home: &Home, machine: &Machine, fetch: &dyn Fetch, progress: &Progress) -> Result<Self, SetupError> {
        match Toolkit::find(home, machine).ok().and_then(|toolkit| toolkit.nvcc()) {
            Some(nvcc) => Ok(Self { nvcc }),
            None => wheels::ensure_nvcc(home, fetch, progress).map(|nvcc| Self { nvcc }),
        }
    }
}

fn first_file(root: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| root.join(name)).find(|file| file.is_file())
}
