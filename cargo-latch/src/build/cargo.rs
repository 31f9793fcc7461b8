//! One run of cargo for many kernel crates and GPUs, and what it left.
//!
//! NVIDIA's GPUs are targets of their own to cargo ([`super::spelling`]), so that one run builds all crates for all of
//! them, as much at a time as it thinks right, and finds out in one look what needs no build. AMD's way ends outside
//! cargo ([`super::amdgcn`]), a GPU at a time.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow};
use cargo_metadata::Artifact;
use hint_record::{Level, LevelFor, LinkReport, TRACE_CFG};

use super::messages::{self, Heard};
use super::spelling::spelled;
use super::users_wrapper::users_wrapper;
use super::wrapper;
use super::{Arch, Builder, FpContract, Intermediates, Profile, Unit};
use crate::kernel_crate::KernelCrate;
use crate::target::Target;

/// What cargo is to build in one run.
pub(super) struct Run<'a> {
    pub(super) crates: Vec<&'a KernelCrate>,
    pub(super) archs: Vec<&'a Arch>,
    /// Only for one crate and GPU.
    pub(super) keep: Option<&'a Intermediates>,
}

/// The text and the report of one crate for one GPU.
pub(super) struct Linked {
    pub(super) text: String,
    pub(super) report: LinkReport,
}

impl<'a> Run<'a> {
    /// Runs that together build all units: crates for the same GPUs go into one.
    pub(super) fn for_units(units: &[Unit<'a>], keep: Option<&'a Intermediates>, apart: bool) -> Vec<Run<'a>> {
        let mut runs: Vec<Run<'a>> = Vec::new();
        for &Unit { kernels, arch } in units {
            let same = |run: &&mut Run<'_>| run.crates.iter().any(|other| other.name == kernels.name);
            match runs.iter_mut().find(same).filter(|_| !apart) {
                Some(run) => run.archs.push(arch),
                None => runs.push(Run { crates: vec![kernels], archs: vec![arch], keep }),
            }
        }
        if !apart {
            for at in (1..runs.len()).rev() {
                if let Some(earlier) = runs[..at].iter().position(|run| run.archs == runs[at].archs) {
                    let later = runs.remove(at);
                    runs[earlier].crates.extend(later.crates);
                }
            }
        }
        runs
    }

    /// Is this unit among what it builds?
    pub(super) fn builds(&self, unit: &Unit<'_>) -> bool {
        self.archs.contains(&unit.arch) && self.crates.iter().any(|kernels| kernels.name == unit.kernels.name)
    }

    fn target(&self) -> Target {
        self.archs[0].target()
    }

    fn is_kept(&self) -> bool {
        self.keep.is_some()
    }

    /// The error where cargo has failed.
    fn failure(&self) -> anyhow::Error {
        let crates: Vec<String> = self.crates.iter().map(|kernels| format!("`{}`", kernels.name)).collect();
        let archs: Vec<&str> = self.archs.iter().map(|arch| arch.name()).collect();
        let verb = if crates.len() == 1 { "does not build" } else { "do not build" };
        anyhow!("{} {verb} for {}; the compiler's messages are above", crates.join(", "), archs.join(", "))
    }
}

impl Builder {
    /// Runs cargo, and gives what it and the compiler said.
    pub(super) fn run_cargo(&self, run: &Run<'_>) -> Result<Heard> {
        let mut cargo = self.cargo(run);
        tracing::debug!(?cargo, "building");
        let mut running = cargo.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().context("cannot run cargo")?;
        let heard = Heard::listen(BufReader::new(running.stdout.take().context("cargo has no standard output")?));
        let status = running.wait().context("cannot wait for cargo")?;
        let heard = heard?;
        if !status.success() {
            return Err(run.failure());
        }
        Ok(heard)
    }

