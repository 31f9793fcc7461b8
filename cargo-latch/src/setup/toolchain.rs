//! The host toolchain: stock Rust, of a version that kernels can be built with.
//!
//! The plugin, the linker's LLVM and the device sysroot all have to agree with it, so only one of the table of
//! [`compilers`] is taken, the one that stands first there if several are here. It is looked for where rustup keeps it,
//! also without rustup, and then on the search path. It is not made here: `./latch` does that before there is a command
//! to run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::compilers::{self, Compiler};
use super::error::{SetupError, missing};
use super::home::Home;
use super::machine::{Machine, is_executable};
use super::process;

/// A toolchain that `./latch` put together from Debian's packages has this file.
pub const MADE_BY_LATCH: &str = ".made-by-latch";

/// What `rustc -vV` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// All of it.
    pub verbose: String,
    /// The first line without the leading `rustc `.
    pub short: String,
    /// Such as `1.96.0`.
    pub release: String,
    /// The commit, in full.
    pub commit_hash: String,
    /// The commit's day.
    pub commit_date: String,
    /// The host's target triple.
    pub host: String,
    /// The LLVM that the compiler links, such as `22.1.8`.
    pub llvm: String,
}

impl Version {
    fn parse(verbose: &str) -> Self {
        let field =
            |name: &str| verbose.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned();
        Self {
            short: field("rustc "),
            release: field("release:"),
            commit_hash: field("commit-hash:"),
            commit_date: field("commit-date:"),
            host: field("host:"),
            llvm: field("LLVM version:"),
            verbose: verbose.to_owned(),
        }
    }
}

/// The host toolchain.
#[derive(Debug, Clone)]
pub struct Toolchain {
    /// Its folder, with `bin/` and `lib/`.
    pub sysroot: PathBuf,
    /// Its compiler's version.
    pub version: Version,
    /// What has to be known of that compiler: the row in use.
    pub compiler: &'static Compiler,
}

impl Toolchain {
    /// Finds the toolchain on this machine.
    pub fn locate(home: &Home, machine: &Machine) -> Result<Self, SetupError> {
        let rustups = compilers::all().iter().flat_map(|compiler| rustup_sysroots(machine, compiler.release));
        for sysroot in rustups.chain(sysroot_on_path(machine)) {
            match version_at(home, &sysroot) {
                Ok(version) => match compilers::of(&version.release) {
                    Some(compiler) => return Ok(Self { sysroot, version, compiler }),
                    None => tracing::debug!(version = version.release, ?sysroot, "not a version wanted"),
                },
                Err(error) => tracing::warn!("the toolchain in {} does not work: {error}", sysroot.display()),
            }
        }
        let preferred = compilers::preferred().release;
        Err(missing(
            format_args!("Rust {}", compilers::releases()),
            format_args!("looked in {} and on the search path", machine.rustup_home.join("toolchains").display()),
            format_args!(
                "run `rustup toolchain install {preferred} -c rust-src`, or Latch's own `./latch` in a checkout"
            ),
        ))
    }

    /// What the compiler prints for these arguments, which is the same every time: remembered in the home.
    pub fn answer(&self, home: &Home, arguments: &[&str]) -> Result<String, SetupError> {
        process::version_text(home, &self.sysroot.join("bin/rustc"), self.rustc().args(arguments))
    }

    /// The compiler, with the environment that it needs to run and to accept unstable features.
    pub fn rustc(&self) -> Command {
        let mut rustc = with_libraries(&self.sysroot.join("bin/rustc"), &self.sysroot);
        rustc.env("RUSTC_BOOTSTRAP", "1");
        rustc
    }

    /// Cargo with this compiler, the user's own settings otherwise.
    pub fn cargo(&self) -> Command {
        let mut cargo = with_libraries(&self.sysroot.join("bin/cargo"), &self.sysroot);
        cargo.env("RUSTC", self.sysroot.join("bin/rustc")).env("RUSTDOC", self.sysroot.join("bin/rustdoc"));
        cargo.env("RUSTC_BOOTSTRAP", "1");
        // A cargo that runs this program has set its own, which would win over the programs above.
        for inherited in ["CARGO", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"] {
            cargo.env_remove(inherited);
        }
        cargo
    }

