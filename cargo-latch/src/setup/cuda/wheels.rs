//! NVIDIA's tools from PyPI's wheels: fetched by pip, held to the hashes below, and only what is used unpacked.
//!
//! pip is asked to check the same hashes, but is not relied on: what lies in the folder afterwards is hashed here
//! before it is opened. pip itself is run in a way that no code of the user's current folder or of `PYTHONPATH` can
//! take its place (`pip`).

use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::read::ZipFile;

use super::{CudaTools, Fetch, Origin};
use crate::setup::error::{SetupError, at};
use crate::setup::home::{Artifact, Home, key_of, remove_folder};
use crate::setup::manifest::sha256;
use crate::setup::progress::Progress;
use crate::setup::toolchain::files_in;

/// The version of all wheels.
pub const WHEEL_VERSION: &str = "13.5.37";
/// To be raised when this file unpacks something else of the same wheels.
const LAYOUT: &str = "1";
/// The folder in the wheels that all their files are in, without which they are unpacked.
const WHEEL_ROOT: &str = "nvidia/cu13";

/// A wheel: its name, and its hash for each kind of machine.
#[derive(Debug, Clone, Copy)]
pub struct Wheel {
    /// As PyPI knows it.
    pub name: &'static str,
    x86_64: &'static str,
    aarch64: &'static str,
}

impl Wheel {
    /// The SHA-256 that it may have, one for each kind of machine.
    pub fn hashes(&self) -> [&'static str; 2] {
        [self.x86_64, self.aarch64]
    }
}

const NVCC: Wheel = Wheel {
    name: "nvidia-cuda-nvcc",
    x86_64: "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7",
    aarch64: "588eda18eb5076ae859fe272844b526459228af22df0b117f54eec3aa82bc9c8",
};
const NVDISASM: Wheel = Wheel {
    name: "nvidia-cuda-nvdisasm",
    x86_64: "d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca",
    aarch64: "a3a8248074edb9fba63b74c38a5416b712a91ab09e70b8ab37186c3d293fc605",
};
const NVVM: Wheel = Wheel {
    name: "nvidia-nvvm",
    x86_64: "c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070",
    aarch64: "b659bd3115b7ac7ec8931e67d0e2c0dd09cd35b08a6a7372df6f8f22c67da80a",
};
const RUNTIME: Wheel = Wheel {
    name: "nvidia-cuda-runtime",
    x86_64: "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d",
    aarch64: "de2dc5a7367974228b0a69588a9acc9340d3768bef1bf38bf0801eb08497cd2d",
};
const CRT: Wheel = Wheel {
    name: "nvidia-cuda-crt",
    x86_64: "e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29",
    aarch64: "9ed2c565fdf3244fa6719769a80a466b85bfd4b1467ea339353bc91c971d09e0",
};

/// A set of wheels and what is kept of them.
struct Bundle {
    name: &'static str,
    wheels: &'static [Wheel],
    /// Files and folders below [`WHEEL_ROOT`]; nothing here keeps all.
    keep: &'static [&'static str],
    needs: &'static [&'static str],
}

const TOOLS: Bundle = Bundle {
    name: "cuda-tools",
    wheels: &[NVCC, NVDISASM, NVVM],
    keep: &["bin/ptxas", "bin/nvdisasm", "lib/libnvvm.so.4"],
    needs: &["bin/ptxas", "bin/nvdisasm", "lib/libnvvm.so.4"],
};
const COMPILER: Bundle = Bundle {
    name: "cuda-nvcc",
    wheels: &[NVCC, NVVM, RUNTIME, CRT],
    keep: &[],
    needs: &["bin/nvcc", "bin/ptxas", "nvvm/bin/cicc", "include/cuda_runtime.h"],
};

impl Bundle {
    fn artifact(&self) -> Artifact {
        let hashes = self.wheels.iter().flat_map(Wheel::hashes);
        Artifact {
            name: self.name,
            key: key_of([LAYOUT, WHEEL_VERSION].into_iter().chain(hashes).chain(self.keep.iter().copied())),
            needs: self.needs.iter().map(PathBuf::from).collect(),
        }
    }

