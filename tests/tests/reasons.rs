//! The promise: a loop that does not become what its hint asks is told of with the one reason that is true of it, at
//! its line, in its function and instance; by both routes and in both modes alike.

use std::collections::BTreeMap;
use std::fs;

use cargo_latch::audit::Entry;
use cargo_latch::build::{BuildArgs, Builder, HintMode, Profile, Route, Wanted};
use cargo_latch::diagnose::reasons::sentence;
use cargo_latch::setup::Progress;
use hint_record::{HintKind, NoLoop, Reason, Status};
use latch_tests::{audits, builder, fixture, latch, shown};

/// The comment at each loop, the functions in which its hint is dropped, and why.
const LEFT: [(&str, &[&str], Option<Reason>); 11] = [
    ("run time", &["run_time"], Some(Reason::TripCount)),
    ("by data", &["by_data"], Some(Reason::TripCount)),
    ("convergent", &["convergent"], Some(Reason::Convergent)),
    ("two copies", &["convergent_by_two"], Some(Reason::Copies { made: 2, asked: 4 })),
    ("honoured", &[], None),
    ("too large", &["too_large"], Some(Reason::TooLarge)),
    ("once", &["once"], Some(Reason::NoLoop(NoLoop::NeverRepeats))),
    ("one instance", &["left::sum::<false>"], Some(Reason::TripCount)),
    ("merged", &["merged"], Some(Reason::Merged)),
    ("around", &[], None),
    ("rolled", &[], None),
];

fn source() -> String {
    fs::read_to_string(fixture("left").join("src/lib.rs")).expect("the fixture is there")
}

/// The number of the line that ends in a comment, and the line.
fn line<'a>(source: &'a str, comment: &str) -> (u32, &'a str) {
    let end = format!("{{ // {comment}");
    let mut numbered = (1..).zip(source.lines());
    numbered.find(|(_, line)| line.ends_with(&end)).unwrap_or_else(|| panic!("no line ends in {comment}"))
}

#[track_caller]
fn check(entry: &Entry) {
    let source = source();
    assert_eq!(entry.hints.len(), LEFT.len());
    for (comment, functions, why) in LEFT {
        let (number, _) = line(&source, comment);
        let hint = entry.hints.iter().find(|hint| hint.line == number).expect("every hint has a record");
        let dropped: Vec<&str> = hint
            .instances
            .iter()
            .filter(|instance| instance.status == Status::Dropped)
            .map(|instance| instance.function.as_str())
            .collect();
        let place = format!("{comment} for {} by {}, mode {}: {hint:?}", entry.arch, entry.route, entry.mode);
        assert_eq!(dropped, functions, "{place}");
        assert_eq!(hint.why.reason(), why, "{place}");
    }
}

#[test]
fn every_loop_that_stays_has_its_own_reason() {
    for hints in [HintMode::Llvm, HintMode::Mir] {
        audits(&builder(&fixture("left"), hints, Profile::Release), "left", &["sm_90", "sm_120a"])
            .iter()
            .for_each(check);
    }
}

#[test]
fn the_reason_is_the_same_by_libnvvm() {
    for hints in [HintMode::Llvm, HintMode::Mir] {
        let args = BuildArgs { hints, route: Route::Nvvm, ..BuildArgs::default() };
        let builder = Builder::new(&fixture("left"), &args, Wanted::default(), &Progress::silent())
            .expect("set-up has been done");
        audits(&builder, "left", &["sm_100"]).iter().for_each(check);
    }
}

/// The message that holds some words, up to the next one.
fn message<'a>(text: &'a str, words: &str) -> &'a str {
    let start = text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    let start = text[..start].rfind("error: ").unwrap_or_else(|| panic!("{words}: {text}"));
    let end = text[start + 7..].find("error: ").map_or(text.len(), |end| start + 7 + end);
    &text[start..end]
}

#[test]
fn the_message_has_place_source_function_instance_and_reason() {
    let source = source();
    let output = latch(&fixture("left"), &["audit", "--hints", "llvm"]);
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let dropped = LEFT.iter().filter(|(_, functions, _)| !functions.is_empty()).count();
    assert_eq!(text.matches("error: ").count(), dropped, "{text}");
    for (comment, functions, why) in
        LEFT.into_iter().filter_map(|(comment, functions, why)| Some((comment, functions, why?)))
    {
        let (number, line) = line(&source, comment);
        let told = message(&text, &format!("src/lib.rs:{number}:"));
        let title = told.lines().next().expect("a message has a title");
        let kind = if comment == "merged" { HintKind::Nounroll } else { HintKind::Unroll };
        assert_eq!(title, format!("error: `#[{kind}]` was not honoured: {}", sentence(why)), "{told}");
        assert!(told.contains(line.trim()), "{told}");
        assert!(told.contains(&format!("in the function `{}`", functions[0])), "{told}");
        assert!(told.contains("= help: "), "{told}");
    }
}

#[test]
fn an_unoptimized_build_unrolls_nothing_and_is_no_error() {
    let entry = audits(&builder(&fixture("left"), HintMode::Llvm, Profile::Dev), "left", &["sm_90"]).remove(0);
    let mut reasons: BTreeMap<Reason, usize> = BTreeMap::new();
    entry.hints.iter().filter_map(|hint| hint.why.reason()).for_each(|why| *reasons.entry(why).or_default() += 1);
    let expected = [(Reason::NoLoop(NoLoop::NeverRepeats), 1), (Reason::Unoptimized, 7)];
    assert_eq!(reasons, BTreeMap::from(expected), "rolled loops stay");
    let plain = latch(&latch_tests::checkout(), &["audit", "--hints", "llvm", "-p", "unroll", "--profile", "dev"]);
    assert_eq!(plain.status.code(), Some(0), "{}", shown(&plain));
    assert!(!shown(&plain).contains("error: "), "{}", shown(&plain));
}
