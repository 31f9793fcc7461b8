//! From a kernel crate to PTX or AMD's assembly, and a report on its hints, by cargo and our own linker.
//!
//! Every device crate is compiled without LLVM passes (`-Cno-prepopulate-passes`) against the device sysroot, and linked
//! by `latch-link`. In the MIR mode `latch-rustc` sends the device crates to the compiler with the plugin; crates of the
//! host (procedural macros) are shared by both modes and all architectures.
//!
//! For AMD's GPUs the linker is called here and not by rustc: [`amdgcn`] says why.
//!
//! cargo names the PTX after the crate alone, so one architecture's file overwrites another's. A lock keeps two builds
//! apart, and what a build made is copied to a place of its own before the lock is given back.

mod amdgcn;
pub mod messages;
pub mod options;
mod summaries;
pub mod wrapper;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hint_record::{LevelFor, LinkReport, MirLoop, TRACE_CFG};
use tempfile::TempDir;

use crate::kernel_crate::{KernelCrate, Workspace};
use crate::plugin;
use crate::setup::cuda::Origin;
use crate::setup::device_sysroot::device_flags;
use crate::setup::{self, DeviceSysroot, Lld, Progress, RustcDev, Tools};
use crate::target::Target;
pub use hint_record::Route;
use messages::{Heard, Told};
pub use options::{Arch, BuildArgs, FpContract, HintMode, Mode, Profile};

/// Everything that builds of one invocation share.
#[derive(Debug, Clone)]
pub struct Builder {
    /// What set-up has made.
    pub tools: Arc<Tools>,
    /// core for AMD's GPUs, if one is to be built for.
    pub amd_sysroot: Option<DeviceSysroot>,
    /// The workspace that kernels are built in.
    pub workspace: Arc<Workspace>,
    linker: PathBuf,
    plugin: Option<Plugin>,
    profile: Profile,
    route: Route,
    /// For the route by libNVVM.
    libnvvm: Option<PathBuf>,
    fp_contract: FpContract,
    features: Vec<String>,
    /// What this command wants beside the usual.
    pub extras: Extras,
}

/// What a command may want of its builds beside the usual.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// Source lines down to the machine code.
    pub lines: bool,
    /// What the plugin makes of hints that it must drop.
    pub plugin_levels: Vec<LevelFor>,
    /// Ask the plugin for every hinted loop.
    pub trace: bool,
    /// Make code objects for AMD's GPUs, with this.
    pub code_objects: Option<Lld>,
}

/// The compiler for the MIR mode, and the plugin that it loads.
#[derive(Debug, Clone)]
struct Plugin {
    compiler: RustcDev,
    library: PathBuf,
    wrapper: PathBuf,
}

/// What a build leaves.
#[derive(Debug)]
pub struct Built {
    /// The PTX; for AMD's GPUs the assembly.
    pub ptx: PathBuf,
    /// What AMD's runtimes load, where it was wanted.
    pub code_object: Option<PathBuf>,
    /// What the linker said of hints and kernels.
    pub report: LinkReport,
    /// The hints that the plugin has told of.
    pub told: Vec<Told>,
    /// The hinted loops on MIR, where they were asked for.
    pub mir_loops: Vec<MirLoop>,
}

/// What a build has made, not in its place yet.
#[derive(Debug, Default)]
struct Made {
    text: PathBuf,
    code_object: Option<PathBuf>,
    /// The folder where both are, if it is to go with this value.
    _folder: Option<TempDir>,
}

/// A build that failed for its hints alone, of which was told before.
#[derive(Debug, thiserror::Error)]
#[error("`{package}` has loop hints that were not honoured; the messages are above")]
pub struct HintsDenied {
    package: String,
}

impl HintsDenied {
    /// For a crate.
    pub fn of(kernels: &KernelCrate) -> HintsDenied {
        HintsDenied { package: kernels.name.clone() }
    }
}

/// Text of the stages before PTX, on request.
#[derive(Debug, Clone)]
pub struct Intermediates {
    /// The folder for linked.ll, resolved.ll and optimized.ll.
    pub folder: PathBuf,
    /// The file for the crate's MIR.
    pub mir: PathBuf,
}