    fn cargo(&self, run: &Run<'_>) -> Command {
        let mut cargo = self.installed.tools.toolchain.cargo();
        cargo.current_dir(self.workspace.root()).arg(if self.is_alone(run) { "rustc" } else { "build" });
        cargo.args(["--lib", "--message-format", messages::format(), "--quiet"]);
        cargo.args(["--profile", &self.args.profile.to_string(), "--jobs", &self.jobs.most().to_string()]);
        cargo.args(run.crates.iter().flat_map(|kernels| ["--package", &kernels.name]));
        for arch in &run.archs {
            cargo.arg("--target").arg(self.cargo_target(arch, run.is_kept()));
        }
        cargo.arg("--target-dir").arg(self.cargo_folder(run.archs[0], run.is_kept()));
        if !self.args.features.is_empty() {
            cargo.args(["--features", &self.args.features.join(",")]);
        }
        // Flags separated by this character may hold blanks. They apply to device crates only, since --target is given.
        cargo.env("CARGO_ENCODED_RUSTFLAGS", self.flags(run).join("\x1f".as_ref()));
        cargo.env("RUSTC_WRAPPER", &self.installed.wrapper);
        if let Some(users) = users_wrapper(self.workspace.root()) {
            cargo.env(wrapper::USERS_WRAPPER, users);
        }
        cargo.env(result_cache::FOLDER, self.installed.tools.home.cache_folder().unwrap_or_default());
        if let Some(plugin) = &self.installed.plugin {
            plugin.use_in(&mut cargo);
        }
        self.add_arguments_for_rustc(&mut cargo, run);
        cargo
    }

    /// Is there something to tell rustc of the kernel crate and not of those that it needs?
    fn is_alone(&self, run: &Run<'_>) -> bool {
        run.keep.is_some() || run.target() == Target::Amdgcn
    }

    fn add_arguments_for_rustc(&self, cargo: &mut Command, run: &Run<'_>) {
        if run.target() == Target::Amdgcn {
            cargo.args(["--crate-type", "rlib"]);
        }
        let Some(keep) = run.keep else { return };
        cargo.arg("--");
        if run.target() == Target::Nvptx {
            cargo.args(keep.linker_arguments().map(|argument| with_path("-Clink-arg=", Path::new(&argument))));
        }
        cargo.arg(with_path("--emit=mir=", &keep.mir));
    }

    /// What cargo calls a GPU.
    fn cargo_target(&self, arch: &Arch, is_kept: bool) -> String {
        match arch.target() {
            Target::Nvptx if !self.workspace.names_triple() => {
                spelled(Target::Nvptx, arch.name(), &self.cargo_variant(is_kept))
            }
            target => target.triple().to_owned(),
        }
    }

    /// Where cargo puts what it makes. Under the target's plain name, every GPU and variant needs a folder of its own.
    fn cargo_folder(&self, arch: &Arch, is_kept: bool) -> PathBuf {
        let folder = self.workspace.build_folder().join("cargo");
        match arch.target() {
            Target::Nvptx if self.workspace.names_triple() => {
                folder.join(spelled(Target::Nvptx, arch.name(), &self.cargo_variant(is_kept)))
            }
            _ => folder,
        }
    }

    /// Where what cargo makes for a GPU lies.
    pub(super) fn made_for(&self, arch: &Arch, is_kept: bool) -> PathBuf {
        self.cargo_folder(arch, is_kept).join(self.cargo_target(arch, is_kept))
    }

    /// A build that keeps its stages has other flags, and must not undo the usual one.
    fn cargo_variant(&self, is_kept: bool) -> String {
        if is_kept { self.variant() + "-stages" } else { self.variant() }
    }

    /// All that makes another text of one source for one GPU, and is not cargo's profile.
    pub(super) fn variant(&self) -> String {
        let mut variant = format!("{}-{}", self.args.route, self.mode());
        if self.args.fp_contract == FpContract::On {
            variant.push_str("-contracted");
        }
        variant
    }

