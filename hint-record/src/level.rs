//! How much is made of a hint that was not honoured, and how the command tells the plugin.
//!
//! The plugin can register neither lints nor options, so levels reach it as values of `--cfg latch_hints="…"`: `warn`
//! for all reasons, `never-repeats=allow` for one.

use crate::{ReasonKind, UnknownName};
use std::fmt;
use std::str::FromStr;

/// The name in `--cfg latch_hints="warn"`.
pub const LEVEL_CFG: &str = "latch_hints";

names! {
    /// How much is made of something.
    pub enum Level {
        /// Nothing is said.
        Allow = "allow",
        /// It is told, and changes no exit code.
        Warn = "warn",
        /// It is an error.
        Deny = "deny",
    }
}

/// One value of the plugin's option: the level for one kind of reason, or for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelFor {
    /// The kind; none where it is for all.
    pub kind: Option<ReasonKind>,
    /// The level.
    pub level: Level,
}

impl LevelFor {
    /// The level for all kinds.
    pub fn all(level: Level) -> LevelFor {
        LevelFor { kind: None, level }
    }

    /// The level for one kind.
    pub fn one(kind: ReasonKind, level: Level) -> LevelFor {
        LevelFor { kind: Some(kind), level }
    }

    /// What rustc's `--cfg` takes.
    pub fn cfg(&self) -> String {
        format!("{LEVEL_CFG}=\"{self}\"")
    }
}

impl fmt::Display for LevelFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(f, "{kind}={}", self.level),
            None => write!(f, "{}", self.level),
        }
    }
}

impl FromStr for LevelFor {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<LevelFor, UnknownName> {
        Ok(match text.split_once('=') {
            Some((kind, level)) => LevelFor::one(kind.parse()?, level.parse()?),
            None => LevelFor::all(text.parse()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for level in Level::ALL {
            let kinds = ReasonKind::ALL.map(|kind| LevelFor::one(kind, level));
            for value in kinds.into_iter().chain([LevelFor::all(level)]) {
                assert_eq!(value.to_string().parse(), Ok(value));
            }
        }
        assert_eq!(LevelFor::one(ReasonKind::Shape, Level::Deny).cfg(), "latch_hints=\"shape=deny\"");
    }

    #[test]
    fn any_other_text_is_none() {
        for text in ["", "denny", "never-repeat=allow", "=allow", "shape=", "shape"] {
            assert!(text.parse::<LevelFor>().is_err(), "{text}");
        }
    }
}
