//! Messages as rustc prints them, by the library that rustc has for it.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use annotate_snippets::{Annotation, AnnotationKind, Element, Level as Mark, Origin, Renderer, Snippet};
use hint_record::Level;

use super::{Diagnostic, Place, shown};

/// Renders messages; paths are shown from `root`.
#[derive(Debug, Clone)]
pub struct Printer {
    root: PathBuf,
    renderer: Renderer,
}

impl Printer {
    /// Colours only for a terminal on standard error that has not asked for none.
    pub fn for_stderr(root: &Path) -> Printer {
        let renderer = if has_colours() { Renderer::styled() } else { Renderer::plain() };
        Printer { root: root.to_owned(), renderer }
    }

    /// Without colours.
    pub fn plain(root: &Path) -> Printer {
        Printer { root: root.to_owned(), renderer: Renderer::plain() }
    }

    /// The text of a message, without a line break at its end. None for one that is not to be shown.
    pub fn render(&self, diagnostic: &Diagnostic) -> Option<String> {
        let mark = match diagnostic.level {
            Level::Allow => return None,
            Level::Warn => Mark::WARNING,
            Level::Deny => Mark::ERROR,
        };
        let notes = diagnostic.all_notes().into_iter().map(|note| Mark::NOTE.message(note));
        let help = diagnostic.help.iter().map(|help| Mark::HELP.message(help.clone()));
        let group = mark
            .primary_title(diagnostic.title.clone())
            .elements(self.snippets(&diagnostic.places))
            .elements(notes.chain(help));
        Some(self.renderer.render(&[group]))
    }

    /// One snippet for all neighbouring places of a file.
    fn snippets(&self, places: &[Place]) -> Vec<Element<'static>> {
        let mut elements = Vec::new();
        let mut number = 0;
        for of_file in places.chunk_by(|one, other| one.file == other.file) {
            let path = shown(&of_file[0].file, &self.root);
            let text = fs::read_to_string(&of_file[0].file).unwrap_or_default();
            let mut annotations = Vec::new();
            for place in of_file {
                match annotation(place, &text, number == 0) {
                    Some(annotation) => annotations.push(annotation),
                    None => elements.push(origin(place, &path, number == 0)),
                }
                number += 1;
            }
            if !annotations.is_empty() {
                elements.push(Snippet::source(text).path(path).annotations(annotations).into());
            }
        }
        elements
    }
}

/// Is standard error a terminal, whose user has not asked for plain text?
pub fn has_colours() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
}

fn annotation(place: &Place, text: &str, is_main: bool) -> Option<Annotation<'static>> {
    let kind = if is_main { AnnotationKind::Primary } else { AnnotationKind::Context };
    Some(kind.span(place.bytes(text)?).label(place.label.clone()))
}

/// A place whose text cannot be shown.
fn origin(place: &Place, path: &str, is_main: bool) -> Element<'static> {
    let (line, column) = place.line_and_column(None);
    let origin = Origin::path(path.to_owned()).line(line as usize);
    let origin = match column {
        Some(column) if is_main => origin.char_column(column as usize),
        _ => origin,
    };
    origin.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(source: Option<&str>, change: impl FnOnce(PathBuf, &mut Diagnostic)) -> String {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("src/lib.rs");
        if let Some(source) = source {
            fs::create_dir(folder.path().join("src")).expect("made");
            fs::write(&file, source).expect("written");
        }
        let mut diagnostic = Diagnostic::new(Level::Deny, "`#[unroll]` was not honoured: reason");
        change(file, &mut diagnostic);
        Printer::plain(folder.path()).render(&diagnostic).expect("it is shown")
    }

    const SOURCE: &str = "\n\npub fn f() {\n\t#[unroll]\n\t'out: for i in 0..n { // why\n\t\tx += 1;\n\t}\n}\n";

    #[test]
    fn a_message_has_the_line_its_place_and_what_to_do() {
        insta::assert_snapshot!(rendered(Some(SOURCE), |file, diagnostic| {
            diagnostic.places = vec![Place::word(file, 5, 8)];
            diagnostic.functions = vec!["kernels::f::<4>".to_owned()];
            diagnostic.help = Some("do this".to_owned());
        }));
    }

    #[test]
    fn several_places_are_shown_together() {
        insta::assert_snapshot!(rendered(Some(SOURCE), |file, diagnostic| {
            let budget = file.with_file_name("gone.toml");
            diagnostic.places = vec![
                Place { file: budget, at: super::super::At::Bytes(3..5), label: Some("the budget".to_owned()) },
                Place::line(file.clone(), 6).labelled("2 local loads"),
                Place::line(file, 3),
            ];
        }));
    }

    #[test]
    fn a_source_that_is_gone_is_named() {
        insta::assert_snapshot!(rendered(None, |file, diagnostic| {
            diagnostic.level = Level::Warn;
            diagnostic.places = vec![Place::word(file, 5, 8)];
        }));
    }

    #[test]
    fn what_is_allowed_is_not_shown() {
        let printer = Printer::plain(Path::new("/"));
        assert_eq!(printer.render(&Diagnostic::new(Level::Allow, "t")), None);
    }
}
