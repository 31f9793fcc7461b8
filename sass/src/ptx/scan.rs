//! PTX text to the statements of each function.
//!
//! Three things end: statements and declarations at `;`, labels at `:`, and a handful of directives (`.loc`, `.file`,
//! `.version`, …) at the end of their line. A brace at the start of a statement opens or closes a scope; any other
//! brace is part of an operand. Comments are skipped, strings kept whole.

use super::{PtxError, Statement};

/// A function, not cut into blocks yet.
pub(super) struct Body {
    pub(super) name: String,
    pub(super) is_kernel: bool,
    pub(super) statements: Vec<Statement>,
    pub(super) labels: Vec<Label>,
    pub(super) tables: Vec<Table>,
    /// The statements before which `.pragma "nounroll"` stands.
    pub(super) pragmas: Vec<usize>,
    /// The scope around each scope; the first is the body itself.
    pub(super) scopes: Vec<u32>,
    /// Registers declared in a scope inside the body, with that scope.
    pub(super) registers: Vec<(String, u32)>,
}

/// A label, and the statement behind it.
pub(super) struct Label {
    pub(super) name: String,
    pub(super) scope: u32,
    pub(super) at: usize,
}

/// A `.branchtargets`, by the label before it.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) scope: u32,
    pub(super) line: u32,
    pub(super) targets: Vec<String>,
}

