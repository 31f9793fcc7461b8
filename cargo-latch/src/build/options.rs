//! What a build can be asked for, as the commands that build share it.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use anyhow::{Result, bail};
use hint_record::Route;
use serde::{Deserialize, Serialize};

use super::Unit;
use crate::kernel_crate::KernelCrate;
use crate::setup::{Home, Toolchain};
use crate::target::Target;
use crate::values;

/// Where hints are resolved first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum HintMode {
    /// On MIR if rustc-dev is here, else on LLVM bitcode alone
    Auto,
    /// On MIR by the compiler plugin, and again at link
    Mir,
    /// On LLVM bitcode at link
    Llvm,
}

/// The mode that was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The plugin merged latches on MIR.
    Mir,
    /// The link stage alone did.
    Llvm,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Mir => "mir",
            Mode::Llvm => "llvm",
        })
    }
}

/// cargo's profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Optimized
    Release,
    /// Not optimized, with debug information
    Dev,
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Profile::Release => "release",
            Profile::Dev => "dev",
        })
    }
}

/// libNVVM reads Rust's LLVM for the newer architectures only. The linker asks libNVVM itself; this only says so
/// before anything is built.
pub fn check_route(route: Route, arch: &Arch) -> Result<()> {
    if route == Route::Nvvm && arch.target() == Target::Amdgcn {
        bail!("libNVVM makes code for NVIDIA's GPUs alone: take `--route llc` for {arch}");
    }
    if route == Route::Nvvm && arch.number() < FIRST_BY_NVVM {
        bail!("libNVVM takes what Rust writes for sm_{FIRST_BY_NVVM} and later: take `--route llc` for {arch}");
    }
    Ok(())
}

const FIRST_BY_NVVM: u32 = 100;

/// May a product and a sum be computed as one, without rounding in between?
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum FpContract {
    /// No: every operation is rounded, as the source says
    Off,
    /// Yes, for speed
    On,
}

/// A GPU architecture: `sm_90`, `sm_120a`, `gfx1100`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Arch(String);

impl Arch {
    /// The name that ptxas and LLVM know.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Whose GPU it is.
    pub fn target(&self) -> Target {
        if self.0.starts_with(Target::Amdgcn.prefix()) { Target::Amdgcn } else { Target::Nvptx }
    }

    /// 120 of `sm_120a`.
    fn number(&self) -> u32 {
        self.0.trim_start_matches("sm_").trim_end_matches(['a', 'f']).parse().unwrap_or(0)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Arch {
    type Err = String;

    fn from_str(text: &str) -> Result<Arch, String> {
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_nvidias = text.strip_prefix("sm_").is_some_and(|rest| is_digits(rest.trim_end_matches(['a', 'f'])));
        if is_nvidias || text.strip_prefix("gfx").is_some_and(is_amds) {
            return Ok(Arch(text.to_owned()));
        }
        let [nvidias, amds] = Target::ALL.map(Target::examples);
        Err(format!("`{text}` is no GPU architecture: write {nvidias}, or {amds} for AMD's"))
    }
}

/// `1100`, `90a` or `9-4-generic`, as what stands behind `gfx`.
fn is_amds(rest: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase() || byte == b'-';
    rest.starts_with(|first: char| first.is_ascii_digit()) && rest.bytes().all(is_part)
}

impl BuildArgs {
    /// Refuses what cannot be built, as far as that can be told before anything is set up.
    pub fn check(&self) -> Result<()> {
        let others = |arch: &&Arch| self.target.is_some_and(|target| arch.target() != target);
        if let (Some(target), Some(arch)) = (self.target, self.archs.iter().find(others)) {
            bail!("`{arch}` is no GPU of `--target {target}`: write {}", target.examples());
        }
        self.archs.iter().try_for_each(|arch| check_route(self.route, arch))
    }

    /// The architectures to build a crate for. Where all of a workspace is built, none that the crate is not for; where
    /// it was named, that is for the build to refuse.
    pub fn archs_for<'a>(&'a self, kernels: &'a KernelCrate) -> impl Iterator<Item = &'a Arch> {
        self.archs.iter().filter(|arch| !self.packages.is_empty() || kernels.is_for(arch))
    }

    /// All that is to be built of these crates: crate by crate, in the order of the architectures asked for.
    pub fn units<'a>(&'a self, crates: &'a [KernelCrate]) -> Vec<Unit<'a>> {
        let units = |kernels| self.archs_for(kernels).map(move |arch| Unit { kernels, arch });
        crates.iter().flat_map(units).collect()
    }
}

/// Refuses an architecture that the compiler does not know: LLVM would only warn, and build for its oldest one.
pub fn check_known(archs: &[Arch], toolchain: &Toolchain, home: &Home) -> Result<()> {
    Target::ALL.into_iter().try_for_each(|target| {
        let mut own = archs.iter().filter(|arch| arch.target() == target).peekable();
        if own.peek().is_none() {
            return Ok(());
        }
        let printed = toolchain.answer(home, &["--print", "target-cpus", "--target", target.triple()])?;
        let known: Vec<&str> = printed.split_whitespace().filter(|word| word.starts_with(target.prefix())).collect();
        match own.find(|arch| !known.contains(&arch.name())) {
            Some(arch) => {
                let release = toolchain.compiler.release;
                bail!("`{arch}` is no GPU that Rust {release} knows; it knows {}", known.join(", "))
            }
            None => Ok(()),
        }
    })
}

/// Options that every command which builds has.
#[derive(Debug, Clone, clap::Args)]
pub struct BuildArgs {
    /// The kernel crate; all of the workspace if not given
    #[arg(short, long = "package", value_name = "NAME")]
    pub packages: Vec<String>,

    /// Whose GPUs to build for; what --arch names says it too
    #[arg(long, value_enum)]
    pub target: Option<Target>,

    /// The GPUs to build for, of one maker or both [default: sm_90, or gfx1100 with --target amdgcn]
    #[arg(
        long = "arch",
        value_name = "ARCH",
        value_delimiter = ',',
        default_value = "sm_90",
        default_value_if("target", "amdgcn", "gfx1100"),
        hide_default_value = true
    )]
    pub archs: Vec<Arch>,

