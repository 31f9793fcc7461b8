//! The promise: what an audit or a build lets pass is what the levels and budgets say, each failure is told at its
//! place with what to do, and what ptxas did to a hinted loop is found out line by line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use cargo_latch::audit::{Audited, audit_all, audit_of, gate};
use cargo_latch::build::{Builder, HintMode, Profile, Unit, Wanted};
use cargo_latch::config::LatchToml;
use cargo_latch::diagnose::text::Printer;
use cargo_latch::kernel_crate::KernelCrate;
use hint_record::Status;
use latch_tests::{archs, builder, checkout, fixture, latch, shown};

const ARCHS: [&str; 3] = ["sm_80", "sm_90", "sm_120a"];
const LINES: Wanted = Wanted { lines: true, code_objects: false };

#[track_caller]
fn ends_with(output: &Output, code: i32, said: &[(&str, usize)]) {
    let text = shown(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for (words, times) in said {
        assert_eq!(text.matches(words).count(), *times, "{words}: {text}");
    }
}

/// The number of the line that ends in a comment.
fn line(source: &Path, comment: &str) -> u32 {
    let text = fs::read_to_string(source).expect("the source is there");
    let numbered = text.lines().zip(1..).find(|(line, _)| line.ends_with(comment));
    numbered.unwrap_or_else(|| panic!("no line ends in {comment}")).1
}

fn kernel_crate(builder: &Builder, name: &str) -> KernelCrate {
    builder.workspace.kernel_crates(&[name.to_owned()]).expect("a kernel crate").remove(0)
}

#[test]
fn the_level_decides_on_the_exit_code_and_on_what_is_said() {
    let audit = |level: &[&str]| latch(&fixture("dropped"), &[&["audit", "--hints", "llvm"], level].concat());
    let source = fixture("dropped").join("src/lib.rs");
    let place = format!("--> src/lib.rs:{}:5", line(&source, "// deleted"));
    let deleted =
        "error: `#[nounroll]` was not honoured: the optimizer deleted the loop: nothing is left to keep rolled";
    let denied = audit(&[]);
    ends_with(
        &denied,
        1,
        &[("error: ", 3), (deleted, 1), (&place, 1), ("for k in 0..4u32 { // deleted", 1), ("|     ^^^\n", 1)],
    );
    ends_with(&denied, 1, &[("= note: in the function `deleted`", 1), ("= help: ", 3), ("\u{1b}[", 0)]);
    ends_with(&audit(&["--level", "warn"]), 0, &[("warning: `#[nounroll]` was not honoured", 3), ("error", 0)]);
    ends_with(&audit(&["--level", "allow"]), 0, &[("was not honoured", 0), ("DROPPED", 3)]);
}

#[test]
fn a_build_with_a_hint_that_was_not_honoured_fails_and_leaves_the_last_one() {
    let build =
        |level: &[&str]| latch(&fixture("dropped"), &[&["build", "--hints", "llvm", "--emit", "ptx"], level].concat());
    let passed = build(&["--level", "warn"]);
    ends_with(&passed, 0, &[("warning: `#[nounroll]` was not honoured", 3)]);
    let ptx = PathBuf::from(String::from_utf8_lossy(&passed.stdout).trim());
    fs::write(&ptx, "the last one").expect("written");
    let denied = build(&[]);
    ends_with(
        &denied,
        1,
        &[("error: `#[nounroll]` was not honoured", 3), ("`dropped` has loop hints that were not honoured", 1)],
    );
    assert!(denied.stdout.is_empty(), "{}", shown(&denied));
    assert_eq!(fs::read_to_string(&ptx).expect("it is there"), "the last one");
}

#[test]
fn with_hints_resolved_on_mir_the_same_is_told() {
    let build =
        |level: &str| latch(&fixture("dropped"), &["build", "--hints", "mir", "--emit", "ptx", "--level", level]);
    let error = "error: `#[nounroll]` was not honoured: the loop never repeats\n";
    ends_with(&build("deny"), 1, &[(error, 2), ("the optimizer deleted", 1)]);
    ends_with(&build("warn"), 0, &[("warning: `#[nounroll]` was not honoured", 3), ("the loop never repeats", 2)]);
    ends_with(&build("allow"), 0, &[("was not honoured", 0)]);
}

#[test]
fn the_crates_own_file_sets_levels_and_budgets() {
    let source = fixture("gate").join("src/lib.rs");
    let budget = line(&fixture("gate").join("latch.toml"), "// broken".replace("//", "#").as_str());
    let once = format!("--> src/lib.rs:{}:5", line(&source, "// once"));
    let plain = latch(&fixture("gate"), &["audit", "--hints", "llvm"]);
    let broken = "error: `local_array` for sm_90 has ";
    let said = [
        ("warning: `#[nounroll]` was not honoured: the loop never repeats\n", 1),
        (once.as_str(), 1),
        ("= note: in the function `gate::first::<true>`\n", 1),
        (broken, 1),
        (" local loads, and its budget is 0\n", 1),
        (&format!("--> latch.toml:{budget}:15\n"), 1),
    ];
    ends_with(&plain, 1, &said);

    let with_lines = latch(&fixture("gate"), &["audit", "--hints", "llvm", "--lines", "--github"]);
    let accesses = format!("::src/lib.rs:{}: ", line(&source, "// local memory"));
    let annotation = format!("::error file=latch.toml,line={budget},col=15,title=`local_array` for sm_90 has ");
    let hint = format!("::warning file=src/lib.rs,line={},col=5,title=", line(&source, "// once"));
    ends_with(&with_lines, 1, &[(&annotation, 1), (&accesses, 1), (&hint, 1), ("\nerror", 0), ("\nwarning", 0)]);
}

#[test]
fn the_report_has_what_was_said() {
    let output = latch(&fixture("gate"), &["audit", "--hints", "llvm", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let findings = report[0]["findings"].as_array().expect("a list");
    let fields =
        ["level", "file", "kernel"].map(|field| [0, 1].map(|at| findings[at][field].as_str().unwrap_or("null")));
    assert_eq!(fields, [["warn", "deny"], ["src/lib.rs", "latch.toml"], ["null", "local_array"]]);
}

#[test]
fn a_file_that_cannot_be_read_is_one_error_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    fs::create_dir(folder.path().join("src")).expect("made");
    let manifest = fs::read_to_string(fixture("gate").join("Cargo.toml")).expect("the fixture is there");
    let library = checkout().join("device-std");
    let manifest = manifest.replace("../../../device-std", &library.to_string_lossy());
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("written");
    fs::copy(fixture("gate").join("src/lib.rs"), folder.path().join("src/lib.rs")).expect("copied");
    let config = folder.path().join("latch.toml");
    for command in ["audit", "build"] {
        fs::write(&config, "[hints]\nlevle = \"warn\"\n").expect("written");
        let output = latch(folder.path(), &[command, "--hints", "llvm"]);
        ends_with(&output, 2, &[("latch.toml:2:1: unknown field `levle`, expected one of `level`", 1), ("error: ", 1)]);
    }
    fs::write(&config, "[hints]\nlevel = \"warn\"\n\n[[kernel]]\nname = \"tap_*\"\n").expect("written");
    let output = latch(folder.path(), &["audit", "--hints", "llvm"]);
    let said = "latch.toml:5: no kernel matches `tap_*`; there are calls, local_array, taps\n";
    ends_with(&output, 2, &[(said, 1), ("error: ", 1)]);
}

#[test]
fn source_lines_change_nothing_and_lead_from_every_hint_to_its_loops() {
    let builder = builder(&checkout(), HintMode::Llvm, Profile::Release);
    let with_lines = builder.with(LINES);
    let kernels = kernel_crate(&builder, "nounroll");
    for arch in archs(&ARCHS) {
        let audit = |builder: &Builder| {
            audit_all(builder, &[Unit { kernels: &kernels, arch: &arch }]).expect("the kernels build").remove(0)
        };
        let (plain, lines) = (audit(&builder), audit(&with_lines));
        assert!(lines.code.as_ref().is_some_and(|code| code.has_lines));
        assert!(
            lines.entry.hints.iter().all(|hint| hint.status == Status::Honoured),
            "{arch}: {:#?}",
            lines.entry.hints
        );
        let loops = |audited: &Audited| {
            let figures = |kernel: &cargo_latch::audit::Kernel| kernel.sass.map(|sass| (sass.loops, sass.global_loads));
            audited.entry.kernels.iter().map(|kernel| (kernel.name.clone(), figures(kernel))).collect::<Vec<_>>()
        };
        assert_eq!(loops(&plain), loops(&lines), "{arch}");
    }
}

#[test]
fn a_loop_that_ptxas_has_unrolled_is_missed_at_its_hint() {
    let builder = builder(&fixture("gate"), HintMode::Llvm, Profile::Release).with(LINES);
    let kernels = kernel_crate(&builder, "gate");
    let config = LatchToml::default();
    let kept = line(&fixture("gate").join("src/lib.rs"), "// kept");
    for arch in archs(&ARCHS) {
        let mut built = builder.build(&kernels, &arch, None).expect("the kernels build");
        // ptxas is not asked to keep anything rolled, and so it unrolls.
        let without = built.text.lines().filter(|line| !line.contains(".pragma"));
        built.text = without.map(|line| format!("{line}\n")).collect();
        let audited = audit_of(&builder, &kernels, &arch, &built).expect("it can be audited");
        let found = gate::findings(&audited, &config, &config.hints.levels(None), &kernels.folder).expect("no budgets");
        let printer = Printer::plain(&fixture("gate"));
        let texts: Vec<String> = found.iter().filter_map(|found| printer.render(found)).collect();
        let text = texts.join("\n");
        assert!(
            text.contains("`#[nounroll]` was not honoured: ptxas left no loop of it in the machine code"),
            "{arch}: {text}"
        );
        assert!(text.contains(&format!("src/lib.rs:{kept}:5")), "{arch}: {text}");
    }
}

#[test]
fn a_hint_whose_marker_was_erased_is_missed() {
    let builder = builder(&fixture("gate"), HintMode::Llvm, Profile::Release).with(LINES);
    let kernels = kernel_crate(&builder, "gate");
    let config = LatchToml::default();
    let arch = archs(&["sm_90"]).remove(0);
    let mut built = builder.build(&kernels, &arch, None).expect("the kernels build");
    let kept = line(&fixture("gate").join("src/lib.rs"), "// kept");
    // As if a pass before the link stage had erased the markers of one loop.
    built.report.hints.retain(|record| record.site.line != kept);
    let audited = audit_of(&builder, &kernels, &arch, &built).expect("it can be audited");
    let found = gate::findings(&audited, &config, &config.hints.levels(None), &kernels.folder).expect("no budgets");
    assert!(gate::is_denied(&found));
    let lost = found.iter().find(|found| found.title.contains("its marker was lost")).expect("it is told");
    assert_eq!(lost.functions, ["taps"]);
}

#[test]
fn an_audit_fails_where_something_has_erased_the_markers() {
    let source = fixture("erased").join("src/lib.rs");
    let place = format!("--> src/lib.rs:{}:5", line(&source, "// erased"));
    for options in [&[][..], &["--lines"], &["--route", "nvvm", "--arch", "sm_100"]] {
        let output = latch(&fixture("erased"), &[&["audit", "--hints", "llvm"], options].concat());
        let told =
            "error: `#[nounroll]` was not honoured: its marker was lost: its loop is in the machine code, and nothing";
        let function = "in the function `taps`";
        ends_with(
            &output,
            1,
            &[("error: ", 1), (told, 1), (&place, 1), (function, 1), ("no kernel reaches the loop", 1)],
        );
    }
}

#[test]
fn changes_since_an_earlier_audit_are_printed_and_fail_nothing() {
    let audit = ["audit", "--hints", "llvm", "--level", "warn"];
    let folder = tempfile::tempdir().expect("a folder can be made");
    let old = folder.path().join("old.json");
    let against =
        |old: &Path| latch(&fixture("dropped"), &[&audit[..], &["--against", &old.to_string_lossy()]].concat());
    let report = latch(&fixture("dropped"), &[&audit[..], &["--json"]].concat());
    fs::write(&old, &report.stdout).expect("written");
    ends_with(&against(&old), 0, &[("dropped for sm_90, route llc, profile release: nothing has changed\n", 1)]);

    let mut report: serde_json::Value = serde_json::from_slice(&report.stdout).expect("JSON");
    report[0]["hints"][0]["status"] = "honoured".into();
    report[0]["hints"][0]["reason"] = serde_json::Value::Null;
    report[0]["kernels"][0]["registers"] = 200.into();
    fs::write(&old, report.to_string()).expect("written");
    let changed = against(&old);
    ends_with(
        &changed,
        0,
        &[("nounroll honoured -> nounroll DROPPED: the loop never repeats\n", 1), ("registers 200 -> ", 1)],
    );

    fs::write(&old, "[{\"benchmark\": 1}]").expect("written");
    ends_with(&against(&old), 2, &[("old.json is no report of `cargo latch audit --json`: ", 1), ("error: ", 1)]);
}

#[test]
fn one_hint_is_followed_from_its_line_to_its_addresses() {
    let source = fixture("gate").join("src/lib.rs");
    let kept = line(&source, "// kept");
    let follow = |kernel: &str, hints: &str| {
        let output = latch(&fixture("gate"), &["inspect", kernel, "--emit", "hints", "--hints", hints]);
        assert!(output.status.success(), "{}", shown(&output));
        String::from_utf8(output.stdout).expect("text")
    };
    let llvm = follow("taps", "llvm");
    let stages = [
        "taps for sm_90: 1 hint\n".to_owned(),
        format!("src/lib.rs:{kept}:5 #[nounroll]\n"),
        "source     for k in 0..4 { // kept\n".to_owned(),
        "MIR        not resolved on MIR; `--hints mir` does\n".to_owned(),
        format!("LLVM       taps: header loop{kept}, latch loop{kept}.latch, of 1 jump back\n"),
        "optimized  taps: header ".to_owned(),
        "PTX        taps: $L__BB".to_owned(),
        "SASS       taps: 0x".to_owned(),
        format!("written at src/lib.rs:{kept}\n"),
    ];
    stages.iter().for_each(|stage| assert!(llvm.contains(stage), "{stage}: {llvm}"));
    let mir = follow("calls", "mir");
    assert!(mir.contains("MIR        first: header bb"), "{mir}");
    assert!(mir.contains("gate::first::<true>: dropped: the loop never repeats\n"), "{mir}");
    assert!(mir.contains("SASS       gate::first::<false>: 0x"), "{mir}");
}
