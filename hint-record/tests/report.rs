//! The promise: what is written is read back, whatever its sentences are, and what another version wrote is refused as
//! that.

use hint_record::{
    HintRecord, KernelRecord, LeftLoop, LinkReport, LoopRecord, NoLoop, PtxLoop, Reason, ReasonKind, Request, Status,
    VERSION, text,
};
use std::collections::BTreeSet;

fn record(reason: Option<Reason>) -> HintRecord {
    HintRecord {
        site: "unroll|my-kernels|src/lib.rs|12|5".parse().expect("a site"),
        request: Request::Copies(4),
        function: "my_kernels::sum".to_owned(),
        symbol: "_sum".to_owned(),
        loops: vec![LoopRecord { header: "head".to_owned(), back_edges: 2, latch: "head.latch".to_owned() }],
        status: if reason.is_some() { Status::Dropped } else { Status::Honoured },
        reason,
        left: vec![LeftLoop { symbol: "_sum".to_owned(), header: "head".to_owned() }],
        ptx: Some(vec![PtxLoop { symbol: "k".to_owned(), label: "$L__BB0_1".to_owned() }]),
    }
}

fn report() -> LinkReport {
    let reasons = Reason::samples().into_iter().map(Some).chain([None]);
    let kernel = KernelRecord { name: "k".to_owned(), marked_latches: 1, pragmas: 0 };
    LinkReport { hints: reasons.map(record).collect(), kernels: vec![kernel] }
}

fn json() -> String {
    serde_json::to_string(&report()).expect("a report is plain data")
}

#[test]
fn what_is_written_is_read() {
    assert_eq!(serde_json::from_str::<LinkReport>(&json()).expect("a report"), report());
}

/// Sentences are no part of what is written, so a reworded one can change no reason and no kind.
#[test]
fn no_sentence_is_part_of_it() {
    let json = json();
    for reason in NoLoop::ALL {
        assert!(!json.contains(text::no_loop(reason)) && !json.contains(text::no_loop_help(reason)), "{reason}");
    }
    let blanks = json.matches(' ').count();
    assert_eq!(blanks, 0, "no text of several words: {json}");
    let read: LinkReport = serde_json::from_str(&json).expect("a report");
    let kinds: BTreeSet<ReasonKind> = read.hints.iter().filter_map(|hint| Some(hint.reason?.kind())).collect();
    assert_eq!(kinds, BTreeSet::from(ReasonKind::ALL));
}

#[test]
fn names_in_json_are_the_names_elsewhere() {
    let value = |value: &dyn Fn() -> serde_json::Value| value().as_str().expect("a text").to_owned();
    for kind in ReasonKind::ALL {
        assert_eq!(value(&|| serde_json::json!(kind)), kind.name());
    }
    let statuses = Status::ALL.map(|status| value(&|| serde_json::json!(status)));
    assert_eq!(statuses, ["honoured", "dropped", "not_compiled", "unverified"]);
    assert_eq!(
        serde_json::json!(Reason::Copies { made: 2, asked: 4 }).to_string(),
        r#"{"copies":{"asked":4,"made":2}}"#
    );
    assert_eq!(serde_json::json!(Reason::NoLoop(NoLoop::NoEnter)).to_string(), r#"{"no-loop":"no-enter"}"#);
}

#[track_caller]
fn refused(json: &str, why: &str) {
    let error = serde_json::from_str::<LinkReport>(json).expect_err(json).to_string();
    assert!(error.starts_with(why), "{error}");
}

#[test]
fn a_report_of_another_version_is_refused_as_that() {
    let other = json().replacen(&format!("\"version\":{VERSION}"), "\"version\":99", 1);
    refused(&other, &format!("it has version 99 of the format, and version {VERSION} is expected"));
    refused("{\"version\":99,\"what\":[]}", "it has version 99 of the format");
    let none = format!("it has no version, and version {VERSION} of the format is expected");
    refused("{\"hints\":[{\"site\":3}]}", &none);
    refused("{}", "it has no version");
    refused("[]", "invalid type: sequence, expected a report of hints and kernels");
    refused(&format!("{{\"version\":{VERSION},\"hints\":[]}}"), "missing field `kernels`");
}
