//! The kernel crates of a workspace: packages with a `cdylib` target that depend on device-std.
//!
//! One that is not for every maker's GPUs says in its `Cargo.toml` for whose it is:
//!
//! ```toml
//! [package.metadata.latch]
//! targets = ["nvptx"]
//! ```

mod memory;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::cargo_platform::Platform;
use cargo_metadata::{CrateType, Metadata, Package};
use hint_record::Site;

use crate::build::Arch;
use crate::setup::{Home, Toolchain};
use crate::target::Target;
use memory::Memory;

const DEVICE_LIBRARY: &str = "device-std";

/// A package that holds kernels.
#[derive(Debug, Clone)]
pub struct KernelCrate {
    /// The package's name.
    pub name: String,
    /// The package by name and version, as sites name it.
    pub id: String,
    /// The library target's name, which is the PTX file's.
    pub library: String,
    /// The package's folder.
    pub folder: PathBuf,
    /// The library's first source file.
    pub root_file: PathBuf,
    /// Whose GPUs its kernels are for.
    pub targets: Vec<Target>,
}

/// The workspace around a folder.
#[derive(Debug)]
pub struct Workspace {
    metadata: Metadata,
}

impl Workspace {
    /// What cargo says of the workspace that `folder` is in: asked, or remembered from when it was asked last.
    pub fn at(folder: &Path, toolchain: &Toolchain, home: &Home) -> Result<Workspace> {
        let platforms = Target::ALL.into_iter().flat_map(|target| ["--filter-platform", target.triple()]);
        let arguments: Vec<&str> = ["metadata", "--format-version", "1"].into_iter().chain(platforms).collect();
        let memory = Memory::of(home, folder, &format!("{} {arguments:?}", toolchain.version.verbose));
        if let Some(metadata) = memory.recall() {
            return Ok(Workspace { metadata });
        }
        let output = toolchain.cargo().args(arguments).current_dir(folder).output().context("cannot run cargo")?;
        if !output.status.success() {
            bail!(
                "cargo cannot read the workspace at {}: {}",
                folder.display(),
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        let metadata = serde_json::from_str(&printed).context("cargo metadata printed something unexpected")?;
        memory.keep(&printed, &metadata);
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

    /// Does some package's manifest name a device target in full? Then cargo must be given just that name
    /// ([`crate::build::spelling`]).
    pub fn names_triple(&self) -> bool {
        let is_device = |platform: &Platform| match platform {
            Platform::Name(name) => Target::ALL.iter().any(|target| target.triple() == name),
            Platform::Cfg(_) => false,
        };
        let dependencies = self.metadata.packages.iter().flat_map(|package| &package.dependencies);
        dependencies.filter_map(|dependency| dependency.target.as_ref()).any(is_device)
    }

    /// The folder of a package, by the name and version that sites have, dependencies included.
    pub fn package_folder(&self, id: &str) -> Option<&Path> {
        let package = self.metadata.packages.iter().find(|package| self::id(package) == id)?;
        package.manifest_path.parent().map(|folder| folder.as_std_path())
    }

    /// The kernel crates with these names, or all of the workspace's where none is named.
    pub fn kernel_crates(&self, names: &[String]) -> Result<Vec<KernelCrate>> {
        let all =
            self.metadata.workspace_packages().into_iter().filter_map(|package| KernelCrate::of(package).transpose());
        let all: Vec<KernelCrate> = all.collect::<Result<_>>()?;
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
    fn of(package: &Package) -> Result<Option<KernelCrate>> {
        let uses_library = package.dependencies.iter().any(|dependency| dependency.name == DEVICE_LIBRARY);
        // An example can be such a library too, and is no part of the package's own.
        let mut libraries = package.targets.iter().filter(|target| !target.is_example());
        let library = libraries.find(|target| target.crate_types.contains(&CrateType::CDyLib));
        let (Some(library), Some(folder), true) = (library, package.manifest_path.parent(), uses_library) else {
            return Ok(None);
        };
        Ok(Some(KernelCrate {
            name: package.name.to_string(),
            id: id(package),
            library: library.name.replace('-', "_"),
            folder: folder.as_std_path().to_owned(),
            root_file: library.src_path.clone().into_std_path_buf(),
            targets: targets(package)?,
        }))
    }

    /// Are its kernels for this GPU, as far as the crate says?
    pub fn is_for(&self, arch: &Arch) -> bool {
        self.targets.contains(&arch.target())
    }

    /// Refuses a GPU that they are not for.
    pub fn check_for(&self, arch: &Arch) -> Result<()> {
        if !self.is_for(arch) {
            let targets: Vec<String> = self.targets.iter().map(Target::to_string).collect();
            bail!("`{}` is not for {arch}: its Cargo.toml says that it is for {}", self.name, targets.join(", "));
        }
        Ok(())
    }
}

fn id(package: &Package) -> String {
    Site::package_id(&package.name, &package.version.to_string())
}

/// What the package says, or all.
fn targets(package: &Package) -> Result<Vec<Target>> {
    let Some(named) = package.metadata.get("latch").and_then(|latch| latch.get("targets")) else {
        return Ok(Target::ALL.to_vec());
    };
    let unreadable = || {
        let [nvidias, amds] = Target::ALL;
        format!("`targets` in {} is no list of {nvidias} and {amds}", package.manifest_path)
    };
    let names = named.as_array().filter(|names| !names.is_empty()).with_context(unreadable)?;
    let target = |name: &serde_json::Value| Target::ALL.into_iter().find(|target| name == &target.to_string());
    names.iter().map(|name| target(name).with_context(unreadable)).collect()
}
