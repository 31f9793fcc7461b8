//! The kernel crates of a workspace: packages with a `cdylib` target that depend on device-std.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::{CrateType, Metadata, Package};

use crate::setup::Toolchain;
use crate::target::Target;

const DEVICE_LIBRARY: &str = "device-std";

/// A package that holds kernels.
#[derive(Debug, Clone)]
pub struct KernelCrate {
    /// The package's name.
    pub name: String,
    /// The library target's name, which is the PTX file's.
    pub library: String,
    /// The package's folder.
    pub folder: PathBuf,
    /// The library's first source file.
    pub root_file: PathBuf,
}

/// The workspace around a folder.
#[derive(Debug)]
pub struct Workspace {
    metadata: Metadata,
}

impl Workspace {
    /// Asks cargo about the workspace that `folder` is in.
    pub fn at(folder: &Path, toolchain: &Toolchain) -> Result<Workspace> {
        let output = toolchain
            .cargo()
            .args(["metadata", "--format-version", "1"])
            .args(Target::ALL.map(Target::triple).iter().flat_map(|triple| ["--filter-platform", triple]))
            .current_dir(folder)
            .output()
            .context("cannot run cargo")?;
        if !output.status.success() {
            bail!(
                "cargo cannot read the workspace at {}: {}",
                folder.display(),
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        let metadata = serde_json::from_slice(&output.stdout).context("cargo metadata printed something unexpected")?;
        Ok(Workspace { metadata })
    }

    /// The workspace's own folder.
    pub fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Where builds of kernels go: beside the workspace's other builds.
    pub fn build_folder(&self) -> PathBuf {
        self.metadata.target_directory.as_std_path().join("latch")
    }

    /// The folder of a package, by name, dependencies included.
    pub fn package_folder(&self, name: &str) -> Option<&Path> {
        let package = self.metadata.packages.iter().find(|package| package.name.as_str() == name)?;
        package.manifest_path.parent().map(|folder| folder.as_std_path())
    }

    /// The kernel crates with these names, or all of the workspace's where none is named.
    pub fn kernel_crates(&self, names: &[String]) -> Result<Vec<KernelCrate>> {
        let all: Vec<KernelCrate> =
            self.metadata.workspace_packages().into_iter().filter_map(KernelCrate::of).collect();
        if names.is_empty() {
            if all.is_empty() {
                bail!(
                    "no package of {} is a kernel crate: one depends on {DEVICE_LIBRARY} and has `crate-type = [\"cdylib\"]`",
                    self.root().display()
                );
            }
            return Ok(all);
        }
        let find = |name: &String| {
            let found = all.iter().find(|found| found.name == *name).cloned();
            let known: Vec<&str> = all.iter().map(|found| found.name.as_str()).collect();
            found.with_context(|| format!("`{name}` is no kernel crate of this workspace; it has {}", known.join(", ")))
        };
        names.iter().map(find).collect()
    }
}

impl KernelCrate {
    fn of(package: &Package) -> Option<KernelCrate> {
        let uses_library = package.dependencies.iter().any(|dependency| dependency.name == DEVICE_LIBRARY);
        let library = package.targets.iter().find(|target| target.crate_types.contains(&CrateType::CDyLib))?;
        let folder = package.manifest_path.parent()?.as_std_path().to_owned();
        uses_library.then(|| KernelCrate {
            name: package.name.to_string(),
            library: library.name.replace('-', "_"),
            folder,
            root_file: library.src_path.clone().into_std_path_buf(),
        })
    }
}
