//! How much is made of a hint that was not honoured: one level for all reasons, and one for each reason that asks for
//! it.

use hint_record::{Level, ReasonKind};
use serde::Deserialize;

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
    unmatched: Option<Level>,
    no_ptxas: Option<Level>,
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
            ReasonKind::Unmatched => self.unmatched,
            ReasonKind::NoPtxas => self.no_ptxas,
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
    /// The level of a reason. The command line's holds for every dropped hint. Of a hint that no kernel contains
    /// nothing was dropped, and a build that unrolls nothing is as it should be: these are told of where the file asks
    /// for it, and the command line can only lower that.
    pub fn of(&self, kind: ReasonKind) -> Level {
        if matches!(kind, ReasonKind::NotCompiled | ReasonKind::Unoptimized) {
            let asked = self.table.own(kind).unwrap_or(Level::Allow);
            return self.command_line.map_or(asked, |level| level.min(asked));
        }
        let in_file = || self.table.own(kind).or(self.table.level);
        self.command_line.or_else(in_file).unwrap_or(Level::Deny)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> HintTable {
        toml::from_str(text).expect("a table")
    }

    #[test]
    fn every_kind_has_a_key() {
        let unverified = [ReasonKind::Unmatched, ReasonKind::NoPtxas];
        for kind in ReasonKind::ALL.into_iter().filter(|kind| !unverified.contains(kind)) {
            let levels = table(&format!("{kind} = \"warn\"")).levels(None);
            assert_eq!(levels.of(kind), Level::Warn, "{kind:?}");
            let others = ReasonKind::ALL.into_iter().filter(|other| *other != kind);
            assert!(others.map(|other| levels.of(other)).all(|level| level != Level::Warn), "{kind:?}");
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
}
