//! Everything a build needs that is not part of the checkout, made once and kept in the user's cache.
//!
//! | step | is | from |
//! |---|---|---|
//! | [`Toolchain`] | the stock compiler, a row of the table of [`compilers`] | rustup's folder; `./latch` puts it there |
//! | [`DeviceSysroot`] | core for the GPU, unoptimized; AMD's with the first build for one | built from rust-src |
//! | [`CudaTools`] | ptxas, nvdisasm, libNVVM | an installed CUDA toolkit, else PyPI's wheels |
//! | [`Lld`] | the linker of AMD's code objects, with the first of them | rustup's toolchain, else Debian's packages |
//! | [`linker`] | `latch-link`, where it does not lie beside the command | built from its sources |
//! | [`RustcDev`] | the compiler's own crates, for the MIR plugin only | rustup's component, else built from its sources |
//!
//! Each step is idempotent: what it makes is whole or not there, and is found again by a hash of what it depends on
//! ([`home`]).
//! [`ensure_basic`] does all that NVIDIA's GPUs need; for AMD's, [`ensure_amd`] and [`ensure_lld`] come on top, and for the MIR plugin
//! [`ensure_rustc_dev`]. With everything there, either takes
//! milliseconds and starts no process.

pub mod compilers;
pub mod cuda;
pub mod device_sysroot;
pub mod error;
pub mod home;
pub mod linker;
pub mod lld;
pub mod machine;
mod manifest;
pub mod packages;
mod process;
pub mod progress;
pub mod rustc_dev;
pub(crate) mod sources;
pub mod toolchain;

use std::path::PathBuf;

use crate::target::Target;

pub use cuda::{CudaTools, Nvcc};
pub use device_sysroot::DeviceSysroot;
pub use error::SetupError;
pub use home::Home;
pub use lld::Lld;
pub use machine::Machine;
pub use progress::Progress;
pub use rustc_dev::RustcDev;
pub use toolchain::Toolchain;

/// What every build uses.
#[derive(Debug)]
pub struct Tools {
    /// Where things are kept.
    pub home: Home,
    /// The stock compiler.
    pub toolchain: Toolchain,
    /// core for NVIDIA's GPUs.
    pub sysroot: DeviceSysroot,
    /// NVIDIA's tools, or why they are out of reach: PTX can be built without them.
    pub cuda: Result<CudaTools, SetupError>,
}

/// Sets up what every build uses. Only the lack of NVIDIA's tools is no error.
pub fn ensure_basic(progress: &Progress) -> Result<Tools, SetupError> {
    let (home, machine) = (Home::of_user()?, Machine::this());
    let toolchain = Toolchain::locate(&home, &machine)?;
    // The download waits for the network and the build for the processor.
    let (sysroot, cuda) = std::thread::scope(|scope| {
        let cuda = scope.spawn(|| CudaTools::ensure(&home, &machine, &cuda::Pip::of(&machine), progress));
        let sysroot = DeviceSysroot::ensure(&home, &toolchain, Target::Nvptx, progress);
        (sysroot, cuda.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    Ok(Tools { sysroot: sysroot?, cuda, toolchain, home })
}

/// core for AMD's GPUs, which only builds for them use.
pub fn ensure_amd(tools: &Tools, progress: &Progress) -> Result<DeviceSysroot, SetupError> {
    DeviceSysroot::ensure(&tools.home, &tools.toolchain, Target::Amdgcn, progress)
}

/// What makes code objects for AMD's GPUs.
pub fn ensure_lld(tools: &Tools, progress: &Progress) -> Result<Lld, SetupError> {
    Lld::ensure(&tools.home, &Machine::this(), &tools.toolchain, &packages::Debian, progress)
}

/// The compiler's own crates, for the MIR plugin: found, added by rustup, or built, which takes minutes.
pub fn ensure_rustc_dev(progress: &Progress) -> Result<RustcDev, SetupError> {
    let (home, machine) = (Home::of_user()?, Machine::this());
    let toolchain = Toolchain::locate(&home, &machine)?;
    RustcDev::ensure(&home, &machine, &toolchain, &packages::Debian, progress)
}

/// The compiler's own crates if they are here already.
pub fn find_rustc_dev() -> Option<RustcDev> {
    let home = Home::of_user().ok()?;
    let toolchain = Toolchain::locate(&home, &Machine::this()).ok()?;
    RustcDev::find(&home, &toolchain)
}

/// NVIDIA's own compiler, for comparisons: an installed toolkit's, else fetched.
pub fn with_nvcc(progress: &Progress) -> Result<Nvcc, SetupError> {
    let (home, machine) = (Home::of_user()?, Machine::this());
    Nvcc::ensure(&home, &machine, &cuda::Pip::of(&machine), progress)
}

/// `latch-link` for the tools' compiler: beside this program, else built from the sources in the folder that `sources`
/// names.
pub fn ensure_linker<E: From<SetupError>>(
    tools: &Tools,
    sources: impl FnOnce() -> Result<PathBuf, E>,
    progress: &Progress,
) -> Result<PathBuf, E> {
    match latch_link() {
        Some(linker) => Ok(linker),
        None => Ok(linker::ensure(&tools.home, &tools.toolchain, &sources()?, progress)?),
    }
}

/// `latch-link`, the linker that rustc is given, if it lies beside this program.
pub fn latch_link() -> Option<PathBuf> {
    beside("latch-link")
}

/// One of Latch's other programs: it lies beside this one.
pub fn beside(program: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.with_file_name(format!("{program}{}", std::env::consts::EXE_SUFFIX));
    // A test's program lies in a folder below the one with the commands.
    let above = beside.parent()?.parent()?.join(beside.file_name()?);
    [beside, above].into_iter().find(|file| machine::is_executable(file))
}
