//! Why a hint was not honoured.
//!
//! A [`Reason`] is what is known: its variant, and what that variant holds. Its [`ReasonKind`] is what a user can set a
//! level for, and what the audit's report calls `reason_kind`. Several reasons can be of one kind.

names! {
    /// Why the analysis finds no loop that is the hint's own, on MIR as on LLVM IR.
    pub enum NoLoop {
        /// The entry cannot reach the loop.
        Unreachable = "unreachable",
        /// No path through the loop's body leads back to its start.
        NeverRepeats = "never-repeats",
        /// The body repeats in a cycle that is entered at two places.
        Irreducible = "irreducible",
        /// Something jumps into the loop past its start.
        NoEnter = "no-enter",
        /// The loop carries another hint already.
        Conflict = "conflict",
        /// A back edge ends in an instruction that cannot be given another target.
        FixedBackEdge = "fixed-back-edge",
    }
}

names! {
    /// A reason, as levels know it.
    pub enum ReasonKind {
        /// The loop never repeats.
        NeverRepeats = "never-repeats",
        /// Nothing leads to the loop.
        Unreachable = "unreachable",
        /// The loop has a shape that no compiler pass knows as a loop.
        Shape = "shape",
        /// The loop carries another hint.
        Conflict = "conflict",
        /// The optimizer deleted the loop.
        Deleted = "deleted",
        /// The optimizer made one loop of this and another.
        Merged = "merged",
        /// The trip count is known at run time only.
        TripCount = "trip-count",
        /// Unrolled, the loop would be larger than LLVM's limit.
        TooLarge = "too-large",
        /// A call that all threads make together stands in the way.
        Convergent = "convergent",
        /// LLVM made another number of copies.
        Copies = "copies",
        /// ptxas unrolled the loop all the same.
        MachineCode = "machine-code",
        /// The loop was compiled without its hint.
        Lost = "lost",
        /// The loop is in no kernel.
        NotCompiled = "not-compiled",
        /// The build does not optimize, and so unrolls nothing.
        Unoptimized = "unoptimized",
        /// The loop could not be matched with one of the machine code.
        Unmatched = "unmatched",
        /// No ptxas was there to make machine code.
        NoPtxas = "no-ptxas",
        /// Any other.
        Other = "other",
    }
}

/// Why a hint was not honoured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Reason {
    /// The analysis finds no loop that is the hint's own.
    NoLoop(NoLoop),
    /// The optimizer has left no loop of one that is to stay.
    Deleted,
    /// The optimizer has made one loop of one that is to stay and another without hint.
    Merged,
    /// A loop is left because LLVM was not asked to optimize.
    Unoptimized,
    /// A loop is left whose trip count LLVM does not know.
    TripCount,
    /// A loop is left that would become too large.
    TooLarge,
    /// A loop is left that cannot have a remainder.
    Convergent,
    /// A loop is left of another number of copies.
    Copies {
        /// How many there are.
        made: u64,
        /// How many the hint asks for.
        asked: u64,
    },
    /// A loop is left, and LLVM does not say why.
    Unsaid,
    /// ptxas has left fewer loops than the optimizer.
    MachineCode,
    /// The loop is in the machine code, and its marker never reached the linker.
    Lost,
    /// No kernel reaches the loop.
    Unused,
    /// The loop is evaluated while compiling.
    InConst,
    /// The loop stands in a `const fn`, where hints are not marked, and is in the machine code.
    InConstAtRunTime,
    /// Whether the loop is in the machine code could not be told.
    Unmatched,
    /// There is no machine code to look at, since there is no ptxas.
    NoPtxas,
}

impl NoLoop {
    /// The kind that levels know. Reasons that a user cannot tell apart share one.
    pub fn kind(self) -> ReasonKind {
        match self {
            NoLoop::Unreachable => ReasonKind::Unreachable,
            NoLoop::NeverRepeats => ReasonKind::NeverRepeats,
            NoLoop::Irreducible | NoLoop::NoEnter | NoLoop::FixedBackEdge => ReasonKind::Shape,
            NoLoop::Conflict => ReasonKind::Conflict,
        }
    }
}

impl Reason {
    /// The kind that levels know.
    pub fn kind(self) -> ReasonKind {
        match self {
            Reason::NoLoop(reason) => reason.kind(),
            Reason::Deleted => ReasonKind::Deleted,
            Reason::Merged => ReasonKind::Merged,
            Reason::Unoptimized => ReasonKind::Unoptimized,
            Reason::TripCount => ReasonKind::TripCount,
            Reason::TooLarge => ReasonKind::TooLarge,
            Reason::Convergent => ReasonKind::Convergent,
            Reason::Copies { .. } => ReasonKind::Copies,
            Reason::MachineCode => ReasonKind::MachineCode,
            Reason::Lost | Reason::InConstAtRunTime => ReasonKind::Lost,
            Reason::Unused | Reason::InConst => ReasonKind::NotCompiled,
            Reason::Unmatched => ReasonKind::Unmatched,
            Reason::NoPtxas => ReasonKind::NoPtxas,
            Reason::Unsaid => ReasonKind::Other,
        }
    }

    /// One of every reason, those of the analysis first.
    pub fn samples() -> Vec<Reason> {
        let others = [
            Reason::Deleted,
            Reason::Merged,
            Reason::Unoptimized,
            Reason::TripCount,
            Reason::TooLarge,
            Reason::Convergent,
            Reason::Copies { made: 2, asked: 4 },
            Reason::MachineCode,
            Reason::Lost,
            Reason::Unused,
            Reason::InConst,
            Reason::InConstAtRunTime,
            Reason::Unmatched,
            Reason::NoPtxas,
            Reason::Unsaid,
        ];
        NoLoop::ALL.map(Reason::NoLoop).into_iter().chain(others).collect()
    }
}

impl From<NoLoop> for Reason {
    fn from(reason: NoLoop) -> Reason {
        Reason::NoLoop(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_has_a_reason_and_a_name_of_its_own() {
        let kinds: BTreeSet<ReasonKind> = Reason::samples().into_iter().map(Reason::kind).collect();
        assert_eq!(kinds, BTreeSet::from(ReasonKind::ALL));
        for kind in ReasonKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
    }
}