impl Builder {
    /// Sets up what is missing. With [`HintMode::Auto`] nothing is built that takes minutes.
    pub fn new(folder: &Path, args: &BuildArgs, progress: &Progress) -> Result<Builder> {
        args.check()?;
        let tools = setup::ensure_basic(progress)?;
        let targets = args.archs.iter().map(Arch::target).chain(args.target);
        let is_for_amd = targets.into_iter().any(|target| target == Target::Amdgcn);
        let amd_sysroot = is_for_amd.then(|| setup::ensure_amd(&tools, progress)).transpose()?;
        let libnvvm = (args.route == Route::Nvvm).then(|| libnvvm(&tools)).transpose()?;
        let linker = setup::latch_link().context(
            "latch-link does not lie beside this command: build both with `cargo build -p cargo-latch -p bitcode-linker`",
        )?;
        let compiler = match args.hints {
            HintMode::Llvm => None,
            HintMode::Auto => setup::find_rustc_dev(),
            HintMode::Mir => Some(setup::ensure_rustc_dev(progress)?),
        };
        let plugin = compiler.map(|compiler| Plugin::ensure(compiler, &tools, progress)).transpose()?;
        let workspace = std::thread::scope(|scope| {
            let archs = scope.spawn(|| options::check_known(&args.archs, &tools.toolchain));
            let workspace = Workspace::at(folder, &tools.toolchain)?;
            archs.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            anyhow::Ok(workspace)
        })?;
        let (profile, route, fp_contract) = (args.profile, args.route, args.fp_contract);
        let features = args.features.clone();
        let extras = Extras::default();
        Ok(Builder {
            tools: Arc::new(tools),
            amd_sysroot,
            workspace: Arc::new(workspace),
            linker,
            plugin,
            profile,
            route,
            libnvvm,
            fp_contract,
            features,
            extras,
        })
    }

    /// The mode that builds use.
    pub fn mode(&self) -> Mode {
        if self.plugin.is_some() { Mode::Mir } else { Mode::Llvm }
    }

    /// The profile that builds use.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The route that builds take.
    pub fn route(&self) -> Route {
        self.route
    }

    /// Builds one crate for one architecture.
    pub fn build(&self, kernels: &KernelCrate, arch: &Arch, keep: Option<&Intermediates>) -> Result<Built> {
        self.build_checked(kernels, arch, keep, |_, _| Ok(()))
    }

    /// The same, where `check` may refuse what came out. Then what the last build made stays as it was.
    pub fn build_checked(
        &self,
        kernels: &KernelCrate,
        arch: &Arch,
        keep: Option<&Intermediates>,
        check: impl FnOnce(&[Told], &LinkReport) -> Result<()>,
    ) -> Result<Built> {
        options::check_route(self.route, arch)?;
        kernels.check_for(arch)?;
        let folder = self.output_folder(kernels, arch);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let _lock = self.lock()?;
        let named = |extension: &str| folder.join(format!("{}.{extension}", kernels.library));
        let report = named("hints.json");
        let heard = self.run_cargo(kernels, arch, &report, keep)?;
        let made = match arch.target() {
            Target::Nvptx => Made { text: ptx_of(kernels, &heard)?, ..Made::default() },
            Target::Amdgcn => self.link_for_amd(kernels, arch, &heard.artifacts, &report, keep)?,
        };
        let text = fs::read(&report).with_context(|| format!("the linker left no report at {}", report.display()))?;
        let report = serde_json::from_slice(&text)
            .with_context(|| format!("{} is no report of this version's linker; remove it", report.display()))?;
        check(&heard.told, &report)?;
        let ptx = named(arch.target().extension());
        copy_whole(&made.text, &ptx)?;
        let code_object = made.code_object.map(|made| (made, named("hsaco")));
        code_object.iter().try_for_each(|(made, place)| copy_whole(made, place))?;
        let code_object = code_object.map(|(_, place)| place);
        Ok(Built { ptx, code_object, report, told: heard.told, mir_loops: heard.loops })
    }

