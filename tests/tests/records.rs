//! The promise: every hint in the source has a record, with a reason where it was not kept, and both modes say the
//! same.

use std::collections::BTreeMap;

use cargo_latch::audit::{Entry, Hint};
use cargo_latch::build::{HintMode, Profile};
use hint_record::{NoLoop, Reason, Request, Status};
use latch_tests::{audits, builder, checkout, fixture, latch, shown};

/// The hints of the crate of hopeless ones: the comment at the loop, and what the record must say.
const DROPPED: [(&str, Status, Option<Reason>); 7] = [
    ("outside", Status::Dropped, Some(Reason::NoLoop(NoLoop::NeverRepeats))),
    ("never repeats", Status::Dropped, Some(Reason::NoLoop(NoLoop::NeverRepeats))),
    ("dead", Status::NotCompiled, Some(Reason::Unused)),
    ("after return", Status::NotCompiled, Some(Reason::Unused)),
    ("deleted", Status::Dropped, Some(Reason::Deleted)),
    ("unused", Status::NotCompiled, Some(Reason::Unused)),
    ("kept", Status::Honoured, None),
];

/// The lines that end in the comments of [`DROPPED`].
fn lines() -> BTreeMap<String, u32> {
    let source = std::fs::read_to_string(fixture("dropped").join("src/lib.rs")).expect("the fixture is there");
    let commented = source.lines().zip(1..).filter_map(|(line, number)| {
        let (_, comment) = line.split_once("{ // ")?;
        Some((comment.to_owned(), number))
    });
    commented.collect()
}

#[test]
fn every_hopeless_hint_has_its_record_and_its_reason() {
    let lines = lines();
    for hints in [HintMode::Llvm, HintMode::Mir] {
        let entry = audits(&builder(&fixture("dropped"), hints, Profile::Release), "dropped", &["sm_90"]).remove(0);
        assert_eq!(entry.hints.len(), DROPPED.len());
        for (comment, status, reason) in DROPPED {
            let line = lines[comment];
            let hint = entry.hints.iter().find(|hint| hint.line == line);
            let hint = hint.unwrap_or_else(|| panic!("{comment} has a record"));
            assert_eq!(hint.status, status, "{comment}");
            assert_eq!(hint.why.reason(), reason, "{comment}");
        }
    }
}

#[test]
fn a_hint_never_slips_to_the_loop_around_it() {
    let entry =
        audits(&builder(&fixture("dropped"), HintMode::Llvm, Profile::Release), "dropped", &["sm_90"]).remove(0);
    let kernel = entry.kernels.iter().find(|kernel| kernel.name == "never_repeats").expect("the kernel is there");
    assert_eq!(kernel.marked_latches, 0);
}

#[test]
fn the_audit_fails_where_a_hint_was_dropped_and_only_there() {
    let dropped = latch(&fixture("dropped"), &["audit", "--hints", "llvm"]);
    assert_eq!(dropped.status.code(), Some(1), "{}", shown(&dropped));
    assert!(shown(&dropped).contains("DROPPED"), "{}", shown(&dropped));
    let clean = latch(&checkout(), &["audit", "--hints", "llvm", "-p", "nounroll"]);
    assert_eq!(clean.status.code(), Some(0), "{}", shown(&clean));
}

/// A record's status, reason and request.
type Said = (Status, Option<Reason>, Option<Request>);

/// What a record says, whichever function rustc has put the loop in.
fn by_site(entry: &Entry) -> BTreeMap<(String, u32), Said> {
    let value = |hint: &Hint| (hint.status, hint.why.reason(), hint.request);
    entry.hints.iter().map(|hint| ((hint.file.clone(), hint.line), value(hint))).collect()
}

#[test]
fn both_modes_have_equal_records() {
    let crates =
        [(checkout(), "nounroll"), (checkout(), "unroll"), (fixture("dropped"), "dropped"), (fixture("left"), "left")];
    for (folder, package) in crates {
        for profile in [Profile::Release, Profile::Dev] {
            let [llvm, mir] = [HintMode::Llvm, HintMode::Mir]
                .map(|hints| audits(&builder(&folder, hints, profile), package, &["sm_90"]).remove(0));
            assert_eq!(by_site(&llvm), by_site(&mir), "{package}, {profile}");
            // By name: the linker's order of kernels follows the objects, which is the compiler's business.
            let marked = |entry: &Entry| -> BTreeMap<String, usize> {
                entry.kernels.iter().map(|kernel| (kernel.name.clone(), kernel.marked_latches)).collect()
            };
            assert_eq!(marked(&llvm), marked(&mir), "{package}, {profile}");
        }
    }
}

#[test]
fn the_json_report_has_every_field_that_its_readers_rely_on() {
    let output =
        latch(&checkout(), &["audit", "--hints", "llvm", "-p", "nounroll", "--arch", "sm_80,sm_120a", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let archs: Vec<_> = report.as_array().expect("an array").iter().map(|entry| entry["arch"].clone()).collect();
    assert_eq!(archs, ["sm_80", "sm_120a"], "in the order asked");
    let keys = |value: &serde_json::Value| {
        let mut keys: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
        keys.sort();
        keys.join(" ")
    };
    let entry = &report[0];
    assert_eq!(keys(entry), "arch hints kernels mode package profile route");
    assert_eq!(
        (&entry["route"], &entry["mode"], &entry["profile"]),
        (&"llc".into(), &"llvm".into(), &"release".into())
    );
    assert_eq!(keys(&entry["hints"][0]), "factor file instances kind line reason reason_kind status");
    assert_eq!(keys(&entry["hints"][0]["instances"][0]), "function loops_after_opt reason reason_kind status");
    let kernel = &entry["kernels"][0];
    assert_eq!(keys(kernel), "marked_latches name pragmas registers sass shared_bytes spill_bytes stack_bytes");
    let sass = "calls global_loads global_stores helper_calls instructions local_loads local_stores loops";
    assert_eq!(keys(&kernel["sass"]), sass);
}
