//! What is here, what is missing, and how to get it.
//!
//! Looks only: nothing is made, fetched or built, not even what was found out is kept ([`Home::looking`]). What the
//! first use makes by itself counts as no obstacle ([`State::Later`]), so on a machine that can set itself up a build
//! can be done. Only what a build to PTX cannot do without is `needed`.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::setup::compilers::{self, Compiler};
use crate::setup::cuda::{self, CudaTools, Fetch};
use crate::setup::home::{Artifact, Home};
use crate::setup::machine::{Machine, is_executable};
use crate::setup::toolchain::Toolchain;
use crate::setup::{DeviceSysroot, Lld, RustcDev, SetupError, device_sysroot, linker, lld, rustc_dev};
use crate::target::Target;

mod table;

/// Whether a thing is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is.
    Here,
    /// Not yet, but the first command that uses it gets it.
    Later,
    /// It is not, and somebody has to get it.
    Missing,
}

/// One thing that was looked for.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The thing.
    pub name: &'static str,
    /// Whether it is here.
    pub state: State,
    /// Whether a build to PTX needs it.
    pub needed: bool,
    /// Version and place, or where it was looked for.
    pub detail: String,
    /// How to get it.
    pub remedy: Option<String>,
}

impl Finding {
    fn here(name: &'static str, detail: impl Display) -> Self {
        Self { name, state: State::Here, needed: false, detail: detail.to_string(), remedy: None }
    }

    fn later(name: &'static str, detail: impl Display) -> Self {
        Self { state: State::Later, ..Self::here(name, detail) }
    }

    fn missing(name: &'static str, detail: impl Display, remedy: impl Display) -> Self {
        Self { state: State::Missing, remedy: Some(remedy.to_string()), ..Self::here(name, detail) }
    }

    fn needed(self) -> Self {
        Self { needed: true, ..self }
    }
}

/// All that was looked for.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Whether nothing needed is missing.
    pub can_build: bool,
    /// In the order of the data flow.
    pub findings: Vec<Finding>,
}

/// What is known of the surroundings before looking.
#[derive(Debug)]
pub struct Surroundings<'s> {
    /// Where Latch keeps things.
    pub home: &'s Home,
    /// The environment.
    pub machine: &'s Machine,
    /// The linker beside this program.
    pub latch_link: Option<PathBuf>,
    /// The folder with what it can be built from.
    pub sources: Option<PathBuf>,
}

/// Looks at everything.
pub fn examine(around: &Surroundings<'_>) -> Report {
    let around = &Surroundings {
        home: &around.home.looking(),
        machine: around.machine,
        latch_link: around.latch_link.clone(),
        sources: around.sources.clone(),
    };
    let toolchain = Toolchain::locate(around.home, around.machine);
    let mut findings = toolchain_findings(&toolchain);
    findings.push(linker_of_host(around.machine).needed());
    findings.push(device_sysroot(around.home, toolchain.as_ref().ok(), Target::Nvptx).needed());
    findings.push(device_sysroot(around.home, toolchain.as_ref().ok(), Target::Amdgcn));
    findings.push(latch_link(around, toolchain.as_ref().ok()).needed());
    findings.extend(cuda_findings(around));
    findings.push(lld(around, toolchain.as_ref().ok()));
    findings.push(rustc_dev(around, toolchain.as_ref().ok()));
    findings.push(driver());
    findings.push(home(around.home, toolchain.as_ref().ok()));
    Report { can_build: !findings.iter().any(|one| one.needed && one.state == State::Missing), findings }
}

fn toolchain_findings(toolchain: &Result<Toolchain, SetupError>) -> Vec<Finding> {
    let toolchain = match toolchain {
        Ok(toolchain) => toolchain,
        Err(SetupError::Missing { tried, remedy, .. }) => {
            return vec![Finding::missing("Rust", tried, remedy).needed()];
        }
        Err(error) => return vec![Finding::missing("Rust", error, "run `./latch` in a checkout").needed()],
    };
    vec![rust(toolchain).needed(), row(toolchain.compiler), rust_src(toolchain).needed(), llvm(toolchain).needed()]
}

