//! The names that the attribute macros and the passes agree on: the two markers, and the source site of a hint.
//!
//! A hinted loop carries two calls of opaque functions, one before the loop and one first in its body. Both name the
//! site, as one string that reaches the IR as a constant. Where the format changes, both ends change with it, since
//! both use this module.

use std::fmt;
use std::str::FromStr;

/// The crate that declares the markers. A function of the same name elsewhere is no marker.
pub const MARKER_CRATE: &str = "device_std";
/// The function called before a hinted loop: `fn(site: &'static str)`.
pub const ENTER_MARKER: &str = "__latch_loop_enter";
/// The function called first in the body of a hinted loop: `fn(site: &'static str, factor: u64)`.
pub const BODY_MARKER: &str = "__latch_loop_body";

/// What a hint asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum HintKind {
    /// Keep the loop.
    Nounroll,
    /// Unroll it: fully where the factor is 0, else by that many copies.
    Unroll,
}

impl fmt::Display for HintKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HintKind::Nounroll => "nounroll",
            HintKind::Unroll => "unroll",
        })
    }
}

/// Where in the source a hint stands.
///
/// Written `kind|package|file|line|column`, for example `nounroll|my-kernels|src/lib.rs|12|5`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Site {
    /// What the hint asks for.
    pub kind: HintKind,
    /// The cargo package that holds the file.
    pub package: String,
    /// The file, relative to the package's folder, with forward slashes.
    pub file: String,
    /// The line of the keyword `for`, `while` or `loop`, from 1.
    pub line: u32,
    /// The column of that keyword, in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}|{}|{}|{}|{}", self.kind, self.package, self.file, self.line, self.column)
    }
}

/// A text that is no [`Site`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseSiteError {
    text: String,
}

impl fmt::Display for ParseSiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no hint site (kind|package|file|line|column): were the kernels built with another version of \
             device-std?",
            self.text
        )
    }
}

impl std::error::Error for ParseSiteError {}

impl FromStr for Site {
    type Err = ParseSiteError;

    fn from_str(text: &str) -> Result<Site, ParseSiteError> {
        parse(text).ok_or_else(|| ParseSiteError { text: text.to_owned() })
    }
}

/// A file name may hold the separator, so it is what is left when both ends are taken off.
fn parse(text: &str) -> Option<Site> {
    let (kind, rest) = text.split_once('|')?;
    let (package, rest) = rest.split_once('|')?;
    let (rest, column) = rest.rsplit_once('|')?;
    let (file, line) = rest.rsplit_once('|')?;
    let kind = match kind {
        "nounroll" => HintKind::Nounroll,
        "unroll" => HintKind::Unroll,
        _ => return None,
    };
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    Some(Site { kind, package: package.to_owned(), file: file.to_owned(), line, column })
}
