//! The hinted loops of a source file, in the order of the source, whether or not they are ever compiled.
//!
//! The audit takes its list of hints from here, so that a hint in an unused function, in a constant or under
//! `if false` has a record too. Not seen: loops that a macro makes, and what a `#[cfg]` removes is listed nevertheless
//! (only `#[cfg(test)]` items are left out).

use crate::hint::Request;
use crate::walk;
use codegen_pass::HintKind;
use proc_macro2::Span;
use quote::ToTokens;

/// One hinted loop of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What the hint asks for.
    pub kind: HintKind,
    /// What `#[unroll]` asks for; `None` for `nounroll`.
    pub factor: Option<Factor>,
    /// Line of the loop keyword, from 1.
    pub line: u32,
    /// Column of the loop keyword in characters, from 1.
    pub column: u32,
    /// Modules, types and functions around the loop, as in `tiles::Tile::load`.
    pub function: String,
    /// Whether the loop is in a `#[kernel]` or `#[device]` item; a hint elsewhere does not compile.
    pub in_device_fn: bool,
    /// Whether the loop is evaluated while compiling, where a hint has no meaning.
    pub in_const: bool,
}

/// The argument of `#[unroll]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Factor {
    /// No loop is to be left.
    Full,
    /// A literal number of copies.
    Copies(u64),
    /// An expression that has its value only in an instance, as written.
    Expression(String),
}

impl Factor {
    fn of(request: &Request) -> Option<Factor> {
        match request {
            Request::KeepRolled => None,
            Request::UnrollFully => Some(Factor::Full),
            Request::UnrollBy(expression) => Some(match crate::hint::copies(expression) {
                Some(copies) => Factor::Copies(copies),
                None => Factor::Expression(expression.to_token_stream().to_string()),
            }),
        }
    }
}

/// Lists the hinted loops of a file, sorted by place.
///
/// Hints that the macros refuse (on no loop, or malformed) are left out: the compiler reports them.
pub fn hinted_loops(file: &syn::File) -> Vec<Found> {
    let mut found = Vec::new();
    let mut copy = file.clone();
    let _refused_elsewhere = walk::walk(&mut copy, &mut |hinted, _| {
        if !hinted.surroundings.in_test {
            found.push(Found::of(&hinted));
        }
    });
    found.sort_by_key(|found| (found.line, found.column));
    found
}

/// Line and column of a span's start as sites count them: both from 1, columns in characters.
pub fn place(span: Span) -> (u32, u32) {
    let start = span.start();
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    (number(start.line), number(start.column + 1))
}

impl Found {
    fn of(hinted: &walk::Hinted) -> Found {
        let (line, column) = place(hinted.keyword);
        Found {
            kind: hinted.hint.request.kind(),
            factor: Factor::of(&hinted.hint.request),
            line,
            column,
            function: hinted.path.join("::"),
            in_device_fn: hinted.surroundings.in_device,
            in_const: hinted.surroundings.in_const,
        }
    }
}
