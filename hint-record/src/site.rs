//! The source site of a hint, which names it from the macro to the report.
//!
//! Written and read here only: it travels as one text through the markers, the loop's ID and the report. A site needs
//! a further field: add it to [`Site`], to `Display` and to `parse`.

use crate::HintKind;
use std::fmt;
use std::str::FromStr;

/// Where in the source a hint stands.
///
/// Written `kind|package|file|line|column`, for example `nounroll|my-kernels@0.1.0|src/lib.rs|12|5`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Site {
    /// Which hint.
    pub kind: HintKind,
    /// The cargo package that holds the file, as [`Site::package_id`] writes it.
    pub package: String,
    /// The file, relative to the package's folder, with forward slashes.
    pub file: String,
    /// The line of the keyword `for`, `while` or `loop`, from 1.
    pub line: u32,
    /// The column of that keyword, in characters, from 1.
    pub column: u32,
}

impl Site {
    /// A package by name and version, as cargo writes it: `my-kernels@0.1.0`.
    pub fn package_id(name: &str, version: &str) -> String {
        format!("{name}@{version}")
    }
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
    Some(Site {
        kind: kind.parse().ok()?,
        package: package.to_owned(),
        file: file.to_owned(),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    })
}

#[cfg(feature = "serde")]
impl serde::Serialize for Site {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Site {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Site, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["nounroll|my-kernels|src/lib.rs|12|5", "unroll|k|src/a|b.rs|1|1"] {
            assert_eq!(text.parse().map(|site: Site| site.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn any_other_text_is_none() {
        for text in ["", "nounroll", "full|p|f|1|1", "unroll|p|f|1", "unroll|p|f|x|1", "unroll|p|f|1|-1"] {
            assert!(text.parse::<Site>().is_err(), "{text}");
        }
    }
}
