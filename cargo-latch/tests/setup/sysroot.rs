//! The device sysroot: how it is built, when again, and what is said when it cannot be.

use std::fs;

use cargo_latch::setup::{DeviceSysroot, Progress, device_sysroot};
use cargo_latch::target::Target;

use crate::fakes::{Fake, VERBOSE, tree};

fn ensure(fake: &Fake) -> Result<DeviceSysroot, String> {
    DeviceSysroot::ensure(&fake.home, &fake.toolchain(), Target::Nvptx, &Progress::silent())
        .map_err(|error| error.to_string())
}

#[test]
fn holds_the_two_crates_and_nothing_else() {
    let fake = Fake::with_toolchain();
    let folder = ensure(&fake).unwrap().folder;
    let libraries = "lib/rustlib/nvptx64-nvidia-cuda/lib";
    assert_eq!(
        tree(&folder),
        [
            ".complete".to_owned(),
            ".manifest".to_owned(),
            format!("{libraries}/libcompiler_builtins.rlib"),
            format!("{libraries}/libcore.rlib")
        ]
    );
    assert_eq!(fs::read_to_string(folder.join(libraries).join("libcore.rlib")).unwrap(), "core\n");
}

#[test]
fn is_built_unoptimized_for_the_device_by_the_stock_cargo() {
    let fake = Fake::with_toolchain();
    ensure(&fake).unwrap();
    let calls = fake.cargo_calls();
    assert!(
        calls[0].starts_with("build --release -Zbuild-std=core --target nvptx64-nvidia-cuda --manifest-path "),
        "{calls:?}"
    );
    assert!(calls[0].ends_with("[-Cno-prepopulate-passes\u{1f}-Clto=off\u{1f}-Cpanic=abort]"), "{calls:?}");
}

#[test]
fn amds_is_one_of_its_own_with_bitcode_in_every_object() {
    let fake = Fake::with_toolchain();
    let nvidias = ensure(&fake).unwrap().folder;
    let amds = DeviceSysroot::ensure(&fake.home, &fake.toolchain(), Target::Amdgcn, &Progress::silent()).unwrap();
    let libraries: Vec<_> = amds.libraries(Target::Amdgcn).collect();
    let folder = amds.folder.join("lib/rustlib/amdgcn-amd-amdhsa/lib");
    assert_eq!(libraries, [folder.join("libcore.rlib"), folder.join("libcompiler_builtins.rlib")]);
    assert!(libraries.iter().all(|library| library.is_file()));
    let calls = fake.cargo_calls();
    assert!(calls[1].starts_with("build --release -Zbuild-std=core --target amdgcn-amd-amdhsa "), "{calls:?}");
    let flags = "[-Cno-prepopulate-passes\u{1f}-Clinker-plugin-lto\u{1f}-Cembed-bitcode=yes\u{1f}-Cpanic=abort\u{1f}\
                 -Ctarget-cpu=gfx1100]";
    assert!(calls[1].ends_with(flags), "{calls:?}");
    assert_eq!(ensure(&fake).unwrap().folder, nvidias, "neither makes the other stale");
    let nvidias = device_sysroot::artifact(&fake.toolchain(), Target::Nvptx);
    assert!(fake.home.stale(&nvidias).is_empty());
}

#[test]
fn is_built_once_for_a_compiler_and_again_for_another() {
    let fake = Fake::with_toolchain();
    let first = ensure(&fake).unwrap().folder;
    assert_eq!(ensure(&fake).unwrap().folder, first);
    assert_eq!(fake.cargo_calls().len(), 1);
    fake.rustc(&VERBOSE.replace("commit-hash: abc0", "commit-hash: another"));
    assert_ne!(ensure(&fake).unwrap().folder, first);
    assert_eq!(fake.cargo_calls().len(), 2);
}

#[test]
fn a_build_that_fails_shows_what_cargo_said_and_can_be_tried_again() {
    let fake = Fake::with_toolchain();
    let works = fs::read_to_string(fake.sysroot().join("bin/cargo")).unwrap();
    fake.cargo("echo 'error: no connection' >&2; exit 101");
    let message = ensure(&fake).unwrap_err();
    assert!(
        message.starts_with("cannot build the device sysroot: `cargo build --release -Zbuild-std=core"),
        "{message}"
    );
    assert!(message.ends_with("(exit status: 101):\nerror: no connection"), "{message}");
    fake.cargo(works.split_once('\n').unwrap().1);
    ensure(&fake).unwrap();
}

#[test]
fn without_rust_src_the_component_is_named() {
    let fake = Fake::with_toolchain();
    fs::remove_dir_all(fake.sysroot().join("lib/rustlib/src")).unwrap();
    let message = ensure(&fake).unwrap_err();
    assert!(message.starts_with("the component rust-src is missing (looked in "), "{message}");
    assert!(message.ends_with("run `rustup component add rust-src --toolchain 1.96.0`"), "{message}");
}
