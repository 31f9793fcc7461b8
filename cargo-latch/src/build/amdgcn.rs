//! The way to AMD's GPUs: from the compiler's libraries to assembly, a report, and a code object.
//!
//! rustc would optimize before it called a linker for this target. So cargo builds the kernel crate as a library, all of whose
//! objects are bitcode then, and the linker is called here with that library, those of its dependencies, and core's. Of these
//! it takes the kernels and what they need.
//!
//! The code object, which is what the HIP and HSA runtimes load, is made by lld, if there is one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::Artifact;

use super::{Arch, Builder, FpContract, Intermediates, with_path};
use crate::kernel_crate::KernelCrate;
use crate::setup::AmdTools;
use crate::setup::toolchain::with_libraries;
use crate::target::Target;

/// Where a link's outputs go.
pub struct Outputs<'a> {
    pub assembly: &'a Path,
    pub object: &'a Path,
    pub report: &'a Path,
}

impl Builder {
    /// Links what cargo has built. What is written may still be refused, so it does not go where builds end.
    pub(super) fn link_for_amd(
        &self,
        kernels: &KernelCrate,
        arch: &Arch,
        artifacts: &[Artifact],
        outputs: &Outputs<'_>,
        keep: Option<&Intermediates>,
    ) -> Result<()> {
        let amd = self.amd_tools()?;
        let own = artifacts.iter().find(|artifact| artifact.target.src_path == kernels.root_file);
        let own = own.with_context(|| format!("cargo built `{}` but did not say so", kernels.name))?;
        let mut link = with_libraries(&self.linker, &self.tools.toolchain.sysroot);
        link.args(["--target", Target::Amdgcn.triple(), "--target-cpu", arch.name()]);
        link.arg(format!("-O{}", own.profile.opt_level));
        link.arg("--output").arg(outputs.assembly).arg("--object").arg(outputs.object);
        link.arg("--report").arg(outputs.report);
        if self.fp_contract == FpContract::On {
            link.arg("--fp-contract=on");
        }
        if let Some(keep) = keep {
            link.arg(with_path("--keep-intermediates=", &keep.folder));
        }
        link.args(self.libraries(own, artifacts)).args(amd.sysroot.libraries(Target::Amdgcn));
        tracing::debug!(?link, "linking");
        let output = link.output().with_context(|| format!("cannot run {}", self.linker.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let said = said.trim();
            bail!("`{}` does not link for {arch}: {}", kernels.name, said.strip_prefix("latch-link: ").unwrap_or(said));
        }
        eprint!("{said}");
        Ok(())
    }

    /// The library of the kernels, and those of all crates for the device.
    fn libraries(&self, own: &Artifact, artifacts: &[Artifact]) -> Vec<OsString> {
        let for_device = self.cargo_folder().join(Target::Amdgcn.triple());
        let others = artifacts.iter().filter(|artifact| artifact.package_id != own.package_id);
        let files = std::iter::once(own).chain(others).flat_map(|artifact| &artifact.filenames);
        let files = files.map(|file| file.as_std_path());
        let rlibs = files.filter(|file| file.extension().is_some_and(|extension| extension == "rlib"));
        rlibs.filter(|file| file.starts_with(&for_device)).map(OsString::from).collect()
    }

    /// Makes a code object of an object, where lld is here.
    pub(super) fn code_object(&self, object: &Path, code_object: &Path) -> Result<Option<PathBuf>> {
        let Some(lld) = &self.amd_tools()?.lld else { return Ok(None) };
        lld.link(object, code_object)?;
        Ok(Some(code_object.to_owned()))
    }

    fn amd_tools(&self) -> Result<&AmdTools> {
        self.amd.as_ref().context("this build was not set up for AMD's GPUs: name one of them with --arch")
    }
}
