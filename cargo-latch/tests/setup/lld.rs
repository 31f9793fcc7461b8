//! lld: where it is looked for, and what it is asked.

use std::fs;

use std::path::Path;

use cargo_latch::setup::packages::Packages;
use cargo_latch::setup::{Lld, Progress, SetupError};

use crate::fakes::{Fake, NoPackages, script};

/// An lld that says this of its version, and notes its arguments in `lld.log` otherwise.
fn body(fake: &Fake, version: &str) -> String {
    let log = fake.root().join("lld.log");
    let ask = "case \"$*\" in *--version*)";
    format!(
        "{ask} echo 'LLD {version} (compatible with GNU linkers)'; exit;; esac\necho \"$*\" >>'{}'\n",
        log.display()
    )
}

fn found(fake: &Fake) -> Option<Lld> {
    Lld::find(&fake.home, &fake.machine, &fake.toolchain())
}

#[test]
fn the_compilers_own_comes_first_and_is_told_its_flavor() {
    let fake = Fake::with_toolchain();
    fake.program("ld.lld", &body(&fake, "22.1.0"));
    let own = fake.sysroot().join("lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld");
    script(&own, &body(&fake, "22.1.8"));
    let lld = found(&fake).expect("there are two");
    assert_eq!(lld.program, own);
    lld.link("in.o".as_ref(), "out.hsaco".as_ref()).expect("it links");
    let log = fs::read_to_string(fake.root().join("lld.log")).expect("it was called");
    assert_eq!(log, "-flavor gnu -shared --no-undefined in.o -o out.hsaco\n");
}

#[test]
fn one_that_is_older_than_the_compilers_llvm_is_passed_over() {
    let fake = Fake::with_toolchain();
    assert!(found(&fake).is_none());
    fake.program("ld.lld", &body(&fake, "14.0.6"));
    assert!(found(&fake).is_none());
    fake.program("ld.lld-22", &body(&fake, "22.1.8"));
    assert_eq!(found(&fake).expect("there is one").program, fake.root().join("bin/ld.lld-22"));
}

/// Debian's package, with a program of this version.
struct Package(&'static str);

impl Packages for Package {
    fn unpack(&self, packages: &[String], folder: &Path) -> Result<(), SetupError> {
        assert_eq!(packages, ["lld-22=1:22.1.8*"]);
        script(&folder.join("usr/lib/llvm-22/bin/ld.lld"), &format!("echo 'Debian LLD {}'", self.0));
        Ok(())
    }
}

fn ensure(fake: &Fake, packages: &dyn Packages) -> Result<Lld, String> {
    let lld = Lld::ensure(&fake.home, &fake.machine, &fake.toolchain(), packages, &Progress::silent());
    lld.map_err(|error| error.to_string())
}

#[test]
fn to_a_toolchain_of_debians_packages_debians_is_fetched_once() {
    let fake = Fake::with_toolchain();
    let fetched = ensure(&fake, &Package("22.1.8")).expect("it is fetched").program;
    assert!(fetched.starts_with(fake.home.root()), "{}", fetched.display());
    assert_eq!(ensure(&fake, &NoPackages).expect("it is there").program, fetched);
}

#[test]
fn for_any_other_toolchain_nothing_is_fetched() {
    let fake = Fake::with_toolchain();
    fs::rename(
        fake.sysroot().join("lib/libLLVM.so.22.1"),
        fake.sysroot().join("lib/libLLVM.so.22.1-rust-1.96.0-stable"),
    )
    .expect("it is there");
    let message = ensure(&fake, &NoPackages).unwrap_err();
    assert!(message.starts_with("lld of LLVM 22 or later is missing (looked beside the compiler"), "{message}");
    assert!(message.contains("`apt-get install lld-22`"), "{message}");
}

#[test]
fn one_that_fails_is_quoted() {
    let fake = Fake::with_toolchain();
    let fails = "case \"$*\" in --version) echo 'LLD 23.1.0';; *) echo 'ld.lld: error: no' >&2; exit 1;; esac";
    fake.program("ld.lld", fails);
    let error = found(&fake).expect("it is new enough").link("in.o".as_ref(), "out".as_ref()).unwrap_err().to_string();
    assert!(error.starts_with("cannot make a code object: `ld.lld -shared"), "{error}");
    assert!(error.ends_with("ld.lld: error: no"), "{error}");
}
