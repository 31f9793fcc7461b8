//! From kernel crates to PTX or AMD's assembly, and a report on their hints, by cargo and our own linker.
//!
//! Every device crate is compiled without LLVM passes (`-Cno-prepopulate-passes`) against the device sysroot, and
//! linked by `latch-link`. In the MIR mode `latch-rustc` sends the device crates to the compiler with the plugin;
//! crates of the host (procedural macros) are shared by both modes and all architectures.
//!
//! [`Builder::new`] makes sure of what builds need ([`Installed`]) and knows all that is wanted of them from then on;
//! [`Builder::build_all`] builds, with one run of cargo for all of NVIDIA's GPUs ([`cargo`]). For AMD's, the linker is called
//! here and not by rustc: [`amdgcn`] says why.
//!
//! What cargo makes is overwritten by the next build of the same crate, so it is read into memory under a lock that
//! keeps two builds apart. Where it goes from there is the command's business.

mod amdgcn;
mod cargo;
pub mod installed;
pub mod jobs;
pub mod messages;
pub mod options;
pub mod outputs;
pub mod spelling;
mod summaries;
mod users_wrapper;
pub(crate) use users_wrapper::configuration_files;
pub mod wrapper;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hint_record::stages::StageFile;
use hint_record::{LinkReport, MirLoop};

use crate::kernel_crate::{KernelCrate, Workspace};
use crate::setup::home::wait_for_lock;
use crate::setup::{Progress, Tools};
use crate::target::Target;
pub use hint_record::Route;
pub use installed::Installed;
pub use jobs::Jobs;
pub use options::{Arch, BuildArgs, FpContract, HintMode, Mode, Profile};

/// Everything that builds of one invocation share.
#[derive(Debug, Clone)]
pub struct Builder {
    /// What is installed for them.
    pub installed: Arc<Installed>,
    /// The workspace that kernels are built in.
    pub workspace: Arc<Workspace>,
    /// How much runs at a time.
    pub jobs: Jobs,
    args: BuildArgs,
    wanted: Wanted,
}

/// What a command may want of its builds beside what their options say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted {
    /// Source lines down to the machine code.
    pub lines: bool,
    /// Code objects for AMD's GPUs.
    pub code_objects: bool,
}

/// One crate for one GPU.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'a> {
    /// The crate.
    pub kernels: &'a KernelCrate,
    /// The GPU.
    pub arch: &'a Arch,
}

/// What a build leaves.
#[derive(Debug, Clone)]
pub struct Built {
    /// The PTX, with source locations; for AMD's GPUs the assembly.
    pub text: String,
    /// What the build is for: the PTX without debug information, but where it is for debugging; for AMD's GPUs the
    /// assembly.
    pub code: String,
    /// What AMD's runtimes load, where it was wanted.
    pub code_object: Option<Vec<u8>>,
    /// What the linker said of hints and kernels.
    pub report: LinkReport,
    /// The hinted loops on MIR, where the stages are kept.
    pub mir_loops: Vec<MirLoop>,
}

impl Built {
    /// What ptxas is given of the code: no line of it holds two statements, so that a line names one.
    pub fn assembled(&self) -> Cow<'_, str> {
        sass::one_statement_a_line(&self.code)
    }

    /// The PTX with the source lines that profilers and debuggers want, and without the labels beside them: these make
    /// ptxas lay out other machine code, the lines do not.
    pub fn with_lines(&self) -> String {
        let is_kept = |line: &&str| !line.starts_with(SCOPE_LABEL);
        self.text.split_inclusive('\n').filter(is_kept).collect()
    }
}

/// How LLVM names the labels at which scopes begin and end.
const SCOPE_LABEL: &str = "$L__tmp";

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
    /// The folder for the module after every pass of the linker.
    pub folder: PathBuf,
    /// The file for the crate's MIR.
    pub mir: PathBuf,
    /// The linker's passes to leave out.
    pub skipped: Vec<String>,
}

impl Intermediates {
    /// Those of a crate, in a folder of their own.
    pub fn of(kernels: &KernelCrate, folder: PathBuf) -> Intermediates {
        Intermediates { mir: folder.join(format!("{}.mir", kernels.library)), folder, skipped: Vec::new() }
    }

    /// The linked module as a pass of the linker has left it.
    pub fn after(&self, pass: &str) -> Result<String> {
        let failed = || format!("cannot read what the linker left in {}", self.folder.display());
        let files = StageFile::in_folder(&self.folder).with_context(failed)?;
        let Some(file) = files.iter().find(|file| file.pass == pass) else {
            let passes: Vec<&str> = files.iter().map(|file| file.pass.as_str()).collect();
            bail!("this link ran no pass `{pass}`; it ran {}", passes.join(", "));
        };
        fs::read_to_string(self.folder.join(file.name())).with_context(failed)
    }

    /// What to tell the linker, one argument each.
    fn linker_arguments(&self) -> impl Iterator<Item = OsString> {
        let skipped = self.skipped.iter().map(|pass| OsString::from(format!("--skip-pass={pass}")));
        std::iter::once(cargo::with_path("--keep-intermediates=", &self.folder)).chain(skipped)
    }
}

