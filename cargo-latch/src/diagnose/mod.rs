//! Messages about kernels, in the words and the shape of rustc's own.
//!
//! A [`Diagnostic`] says what is wrong, where, in which functions and architectures, and what to do. [`text`] renders
//! it for people, [`github`] as an annotation. Both read the source files at that moment: one that has changed since,
//! or is gone, is shown without its text.

pub mod github;
pub mod reasons;
pub mod text;

use std::ops::Range;
use std::path::{Path, PathBuf};

use hint_record::{Level, Reason, text as words};

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is made of it. One at level allow is not shown.
    pub level: Level,
    /// The first line.
    pub title: String,
    /// Where it is about, the main place first.
    pub places: Vec<Place>,
    /// The functions of the linked module that it is about, generic arguments included.
    pub functions: Vec<String>,
    /// The architectures that it is about, where it was looked at on several.
    pub archs: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
    /// The kernel, where it is about one.
    pub kernel: Option<String>,
    /// Why the hint was not honoured, where it is about one.
    pub reason: Option<Reason>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// Where in it.
    pub at: At,
    /// What is said right there.
    pub label: Option<String>,
}

/// Where in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// The word that starts at a line and column, from 1, in characters.
    Word(u32, u32),
    /// A line, from 1.
    Line(u32),
    /// Bytes.
    Bytes(Range<usize>),
}

impl Diagnostic {
    /// A message without place.
    pub fn new(level: Level, title: impl Into<String>) -> Diagnostic {
        Diagnostic {
            level,
            title: title.into(),
            places: Vec::new(),
            functions: Vec::new(),
            archs: Vec::new(),
            notes: Vec::new(),
            help: None,
            kernel: None,
            reason: None,
        }
    }

    /// What stands below the title: what it is about, and what else there is to know.
    pub fn all_notes(&self) -> Vec<String> {
        let functions = match &self.functions[..] {
            [] => None,
            [one] => Some(words::in_function(one)),
            several => Some(format!("in {} functions: {}", several.len(), listed(several))),
        };
        let archs = (!self.archs.is_empty()).then(|| format!("for {}", self.archs.join(", ")));
        functions.into_iter().chain(archs).chain(self.notes.iter().cloned()).collect()
    }
}

/// Puts together what was found on several architectures: equal messages become one, which names them all. An
/// architecture is named only where there are several.
pub fn merge(found: Vec<(String, Vec<Diagnostic>)>) -> Vec<Diagnostic> {
    let are_several = found.len() > 1;
    let mut merged: Vec<Diagnostic> = Vec::new();
    for (arch, diagnostics) in found {
        for mut diagnostic in diagnostics {
            if are_several {
                diagnostic.archs = vec![arch.clone()];
            }
            let is_same = |other: &&mut Diagnostic| {
                (other.level, &other.title, &other.places) == (diagnostic.level, &diagnostic.title, &diagnostic.places)
            };
            match merged.iter_mut().find(is_same) {
                Some(other) => {
                    add_new(&mut other.functions, diagnostic.functions);
                    add_new(&mut other.archs, diagnostic.archs);
                    add_new(&mut other.notes, diagnostic.notes);
                }
                None => merged.push(diagnostic),
            }
        }
    }
    merged
}

fn add_new(list: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        if !list.contains(&text) {
            list.push(text);
        }
    }
}

