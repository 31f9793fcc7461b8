//! The promise: a hint's status is what the machine code that is shipped shows of its own loop, on every route, with
//! source lines or without; and lines change no byte of that code.

use std::fs;
use std::path::Path;

use cargo_latch::audit::Entry;
use cargo_latch::build::{BuildArgs, Builder, HintMode, Profile, Route, Wanted};
use cargo_latch::setup::Progress;
use hint_record::{Reason, Status};
use latch_tests::{audits, builder, checkout, fixture, latch, shown};
use serde_json::Value;

/// The status of the hint on the line with this comment.
fn status(entry: &Entry, source: &str, comment: &str) -> (Status, Option<Reason>) {
    let line =
        source.lines().position(|line| line.ends_with(&format!("// {comment}"))).expect("the comment is there") + 1;
    let hint = entry.hints.iter().find(|hint| hint.line as usize == line).expect("the hint is there");
    (hint.status, hint.why.reason())
}

#[test]
fn a_loop_that_only_ptxas_has_removed_is_missed_and_no_other_is_taken_for_it() {
    let source = fs::read_to_string(fixture("lost").join("src/lib.rs")).expect("the source is there");
    for entry in audits(&builder(&fixture("lost"), HintMode::Llvm, Profile::Release), "lost", &["sm_90", "sm_120a"]) {
        assert_eq!(
            status(&entry, &source, "runs once"),
            (Status::Dropped, Some(Reason::MachineCode)),
            "{}",
            entry.arch
        );
        assert_eq!(status(&entry, &source, "runs twice"), (Status::Honoured, None), "{}", entry.arch);
    }
    // libNVVM keeps a loop of it that ptxas cannot see through.
    let args = BuildArgs { hints: HintMode::Llvm, route: Route::Nvvm, ..BuildArgs::default() };
    let by_nvvm =
        Builder::new(&fixture("lost"), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    for entry in audits(&by_nvvm, "lost", &["sm_100"]) {
        assert_eq!(status(&entry, &source, "runs once"), (Status::Honoured, None));
        assert_eq!(status(&entry, &source, "runs twice"), (Status::Honoured, None));
    }
}

#[test]
fn bounded_loops_are_unrolled_whatever_ends_them_early() {
    let source = fs::read_to_string(fixture("bounded").join("src/lib.rs")).expect("the source is there");
    let loads: Vec<u64> = source.lines().filter_map(|line| line.strip_prefix("// loads: ")?.parse().ok()).collect();
    for route in [Route::Llc, Route::Nvvm] {
        let args = BuildArgs { hints: HintMode::Llvm, route, ..BuildArgs::default() };
        let builder = Builder::new(&fixture("bounded"), &args, Wanted::default(), &Progress::silent());
        let builder = builder.expect("set-up has been done");
        let entry = audits(&builder, "bounded", &["sm_100"]).remove(0);
        let (unbounded, bounded): (Vec<_>, Vec<_>) =
            entry.kernels.iter().partition(|kernel| kernel.name == "without_bound");
        let mut found: Vec<u64> =
            bounded.iter().map(|kernel| kernel.sass.expect("ptxas is here").global_loads as u64).collect();
        let mut expected = loads.clone();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{route}");
        assert!(bounded.iter().all(|kernel| kernel.sass.is_some_and(|sass| sass.loops == 0)), "{route}");
        assert!(unbounded[0].sass.is_some_and(|sass| sass.loops > 0), "{route}");
        let dropped: Vec<_> = entry.hints.iter().filter(|hint| hint.status != Status::Honoured).collect();
        assert_eq!(
            dropped.iter().map(|hint| hint.why.reason()).collect::<Vec<_>>(),
            [Some(Reason::TripCount)],
            "{route}"
        );
    }
}

/// The cubin among the files that a build prints.
fn cubin(folder: &Path, options: &[&str]) -> Vec<u8> {
    let output = latch(folder, &[&["build", "-p", "nounroll", "--hints", "llvm", "--arch", "sm_90"], options].concat());
    assert!(output.status.success(), "{}", shown(&output));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    fs::read(printed.lines().find(|line| line.ends_with(".cubin")).expect("a cubin is made")).expect("it is there")
}

#[test]
fn source_lines_change_no_byte_of_the_code() {
    let (with_lines, plain) = (cubin(&checkout(), &["--lines"]), cubin(&checkout(), &[]));
    assert_ne!(with_lines, plain, "the lines are there");
    assert_eq!(sass::same_code(&plain, &with_lines).expect("both can be read"), Vec::<String>::new());
}

#[test]
fn what_is_built_is_described_whole_and_an_audit_writes_nothing_there() {
    cubin(&checkout(), &[]);
    let folder = checkout().join("target/latch/nounroll/sm_90/release");
    let files = || {
        let files = fs::read_dir(&folder).expect("it was built").flatten();
        let mut files: Vec<_> = files
            .map(|file| {
                (file.file_name(), fs::metadata(file.path()).and_then(|about| about.modified()).expect("a time"))
            })
            .collect();
        files.sort();
        files
    };
    let before = files();
    let manifest = fs::read(folder.join("manifest.json")).expect("it is there");
    let manifest: Value = serde_json::from_slice(&manifest).expect("it is JSON");
    let named: Vec<&String> = manifest["files"].as_object().expect("files").keys().collect();
    assert_eq!(named, ["nounroll.cubin", "nounroll.hints.json", "nounroll.ptx"]);
    let audit = latch(&checkout(), &["audit", "-p", "nounroll", "--hints", "llvm", "--arch", "sm_90"]);
    assert!(audit.status.success(), "{}", shown(&audit));
    assert_eq!(files(), before);
}

#[test]
fn a_path_with_other_letters_is_a_path() {
    let parent = tempfile::tempdir().expect("a folder can be made");
    let folder = parent.path().join("unü ber");
    fs::create_dir_all(folder.join("src")).expect("made");
    let manifest = fs::read_to_string(fixture("gate").join("Cargo.toml")).expect("it is there");
    let device_std = checkout().join("device-std");
    let manifest = manifest.replace("../../../device-std", &device_std.to_string_lossy());
    fs::write(folder.join("Cargo.toml"), manifest).expect("written");
    fs::copy(fixture("gate").join("Cargo.lock"), folder.join("Cargo.lock")).expect("copied");
    let source = "#![cfg_attr(target_arch = \"nvptx64\", no_std, feature(abi_gpu_kernel))]\n\
                  #[device_std::kernel]\npub unsafe fn sum(x: *const f32, y: *mut f32, n: u32) {\n    let mut sum = 0.0;\n    \
                  #[nounroll]\n    for i in 0..n {\n        sum += unsafe { *x.add(i as usize) };\n    }\n    unsafe { *y = sum }\n}\n";
    fs::write(folder.join("src/lib.rs"), source).expect("written");
    let audit = latch(&folder, &["audit", "--hints", "llvm", "--lines", "--json"]);
    assert!(audit.status.success(), "{}", shown(&audit));
    let entries: Value = serde_json::from_slice(&audit.stdout).expect("it is JSON");
    assert_eq!(entries[0]["hints"][0]["status"], "honoured");
}
