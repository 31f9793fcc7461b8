//! `doctor` on made-up machines, and the command itself on one with nothing.

use std::path::PathBuf;
use std::process::Command;

use cargo_latch::doctor::{Finding, Report, State, Surroundings, examine};
use cargo_latch::setup::{CudaTools, DeviceSysroot, Progress, RustcDev};
use cargo_latch::target::Target;
use serde_json::Value;

use crate::fakes::{Fake, FakePackages, VERBOSE, WHOLE};
use crate::rustc_dev::with_compiler_source;

fn examined(fake: &Fake) -> Report {
    let latch_link = Some(PathBuf::from("/tools/latch-link"));
    examine(&Surroundings { home: &fake.home, machine: &fake.machine, latch_link, sources: None })
}

fn finding<'r>(report: &'r Report, name: &str) -> &'r Finding {
    report
        .findings
        .iter()
        .find(|finding| finding.name == name)
        .unwrap_or_else(|| panic!("no finding {name}: {report:?}"))
}

/// A machine where a build can be done once it has set itself up.
fn able() -> Fake {
    let fake = with_compiler_source();
    fake.program("cc", "");
    fake.program("python3", "");
    fake
}

#[test]
fn a_machine_that_can_set_itself_up_can_build() {
    let report = examined(&able());
    assert!(report.can_build, "{report}");
    for name in ["device sysroot", "AMD sysroot", "ptxas", "nvdisasm", "libNVVM", "rustc-dev"] {
        assert_eq!(finding(&report, name).state, State::Later, "{report}");
    }
}

#[test]
fn without_lld_a_build_to_assembly_can_be_done() {
    let fake = able();
    assert_eq!(finding(&examined(&fake), "lld").state, State::Later, "Debian has it for Debian's LLVM");
    let llvm = fake.sysroot().join("lib/libLLVM.so.22.1");
    std::fs::rename(&llvm, llvm.with_extension("1-rust-1.96.0-stable")).unwrap();
    let report = examined(&fake);
    let lld = finding(&report, "lld");
    assert_eq!((lld.state, lld.needed), (State::Missing, false));
    assert!(lld.remedy.as_ref().unwrap().contains("`apt-get install lld-22`"), "{report}");
    assert!(report.can_build, "{report}");
    fake.program("ld.lld-22", "echo 'Debian LLD 22.1.8 (compatible with GNU linkers)'");
    assert_eq!(finding(&examined(&fake), "lld").state, State::Here);
}

#[test]
fn what_was_set_up_is_told_with_version_and_place() {
    let fake = able();
    let (toolchain, quiet) = (fake.toolchain(), Progress::silent());
    CudaTools::ensure(&fake.home, &fake.machine, &WHOLE, &quiet).unwrap();
    RustcDev::ensure(&fake.home, &fake.machine, &toolchain, &FakePackages, &quiet).unwrap();
    let report = examined(&fake);
    let detail = |name: &str| finding(&report, name).detail.replace(fake.root().to_str().unwrap(), "ROOT");
    let sysroot = "ROOT/rustup/toolchains/1.96.0-x86_64-unknown-linux-gnu";
    assert_eq!(detail("Rust"), format!("1.96.0 (abc 2026-05-25) (made up) in {sysroot}"));
    assert_eq!(detail("libLLVM"), format!("22.1.8 in {sysroot}/lib/libLLVM.so.22.1"));
    assert_eq!(detail("rust-src"), format!("{sysroot}/lib/rustlib/src/rust/library"));
    assert_eq!(detail("latch-link"), "/tools/latch-link");
    assert!(detail("ptxas").starts_with("13.5.37 in ROOT/home/cuda-tools-"), "{report}");
    assert!(detail("libNVVM").ends_with("/lib/libnvvm.so.4, from PyPI's wheels"), "{report}");
    assert!(detail("rustc-dev").starts_with("built from the compiler's sources, in ROOT/home/rustc-dev-"), "{report}");
    assert!(detail("cache").starts_with("ROOT/home, 1 MB"), "{report}");
}

#[test]
fn everything_needed_that_is_missing_has_a_remedy_and_prevents_a_build() {
    let mut fake = able();
    type Spoil = fn(&Fake);
    let spoil: [(&str, Spoil); 4] = [
        ("Rust", |fake| fake.rustc(&VERBOSE.replace("1.96.0", "1.95.0"))),
        ("rust-src", |fake| std::fs::remove_dir_all(fake.sysroot().join("lib/rustlib/src")).unwrap()),
        ("libLLVM", |fake| std::fs::remove_file(fake.sysroot().join("lib/libLLVM.so.22.1")).unwrap()),
        ("C compiler", |fake| std::fs::remove_file(fake.root().join("bin/cc")).unwrap()),
    ];
    for (name, spoil) in spoil {
        spoil(&fake);
        let report = examined(&fake);
        let found = finding(&report, name);
        assert!(found.state == State::Missing && found.needed && found.remedy.is_some(), "{report}");
        assert!(!report.can_build, "{report}");
        fake = able();
    }
}

