//! How much is made of a hint that was not honoured: one level for all reasons, and one for each reason that asks for it.

use std::fmt;

use codegen_pass::DropReason;
use serde::Deserialize;

/// How much is made of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing is said; the table still shows it
    Allow,
    /// It is told, and changes no exit code
    Warn,
    /// It is an error, with exit code 1
    Deny,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Allow => "allow",
            Level::Warn => "warn",
            Level::Deny => "deny",
        })
    }
}

/// A reason, as levels know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReasonKind {
    /// The loop never repeats.
    NeverRepeats,
    /// Nothing leads to the loop.
    Unreachable,
    /// The loop has a shape that no compiler pass knows as a loop.
    Shape,
    /// The loop carries another hint.
    Conflict,
    /// The optimizer deleted the loop.
    Deleted,
    /// The optimizer made one loop of this and another.
    Merged,
    /// The trip count is known at run time only.
    TripCount,
    /// Unrolled, the loop would be larger than LLVM's limit.
    TooLarge,
    /// A call that all threads make together stands in the way.
    Convergent,
    /// LLVM made another number of copies.
    Copies,
    /// ptxas unrolled the loop all the same.
    MachineCode,
    /// The loop was compiled without its hint.
    Lost,
    /// The loop is in no kernel.
    NotCompiled,
    /// The build does not optimize, and so unrolls nothing.
    Unoptimized,
    /// Any other.
    Other,
}

impl ReasonKind {
    /// Every kind.
    pub const ALL: [ReasonKind; 15] = [
        ReasonKind::NeverRepeats,
        ReasonKind::Unreachable,
        ReasonKind::Shape,
        ReasonKind::Conflict,
        ReasonKind::Deleted,
        ReasonKind::Merged,
        ReasonKind::TripCount,
        ReasonKind::TooLarge,
        ReasonKind::Convergent,
        ReasonKind::Copies,
        ReasonKind::MachineCode,
        ReasonKind::Lost,
        ReasonKind::NotCompiled,
        ReasonKind::Unoptimized,
        ReasonKind::Other,
    ];

    /// The key in `latch.toml`.
    pub fn keyword(self) -> &'static str {
        match self {
            ReasonKind::NeverRepeats => "never-repeats",
            ReasonKind::Unreachable => "unreachable",
            ReasonKind::Shape => "shape",
            ReasonKind::Conflict => "conflict",
            ReasonKind::Deleted => "deleted",
            ReasonKind::Merged => "merged",
            ReasonKind::TripCount => "trip-count",
            ReasonKind::TooLarge => "too-large",
            ReasonKind::Convergent => "convergent",
            ReasonKind::Copies => "copies",
            ReasonKind::MachineCode => "machine-code",
            ReasonKind::Lost => "lost",
            ReasonKind::NotCompiled => "not-compiled",
            ReasonKind::Unoptimized => "unoptimized",
            ReasonKind::Other => "other",
        }
    }
}

impl From<DropReason> for ReasonKind {
    fn from(reason: DropReason) -> ReasonKind {
        let same = |kind: &ReasonKind| kind.keyword() == reason.keyword();
        ReasonKind::ALL.into_iter().find(same).unwrap_or(ReasonKind::Other)
    }
}

/// The table `[hints]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct HintTable {
    /// For every reason without a key of its own.
    level: Option<Level>,
    never_repeats: Option<Level>,
    unreachable: Option<Level>,
    shape: Option<Level>,
    conflict: Option<Level>,
    deleted: Option<Level>,
    merged: Option<Level>,
    trip_count: Option<Level>,
    too_large: Option<Level>,
    convergent: Option<Level>,
    copies: Option<Level>,
    machine_code: Option<Level>,
    lost: Option<Level>,
    not_compiled: Option<Level>,
    unoptimized: Option<Level>,
    other: Option<Level>,
}

impl HintTable {
    /// The levels that hold, where the command line may have asked for one.
    pub fn levels(&self, command_line: Option<Level>) -> HintLevels {
        HintLevels { table: self.clone(), command_line }
    }