    fn ensure(&self, home: &Home, fetch: &dyn Fetch, progress: &Progress) -> Result<PathBuf, SetupError> {
        home.ensure(&self.artifact(), progress, |partial| {
            fetch.ready()?;
            let step = progress.step("NVIDIA's tools");
            step.message("downloading wheels from PyPI");
            let download = partial.join("wheels");
            fs::create_dir_all(&download).map_err(at("create", &download))?;
            fetch.wheels(self.wheels, &download)?;
            step.message("unpacking");
            for wheel in files_in(&download) {
                let trusted = self.open_trusted(&wheel, fetch)?;
                self.unpack(&wheel, trusted, partial)?;
            }
            remove_folder(&download)?;
            step.finish();
            Ok(())
        })
    }

    /// The wheel, if it is one of those asked for. The file that was hashed is the one that is read on.
    fn open_trusted(&self, wheel: &Path, fetch: &dyn Fetch) -> Result<File, SetupError> {
        let mut file = File::open(wheel).map_err(at("open", wheel))?;
        let found = sha256(&file).map_err(at("read", wheel))?;
        if !self.wheels.iter().any(|pinned| fetch.is_pinned(pinned, &found)) {
            return Err(untrusted(wheel, found));
        }
        file.rewind().map_err(at("read", wheel))?;
        Ok(file)
    }

    fn unpack(&self, wheel: &Path, file: File, into: &Path) -> Result<(), SetupError> {
        let unzip = |error: zip::result::ZipError| at("unpack", wheel)(error.into());
        let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(unzip)?;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).map_err(unzip)?;
            let target = entry.enclosed_name().and_then(|name| self.target(&name));
            if let Some(target) = target.filter(|_| entry.is_file()) {
                write_entry(&mut entry, &into.join(target))?;
            }
        }
        Ok(())
    }

    /// Where a wheel's file goes, if it is kept: below the bundle's folder, licences into one of their own.
    fn target(&self, name: &Path) -> Option<PathBuf> {
        if let Some(folder) = name.iter().next().filter(|_| name.iter().any(|part| part == "licenses")) {
            return Some(Path::new("licenses").join(folder).join(name.file_name()?));
        }
        let name = name.strip_prefix(WHEEL_ROOT).ok()?;
        (self.keep.is_empty() || self.keep.iter().any(|kept| name.starts_with(kept))).then(|| name.to_path_buf())
    }
}

/// Writes a file of a wheel, runnable by all if it is by its owner.
fn write_entry<R: io::Read>(entry: &mut ZipFile<'_, R>, target: &Path) -> Result<(), SetupError> {
    let folder = target.parent().unwrap_or(target);
    fs::create_dir_all(folder).map_err(at("create", folder))?;
    let mut file = File::create(target).map_err(at("create", target))?;
    io::copy(entry, &mut file).map_err(at("write", target))?;
    #[cfg(unix)]
    if entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0) {
        let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        file.set_permissions(runnable).map_err(at("make runnable", target))?;
    }
    Ok(())
}

fn untrusted(wheel: &Path, found: String) -> SetupError {
    SetupError::Untrusted {
        what: format!("the wheel {}", wheel.file_name().unwrap_or_default().to_string_lossy()),
        found,
        expected: format!("no wheel of NVIDIA's tools {WHEEL_VERSION} has that"),
        remedy: "see what `python3 -m pip config list` names as index, or set CUDA_HOME to CUDA 12.8 or newer"
            .to_owned(),
    }
}

/// What identifies the tools from the wheels.
pub fn artifact() -> Artifact {
    TOOLS.artifact()
}

pub(super) fn find(home: &Home) -> Option<CudaTools> {
    home.find(&TOOLS.artifact()).map(tools_in)
}

pub(super) fn ensure(home: &Home, fetch: &dyn Fetch, progress: &Progress) -> Result<CudaTools, SetupError> {
    TOOLS.ensure(home, fetch, progress).map(tools_in)
}

pub(super) fn ensure_nvcc(home: &Home, fetch: &dyn Fetch, progress: &Progress) -> Result<PathBuf, SetupError> {
    Ok(COMPILER.ensure(home, fetch, progress)?.join("bin/nvcc"))
}

fn tools_in(folder: PathBuf) -> CudaTools {
    CudaTools {
        ptxas: folder.join("bin/ptxas"),
        nvdisasm: folder.join("bin/nvdisasm"),
        libnvvm: Some(folder.join("lib/libnvvm.so.4")),
        version: WHEEL_VERSION.to_owned(),
        origin: Origin::Wheels(folder),
    }
}