/// What the table says of the compiler in use.
fn row(compiler: &Compiler) -> Finding {
    let Compiler { release, llvm, .. } = compiler;
    let convergent = if compiler.convergent { "" } else { ", functions not convergent: shuffles may be moved" };
    let built = if compiler.sources { "can be built from sources" } else { "comes from rustup only" };
    let place = match compilers::all().iter().position(|other| other.release == *release) {
        Some(0) | None => String::new(),
        Some(_) => format!("; Rust {} is preferred", compilers::preferred().release),
    };
    Finding::here("compiler row", format_args!("{release}: LLVM {llvm}, rustc-dev {built}{convergent}{place}"))
}

fn rust(toolchain: &Toolchain) -> Finding {
    let maker = match toolchain {
        made if made.is_made_by_latch() => ", from Debian's packages",
        managed if managed.is_rustups() => ", rustup's",
        _ => "",
    };
    let place = toolchain.sysroot.display();
    if is_executable(&toolchain.sysroot.join("bin/cargo")) {
        Finding::here("Rust", format_args!("{} in {place}{maker}", toolchain.version.short))
    } else {
        let remedy = format!("run `rustup component add cargo --toolchain {}`", toolchain.compiler.release);
        Finding::missing("Rust", format_args!("{} in {place} has no cargo", toolchain.version.short), remedy)
    }
}

fn rust_src(toolchain: &Toolchain) -> Finding {
    match toolchain.library_source() {
        Some(library) => Finding::here("rust-src", library.display()),
        None => Finding::missing(
            "rust-src",
            format_args!("not in {}", toolchain.sysroot.display()),
            format_args!("run `rustup component add rust-src --toolchain {}`", toolchain.compiler.release),
        ),
    }
}

fn llvm(toolchain: &Toolchain) -> Finding {
    match toolchain.llvm_library() {
        Some(library) => Finding::here("libLLVM", format_args!("{} in {}", toolchain.version.llvm, library.display())),
        None => Finding::missing(
            "libLLVM",
            format_args!("not in {}", toolchain.sysroot.join("lib").display()),
            format_args!(
                "take rustup's toolchain, which has it: `rustup toolchain install {} -c rust-src`",
                toolchain.compiler.release
            ),
        ),
    }
}

fn linker_of_host(machine: &Machine) -> Finding {
    match machine.program("cc") {
        Some(cc) => Finding::here("C compiler", cc.display()),
        None => {
            Finding::missing("C compiler", "no cc on the search path", "on Debian: `apt-get install gcc libc6-dev`")
        }
    }
}

fn device_sysroot(home: &Home, toolchain: Option<&Toolchain>, target: Target) -> Finding {
    let (name, whose) = match target {
        Target::Nvptx => ("device sysroot", ""),
        Target::Amdgcn => ("AMD sysroot", " for an AMD GPU"),
    };
    match toolchain.map(|toolchain| DeviceSysroot::find(home, toolchain, target)) {
        Some(Some(sysroot)) => Finding::here(name, sysroot.folder.display()),
        Some(None) => Finding::later(name, format_args!("the first build{whose} makes it, in seconds")),
        None => Finding::later(name, "made once Rust is here"),
    }
}

fn latch_link(around: &Surroundings<'_>, toolchain: Option<&Toolchain>) -> Finding {
    let name = "latch-link";
    let built = || linker::find(around.home, toolchain?, around.sources.as_deref()?);
    match (around.latch_link.clone().or_else(built), &around.sources) {
        (Some(file), _) => Finding::here(name, file.display()),
        (None, Some(_)) => Finding::later(name, "the first build builds it with the compiler for kernels, in a minute"),
        (None, None) => {
            Finding::missing(name, "not beside this command", "build it too: `cargo build -p bitcode-linker`")
        }
    }
}

fn cuda_findings(around: &Surroundings<'_>) -> Vec<Finding> {
    let names = ["ptxas", "nvdisasm", "libNVVM"];
    let Some(tools) = CudaTools::find(around.home, around.machine) else {
        return names.map(|name| absent_cuda(name, around)).into();
    };
    let from = match &tools.origin {
        cuda::Origin::Toolkit(root) => format!("CUDA toolkit {}", root.display()),
        cuda::Origin::Wheels(_) => "PyPI's wheels".to_owned(),
    };
    let files = [Some(&tools.ptxas), Some(&tools.nvdisasm), tools.libnvvm.as_ref()];
    let found = |(name, file): (&'static str, Option<&PathBuf>)| match file {
        Some(file) => Finding::here(name, format_args!("{} in {}, from {from}", tools.version, file.display())),
        None => Finding::missing(
            name,
            format_args!("{from} has none"),
            "only `--route nvvm` needs it: unset CUDA_HOME for the wheels",
        ),
    };
    names.into_iter().zip(files).map(found).collect()
}