    /// Where the results for one crate and architecture go.
    pub fn output_folder(&self, kernels: &KernelCrate, arch: &Arch) -> PathBuf {
        let mut variant = format!("{}-{}", self.profile, self.mode());
        if self.route != Route::Llc {
            variant.push_str(&format!("-{}", self.route));
        }
        if self.fp_contract == FpContract::On {
            variant.push_str("-contracted");
        }
        if self.extras.lines {
            variant.push_str("-lines");
        }
        self.workspace.build_folder().join(&kernels.name).join(arch.name()).join(variant)
    }

    fn lock(&self) -> Result<File> {
        let path = self.workspace.build_folder().join(".lock");
        let lock = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        lock.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        Ok(lock)
    }

    /// Runs cargo, and gives what it and the compiler said.
    fn run_cargo(
        &self,
        kernels: &KernelCrate,
        arch: &Arch,
        report: &Path,
        keep: Option<&Intermediates>,
    ) -> Result<Heard> {
        let mut cargo = self.cargo(kernels, arch);
        cargo.arg("--");
        if arch.target() == Target::Nvptx {
            self.add_link_arguments(&mut cargo, report, keep);
        }
        if let Some(keep) = keep {
            cargo.arg(format!("--emit=mir={}", keep.mir.display()));
        }
        tracing::debug!(?cargo, "building");
        let mut running = cargo.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().context("cannot run cargo")?;
        let heard = Heard::listen(BufReader::new(running.stdout.take().context("cargo has no standard output")?));
        let status = running.wait().context("cannot wait for cargo")?;
        let heard = heard?;
        if !status.success() && heard.only_hints_failed() {
            return Err(HintsDenied::of(kernels).into());
        }
        if !status.success() {
            bail!("`{}` does not build for {arch}; the compiler's messages are above", kernels.name);
        }
        Ok(heard)
    }

    /// What rustc is to hand on to the linker.
    fn add_link_arguments(&self, cargo: &mut Command, report: &Path, keep: Option<&Intermediates>) {
        cargo.arg(link_argument("--report", report));
        if let Some(libnvvm) = &self.libnvvm {
            cargo.arg(format!("-Clink-arg=--route={}", self.route)).arg(link_argument("--libnvvm", libnvvm));
        }
        if self.fp_contract == FpContract::On {
            cargo.arg("-Clink-arg=--fp-contract=on");
        }
        if let Some(keep) = keep {
            cargo.arg(link_argument("--keep-intermediates", &keep.folder));
        }
    }

    /// Where cargo puts what it makes of device crates.
    fn cargo_folder(&self) -> PathBuf {
        self.workspace.build_folder().join("cargo")
    }

    fn cargo(&self, kernels: &KernelCrate, arch: &Arch) -> Command {
        let crate_type = match arch.target() {
            Target::Nvptx => "cdylib",
            Target::Amdgcn => "rlib",
        };
        let mut cargo = self.tools.toolchain.cargo();
        cargo.current_dir(self.workspace.root()).args(["rustc", "--lib", "--crate-type", crate_type]);
        cargo.args(["--target", arch.target().triple(), "--message-format", messages::format(), "--quiet"]);
        cargo.args(["--package", &kernels.name, "--profile", &self.profile.to_string()]);
        cargo.arg("--target-dir").arg(self.cargo_folder());
        if !self.features.is_empty() {
            cargo.args(["--features", &self.features.join(",")]);
        }
        // Flags separated by this character may hold blanks. They apply to device crates alone, since --target is given.
        let flags: Vec<OsString> = self.flags(arch);
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f".as_ref()));
        if let Some(plugin) = &self.plugin {
            plugin.use_in(&mut cargo);
        }
        cargo
    }

    fn flags(&self, arch: &Arch) -> Vec<OsString> {
        let mut flags = self.target_flags(arch.target());
        // The pass may copy a barrier into two branches.
        flags.push("-Zmir-enable-passes=-JumpThreading".into());
        flags.push(format!("-Ctarget-cpu={arch}").into());
        if self.extras.lines && self.profile == Profile::Release {
            // The fuller `line-tables-only` would make the PTX one for debugging, which ptxas does not optimize.
            flags.push("-Cdebuginfo=line-directives-only".into());
        }
        if let Some(plugin) = &self.plugin {
            flags.push(with_path("-Zcodegen-backend=", &plugin.library));
            flags.extend(self.plugin_options().map(|option| format!("--cfg={option}").into()));
        }
        flags
    }

