//! rustc-dev: found, added by rustup, or built from the compiler's sources; and what is said where it cannot be.

use std::fs;

use cargo_latch::setup::rustc_dev::Origin;
use cargo_latch::setup::{Progress, RustcDev};

use crate::fakes::{Fake, FakePackages, HOST_LIBRARIES, NoPackages, tree};

/// Answers the question for the number of units, then reports two and leaves what a build leaves.
const CARGO: &str = r#"
case "$*" in *--unit-graph*) echo '{"units":[{},{}]}'; exit;; esac
while [ $# -gt 0 ]; do [ "$1" = --target-dir ] && target=$2; shift; done
mkdir -p "$target/release/deps"
cd "$target/release"
echo '{"reason":"compiler-artifact","target":{"name":"rustc_middle"}}'
echo driver >deps/librustc_driver.so
for file in librustc_middle-1.rmeta librustc_middle-1.rlib librustc_macros-2.so rustc_middle-1.d; do echo x >deps/$file; done
echo main >rustc-main
echo '{"reason":"compiler-artifact","target":{"name":"rustc-main"}}'
echo "$CFG_VERSION|$CFG_VER_HASH|$LLVM_CONFIG" >>"$target/../../told"
"#;

/// A machine whose toolchain has the compiler's sources, as Debian's packages bring them, and a C++ compiler.
pub fn with_compiler_source() -> Fake {
    let fake = Fake::with_toolchain();
    fake.cargo(CARGO);
    fake.file(&fake.sysroot().join("lib/rustlib/src/rust/compiler/rustc/Cargo.toml"), "rustc");
    fake.file(&fake.sysroot().join("lib/rustlib/src/rust/Cargo.lock"), "version = 4\n");
    for library in ["libstd-3.rlib", "libstd-3.rmeta"] {
        fake.file(&fake.sysroot().join(HOST_LIBRARIES).join(library), "std");
    }
    fake.program("c++", "");
    fake
}

fn ensure(fake: &Fake, packages: &dyn cargo_latch::setup::packages::Packages) -> Result<RustcDev, String> {
    RustcDev::ensure(&fake.home, &fake.machine, &fake.toolchain(), packages, &Progress::silent())
        .map_err(|e| e.to_string())
}

#[test]
fn is_built_from_the_compilers_sources_and_kept_small() {
    let fake = with_compiler_source();
    let dev = ensure(&fake, &FakePackages).unwrap();
    assert_eq!(dev.origin, Origin::Built);
    let in_libraries = |name: &str| format!("{HOST_LIBRARIES}/{name}");
    assert_eq!(
        tree(&dev.sysroot),
        [
            ".complete".to_owned(),
            ".manifest".to_owned(),
            "bin/rustc".to_owned(),
            "lib/libLLVM-22.so".to_owned(),
            "lib/libLLVM.so.22.1".to_owned(),
            "lib/librustc_driver.so".to_owned(),
            in_libraries("librustc_driver.so"),
            in_libraries("librustc_macros-2.so"),
            in_libraries("librustc_middle-1.rmeta"),
            in_libraries("libstd-3.rlib"),
            in_libraries("libstd-3.rmeta"),
        ]
    );
    let left: Vec<_> = fs::read_dir(fake.home.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_str().unwrap().contains("build")), "the build folder is removed: {left:?}");
}

#[test]
fn says_the_stock_compilers_version_so_that_both_read_each_others_crates() {
    let fake = with_compiler_source();
    ensure(&fake, &FakePackages).unwrap();
    let told = fs::read_to_string(fake.home.root().join("told")).unwrap();
    assert!(told.starts_with("1.96.0 (abc 2026-05-25) (made up)|abc0|/"), "{told}");
    assert!(told.ends_with("llvm/usr/lib/llvm-22/bin/llvm-config\n"), "{told}");
}

#[test]
fn is_built_once() {
    let fake = with_compiler_source();
    let first = ensure(&fake, &FakePackages).unwrap().sysroot;
    let calls = fake.cargo_calls();
    assert_eq!(ensure(&fake, &NoPackages).unwrap().sysroot, first);
    assert_eq!(fake.cargo_calls(), calls);
}

