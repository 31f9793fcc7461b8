//! What ptxas and nvdisasm say, taken apart.
//!
//! A message is one line in one of two forms, the second where a place in the input is known:
//!
//! ```text
//! ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized due to …
//! ptxas kernel.ptx, line 7; error   : Not a name of any known instruction: 'bogus'
//! ```
//!
//! A line in neither form is no message: ptxas writes its resource figures in indented lines, for one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably not what was wanted; there is an output all the same.
    Warning,
    /// No output, but the tool looked for more errors.
    Error,
    /// No output, and the tool stopped here.
    Fatal,
}

const SEVERITIES: [(&str, Severity); 4] =
    [("info", Severity::Info), ("warning", Severity::Warning), ("error", Severity::Error), ("fatal", Severity::Fatal)];

/// One message of a tool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Message {
    /// How bad it is.
    pub severity: Severity,
    /// The tool's own number for it, such as `C7514`.
    pub code: Option<String>,
    /// The line of the input, counted from 1.
    pub line: Option<u32>,
    /// The text of that line, without the space around it.
    pub line_text: Option<String>,
    /// The message itself.
    pub text: String,
}

impl Message {
    /// Takes one line of the output of `tool` apart.
    pub(crate) fn parse(tool: &str, line: &str) -> Option<Message> {
        let rest = line.strip_prefix(tool)?.strip_prefix(' ')?;
        if let Some((severity, text)) = severity_and_text(rest) {
            return Some(Message::new(severity, None, text));
        }
        let (place, severity, text) = rest.match_indices("; ").find_map(|(at, mark)| {
            let (severity, text) = severity_and_text(&rest[at + mark.len()..])?;
            Some((&rest[..at], severity, text))
        })?;
        let (_, number) = place.rsplit_once(", line ")?;
        Some(Message::new(severity, number.trim().parse().ok(), text))
    }

    fn new(severity: Severity, line: Option<u32>, text: &str) -> Message {
        let (code, text) = split_code(text);
        Message { severity, code: code.map(str::to_owned), line, line_text: None, text: text.to_owned() }
    }

    /// Should the user see it? Warnings, and what ptxas calls information but is a loss of speed.
    pub fn is_warning(&self) -> bool {
        self.severity >= Severity::Warning || self.text.contains("Potential Performance Loss")
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.text)?;
        if let Some(text) = &self.line_text {
            write!(f, " (`{text}`)")?;
        }
        Ok(())
    }
}

/// Takes `warning : text` apart.
fn severity_and_text(text: &str) -> Option<(Severity, &str)> {
    SEVERITIES.iter().find_map(|&(word, severity)| {
        let text = text.strip_prefix(word)?.trim_start().strip_prefix(':')?;
        Some((severity, text.trim()))
    })
}

/// Takes `(C7514) text` apart.
fn split_code(text: &str) -> (Option<&str>, &str) {
    let code = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match code {
        Some((code, rest)) if code.starts_with('C') && code[1..].bytes().all(|b| b.is_ascii_digit()) => {
            (Some(code), rest.trim_start())
        }
        _ => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Message {
        Message::parse("ptxas", line).expect("a message")
    }

    #[test]
    fn a_message_without_a_place() {
        let message = parse("ptxas fatal   : Value 'sm_99' is not defined for option 'gpu-name'");
        assert_eq!((message.severity, message.line), (Severity::Fatal, None));
        assert_eq!(message.text, "Value 'sm_99' is not defined for option 'gpu-name'");
    }

    #[test]
    fn a_message_with_a_place_even_in_a_file_with_an_odd_name() {
        let message = parse("ptxas my; odd, line 3.ptx, line 17; error   : Unknown symbol '%r9'");
        assert_eq!((message.severity, message.line), (Severity::Error, Some(17)));
        assert_eq!(message.text, "Unknown symbol '%r9'");
    }

    #[test]
    fn a_loss_of_speed_is_a_warning_with_its_code() {
        let message = parse("ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async is serialized");
        assert_eq!(message.code.as_deref(), Some("C7514"));
        assert!(message.is_warning());
        assert!(!parse("ptxas info    : (C7517) wgmma.wait_group is injected").is_warning());
    }

    #[test]
    fn figures_are_no_message() {
        assert_eq!(Message::parse("ptxas", "    0 bytes stack frame, 0 bytes spill stores"), None);
        assert_eq!(Message::parse("ptxas", ""), None);
    }
}
