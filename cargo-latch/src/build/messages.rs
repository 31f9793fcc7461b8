//! What cargo and rustc say during a build: shown as it comes, and remembered where it is for the command.
//!
//! The plugin speaks to the command by a [`Note`] as a diagnostic's code. Of what it speaks, hinted loops on MIR are
//! taken out here. Of hints that it must drop it does not speak: the link stage finds the same and more, and the gate
//! tells it all in one place.
//!
//! One run of cargo builds for several GPUs, and the compiler says the same for each: it is shown once.

use std::collections::HashSet;
use std::io::{BufRead, Write};

use anyhow::{Context, Result};
use cargo_metadata::diagnostic::Diagnostic;
use cargo_metadata::{Artifact, Message};
use hint_record::{MirLoop, Note};

use super::summaries::Summaries;
use crate::diagnose::text::has_colours;

/// What was said.
#[derive(Debug, Default)]
pub struct Heard {
    /// What was built.
    pub artifacts: Vec<Artifact>,
    /// Hinted loops on MIR, where they were asked for.
    pub loops: Vec<MirLoop>,
    shown: HashSet<String>,
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
        if let Some(Ok(Note::Loop(found))) = message.code.as_ref().map(|code| code.code.parse()) {
            self.loops.push(found);
            return;
        }
        let Some(text) = message.rendered else { return };
        if self.shown.insert(text.clone()) {
            // Nobody reads it where standard error is closed.
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        }
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
            "rendered": text});
        let line = json!({"reason": "compiler-message", "package_id": "a", "target": target, "message": message});
        format!("{line}\n")
    }

    fn heard(lines: &[String]) -> Heard {
        Heard::listen(lines.concat().as_bytes()).expect("it is read")
    }

    fn shown(lines: &[String]) -> Vec<String> {
        let mut shown: Vec<String> = heard(lines).shown.into_iter().collect();
        shown.sort();
        shown
    }

    #[test]
    fn only_the_last_bare_message_is_a_count_and_only_after_others() {
        let (error, bare) = (line("error", "an error", None, true), line("error", "bare", None, false));
        let other = line("error", "other", None, false);
        assert_eq!(shown(&[error.clone(), bare.clone()]), ["an error"]);
        assert_eq!(shown(&[error.clone(), bare.clone(), other]), ["an error", "bare"]);
        assert_eq!(shown(&[bare.clone(), error]), ["an error", "bare"]);
        assert_eq!(shown(&[bare]), ["bare"]);
    }

    #[test]
    fn what_the_compiler_says_for_every_gpu_is_shown_once() {
        let warning = line("warning", "a warning", None, true);
        assert_eq!(shown(&[warning.clone(), warning]), ["a warning"]);
    }

    #[test]
    fn loops_on_mir_are_taken_out() {
        let site = "nounroll|a|src/lib.rs|3|5".parse().expect("a site");
        let found = MirLoop { site, function: "a::f".to_owned(), header: 1, back_edges: vec![2], latch: 2 };
        let heard = heard(&[line("note", "a hinted loop", Some(&Note::Loop(found.clone())), true)]);
        assert_eq!(heard.loops, [found]);
        assert!(heard.shown.is_empty());
    }
}
