//! What a build needs installed, made sure of once, before anything is built.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use hint_record::Route;

use super::options::HintMode;
use super::wrapper;
use super::{BuildArgs, Wanted};
use crate::checkout;
use crate::plugin;
use crate::setup::cuda::Origin;
use crate::setup::{self, DeviceSysroot, Lld, Progress, RustcDev, SetupError, Tools};
use crate::target::Target;

/// What is installed for the builds of one invocation.
#[derive(Debug)]
pub struct Installed {
    /// What set-up has made.
    pub tools: Tools,
    /// core for AMD's GPUs, if one is to be built for.
    pub amd_sysroot: Option<DeviceSysroot>,
    /// What makes code objects for AMD's GPUs, where they are wanted, or why there is none.
    pub lld: Option<Result<Lld, SetupError>>,
    /// libNVVM, for the route by it.
    pub libnvvm: Option<PathBuf>,
    /// `latch-link`, and what tells one build of it from another.
    pub linker: Program,
    /// `latch-rustc`.
    pub wrapper: PathBuf,
    /// For the MIR mode.
    pub plugin: Option<Plugin>,
}

/// A program of ours.
#[derive(Debug)]
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// The hash of its content, in hexadecimal digits.
    pub content: String,
}

/// The compiler for the MIR mode, and the plugin that it loads.
#[derive(Debug)]
pub struct Plugin {
    compiler: RustcDev,
    /// The plugin.
    pub library: PathBuf,
}

impl Installed {
    /// Installs what is missing for such builds. With [`HintMode::Auto`] nothing is built that takes minutes.
    pub fn ensure(args: &BuildArgs, wanted: &Wanted, progress: &Progress) -> Result<Installed> {
        let tools = setup::ensure_basic(progress)?;
        let targets = args.archs.iter().map(|arch| arch.target()).chain(args.target);
        let is_for_amd = targets.into_iter().any(|target| target == Target::Amdgcn);
        let amd_sysroot = is_for_amd.then(|| setup::ensure_amd(&tools, progress)).transpose()?;
        let lld = (is_for_amd && wanted.code_objects).then(|| setup::ensure_lld(&tools, progress));
        let libnvvm = (args.route == Route::Nvvm).then(|| libnvvm(&tools)).transpose()?;
        let compiler = match args.hints {
            HintMode::Llvm => None,
            HintMode::Auto => setup::find_rustc_dev(),
            HintMode::Mir => Some(setup::ensure_rustc_dev(progress)?),
        };
        let plugin = compiler.map(|compiler| Plugin::ensure(compiler, &tools, progress)).transpose()?;
        let linker = setup::ensure_linker(&tools, checkout::folder, progress)?;
        let content = tools.home.content_of(&linker)?;
        let (linker, wrapper) = (Program { path: linker, content }, latch_rustc()?);
        Ok(Installed { tools, amd_sysroot, lld, libnvvm, linker, wrapper, plugin })
    }

    /// The sysroot that crates for a target are compiled against.
    pub fn sysroot(&self, target: Target) -> &DeviceSysroot {
        match (target, &self.amd_sysroot) {
            (Target::Amdgcn, Some(sysroot)) => sysroot,
            _ => &self.tools.sysroot,
        }
    }
}

/// A part of the command, and built with it.
fn latch_rustc() -> Result<PathBuf> {
    setup::beside("latch-rustc")
        .context("latch-rustc does not lie beside this command: build it with `cargo build -p cargo-latch`")
}

impl Plugin {
    fn ensure(compiler: RustcDev, tools: &Tools, progress: &Progress) -> Result<Plugin> {
        let library = plugin::ensure(&compiler, &tools.toolchain, &tools.home, progress)?;
        Ok(Plugin { compiler, library })
    }

    /// Makes `latch-rustc` send device crates to the compiler with the plugin.
    pub fn use_in(&self, cargo: &mut Command) {
        cargo.env(wrapper::DEVICE_RUSTC, self.compiler.rustc_path());
        let rustc = self.compiler.rustc();
        let libraries = rustc.get_envs().find(|(name, _)| *name == "LD_LIBRARY_PATH").and_then(|(_, value)| value);
        if let Some(libraries) = libraries {
            cargo.env(wrapper::DEVICE_LIBRARIES, libraries);
        }
    }
}

/// libNVVM, or how to get it.
fn libnvvm(tools: &Tools) -> Result<PathBuf> {
    let cuda = tools.cuda.as_ref().map_err(|error| anyhow::anyhow!("`--route nvvm` needs libNVVM: {error}"))?;
    cuda.libnvvm.clone().with_context(|| {
        let toolkit: &Path = match &cuda.origin {
            Origin::Toolkit(folder) | Origin::Wheels(folder) => folder,
        };
        format!(
            "`--route nvvm` needs libNVVM, and the CUDA toolkit at {} has none: install its component nvvm, or unset \
             CUDA_HOME and let Latch fetch PyPI's wheels; `--route llc` needs none",
            toolkit.display()
        )
    })
}