impl Builder {
    /// Makes sure of all that such builds need, in the workspace around `folder`.
    pub fn new(folder: &Path, args: &BuildArgs, wanted: Wanted, progress: &Progress) -> Result<Builder> {
        args.check()?;
        let installed = Installed::ensure(args, &wanted, progress)?;
        let tools = &installed.tools;
        options::check_known(&args.archs, &tools.toolchain, &tools.home)?;
        let workspace = Arc::new(Workspace::at(folder, &tools.toolchain, &tools.home)?);
        let jobs = Jobs::new(args.jobs);
        Ok(Builder { installed: Arc::new(installed), workspace, jobs, args: args.clone(), wanted })
    }

    /// The same with other wishes, for which nothing more has to be installed.
    pub fn with(&self, wanted: Wanted) -> Builder {
        Builder { wanted, ..self.clone() }
    }

    /// What set-up has made.
    pub fn tools(&self) -> &Tools {
        &self.installed.tools
    }

    /// What is wanted beside what the options say.
    pub fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// The mode that builds use.
    pub fn mode(&self) -> Mode {
        if self.installed.plugin.is_some() { Mode::Mir } else { Mode::Llvm }
    }

    /// The profile that builds use.
    pub fn profile(&self) -> Profile {
        self.args.profile
    }

    /// The route that builds take.
    pub fn route(&self) -> Route {
        self.args.route
    }

    /// Builds one crate for one architecture.
    pub fn build(&self, kernels: &KernelCrate, arch: &Arch, keep: Option<&Intermediates>) -> Result<Built> {
        let mut built = self.build_units(&[Unit { kernels, arch }], keep)?;
        built.pop().context("nothing was built")
    }

    /// Builds crates for architectures, as much at a time as may be; in the order given.
    pub fn build_all(&self, units: &[Unit<'_>]) -> Result<Vec<Built>> {
        self.build_units(units, None)
    }

    fn build_units(&self, units: &[Unit<'_>], keep: Option<&Intermediates>) -> Result<Vec<Built>> {
        for unit in units {
            options::check_route(self.args.route, unit.arch)?;
            unit.kernels.check_for(unit.arch)?;
        }
        if let Some(keep) = keep {
            make_folder(&keep.folder)?;
        }
        let _lock = self.lock()?;
        let mut built: Vec<Option<Built>> = units.iter().map(|_| None).collect();
        for target in Target::ALL {
            let (places, own): (Vec<usize>, Vec<Unit<'_>>) =
                units.iter().copied().enumerate().filter(|(_, unit)| unit.arch.target() == target).unzip();
            let is_apart = target == Target::Amdgcn || self.workspace.names_triple();
            for run in cargo::Run::for_units(&own, keep, is_apart) {
                let heard = self.run_cargo(&run)?;
                for (&place, unit) in places.iter().zip(&own).filter(|(_, unit)| run.builds(unit)) {
                    built[place] = Some(self.collect(unit, keep, &heard)?);
                }
            }
        }
        built.into_iter().map(|built| built.context("a unit was left out")).collect()
    }

    /// What a run of cargo has made of one unit.
    fn collect(&self, unit: &Unit<'_>, keep: Option<&Intermediates>, heard: &messages::Heard) -> Result<Built> {
        let (text, code_object, report) = match unit.arch.target() {
            Target::Nvptx => {
                let linked = self.linked(unit, keep.is_some(), &heard.artifacts)?;
                (linked.text, None, linked.report)
            }
            Target::Amdgcn => self.link_for_amd(unit, &heard.artifacts, keep)?,
        };
        let is_split = unit.arch.target() == Target::Nvptx && self.args.profile == Profile::Release;
        let code = if is_split { sass::split(&text).code } else { text.clone() };
        Ok(Built { text, code, code_object, report, mir_loops: heard.loops.clone() })
    }

    /// Where the results for one crate and architecture go. How hints are resolved does not change the place.
    pub fn output_folder(&self, kernels: &KernelCrate, arch: &Arch) -> PathBuf {
        let mut variant = self.args.profile.to_string();
        if self.args.route != Route::Llc {
            variant.push_str(&format!("-{}", self.args.route));
        }
        if self.args.fp_contract == FpContract::On {
            variant.push_str("-contracted");
        }
        self.workspace.build_folder().join(&kernels.name).join(arch.name()).join(variant)
    }

    /// Where the stages of a crate lie that are kept to be looked at.
    pub fn stages_folder(&self, kernels: &KernelCrate, arch: &Arch) -> PathBuf {
        let variant = format!("{}-{}", self.args.profile, self.variant());
        self.workspace.build_folder().join("stages").join(&kernels.name).join(arch.name()).join(variant)
    }

    fn lock(&self) -> Result<File> {
        let folder = self.workspace.build_folder();
        make_folder(&folder)?;
        let path = folder.join(".lock");
        let lock = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        wait_for_lock(&lock).with_context(|| format!("cannot lock {}", path.display()))?;
        Ok(lock)
    }
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}
