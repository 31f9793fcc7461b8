//! What the whole-system tests share: the command as a library on this checkout, and as a program.
//!
//! The tests themselves are in `tests/tests`, one file a promise. They take set-up for granted: `./latch test` does it
//! before it runs them.

pub mod expected;
pub mod isa;
pub mod occupancy;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cargo_latch::audit::{Entry, audit_all};
use cargo_latch::build::{Arch, BuildArgs, Builder, HintMode, Profile, Unit, Wanted};
use cargo_latch::setup::{self, Progress};

/// The checkout's folder.
pub fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package lies in the checkout").to_owned()
}

/// A crate of `tests/fixtures`.
pub fn fixture(name: &str) -> PathBuf {
    checkout().join("tests/fixtures").join(name)
}

/// Architectures by name.
pub fn archs(names: &[&str]) -> Vec<Arch> {
    names.iter().map(|name| name.parse().expect("a test names an architecture")).collect()
}

/// A builder for the workspace at `folder`.
pub fn builder(folder: &Path, hints: HintMode, profile: Profile) -> Builder {
    let args = BuildArgs { hints, profile, ..BuildArgs::default() };
    Builder::new(folder, &args, Wanted::default(), &Progress::silent()).expect("set-up has been done")
}

/// The PTX of one package.
pub fn ptx(builder: &Builder, package: &str, arch: &Arch) -> String {
    let found = builder.workspace.kernel_crates(&[package.to_owned()]).expect("the package is a kernel crate");
    let built = builder.build(&found[0], arch, None).expect("the package builds");
    built.text.clone()
}

/// The audit of one package on several architectures.
pub fn audits(builder: &Builder, package: &str, names: &[&str]) -> Vec<Entry> {
    let found = builder.workspace.kernel_crates(&[package.to_owned()]).expect("the package is a kernel crate");
    let archs = archs(names);
    let units: Vec<Unit<'_>> = archs.iter().map(|arch| Unit { kernels: &found[0], arch }).collect();
    let audited = audit_all(builder, &units).expect("the package builds");
    audited.into_iter().map(|audited| audited.entry).collect()
}

/// The command as a user runs it, in `folder`.
pub fn latch(folder: &Path, arguments: &[&str]) -> Output {
    let program = setup::beside("cargo-latch").expect("cargo-latch has been built");
    Command::new(program).args(arguments).current_dir(folder).output().expect("cargo-latch runs")
}

/// Both outputs of a program, for messages.
pub fn shown(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
