//! What cargo and rustc say during a build: shown as it comes, and remembered where it is about loop hints.
//!
//! The plugin reports a hint that it must drop as an ordinary rustc diagnostic, with a [`Note`] as its code. A build that
//! fails for nothing else has an answer, "no", and is no failure of the tools; and what was told once at the loop need not
//! be told again at link.

use std::io::{BufRead, Write};

use anyhow::{Context, Result};
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use cargo_metadata::{Artifact, Message};
use hint_record::{MirLoop, NoLoop, Note, Site};

use super::summaries::Summaries;
use crate::diagnose::text::has_colours;

/// What was said.
#[derive(Debug, Default)]
pub struct Heard {
    /// What was built.
    pub artifacts: Vec<Artifact>,
    /// Hints that the plugin reported.
    pub told: Vec<Told>,
    /// Hinted loops on MIR, where they were asked for.
    pub loops: Vec<MirLoop>,
    /// Was there an error about anything but hints?
    pub has_other_errors: bool,
}

/// A hint that the plugin reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The hint's place.
    pub site: Site,
    /// Why it was dropped.
    pub reason: NoLoop,
    /// Was it an error?
    pub is_error: bool,
}

/// The format to ask cargo for: coloured where a terminal shows it.
pub fn format() -> &'static str {
    if has_colours() { "json-diagnostic-rendered-ansi" } else { "json" }
}

impl Heard {
    /// Listens until cargo has said everything.
    pub fn listen(cargo: impl BufRead) -> Result<Heard> {
        let (mut heard, mut summaries) = (Heard::default(), Summaries::default());
        for message in Message::parse_stream(cargo) {
            match message.context("cannot read what cargo says")? {
                Message::CompilerArtifact(artifact) => heard.artifacts.push(artifact),
                Message::CompilerMessage(message) => {
                    summaries.sift(message).into_iter().for_each(|message| heard.hear(message));
                }
                _ => {}
            }
        }
        Ok(heard)
    }

    fn hear(&mut self, message: Diagnostic) {
        let is_error = matches!(message.level, DiagnosticLevel::Error | DiagnosticLevel::Ice);
        match message.code.as_ref().and_then(|code| code.code.parse().ok()) {
            Some(Note::Loop(found)) => {
                self.loops.push(found);
                return;
            }
            Some(Note::Dropped { site, reason }) => self.told.push(Told { site, reason, is_error }),
            None => self.has_other_errors |= is_error,
        }
        if let Some(text) = &message.rendered {
            // Nobody reads it where standard error is closed.
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        }
    }

    /// Did the plugin report a hint as an error, and nothing else go wrong?
    pub fn only_hints_failed(&self) -> bool {
        !self.has_other_errors && self.told.iter().any(|told| told.is_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A line of cargo's about a message of rustc's.
    fn line(level: &str, text: &str, code: Option<&Note>, has_place: bool) -> String {
        let span = json!({"file_name": "src/lib.rs", "byte_start": 0, "byte_end": 1, "line_start": 3, "line_end": 3,
            "column_start": 5, "column_end": 9, "is_primary": true, "text": [], "label": null,
            "suggested_replacement": null, "suggestion_applicability": null, "expansion": null});
        let code = code.map(|note| json!({"code": note.to_string(), "explanation": null}));
        let spans: Vec<Value> = has_place.then_some(span).into_iter().collect();
        let target = json!({"kind": ["lib"], "name": "a", "src_path": "a", "crate_types": ["lib"]});
        let message = json!({"message": text, "code": code, "level": level, "spans": spans, "children": [],
            "rendered": null});
        let line = json!({"reason": "compiler-message", "package_id": "a", "target": target, "message": message});
        format!("{line}\n")
    }

    fn dropped() -> Note {
        let site = "nounroll|a|src/lib.rs|3|5".parse().expect("a site");
        Note::Dropped { site, reason: NoLoop::NeverRepeats }
    }

    fn heard(lines: &[String]) -> Heard {
        Heard::listen(lines.concat().as_bytes()).expect("it is read")
    }

    #[test]
    fn a_build_that_only_hints_have_failed_is_known_whatever_the_words() {
        for words in ["`#[nounroll]` was not honoured: the loop never repeats", "the moon is full"] {
            let mut said = vec![line("error", words, Some(&dropped()), true), line("error", "1 error", None, false)];
            let Note::Dropped { site, reason } = dropped() else { panic!("a dropped hint") };
            assert!(heard(&said).only_hints_failed());
            assert_eq!(heard(&said).told, [Told { site, reason, is_error: true }]);
            said.insert(1, line("error", "cannot find value `x` in this scope", None, true));
            assert!(!heard(&said).only_hints_failed());
        }
    }

    #[test]
    fn words_alone_are_no_report_of_a_hint() {
        let words = "`#[nounroll]` was not honoured: the loop never repeats";
        let heard = heard(&[line("error", words, None, true)]);
        assert!(heard.told.is_empty() && heard.has_other_errors);
    }

    #[test]
    fn only_the_last_bare_message_is_a_count_and_only_after_others() {
        let (hint, bare) = (line("error", "a hint", Some(&dropped()), true), line("error", "bare", None, false));
        assert!(heard(&[hint.clone(), bare.clone()]).only_hints_failed());
        assert!(!heard(&[hint.clone(), bare.clone(), bare.clone()]).only_hints_failed());
        assert!(!heard(&[bare.clone(), hint]).only_hints_failed());
        assert!(heard(&[bare]).has_other_errors);
    }

    #[test]
    fn a_warning_fails_nothing() {
        let heard = heard(&[line("warning", "a hint", Some(&dropped()), true)]);
        assert!(!heard.only_hints_failed() && !heard.has_other_errors && heard.told.len() == 1);
    }

    #[test]
    fn loops_on_mir_are_taken_out() {
        let site = "nounroll|a|src/lib.rs|3|5".parse().expect("a site");
        let found = MirLoop { site, function: "a::f".to_owned(), header: 1, back_edges: vec![2], latch: 2 };
        let heard = heard(&[line("note", "a hinted loop", Some(&Note::Loop(found.clone())), true)]);
        assert_eq!(heard.loops, [found]);
    }
}