/// ptxas tells why and what to do; the others come with it.
fn absent_cuda(name: &'static str, around: &Surroundings<'_>) -> Finding {
    if let Err(no_toolkit) = cuda::Toolkit::find(around.home, around.machine) {
        tracing::info!("{no_toolkit}");
    }
    match cuda::Pip::of(around.machine).ready() {
        Ok(()) => {
            Finding::later(name, format_args!("the first build fetches it from PyPI's wheels {}", cuda::WHEEL_VERSION))
        }
        Err(SetupError::Missing { what, tried, remedy }) if name == "ptxas" => {
            Finding::missing(name, format_args!("kernels can be built to PTX only; {what} is {tried}"), remedy)
        }
        Err(_) => Finding { remedy: None, ..Finding::missing(name, "comes with ptxas", "") },
    }
}

fn lld(around: &Surroundings<'_>, toolchain: Option<&Toolchain>) -> Finding {
    let name = "lld";
    let Some(toolchain) = toolchain else { return Finding::later(name, "looked for once Rust is here") };
    match Lld::find(around.home, around.machine, toolchain) {
        Some(lld) => Finding::here(name, lld.program.display()),
        None if toolchain.has_debians_llvm() => {
            Finding::later(name, "the first build for an AMD GPU fetches it from Debian's packages")
        }
        None => Finding::missing(name, "builds for AMD's GPUs end with assembly, without code objects", lld::REMEDY),
    }
}

fn rustc_dev(around: &Surroundings<'_>, toolchain: Option<&Toolchain>) -> Finding {
    let name = "rustc-dev";
    let Some(toolchain) = toolchain else { return Finding::later(name, "looked for once Rust is here") };
    match RustcDev::find(around.home, toolchain) {
        Some(dev) if dev.origin == rustc_dev::Origin::Built => {
            Finding::here(name, format_args!("built from the compiler's sources, in {}", dev.sysroot.display()))
        }
        Some(dev) => Finding::here(name, format_args!("rustup's component, in {}", dev.sysroot.display())),
        None if toolchain.is_rustups() && around.machine.rustup_downloads => {
            Finding::later(name, "`./latch test` lets rustup add it; without it hints are resolved by the linker alone")
        }
        None if toolchain.compiler.sources && toolchain.compiler_source().is_some() => Finding::later(
            name,
            "`./latch test` builds it, in minutes; without it hints are resolved by the linker alone",
        ),
        None => Finding::missing(
            name,
            "hints are resolved by the linker alone",
            format_args!("run `rustup component add rustc-dev llvm-tools --toolchain {}`", toolchain.compiler.release),
        ),
    }
}

fn driver() -> Finding {
    let folders =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib"];
    match folders.iter().map(|folder| Path::new(folder).join("libcuda.so.1")).find(|file| file.exists()) {
        Some(library) => Finding::here("GPU driver", library.display()),
        None => {
            Finding::missing("GPU driver", "no libcuda.so.1", "only launching on a GPU needs it; the emulator does not")
        }
    }
}

fn home(home: &Home, toolchain: Option<&Toolchain>) -> Finding {
    let artifacts = toolchain.map(|toolchain| {
        let [nvidias, amds] = Target::ALL.map(|target| device_sysroot::artifact(toolchain, target));
        [nvidias, amds, lld::artifact(toolchain), rustc_dev::artifact(toolchain)]
    });
    let stale: Vec<_> =
        artifacts.iter().flatten().chain([&cuda::artifact()]).flat_map(|one: &Artifact| home.stale(one)).collect();
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    let size = megabytes(size_of(home.root()));
    let detail = format!("{}, {size} MB (LATCH_HOME moves it)", home.root().display());
    match stale.iter().map(|folder| size_of(folder)).sum() {
        0 => Finding::here("cache", detail),
        left => {
            let folders: Vec<_> = stale.iter().map(|folder| folder.display().to_string()).collect();
            let note =
                format!("{} MB of it, made for other versions, can be removed: {}", megabytes(left), folders.join(" "));
            Finding { remedy: Some(note), ..Finding::here("cache", detail) }
        }
    }
}

/// The bytes of all files in the folder; what cannot be read counts nothing.
fn size_of(folder: &Path) -> u64 {
    let sizes = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_of(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