    /// The sysroot, the way to bitcode without LLVM passes, and the linker where rustc calls it.
    fn target_flags(&self, target: Target) -> Vec<OsString> {
        let sysroot = match (target, &self.amd_sysroot) {
            (Target::Amdgcn, Some(sysroot)) => sysroot,
            _ => &self.tools.sysroot,
        };
        let mut flags = vec!["--sysroot".into(), sysroot.folder.clone().into()];
        match target {
            Target::Nvptx => {
                flags.push("-Cno-prepopulate-passes".into());
                flags.push(with_path("-Clinker=", &self.linker));
                flags.push(format!("-Clink-arg=--identity={}", identity(&self.linker)).into());
            }
            Target::Amdgcn => flags.extend(device_flags(target).iter().map(OsString::from)),
        }
        flags
    }

    fn plugin_options(&self) -> impl Iterator<Item = String> {
        let levels = self.extras.plugin_levels.iter().map(LevelFor::cfg);
        levels.chain(self.extras.trace.then(|| TRACE_CFG.to_owned()))
    }
}

impl Plugin {
    fn ensure(compiler: RustcDev, tools: &Tools, progress: &Progress) -> Result<Plugin> {
        let library = plugin::ensure(&compiler, &tools.toolchain, &tools.home, progress)?;
        let wrapper = setup::beside("latch-rustc")
            .context("latch-rustc does not lie beside this command: build it with `cargo build -p cargo-latch`")?;
        Ok(Plugin { compiler, library, wrapper })
    }

    fn use_in(&self, cargo: &mut Command) {
        cargo.env("RUSTC_WRAPPER", &self.wrapper);
        cargo.env(wrapper::DEVICE_RUSTC, self.compiler.rustc_path());
        let rustc = self.compiler.rustc();
        let libraries = rustc.get_envs().find(|(name, _)| *name == "LD_LIBRARY_PATH").and_then(|(_, value)| value);
        if let Some(libraries) = libraries {
            cargo.env(wrapper::DEVICE_LIBRARIES, libraries);
        }
    }
}

/// The PTX that cargo names.
fn ptx_of(kernels: &KernelCrate, heard: &Heard) -> Result<PathBuf> {
    let own = heard.artifacts.iter().filter(|artifact| artifact.target.src_path == kernels.root_file);
    let ptx = own.flat_map(|artifact| &artifact.filenames).find(|file| file.extension() == Some("ptx"));
    let ptx = ptx.with_context(|| format!("cargo built `{}` but named no PTX file", kernels.name))?;
    Ok(ptx.clone().into())
}

/// libNVVM, or how to get it.
fn libnvvm(tools: &Tools) -> Result<PathBuf> {
    let cuda = tools.cuda.as_ref().map_err(|error| anyhow::anyhow!("`--route nvvm` needs libNVVM: {error}"))?;
    cuda.libnvvm.clone().with_context(|| {
        let toolkit = match &cuda.origin {
            Origin::Toolkit(folder) | Origin::Wheels(folder) => folder.display(),
        };
        format!(
            "`--route nvvm` needs libNVVM, and the CUDA toolkit at {toolkit} has none: install its component nvvm, or unset \
             CUDA_HOME and let Latch fetch PyPI's wheels; `--route llc` needs none"
        )
    })
}

fn with_path(flag: &str, path: &Path) -> OsString {
    let mut whole = OsString::from(flag);
    whole.push(path);
    whole
}

fn link_argument(option: &str, path: &Path) -> OsString {
    with_path(&format!("-Clink-arg={option}="), path)
}

/// What tells one build of the linker from another. It stands in the flags, so that cargo links again with a new one.
fn identity(linker: &Path) -> String {
    let read = || {
        let metadata = fs::metadata(linker).ok()?;
        let modified = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(format!("{}-{}", metadata.len(), modified.as_nanos()))
    };
    read().unwrap_or_default()
}

fn copy_whole(from: &Path, to: &Path) -> Result<()> {
    let contents = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    write_whole(to, &contents)
}

/// Writes a file whole or not at all.
pub fn write_whole(path: &Path, contents: &[u8]) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
    file.write_all(contents).with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(())
}
