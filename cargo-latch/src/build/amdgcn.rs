//! The way to AMD's GPUs: from the compiler's libraries to assembly, a report, and a code object.
//!
//! For this target rustc insists on its own link-time optimization before it calls a linker. So cargo builds the kernel
//! crate as a library, all of whose objects are bitcode then, and the linker is called here with that library, those of
//! its dependencies, and core's. Of these it takes the kernels and what they need.
//!
//! The code object, which is what the HIP and HSA runtimes load, is made by lld, where it is wanted.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use cargo_metadata::Artifact;
use hint_record::LinkReport;

use super::cargo::read_report;
use super::{Builder, FpContract, Intermediates, Unit};
use crate::setup::toolchain::with_libraries;
use crate::target::Target;

impl Builder {
    /// Links what cargo has built: assembly, a code object where one is wanted, and the report.
    pub(super) fn link_for_amd(
        &self,
        unit: &Unit<'_>,
        artifacts: &[Artifact],
        keep: Option<&Intermediates>,
    ) -> Result<(String, Option<Vec<u8>>, LinkReport)> {
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        let [text, object, code_object, report] = ["s", "o", "hsaco", "json"].map(|name| folder.path().join(name));
        let lld = self.installed.lld.as_ref().and_then(|lld| lld.as_ref().ok());
        let mut link = self.link_command(unit, artifacts, keep)?;
        link.arg("--output").arg(&text).arg("--report").arg(&report);
        if lld.is_some() {
            link.arg("--object").arg(&object);
        }
        run_linker(&mut link).with_context(|| format!("`{}` does not link for {}", unit.kernels.name, unit.arch))?;
        let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        let made = lld.map(|lld| {
            lld.link(&object, &code_object)?;
            read(&code_object)
        });
        let text = String::from_utf8(read(&text)?).context("the linker's assembly is no text")?;
        Ok((text, made.transpose()?, read_report(&report)?))
    }

    /// The linker, for the library of the kernels and all that it may need.
    fn link_command(&self, unit: &Unit<'_>, artifacts: &[Artifact], keep: Option<&Intermediates>) -> Result<Command> {
        let own = artifacts.iter().find(|artifact| artifact.target.src_path == unit.kernels.root_file);
        let own = own.with_context(|| format!("cargo built `{}` but did not say so", unit.kernels.name))?;
        let linker = &self.installed.linker;
        let mut link = with_libraries(&linker.path, &self.tools().toolchain.sysroot);
        link.args(["--target", Target::Amdgcn.triple(), "--target-cpu", unit.arch.name()]);
        link.arg(format!("-O{}", own.profile.opt_level)).args(["--identity", &linker.content]);
        if self.args.fp_contract == FpContract::On {
            link.arg("--fp-contract=on");
        }
        if let Some(keep) = keep {
            link.args(keep.linker_arguments());
        }
        link.env(result_cache::FOLDER, self.tools().home.cache_folder().unwrap_or_default());
        let sysroot = self.installed.sysroot(Target::Amdgcn);
        link.args(self.libraries(own, artifacts)).args(sysroot.libraries(Target::Amdgcn));
        Ok(link)
    }

    /// The library of the kernels, and those of all crates for the device.
    fn libraries(&self, own: &Artifact, artifacts: &[Artifact]) -> Vec<OsString> {
        let for_device = self.workspace.build_folder().join("cargo").join(Target::Amdgcn.triple());
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
