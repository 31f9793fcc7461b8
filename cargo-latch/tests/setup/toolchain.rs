//! Which compiler is taken, and what is said where there is none.

use cargo_latch::setup::{Toolchain, compilers};

use crate::fakes::{Fake, VERBOSE, script};

#[test]
fn the_one_version_is_found_where_rustup_keeps_it() {
    let fake = Fake::with_toolchain();
    let toolchain = fake.toolchain();
    assert_eq!(toolchain.sysroot, fake.sysroot());
    assert_eq!((toolchain.version.release.as_str(), toolchain.compiler.llvm), ("1.96.0", "22"));
    assert_eq!(toolchain.llvm_library(), Some(fake.sysroot().join("lib/libLLVM.so.22.1")));
}

#[test]
fn another_version_in_its_place_is_not_taken() {
    let fake = Fake::with_toolchain();
    fake.rustc(&VERBOSE.replace("1.96.0", "1.96.1"));
    let message = Toolchain::locate(&fake.home, &fake.machine).unwrap_err().to_string();
    let expected = format!(
        "Rust 1.96.0 is missing (looked in {} and on the search path): run `rustup toolchain install 1.96.0 -c rust-src`, or \
         Latch's own `./latch` in a checkout",
        fake.machine.rustup_home.join("toolchains").display()
    );
    assert_eq!(message, expected);
}

#[test]
fn a_name_that_only_begins_like_the_version_is_no_candidate() {
    let fake = Fake::bare();
    script(&fake.machine.rustup_home.join("toolchains/1.96.01/bin/rustc"), &format!("cat <<'END'\n{VERBOSE}END\n"));
    assert!(Toolchain::locate(&fake.home, &fake.machine).is_err());
}

#[test]
fn a_dangling_or_broken_toolchain_is_passed_over() {
    let fake = Fake::with_toolchain();
    let toolchains = fake.machine.rustup_home.join("toolchains");
    std::os::unix::fs::symlink("/nowhere", toolchains.join("1.96.0-aarch64-unknown-linux-gnu")).unwrap();
    script(&toolchains.join("1.96.0-s390x-unknown-linux-gnu/bin/rustc"), "exit 1");
    assert_eq!(fake.toolchain().sysroot, fake.sysroot());
}

#[test]
fn a_distributions_compiler_on_the_search_path_is_taken() {
    let fake = Fake::bare();
    fake.program("rustc", &format!("cat <<'END'\n{VERBOSE}END\n"));
    fake.program("cargo", "");
    assert_eq!(fake.toolchain().sysroot, fake.root().canonicalize().unwrap());
}

#[test]
fn rustups_stand_in_on_the_search_path_is_not_asked() {
    let fake = Fake::bare();
    fake.program("rustup", "touch \"$0.asked\"");
    fake.program("cargo", "");
    std::os::unix::fs::symlink("rustup", fake.root().join("bin/rustc")).unwrap();
    assert!(Toolchain::locate(&fake.home, &fake.machine).is_err());
    assert!(!fake.root().join("bin/rustc.asked").exists() && !fake.root().join("bin/rustup.asked").exists());
}

#[test]
fn finding_it_again_starts_no_process() {
    let fake = Fake::with_toolchain();
    let asked = fake.root().join("asked");
    script(&fake.sysroot().join("bin/rustc"), &format!("echo >>'{}'\ncat <<'END'\n{VERBOSE}END\n", asked.display()));
    for _ in 0..3 {
        fake.toolchain();
    }
    assert_eq!(std::fs::read_to_string(asked).unwrap().lines().count(), 1);
}

#[test]
fn the_row_in_use_is_the_toolchains() {
    let toolchain = Fake::with_toolchain().toolchain();
    assert_eq!(Some(toolchain.compiler), compilers::of(&toolchain.version.release));
    assert!(toolchain.compiler.convergent && toolchain.compiler.sources);
}

#[test]
fn the_checkout_is_built_with_the_preferred_compiler() {
    for file in ["../rust-toolchain.toml", "../codegen-pass/backend/rust-toolchain.toml"] {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        if let Ok(text) = std::fs::read_to_string(&file) {
            let channel = format!("channel = \"{}\"", compilers::preferred().release);
            assert!(text.contains(&channel), "{}: {text}", file.display());
        }
    }
}