#[test]
fn a_missing_linker_prevents_a_build_unless_it_can_be_built() {
    let fake = able();
    let mut around = Surroundings { home: &fake.home, machine: &fake.machine, latch_link: None, sources: None };
    let report = examine(&around);
    assert_eq!(finding(&report, "latch-link").remedy.as_deref(), Some("build it too: `cargo build -p bitcode-linker`"));
    assert!(!report.can_build, "{report}");
    around.sources = Some(fake.root().join("checkout"));
    let report = examine(&around);
    assert_eq!(finding(&report, "latch-link").state, State::Later);
    assert!(report.can_build, "{report}");
}

#[test]
fn without_ptxas_a_build_to_ptx_can_be_done() {
    let fake = able();
    std::fs::remove_file(fake.root().join("bin/python3")).unwrap();
    let report = examined(&fake);
    let ptxas = finding(&report, "ptxas");
    assert_eq!((ptxas.state, ptxas.needed), (State::Missing, false));
    assert!(
        ptxas.detail.starts_with("kernels can be built to PTX only; python3 is not on the search path"),
        "{report}"
    );
    assert!(ptxas.remedy.as_ref().unwrap().contains("python3-pip"), "{report}");
    assert!(report.can_build, "{report}");
}

#[test]
fn folders_of_another_compiler_are_told_to_be_removable() {
    let fake = Fake::with_toolchain();
    let old = DeviceSysroot::ensure(&fake.home, &fake.toolchain(), Target::Nvptx, &Progress::silent()).unwrap();
    assert_eq!(finding(&examined(&fake), "cache").remedy, None);
    fake.rustc(&VERBOSE.replace("abc0", "def0"));
    let note = finding(&examined(&fake), "cache").remedy.clone().unwrap();
    assert!(note.ends_with(&format!("can be removed: {}", old.folder.display())), "{note}");
}

#[test]
fn the_row_in_use_is_told() {
    let report = examined(&able());
    assert_eq!(finding(&report, "compiler row").detail, "1.96.0: LLVM 22, rustc-dev can be built from sources");
}

#[test]
fn looking_makes_nothing() {
    let fake = able();
    let python = fake.root().join("bin/python3");
    fake.program("python3", "[ \"$1\" = -I ]");
    assert!(examined(&fake).can_build && python.exists());
    assert!(!fake.home.root().exists(), "{:?}", crate::fakes::tree(fake.home.root()));
    CudaTools::ensure(&fake.home, &fake.machine, &WHOLE, &Progress::silent()).unwrap();
    std::fs::write(fake.home.root().join("cuda-tools.lock"), "").unwrap();
    let before = crate::fakes::tree(fake.home.root());
    examined(&fake);
    assert_eq!(crate::fakes::tree(fake.home.root()), before);
}

#[test]
fn damaged_tools_are_no_longer_here() {
    let fake = able();
    let tools = CudaTools::ensure(&fake.home, &fake.machine, &WHOLE, &Progress::silent()).unwrap();
    std::fs::write(&tools.nvdisasm, "something else").unwrap();
    assert_eq!(finding(&examined(&fake), "ptxas").state, State::Later);
    let repaired = CudaTools::ensure(&fake.home, &fake.machine, &WHOLE, &Progress::silent()).unwrap();
    assert_eq!(std::fs::read_to_string(repaired.nvdisasm).unwrap(), "nvidia/cu13/bin/nvdisasm");
    assert_eq!(finding(&examined(&fake), "ptxas").state, State::Here);
}

/// The command on a machine with nothing: an empty home and search path.
fn command(arguments: &[&str]) -> (Option<i32>, String) {
    let nothing = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-latch"));
    command.env_clear().env("HOME", nothing.path()).env("PATH", nothing.path()).args(arguments);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_command_exits_1_where_a_build_cannot_be_done() {
    let (code, printed) = command(&["latch", "doctor"]);
    assert_eq!(code, Some(1));
    assert!(printed.contains("\nmissing  C compiler      no cc on the search path\n"), "{printed}");
    assert!(printed.ends_with("Kernels cannot be built yet: see above.\n"), "{printed}");
}

#[test]
fn the_command_prints_json() {
    let (code, printed) = command(&["doctor", "--json"]);
    assert_eq!(code, Some(1));
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["can_build"], false);
    let rust = &report["findings"][0];
    assert_eq!((&rust["name"], &rust["state"], &rust["needed"]), (&"Rust".into(), &"missing".into(), &true.into()));
    assert!(rust["remedy"].as_str().unwrap().starts_with("run `rustup toolchain install 1.96.0 -c rust-src`"));
}