/// A piece of the text.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Piece<'t> {
    /// `name:`.
    Label(&'t str),
    /// `{` where a statement could begin.
    Open,
    /// `}` where a statement could begin.
    Close,
    /// Anything up to `;`, or a directive up to the end of its line.
    Text { text: &'t str, last_line: u32 },
    /// The head of a function: what stands before its body.
    Head(&'t str),
}

/// Reads all functions.
pub(super) fn functions(text: &str) -> Result<Vec<Body>, PtxError> {
    let mut found: Vec<Body> = Vec::new();
    let mut open: Option<OpenBody> = None;
    let mut skipped = Skipped::default();
    for (line, piece) in Pieces::new(text) {
        match (&mut open, piece) {
            (None, Piece::Head(head)) => open = OpenBody::new(head, line),
            (None, piece) => skipped.take(line, &piece),
            (Some(body), piece) => {
                if body.take(line, piece) {
                    found.extend(open.take().map(|open| open.body));
                }
            }
        }
    }
    match open.map(|body| body.line).or(skipped.open_at()) {
        Some(line) => Err(PtxError::OpenBrace { line }),
        None => Ok(found),
    }
}

/// Braces outside functions: debug sections and initial values.
#[derive(Default)]
struct Skipped {
    depth: u32,
    line: u32,
}

impl Skipped {
    fn take(&mut self, line: u32, piece: &Piece<'_>) {
        match piece {
            Piece::Open => {
                self.line = if self.depth == 0 { line } else { self.line };
                self.depth += 1;
            }
            Piece::Close => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn open_at(&self) -> Option<u32> {
        (self.depth > 0).then_some(self.line)
    }
}

struct OpenBody {
    body: Body,
    line: u32,
    open_scopes: Vec<u32>,
    /// Labels that nothing has followed yet.
    pending: Vec<String>,
}

impl OpenBody {
    fn new(head: &str, line: u32) -> Option<OpenBody> {
        let (is_kernel, name) = function_name(head)?;
        let body = Body {
            name,
            is_kernel,
            statements: Vec::new(),
            labels: Vec::new(),
            tables: Vec::new(),
            pragmas: Vec::new(),
            scopes: Vec::new(),
            registers: Vec::new(),
        };
        Some(OpenBody { body, line, open_scopes: Vec::new(), pending: Vec::new() })
    }

    /// Takes a piece; was it the brace that closes the body?
    fn take(&mut self, line: u32, piece: Piece<'_>) -> bool {
        match piece {
            Piece::Open => self.open_scope(),
            Piece::Close => return self.close_scope(),
            Piece::Label(name) => self.pending.push(name.to_owned()),
            Piece::Head(_) => {}
            Piece::Text { text, .. } if text.starts_with('.') => self.directive(line, text),
            Piece::Text { text, last_line } => self.statement(line, last_line, text),
        }
        false
    }

    fn scope(&self) -> u32 {
        self.open_scopes.last().copied().unwrap_or_default()
    }

    fn open_scope(&mut self) {
        self.place_labels();
        let scope = self.body.scopes.len() as u32;
        self.body.scopes.push(self.scope());
        self.open_scopes.push(scope);
    }

    fn close_scope(&mut self) -> bool {
        self.place_labels();
        self.open_scopes.pop();
        self.open_scopes.is_empty()
    }

    fn place_labels(&mut self) {
        let (scope, at) = (self.scope(), self.body.statements.len());
        self.body.labels.extend(self.pending.drain(..).map(|name| Label { name, scope, at }));
    }

    fn directive(&mut self, line: u32, text: &str) {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            ".branchtargets" => {
                let targets = words(rest).map(str::to_owned).collect();
                let scope = self.scope();
                self.body.tables.extend(self.pending.pop().map(|name| Table { name, scope, line, targets }));
            }
            // Their labels are no places in the code.
            ".calltargets" | ".callprototype" => drop(self.pending.pop()),
            ".pragma" if rest.contains("\"nounroll\"") => self.body.pragmas.push(self.body.statements.len()),
            ".reg" if self.open_scopes.len() > 1 => self.declare(rest),
            _ => {}
        }
    }

    /// Reads `.b32 a, b<4>`.
    fn declare(&mut self, declaration: &str) {
        let scope = self.scope();
        for name in words(declaration).filter(|word| !word.starts_with('.')) {
            match name.split_once('<').map(|(stem, count)| (stem, count.trim_end_matches('>').parse::<u32>())) {
                // More of them would be no hand-written scope.
                Some((stem, Ok(count))) => {
                    let numbered = (0..count.min(4096)).map(|number| (format!("{stem}{number}"), scope));
                    self.body.registers.extend(numbered);
                }
                _ => self.body.registers.push((name.to_owned(), scope)),
            }
        }
    }

    fn statement(&mut self, line: u32, last_line: u32, text: &str) {
        self.place_labels();
        let text = flat(text);
        let (guard, text) = match text.strip_prefix('@') {
            Some(guarded) => {
                let guarded = guarded.trim_start_matches(['!', ' ']);
                let (guard, rest) = guarded.split_once(' ').unwrap_or((guarded, ""));
                (Some(guard.to_owned()), rest.trim_start())
            }
            None => (None, text.as_str()),
        };
        let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
        let (opcode, operands) = (opcode.to_owned(), operands.trim().to_owned());
        self.body.statements.push(Statement { line, last_line, guard, opcode, operands, scope: self.scope() });
    }
}

/// What stands between commas and white space.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| character == ',' || character.is_whitespace()).filter(|word| !word.is_empty())
}

/// The text on one line, without comments.
fn flat(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let skipped = comment_length(rest);
        if skipped > 0 || next.is_whitespace() {
            if !flat.ends_with(' ') {
                flat.push(' ');
            }
            rest = &rest[skipped.max(next.len_utf8())..];
        } else {
            flat.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    flat.trim().to_owned()
}

/// The name in `.visible .entry name(` or `.func (.param .b32 result) name(`, and whether it is a kernel's.
fn function_name(head: &str) -> Option<(bool, String)> {
    let head = flat(head);
    let (is_kernel, at) = match head.find(".entry") {
        Some(at) => (true, at + ".entry".len()),
        None => (false, head.find(".func")? + ".func".len()),
    };
    let mut rest = head[at..].trim_start();
    while rest.starts_with(['(', '.']) {
        let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([' ', '('])? };
        rest = rest[end..].trim_start();
    }
    let name = rest.split(['(', ' ', '{', ';']).next().filter(|name| !name.is_empty())?;
    Some((is_kernel, name.to_owned()))
}

/// The pieces of a text, with the line on which each begins.
pub(super) struct Pieces<'t> {
    rest: &'t str,
    line: u32,
}

impl<'t> Pieces<'t> {
    pub(super) fn new(text: &'t str) -> Pieces<'t> {
        Pieces { rest: text, line: 1 }
    }

    /// What is left of the text.
    pub(super) fn rest(&self) -> &'t str {
        self.rest
    }

    fn advance(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.bytes().filter(|&byte| byte == b'\n').count() as u32;
        self.rest = rest;
        taken
    }

    fn skip_blank(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            let skipped = if blank > 0 { blank } else { comment_length(self.rest) };
            if skipped == 0 {
                return;
            }
            self.advance(skipped);
        }
    }

    /// How long the label at hand is, with its colon.
    fn label_length(&self) -> Option<usize> {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
        let name = self.rest.find(|c| !is_name(c))?;
        let behind = self.rest[name..].trim_start_matches([' ', '\t']);
        let is_label = name > 0 && !self.rest.starts_with('.') && behind.starts_with(':') && !behind.starts_with("::");
        is_label.then(|| self.rest.len() - behind.len() + 1)
    }

    /// How long the statement or directive at hand is, without what ends it, and how long that is.
    fn statement_length(&self) -> (usize, usize, bool) {
        let ends_with_line = LINE_DIRECTIVES
            .iter()
            .any(|word| self.rest.strip_prefix(word).is_some_and(|rest| rest.starts_with(|c: char| c.is_whitespace())));
        let is_function = |text: &str| text.contains(".func") || text.contains(".entry");
        let mut at = 0;
        while let Some(&byte) = self.rest.as_bytes().get(at) {
            match byte {
                b'\n' if ends_with_line => return (at, 0, false),
                b';' if !ends_with_line => return (at, 1, false),
                b'{' if self.rest.starts_with('.') && is_function(&self.rest[..at]) => return (at, 0, true),
                b'{' if self.rest.starts_with(".section") => return (at, 0, false),
                b'"' => at += string_length(&self.rest[at..]),
                b'/' if comment_length(&self.rest[at..]) > 0 => {
                    let skipped = comment_length(&self.rest[at..]);
                    at += if ends_with_line {
                        skipped.min(self.rest[at..].find('\n').unwrap_or(skipped))
                    } else {
                        skipped
                    };
                }
                _ => at += 1,
            }
        }
        (self.rest.len(), 0, false)
    }
}