    fn own(&self, kind: ReasonKind) -> Option<Level> {
        match kind {
            ReasonKind::NeverRepeats => self.never_repeats,
            ReasonKind::Unreachable => self.unreachable,
            ReasonKind::Shape => self.shape,
            ReasonKind::Conflict => self.conflict,
            ReasonKind::Deleted => self.deleted,
            ReasonKind::Merged => self.merged,
            ReasonKind::TripCount => self.trip_count,
            ReasonKind::TooLarge => self.too_large,
            ReasonKind::Convergent => self.convergent,
            ReasonKind::Copies => self.copies,
            ReasonKind::MachineCode => self.machine_code,
            ReasonKind::Lost => self.lost,
            ReasonKind::NotCompiled => self.not_compiled,
            ReasonKind::Unoptimized => self.unoptimized,
            ReasonKind::Other => self.other,
        }
    }
}

/// The level of every reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HintLevels {
    table: HintTable,
    command_line: Option<Level>,
}

impl HintLevels {
    /// The level of a reason. The command line's holds for every dropped hint. Of a hint that no kernel contains nothing was
    /// dropped, and a build that unrolls nothing is as it should be: these are told of where the file asks for it, and the
    /// command line can only lower that.
    pub fn of(&self, kind: ReasonKind) -> Level {
        if matches!(kind, ReasonKind::NotCompiled | ReasonKind::Unoptimized) {
            let asked = self.table.own(kind).unwrap_or(Level::Allow);
            return self.command_line.map_or(asked, |level| level.min(asked));
        }
        let in_file = || self.table.own(kind).or(self.table.level);
        self.command_line.or_else(in_file).unwrap_or(Level::Deny)
    }

    /// What the plugin is told: the values of its option, for all and for the reasons that it knows.
    pub fn for_plugin(&self) -> Vec<String> {
        let rest = self.command_line.or(self.table.level).unwrap_or(Level::Deny);
        let mut values = vec![rest.to_string()];
        for reason in DropReason::ALL {
            let level = self.of(reason.into());
            let value = format!("{}={level}", reason.keyword());
            if level != rest && !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> HintTable {
        toml::from_str(text).expect("a table")
    }

    #[test]
    fn every_kind_has_a_key_and_every_reason_of_the_analysis_a_kind() {
        for kind in ReasonKind::ALL {
            let levels = table(&format!("{} = \"warn\"", kind.keyword())).levels(None);
            assert_eq!(levels.of(kind), Level::Warn, "{kind:?}");
            let others = ReasonKind::ALL.into_iter().filter(|other| *other != kind);
            assert!(others.map(|other| levels.of(other)).all(|level| level != Level::Warn), "{kind:?}");
        }
        for reason in DropReason::ALL {
            assert_ne!(ReasonKind::from(reason), ReasonKind::Other, "{reason:?}");
        }
    }

    #[test]
    fn a_dropped_hint_is_an_error_and_one_that_is_not_compiled_is_none() {
        let levels = HintTable::default().levels(None);
        assert_eq!(levels.of(ReasonKind::Deleted), Level::Deny);
        assert_eq!(levels.of(ReasonKind::NotCompiled), Level::Allow);
        assert_eq!(levels.of(ReasonKind::Unoptimized), Level::Allow);
    }

    #[test]
    fn the_command_line_wins() {
        let levels = table("deleted = \"allow\"\nnot-compiled = \"deny\"").levels(Some(Level::Warn));
        assert_eq!(levels.of(ReasonKind::Deleted), Level::Warn);
        assert_eq!(levels.of(ReasonKind::NotCompiled), Level::Warn);
        assert_eq!(table("").levels(Some(Level::Deny)).of(ReasonKind::NotCompiled), Level::Allow);
    }

    #[test]
    fn the_plugin_is_told_what_it_knows() {
        assert_eq!(HintTable::default().levels(None).for_plugin(), ["deny"]);
        let own = table("level = \"warn\"\nshape = \"deny\"\ndeleted = \"allow\"\nnever-repeats = \"warn\"");
        assert_eq!(own.levels(None).for_plugin(), ["warn", "shape=deny"]);
        assert_eq!(own.levels(Some(Level::Allow)).for_plugin(), ["allow"]);
    }
}
