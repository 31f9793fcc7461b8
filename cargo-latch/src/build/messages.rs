//! What cargo and rustc say during a build: shown as it comes, and remembered where it is about loop hints.
//!
//! The plugin reports a hint that it must drop as an ordinary rustc diagnostic. A build that fails for nothing else has an
//! answer, "no", and is no failure of the tools; and what was told once at the loop need not be told again at link.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use cargo_metadata::{Artifact, Message};
use codegen_pass::MirLoop;

use crate::diagnose::text::has_colours;

/// By these words the plugin's messages on dropped hints are known.
const NOT_HONOURED: &str = "]` was not honoured: ";

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
    /// The message's first line.
    pub title: String,
    /// The file, as rustc named it.
    pub file: PathBuf,
    /// The loop's line.
    pub line: u32,
    /// The loop's column.
    pub column: u32,
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
        let mut heard = Heard::default();
        for message in Message::parse_stream(cargo) {
            match message.context("cannot read what cargo says")? {
                Message::CompilerArtifact(artifact) => heard.artifacts.push(artifact),
                Message::CompilerMessage(message) => heard.hear(message.message),
                _ => {}
            }
        }
        Ok(heard)
    }

    fn hear(&mut self, message: Diagnostic) {
        if let Ok(found) = message.message.parse() {
            self.loops.push(found);
            return;
        }
        if is_summary(&message) {
            return;
        }
        let is_error = matches!(message.level, DiagnosticLevel::Error | DiagnosticLevel::Ice);
        match told(&message, is_error) {
            Some(told) => self.told.push(told),
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

fn told(message: &Diagnostic, is_error: bool) -> Option<Told> {
    let is_about_hint = message.message.starts_with("`#[") && message.message.contains(NOT_HONOURED);
    let place = message.spans.iter().find(|span| span.is_primary).filter(|_| is_about_hint)?;
    Some(Told {
        title: message.message.clone(),
        file: PathBuf::from(&place.file_name),
        line: u32::try_from(place.line_start).ok()?,
        column: u32::try_from(place.column_start).ok()?,
        is_error,
    })
}

/// rustc's counts of its own messages; cargo says the same in its own words.
fn is_summary(message: &Diagnostic) -> bool {
    let text = &message.message;
    message.spans.is_empty()
        && (text.starts_with("aborting due to ")
            || text.ends_with(" warning emitted")
            || text.ends_with(" warnings emitted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of cargo's about a message of rustc's.
    fn line(level: &str, text: &str, span: &str) -> String {
        format!(
            "{{\"reason\":\"compiler-message\",\"package_id\":\"a\",\"target\":{{\"kind\":[\"lib\"],\"name\":\"a\",\
             \"src_path\":\"a\",\"crate_types\":[\"lib\"]}},\"message\":{{\"message\":\"{text}\",\"code\":null,\"level\":\
             \"{level}\",\"spans\":[{span}],\"children\":[],\"rendered\":null}}}}\n"
        )
    }

    const SPAN: &str = "{\"file_name\":\"src/lib.rs\",\"byte_start\":0,\"byte_end\":1,\"line_start\":3,\"line_end\":3,\
                        \"column_start\":5,\"column_end\":9,\"is_primary\":true,\"text\":[],\"label\":null,\
                        \"suggested_replacement\":null,\"suggestion_applicability\":null,\"expansion\":null}";
    const HINT: &str = "`#[nounroll]` was not honoured: the loop never repeats";

    #[test]
    fn a_build_that_only_hints_have_failed_is_known() {
        let said = line("error", HINT, SPAN) + &line("error", "aborting due to 1 previous error", "");
        let heard = Heard::listen(said.as_bytes()).expect("it is read");
        assert!(heard.only_hints_failed());
        let told = Told { title: HINT.into(), file: "src/lib.rs".into(), line: 3, column: 5, is_error: true };
        assert_eq!(heard.told, [told]);
        let more = said + &line("error", "cannot find value `x` in this scope", SPAN);
        assert!(!Heard::listen(more.as_bytes()).expect("it is read").only_hints_failed());
    }

    #[test]
    fn a_warning_fails_nothing() {
        let heard = Heard::listen(line("warning", HINT, SPAN).as_bytes()).expect("it is read");
        assert!(!heard.only_hints_failed() && !heard.has_other_errors && heard.told.len() == 1);
    }

    #[test]
    fn loops_on_mir_are_taken_out() {
        let note = "loop hint nounroll|a|src/lib.rs|3|5 in a::f: header bb1; back from bb2; latch bb2";
        let heard = Heard::listen(line("note", note, SPAN).as_bytes()).expect("it is read");
        assert_eq!(heard.loops, [note.parse().expect("a loop")]);
    }
}
