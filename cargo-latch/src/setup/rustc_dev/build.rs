//! The compiler's crates, built from its own sources with plain cargo.
//!
//! rustc's bootstrap does the same with much around it; what it tells the crates by environment variables is told here.
//! Not optimized (`opt-level = 0`) the build takes minutes instead of a quarter of an hour, and the result compiles a
//! kernel crate in a second or two. The version is said to be the stock compiler's, of whose very sources it is built,
//! so that both read each other's metadata. LLVM is the stock compiler's too; only its headers and llvm-config are
//! fetched.
//!
//! Sources are only read: cargo writes to its target folder, and completes a copy of the lock file that lies beside it.
//! (The distribution's own has no entries for other systems' crates, so that cargo would write to it.)

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::setup::error::{SetupError, at, missing};
use crate::setup::home::remove_folder;
use crate::setup::machine::Machine;
use crate::setup::packages::Packages;
use crate::setup::process::{self, failed, not_started};
use crate::setup::progress::Step;
use crate::setup::toolchain::Toolchain;

const PURPOSE: &str = "build rustc-dev";
/// `-Cprefer-dynamic` makes the driver the one shared library that the compiler and plugins share; its symbol table is
/// of no use to them and a third of its size.
const FLAGS: [&str; 3] = ["-Zon-broken-pipe=kill", "-Cprefer-dynamic", "-Cstrip=symbols"];
const PROFILE: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "64"),
];

/// All that the outcome depends on besides the compiler's version.
pub(super) fn settings() -> String {
    format!("{FLAGS:?} {PROFILE:?}")
}

/// A build to be done.
pub(super) struct Build<'b> {
    pub(super) machine: &'b Machine,
    pub(super) toolchain: &'b Toolchain,
    /// The folder with `compiler/` and `Cargo.lock`.
    pub(super) source: &'b Path,
    /// Kept from run to run until the artifact is whole.
    pub(super) work: &'b Path,
    pub(super) packages: &'b dyn Packages,
    pub(super) step: &'b Step<'b>,
}