    /// Where hints are resolved first
    #[arg(long, value_enum, default_value = "auto")]
    pub hints: HintMode,

    /// cargo's profile
    #[arg(long, value_enum, default_value = "release")]
    pub profile: Profile,

    /// Who turns the resolved module into PTX or assembly
    #[arg(long, value_parser = values::routes(), default_value = Route::Llc.name())]
    pub route: Route,

    /// May a product and a sum be computed as one, without rounding in between
    #[arg(long, value_enum, default_value = "off")]
    pub fp_contract: FpContract,

    /// How much to run at a time [default: the number of processors]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,

    /// Features of the kernel crates
    #[arg(short = 'F', long, value_delimiter = ',')]
    pub features: Vec<String>,
}

impl Default for BuildArgs {
    /// What the command line has where it says nothing, but for the architectures: none.
    fn default() -> BuildArgs {
        BuildArgs {
            packages: Vec::new(),
            target: None,
            archs: Vec::new(),
            hints: HintMode::Auto,
            profile: Profile::Release,
            route: Route::Llc,
            fp_contract: FpContract::Off,
            jobs: None,
            features: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_checked() {
        for good in ["sm_80", "sm_90a", "sm_120a", "sm_100f", "gfx1100", "gfx90a", "gfx9-4-generic"] {
            assert_eq!(good.parse::<Arch>().map(|arch| arch.to_string()), Ok(good.to_owned()));
        }
        for bad in ["90", "sm_", "sm_x", "compute_90", "sm_90 ", "", "gfx", "gfxa", "gfx1100 ", "gfx11 00", "GFX1100"] {
            assert!(bad.parse::<Arch>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_architecture_tells_its_target() {
        let target = |name: &str| name.parse::<Arch>().expect("a good name").target();
        assert_eq!((target("sm_120a"), target("gfx942")), (Target::Nvptx, Target::Amdgcn));
    }

    #[test]
    fn libnvvm_is_for_the_newer_architectures() {
        let arch = |name: &str| name.parse::<Arch>().expect("a good name");
        for newer in ["sm_100", "sm_103a", "sm_120f"] {
            assert!(check_route(Route::Nvvm, &arch(newer)).is_ok(), "{newer}");
        }
        for older in ["sm_80", "sm_90a"] {
            let error = check_route(Route::Nvvm, &arch(older)).expect_err(older);
            assert!(error.to_string().contains("--route llc"), "{error}");
            assert!(check_route(Route::Llc, &arch(older)).is_ok(), "{older}");
        }
    }
}