/// How many names a message lists before it only counts.
const MOST_LISTED: usize = 8;

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_LISTED).map(|name| format!("`{name}`")).collect();
    let rest = names.len().saturating_sub(MOST_LISTED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

impl Place {
    /// The word at a line and column.
    pub fn word(file: PathBuf, line: u32, column: u32) -> Place {
        Place { file, at: At::Word(line, column), label: None }
    }

    /// A whole line.
    pub fn line(file: PathBuf, line: u32) -> Place {
        Place { file, at: At::Line(line), label: None }
    }

    /// With something said right there.
    pub fn labelled(self, label: impl Into<String>) -> Place {
        Place { label: Some(label.into()), ..self }
    }

    /// Line and column, from 1; no column where only the line is known.
    pub fn line_and_column(&self, text: Option<&str>) -> (u32, Option<u32>) {
        match &self.at {
            At::Word(line, column) => (*line, Some(*column)),
            At::Line(line) => (*line, None),
            At::Bytes(bytes) => {
                let before = text.and_then(|text| text.get(..bytes.start)).unwrap_or_default();
                let in_line = before.rsplit('\n').next().unwrap_or_default();
                (before.matches('\n').count() as u32 + 1, Some(in_line.chars().count() as u32 + 1))
            }
        }
    }

    /// The bytes of the file's text that it is. None where the text has no such place.
    fn bytes(&self, text: &str) -> Option<Range<usize>> {
        match &self.at {
            At::Word(line, column) => {
                let range = line_range(text, *line)?;
                let in_line = &text[range.clone()];
                let (start, _) = in_line.char_indices().nth(*column as usize - 1)?;
                let length =
                    in_line[start..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(in_line.len() - start);
                Some(range.start + start..range.start + start + length.max(1))
            }
            At::Line(line) => {
                let range = line_range(text, *line)?;
                let in_line = &text[range.clone()];
                let start = range.start + (in_line.len() - in_line.trim_start().len());
                let end = start + in_line.trim().len();
                (end > start).then_some(start..end)
            }
            At::Bytes(bytes) => text.get(bytes.clone()).map(|_| bytes.clone()),
        }
    }
}

fn line_range(text: &str, line: u32) -> Option<Range<usize>> {
    let mut start = 0;
    for (number, content) in (1..).zip(text.split_inclusive('\n')) {
        if number == line {
            return Some(start..start + content.trim_end_matches(['\n', '\r']).len());
        }
        start += content.len();
    }
    None
}

/// A path as messages show it: from a folder, where it lies in it.
pub fn shown(path: &Path, root: &Path) -> String {
    let within = pathdiff::diff_paths(path, root).filter(|relative| !relative.starts_with(".."));
    within.unwrap_or_else(|| path.to_owned()).to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_bytes() {
        let text = "fn f() {\n    'ä: for i in 0..n { x }\r\n\n    while\n";
        let found = |at| Place { file: PathBuf::new(), at, label: None }.bytes(text).map(|bytes| &text[bytes]);
        assert_eq!(found(At::Word(2, 9)), Some("for"));
        assert_eq!(found(At::Word(4, 5)), Some("while"));
        assert_eq!(found(At::Line(2)), Some("'ä: for i in 0..n { x }"));
        assert_eq!(found(At::Line(3)), None, "an empty line has nothing to show");
        assert_eq!(found(At::Word(2, 90)), None);
        assert_eq!(found(At::Word(9, 1)), None);
        assert_eq!(found(At::Bytes(0..2)), Some("fn"));
        assert_eq!(found(At::Bytes(0..2000)), None);
        let place = Place { file: PathBuf::new(), at: At::Bytes(text.find("for").expect("a for")..20), label: None };
        assert_eq!(place.line_and_column(Some(text)), (2, Some(9)));
    }

    #[test]
    fn equal_messages_of_several_architectures_become_one() {
        let one =
            |function: &str| Diagnostic { functions: vec![function.to_owned()], ..Diagnostic::new(Level::Deny, "t") };
        let other = Diagnostic::new(Level::Warn, "t");
        let found =
            vec![("sm_80".to_owned(), vec![one("f"), other.clone()]), ("sm_90".to_owned(), vec![one("g"), one("f")])];
        let merged = merge(found);
        assert_eq!(merged.len(), 2);
        assert_eq!(merged[0].all_notes(), ["in 2 functions: `f`, `g`", "for sm_80, sm_90"]);
        assert_eq!(merged[1].all_notes(), ["for sm_80"]);
        assert_eq!(merge(vec![("sm_80".to_owned(), vec![one("f")])])[0].all_notes(), ["in the function `f`"]);
    }

    #[test]
    fn a_long_list_of_functions_is_cut() {
        let functions = (0..11).map(|number| format!("f{number}")).collect();
        let notes = Diagnostic { functions, ..Diagnostic::new(Level::Deny, "t") }.all_notes();
        assert_eq!(notes, ["in 11 functions: `f0`, `f1`, `f2`, `f3`, `f4`, `f5`, `f6`, `f7` and 3 more"]);
    }
}
