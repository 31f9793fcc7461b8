//! The way to AMD's GPUs: from the compiler's libraries to assembly, a report, and a code object.
//!
//! For this target rustc insists on its own link-time optimization before it calls a linker. So cargo builds the kernel crate as a library, all of whose
//! objects are bitcode then, and the linker is called here with that library, those of its dependencies, and core's. Of these
//! it takes the kernels and what they need.
//!
//! The code object, which is what the HIP and HSA runtimes load, is made by lld, where it is wanted.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use cargo_metadata::Artifact;

use super::{Arch, Builder, FpContract, Intermediates, Made, with_path};
use crate::kernel_crate::KernelCrate;
use crate::setup::toolchain::with_libraries;
use crate::target::Target;

impl Builder {
    /// Links what cargo has built, into a folder beside the place where builds end.
    pub(super) fn link_for_amd(
        &self,
        kernels: &KernelCrate,
        arch: &Arch,
        artifacts: &[Artifact],
        report: &Path,
        keep: Option<&Intermediates>,
    ) -> Result<Made> {
        let folder = tempfile::tempdir_in(self.output_folder(kernels, arch)).context("cannot make a folder")?;
        let [text, object, code_object] = ["s", "o", "hsaco"].map(|name| folder.path().join(name));
        let mut link = self.link_command(kernels, arch, artifacts, keep)?;
        link.arg("--output").arg(&text).arg("--report").arg(report);
        if self.extras.code_objects.is_some() {
            link.arg("--object").arg(&object);
        }
        run_linker(&mut link).with_context(|| format!("`{}` does not link for {arch}", kernels.name))?;
        let lld = self.extras.code_objects.as_ref();
        let code_object = lld.map(|lld| lld.link(&object, &code_object).map(|()| code_object));
        Ok(Made { text, code_object: code_object.transpose()?, _folder: Some(folder) })
    }

    /// The linker, for the library of the kernels and all that it may need.
    fn link_command(
        &self,
        kernels: &KernelCrate,
        arch: &Arch,
        artifacts: &[Artifact],
        keep: Option<&Intermediates>,
    ) -> Result<Command> {
        let own = artifacts.iter().find(|artifact| artifact.target.src_path == kernels.root_file);
        let own = own.with_context(|| format!("cargo built `{}` but did not say so", kernels.name))?;
        let mut link = with_libraries(&self.linker, &self.tools.toolchain.sysroot);
        link.args(["--target", Target::Amdgcn.triple(), "--target-cpu", arch.name()]);
        link.arg(format!("-O{}", own.profile.opt_level));
        if self.fp_contract == FpContract::On {
            link.arg("--fp-contract=on");
        }
        if let Some(keep) = keep {
            link.arg(with_path("--keep-intermediates=", &keep.folder));
        }
        let sysroot = self.amd_sysroot.as_ref();
        let sysroot = sysroot.context("this build was not set up for AMD's GPUs: name one of them with --arch")?;
        link.args(self.libraries(own, artifacts)).args(sysroot.libraries(Target::Amdgcn));
        Ok(link)
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
}

/// Runs the linker; what it says when it fails is the error.
fn run_linker(link: &mut Command) -> Result<()> {
    tracing::debug!(?link, "linking");
    let output = link.output().context("cannot run latch-link")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        eprint!("{said}");
        return Ok(());
    }
    let said = said.trim();
    bail!("{}", said.strip_prefix("latch-link: ").unwrap_or(said))
}
