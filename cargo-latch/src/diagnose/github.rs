//! Messages as annotations for GitHub: workflow commands on standard output.
//!
//! `::error file=src/lib.rs,line=3,col=5,title=…::…`. In the message a `%` and line breaks are written `%25`, `%0D` and
//! `%0A`; in the properties a colon and a comma too.

use std::fs;
use std::path::{Path, PathBuf};

use hint_record::Level;

use super::{Diagnostic, shown};

/// The folder from which GitHub shows files: the checkout that it has made, else `fallback`.
pub fn root(fallback: &Path) -> PathBuf {
    std::env::var_os("GITHUB_WORKSPACE")
        .filter(|set| !set.is_empty())
        .map_or_else(|| fallback.to_owned(), PathBuf::from)
}

/// The annotation for a message. None for one that is not to be shown.
pub fn render(diagnostic: &Diagnostic, root: &Path) -> Option<String> {
    let command = match diagnostic.level {
        Level::Allow => return None,
        Level::Warn => "warning",
        Level::Deny => "error",
    };
    let mut properties = Vec::new();
    if let Some(place) = diagnostic.places.first() {
        let (line, column) = place.line_and_column(fs::read_to_string(&place.file).ok().as_deref());
        properties.push(format!("file={}", escaped_property(&shown(&place.file, root))));
        properties.push(format!("line={line}"));
        properties.extend(column.map(|column| format!("col={column}")));
    }
    properties.push(format!("title={}", escaped_property(&diagnostic.title)));
    let help = diagnostic.help.iter().map(|help| format!("help: {help}"));
    let others = diagnostic.places.iter().skip(1).map(|place| {
        let line = place.line_and_column(fs::read_to_string(&place.file).ok().as_deref()).0;
        let label = place.label.as_ref().map(|label| format!(": {label}")).unwrap_or_default();
        format!("{}:{line}{label}", shown(&place.file, root))
    });
    let lines: Vec<String> = diagnostic.all_notes().into_iter().chain(others).chain(help).collect();
    // GitHub drops an annotation without text.
    let message = if lines.is_empty() { diagnostic.title.clone() } else { lines.join("\n") };
    Some(format!("::{command} {}::{}", properties.join(","), escaped(&message)))
}

fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Place;

    #[test]
    fn an_annotation_is_one_escaped_line() {
        let diagnostic = Diagnostic {
            places: vec![
                Place::word(PathBuf::from("/repo/a,b/src/lib.rs"), 3, 5),
                Place::line(PathBuf::from("/repo/src/x.rs"), 9).labelled("2 local loads"),
            ],
            functions: vec!["f::<{ 50 % 3 }>".to_owned()],
            notes: vec!["one\r\ntwo".to_owned()],
            help: Some("write `a: b`".to_owned()),
            ..Diagnostic::new(Level::Deny, "`#[unroll]` was not honoured: 100 % of it, all")
        };
        let expected = "::error file=a%2Cb/src/lib.rs,line=3,col=5,title=`#[unroll]` was not honoured%3A 100 %25 of it%2C all::in \
                        the function `f::<{ 50 %25 3 }>`%0Aone%0D%0Atwo%0Asrc/x.rs:9: 2 local loads%0Ahelp: write `a: b`";
        assert_eq!(render(&diagnostic, Path::new("/repo")).as_deref(), Some(expected));
    }

    #[test]
    fn a_message_without_place_or_note_is_its_title() {
        let warning = Diagnostic::new(Level::Warn, "a: b");
        assert_eq!(render(&warning, Path::new("/repo")).as_deref(), Some("::warning title=a%3A b::a: b"));
        assert_eq!(render(&Diagnostic::new(Level::Allow, "a"), Path::new("/repo")), None);
    }
}