/// Directives that end with their line; `.b8` and its like fill debug sections.
const LINE_DIRECTIVES: [&str; 9] =
    [".version", ".target", ".address_size", ".loc", ".file", ".b8", ".b16", ".b32", ".b64"];

impl<'t> Iterator for Pieces<'t> {
    type Item = (u32, Piece<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        self.skip_blank();
        let line = self.line;
        let piece = match self.rest.chars().next()? {
            '{' => {
                self.advance(1);
                Piece::Open
            }
            '}' => {
                self.advance(1);
                Piece::Close
            }
            _ => match self.label_length() {
                Some(length) => Piece::Label(self.advance(length).trim_end_matches(':').trim_end()),
                None => {
                    let (length, end, is_head) = self.statement_length();
                    let text = self.advance(length).trim_end();
                    let last_line = line + text.bytes().filter(|&byte| byte == b'\n').count() as u32;
                    self.advance(end);
                    if is_head { Piece::Head(text) } else { Piece::Text { text, last_line } }
                }
            },
        };
        Some((line, piece))
    }
}

/// How long the comment is that the text begins with. The end of the line is not part of it.
pub(super) fn comment_length(text: &str) -> usize {
    if text.starts_with("//") {
        text.find('\n').unwrap_or(text.len())
    } else if text.starts_with("/*") {
        text.find("*/").map_or(text.len(), |end| end + 2)
    } else {
        0
    }
}

/// How long the string is that the text begins with, with its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    text.len()
}