impl Build<'_> {
    /// Builds; gives cargo's output folder.
    pub(super) fn run(&self) -> Result<PathBuf, SetupError> {
        if self.machine.program("c++").is_none() {
            return Err(missing(
                "a C++ compiler",
                "no c++ on the search path, and rustc-dev is built with it",
                "install one (on Debian: `apt-get install g++`)",
            ));
        }
        let llvm_config = self.llvm_config()?;
        self.step.message("building the compiler's crates (minutes, once)");
        self.copy_lock_file()?;
        let units = self.count_units(&llvm_config)?;
        let mut cargo = self.cargo(&llvm_config);
        cargo.arg("--message-format=json");
        build_counting(&mut cargo, units, self.step)?;
        Ok(self.work.join("target/release"))
    }

    /// llvm-config and LLVM's headers, unpacked beside the build; the library itself is the stock compiler's.
    fn llvm_config(&self) -> Result<PathBuf, SetupError> {
        let version = &self.toolchain.version;
        let major = self.toolchain.compiler.llvm;
        let llvm = self.work.join("llvm");
        let llvm_config = llvm.join(format!("usr/lib/llvm-{major}/bin/llvm-config"));
        if llvm_config.is_file() {
            return Ok(llvm_config);
        }
        self.step.message("fetching LLVM's headers");
        let partial = self.work.join("llvm.partial");
        for left in [&partial, &llvm] {
            remove_folder(left)?;
        }
        let wanted = |package: String| format!("{package}=1:{}*", version.llvm);
        let names = [format!("llvm-{major}"), format!("llvm-{major}-dev"), format!("libllvm{major}")];
        self.packages.unpack(&names.map(wanted), &partial)?;
        fs::rename(&partial, &llvm).map_err(at("create", &llvm))?;
        if llvm_config.is_file() {
            return Ok(llvm_config);
        }
        let what = "LLVM's headers".to_owned();
        Err(SetupError::Incomplete { what, file: llvm_config, folder: llvm })
    }

    fn lock_file(&self) -> PathBuf {
        self.work.join("Cargo.lock")
    }

    /// One that is there already is of an interrupted build, and complete.
    fn copy_lock_file(&self) -> Result<(), SetupError> {
        let copy = self.lock_file();
        if copy.is_file() {
            return Ok(());
        }
        let partial = self.work.join("Cargo.lock.partial");
        fs::copy(self.source.join("Cargo.lock"), &partial).map_err(at("create", &partial))?;
        fs::rename(&partial, &copy).map_err(at("create", &copy))
    }

    fn cargo(&self, llvm_config: &Path) -> Command {
        let version = &self.toolchain.version;
        let mut cargo = self.toolchain.plain_cargo();
        cargo.current_dir(self.source).args(["build", "--release", "-p", "rustc-main", "--features", "llvm"]);
        cargo.arg("--target-dir").arg(self.work.join("target"));
        let lock_file = serde_json::json!(self.lock_file()).to_string();
        cargo.arg("-Zlockfile-path").arg("--config").arg(format!("resolver.lockfile-path={lock_file}"));
        cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}")).envs(PROFILE);
        cargo
            .env("CFG_RELEASE", &version.release)
            .env("CFG_RELEASE_CHANNEL", "stable")
            .env("CFG_VERSION", &version.short);
        cargo.env("CFG_VER_HASH", &version.commit_hash).env("CFG_VER_DATE", &version.commit_date);
        cargo.env("CFG_COMPILER_HOST_TRIPLE", &version.host).env("CFG_DEFAULT_CODEGEN_BACKEND", "llvm");
        cargo.env("RUSTC_INSTALL_BINDIR", "bin").env("RUSTC_STAGE", "1").env("DOC_RUST_LANG_ORG_CHANNEL", "stable");
        cargo
            .env("LLVM_CONFIG", llvm_config)
            .env("LLVM_LINK_SHARED", "1")
            .env("REAL_LIBRARY_PATH_VAR", "LD_LIBRARY_PATH");
        cargo
    }

    /// How many pieces of work the build has in all, done ones included.
    fn count_units(&self, llvm_config: &Path) -> Result<u64, SetupError> {
        let mut cargo = self.cargo(llvm_config);
        let output = process::run(cargo.args(["--unit-graph", "-Zunstable-options"]), PURPOSE)?;
        let graph: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        Ok(graph["units"].as_array().map_or(0, Vec::len) as u64)
    }
}

/// Runs cargo, counts the units that it reports, and keeps what it says of errors.
fn build_counting(cargo: &mut Command, units: u64, step: &Step<'_>) -> Result<(), SetupError> {
    cargo.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = cargo.spawn().map_err(|source| not_started(cargo, PURPOSE, source))?;
    let stderr = read_in_background(&mut child);
    let mut errors = String::new();
    let mut done = 0;
    // Bytes that are no UTF-8 or no JSON are nothing that cargo counts.
    for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok)
    {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        match message["reason"].as_str() {
            Some("compiler-artifact" | "build-script-executed") => {
                done += 1;
                step.count(done, units.max(done), message["target"]["name"].as_str().unwrap_or_default());
            }
            Some("compiler-message") if message["message"]["level"] == "error" => {
                errors.push_str(message["message"]["rendered"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }
    let status = child.wait().map_err(|source| not_started(cargo, PURPOSE, source))?;
    let stderr = stderr.join().unwrap_or_default();
    if status.success() { Ok(()) } else { Err(failed(cargo, PURPOSE, &status.to_string(), &(errors + &stderr))) }
}

/// Reads stderr beside stdout, or a full pipe would stop cargo.
fn read_in_background(child: &mut Child) -> std::thread::JoinHandle<String> {
    let stderr = child.stderr.take();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until an error is still worth showing.
        let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