    /// Cargo with this compiler and none of the settings that environment variables can make: for what must come out
    /// the same for everybody.
    pub(crate) fn plain_cargo(&self) -> Command {
        let mut cargo = self.cargo();
        let settings = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "CARGO_UNSTABLE_"];
        for (name, _) in std::env::vars_os() {
            if settings.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                cargo.env_remove(name);
            }
        }
        cargo.env("CARGO_TERM_PROGRESS_WHEN", "never").env("CARGO_TERM_COLOR", "never").env("CARGO_INCREMENTAL", "0");
        cargo
    }

    /// The sources of the standard library, if the component rust-src is here.
    pub fn library_source(&self) -> Option<PathBuf> {
        Some(self.source().join("library")).filter(|library| library.join("core/Cargo.toml").is_file())
    }

    /// The whole compiler's sources: Debian's packages bring them, rustup's component does not.
    pub fn compiler_source(&self) -> Option<PathBuf> {
        Some(self.source()).filter(|source| source.join("compiler/rustc/Cargo.toml").is_file())
    }

    fn source(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib/src/rust")
    }

    /// The compiler's own LLVM, which Latch links too.
    pub fn llvm_library(&self) -> Option<PathBuf> {
        let is_llvm = |file: &PathBuf| self.compiler.is_llvm(&file.file_name().unwrap_or_default().to_string_lossy());
        files_in(&self.sysroot.join("lib")).into_iter().filter(is_llvm).min()
    }

    /// Whether rustup manages it, and so can add components to it.
    pub fn is_rustups(&self) -> bool {
        self.sysroot.join("lib/rustlib/multirust-channel-manifest.toml").is_file()
    }

    /// Whether its LLVM is that of Debian's package libllvm, with which Debian's other programs of LLVM work.
    pub fn has_debians_llvm(&self) -> bool {
        self.sysroot.join("lib").join(self.compiler.debian_llvm).is_file()
    }

    /// Whether `./latch` put it together from Debian's packages.
    pub fn is_made_by_latch(&self) -> bool {
        self.sysroot.join(MADE_BY_LATCH).is_file()
    }
}

/// A program of a toolchain. Its libraries are found by the loader's search path, since Debian's carry no path of their
/// own.
pub(crate) fn with_libraries(program: &Path, sysroot: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", in_front("LD_LIBRARY_PATH", sysroot.join("lib")));
    command.env("PATH", in_front("PATH", sysroot.join("bin")));
    command
}

fn in_front(variable: &str, folder: PathBuf) -> std::ffi::OsString {
    let others = std::env::var_os(variable).unwrap_or_default();
    let others = std::env::split_paths(&others).filter(|other| !other.as_os_str().is_empty() && *other != folder);
    let all: Vec<_> = std::iter::once(folder.clone()).chain(others).collect();
    // Only a folder whose name has the separator in it cannot be joined, and then nothing could be found in it anyway.
    std::env::join_paths(all).unwrap_or_else(|_| folder.into_os_string())
}

fn version_at(home: &Home, sysroot: &Path) -> Result<Version, SetupError> {
    let program = sysroot.join("bin/rustc");
    let verbose = process::version_text(home, &program, with_libraries(&program, sysroot).arg("-vV"))?;
    Ok(Version::parse(&verbose))
}

/// The toolchains of a release that rustup would know, the usual one first.
fn rustup_sysroots(machine: &Machine, release: &str) -> Vec<PathBuf> {
    let usual = format!("{release}-{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut found = files_in(&machine.rustup_home.join("toolchains"));
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_version = name.strip_prefix(release).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        is_version && is_executable(&path.join("bin/rustc"))
    });
    found.sort_by_key(|path| !path.ends_with(&usual));
    found
}

/// The toolchain of the `rustc` on the search path, as a distribution installs it; rustup's stand-in is not asked,
/// since it could answer with a download.
fn sysroot_on_path(machine: &Machine) -> Option<PathBuf> {
    let rustc = machine.program("rustc")?.canonicalize().ok()?;
    let is_rustup = rustc.file_name().is_some_and(|name| name == "rustup");
    let beside = rustc.parent()?;
    (!is_rustup && beside.ends_with("bin") && is_executable(&beside.join("cargo")))
        .then(|| beside.parent())?
        .map(Path::to_path_buf)
}

pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERBOSE: &str = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\nbinary: rustc\n\
        commit-hash: ac68faa20c58cbccd01ee7208bf3b6e93a7d7f96\ncommit-date: 2026-05-25\nhost: x86_64-unknown-linux-gnu\n\
        release: 1.96.0\nLLVM version: 22.1.8\n";

    #[test]
    fn reads_the_verbose_version() {
        let version = Version::parse(VERBOSE);
        assert_eq!(version.short, "1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)");
        assert_eq!(version.release, "1.96.0");
        assert_eq!(version.commit_hash, "ac68faa20c58cbccd01ee7208bf3b6e93a7d7f96");
        assert_eq!(version.commit_date, "2026-05-25");
        assert_eq!(version.host, "x86_64-unknown-linux-gnu");
        assert_eq!(version.llvm, "22.1.8");
    }
}
