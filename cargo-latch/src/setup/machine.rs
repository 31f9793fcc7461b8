//! What the set-up reads from its surroundings, in one value: so that tests can make up a machine of their own, and no
//! environment variable is read anywhere else.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The surroundings of a run.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    /// Where rustup keeps its toolchains.
    pub rustup_home: PathBuf,
    /// Whether rustup may download: it is told not to by `RUSTUP_AUTO_INSTALL=0`.
    pub rustup_downloads: bool,
    /// The search path for programs.
    pub path: OsString,
    /// Roots of CUDA toolkits to look at, in this order, before the search path.
    pub cuda_roots: Vec<PathBuf>,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        let var = |name| env::var_os(name).filter(|value| !value.is_empty());
        let rustup_home = var("RUSTUP_HOME").map(PathBuf::from);
        let cuda_roots = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(var).map(PathBuf::from);
        Self {
            rustup_home: rustup_home.or_else(|| Some(dirs::home_dir()?.join(".rustup"))).unwrap_or_default(),
            rustup_downloads: var("RUSTUP_AUTO_INSTALL").is_none_or(|value| value != "0"),
            path: var("PATH").unwrap_or_default(),
            cuda_roots: cuda_roots.chain([PathBuf::from("/usr/local/cuda")]).collect(),
        }
    }

    /// A program on the search path, of which entries such as `.` are passed over: what lies in the current folder is
    /// never run.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let folders = env::split_paths(&self.path).filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(name)).find(|file| is_executable(file))
    }
}

/// Whether the file is there and may be run by somebody.
pub fn is_executable(file: &Path) -> bool {
    #[cfg(unix)]
    fn may_run(found: &std::fs::Metadata) -> bool {
        std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0
    }
    #[cfg(not(unix))]
    fn may_run(_: &std::fs::Metadata) -> bool {
        true
    }
    file.metadata().is_ok_and(|found| found.is_file() && may_run(&found))
}