    fn flags(&self, run: &Run<'_>) -> Vec<OsString> {
        let target = run.target();
        let sysroot = self.installed.sysroot(target).folder.clone();
        let mut flags = vec!["--sysroot".into(), sysroot.into()];
        flags.extend(self.target_flags(target));
        flags.extend(self.installed.tools.toolchain.compiler.kernel_flags().iter().map(OsString::from));
        if self.cargo_target(run.archs[0], run.is_kept()) == target.triple() {
            flags.push(format!("-Ctarget-cpu={}", run.archs[0]).into());
        }
        if self.has_directives(run) {
            // The fuller `line-tables-only` would make the PTX one for debugging, which ptxas does not optimize.
            flags.push("-Cdebuginfo=line-directives-only".into());
        }
        if let Some(plugin) = &self.installed.plugin {
            flags.push(with_path("-Zcodegen-backend=", &plugin.library));
            // What is made of a hint is for the gate to say, which knows what the link stage has found.
            flags.push(format!("--cfg={}", LevelFor::all(Level::Allow).cfg()).into());
            flags.extend(run.is_kept().then(|| format!("--cfg={TRACE_CFG}").into()));
        }
        flags
    }

    /// Is the text made with source locations? They change no instruction, and for NVIDIA's GPUs they are taken out of
    /// the PTX again ([`sass::split`]); in AMD's assembly they would stay, and in stages that are kept to be looked at.
    fn has_directives(&self, run: &Run<'_>) -> bool {
        let goes_out_again = run.target() == Target::Nvptx && !run.is_kept();
        self.args.profile == Profile::Release && (goes_out_again || self.wanted.lines)
    }

    /// The way to bitcode without LLVM passes, and the linker where rustc calls it.
    fn target_flags(&self, target: Target) -> Vec<OsString> {
        let device_flags = self.installed.tools.toolchain.compiler.device_flags(target);
        let mut flags: Vec<OsString> = device_flags.iter().map(OsString::from).collect();
        if target == Target::Amdgcn {
            return flags;
        }
        let linker = &self.installed.linker;
        flags.push(with_path("-Clinker=", &linker.path));
        // The linker's content stands in the flags so that cargo links again with another one.
        flags.push(format!("-Clink-arg=--identity={}", linker.content).into());
        flags.push("-Clink-arg=--report-beside-output".into());
        if let Some(libnvvm) = &self.installed.libnvvm {
            flags.push("-Clink-arg=--route=nvvm".into());
            flags.push(link_argument("--libnvvm", libnvvm));
        }
        if self.args.fp_contract == FpContract::On {
            flags.push("-Clink-arg=--fp-contract=on".into());
        }
        flags
    }

    /// What the linker left of a crate for one of NVIDIA's GPUs.
    pub(super) fn linked(&self, unit: &Unit<'_>, is_kept: bool, artifacts: &[Artifact]) -> Result<Linked> {
        let made_for = self.made_for(unit.arch, is_kept);
        let own = artifacts.iter().filter(|artifact| artifact.target.src_path == unit.kernels.root_file);
        let files = own.flat_map(|artifact| &artifact.filenames).map(|file| file.as_std_path());
        let mut ptx = files.filter(|file| file.starts_with(&made_for) && file.extension() == Some(OsStr::new("ptx")));
        let ptx = ptx.next().with_context(|| format!("cargo built `{}` but named no PTX file", unit.kernels.name))?;
        let report = ptx.with_file_name("deps").join(format!("{}.hints.json", unit.kernels.library));
        let text = fs::read_to_string(ptx).with_context(|| format!("cannot read {}", ptx.display()))?;
        Ok(Linked { text, report: read_report(&report)? })
    }
}

/// The linker's report on hints and kernels.
pub(super) fn read_report(path: &Path) -> Result<LinkReport> {
    let text = fs::read(path).with_context(|| format!("the linker left no report at {}", path.display()))?;
    serde_json::from_slice(&text)
        .with_context(|| format!("{} is no report of this version's linker; remove it", path.display()))
}

pub(super) fn with_path(flag: &str, path: &Path) -> OsString {
    let mut whole = OsString::from(flag);
    whole.push(path);
    whole
}

fn link_argument(option: &str, path: &Path) -> OsString {
    with_path(&format!("-Clink-arg={option}="), path)
}