#[test]
fn an_interrupted_build_goes_on_with_what_it_has() {
    let fake = with_compiler_source();
    let interrupted = CARGO.replace("echo main >rustc-main", "echo kept >deps/kept; exit 130");
    fake.cargo(&interrupted);
    let message = ensure(&fake, &FakePackages).unwrap_err();
    assert!(message.starts_with("cannot build rustc-dev: `cargo build --release -p rustc-main"), "{message}");
    // The second time, packages are not fetched again and cargo finds its earlier output.
    fake.cargo(&format!("{CARGO}\ntest -f deps/kept || exit 1"));
    ensure(&fake, &NoPackages).unwrap();
}

#[test]
fn a_build_that_fails_shows_the_compilers_error() {
    let fake = with_compiler_source();
    let error = r#"{"reason":"compiler-message","message":{"level":"error","rendered":"error[E0001]: oh no\n"}}"#;
    let warning = r#"{"reason":"compiler-message","message":{"level":"warning","rendered":"warning: never mind\n"}}"#;
    fake.cargo(&format!("case \"$*\" in *--unit-graph*) exit;; esac\nprintf '%s\\n' '{warning}' '{error}'; echo 'could not compile' >&2; exit 101"));
    let message = ensure(&fake, &FakePackages).unwrap_err();
    assert!(message.ends_with("(exit status: 101):\nerror[E0001]: oh no\ncould not compile"), "{message}");
}

#[test]
fn without_a_cpp_compiler_it_is_said_how_to_get_one() {
    let fake = with_compiler_source();
    fs::remove_file(fake.root().join("bin/c++")).unwrap();
    let message = ensure(&fake, &NoPackages).unwrap_err();
    assert!(
        message.starts_with("a C++ compiler is missing (no c++")
            && message.ends_with("(on Debian: `apt-get install g++`)"),
        "{message}"
    );
}

#[test]
fn rustups_component_is_found() {
    let fake = Fake::with_toolchain();
    fake.file(&fake.sysroot().join(HOST_LIBRARIES).join("librustc_middle-1.rmeta"), "");
    let dev = RustcDev::find(&fake.home, &fake.toolchain()).unwrap();
    assert_eq!((dev.origin, dev.sysroot), (Origin::Component, fake.sysroot()));
}

#[test]
fn rustup_adds_the_component_where_the_toolchain_is_its_own() {
    let fake = Fake::with_toolchain();
    fake.file(&fake.sysroot().join("lib/rustlib/multirust-channel-manifest.toml"), "");
    let libraries = fake.sysroot().join(HOST_LIBRARIES);
    let expected = "component add rustc-dev llvm-tools --toolchain 1.96.0-x86_64-unknown-linux-gnu";
    fake.program(
        "rustup",
        &format!(
            "[ \"$*\" = '{expected}' ] || exit 1\n/bin/mkdir -p '{0}'\n: >'{0}/librustc_middle-1.rmeta'",
            libraries.display()
        ),
    );
    assert_eq!(ensure(&fake, &NoPackages).unwrap().origin, Origin::Component);
}

#[test]
fn where_neither_way_is_open_the_message_names_what_was_tried() {
    let mut fake = Fake::with_toolchain();
    let message = ensure(&fake, &NoPackages).unwrap_err();
    assert!(
        message.starts_with("rustc-dev is missing (") && message.contains("is not a toolchain of rustup's"),
        "{message}"
    );
    assert!(message.contains("no compiler sources in "), "{message}");
    assert!(message.contains("run `rustup component add rustc-dev llvm-tools --toolchain 1.96.0`"), "{message}");

    fake.file(&fake.sysroot().join("lib/rustlib/multirust-channel-manifest.toml"), "");
    fake.program("rustup", "echo 'error: no connection' >&2; exit 1");
    assert!(ensure(&fake, &NoPackages).unwrap_err().contains("error: no connection"));
    fake.machine.rustup_downloads = false;
    assert!(ensure(&fake, &NoPackages).unwrap_err().contains("RUSTUP_AUTO_INSTALL=0 keeps rustup from downloading"));
}

#[test]
fn finding_never_builds() {
    let fake = with_compiler_source();
    assert!(RustcDev::find(&fake.home, &fake.toolchain()).is_none());
    assert!(fake.cargo_calls().is_empty());
}
