//! Why hints were not honoured: from the texts of the reports to the kinds that levels know, and what to do about each.
//!
//! The linker's report carries a reason as text. Those of the analysis and of the linker are known one by one. A text that is
//! none of them is of the kind `other`, whose level is that of all.

use codegen_pass::DropReason;
use codegen_pass::report::reason;

use crate::config::ReasonKind;

/// ptxas did not follow the pragma; found in the machine code alone.
pub const NOT_IN_MACHINE_CODE: &str = "ptxas left no loop of it in the machine code";
/// A hint without record, whose loop is in the machine code.
pub const LOST: &str = "its marker was lost: its loop is in the machine code, and nothing says what became of it";
/// A hint without record.
pub const UNUSED: &str = "no kernel reaches the loop: its function is never used, or it stands in dead code";
/// A hint on a loop that runs while compiling.
pub const IN_CONST: &str = "the loop is evaluated while compiling, where a hint has no meaning";

/// The texts of the other reasons, or how they end.
const ENDS: [(&str, ReasonKind); 12] = [
    (LOST, ReasonKind::Lost),
    (NOT_IN_MACHINE_CODE, ReasonKind::MachineCode),
    (UNUSED, ReasonKind::NotCompiled),
    (IN_CONST, ReasonKind::NotCompiled),
    (reason::DELETED, ReasonKind::Deleted),
    (reason::MERGED, ReasonKind::Merged),
    (reason::UNOPTIMIZED, ReasonKind::Unoptimized),
    (reason::RUN_TIME, ReasonKind::TripCount),
    (reason::TOO_LARGE, ReasonKind::TooLarge),
    (reason::CONVERGENT, ReasonKind::Convergent),
    (reason::COPIES, ReasonKind::Copies),
    (reason::UNSAID, ReasonKind::Other),
];

/// The kind of a reason.
pub fn kind(reason: &str) -> ReasonKind {
    let of_analysis = DropReason::ALL.into_iter().find(|known| known.to_string() == reason).map(ReasonKind::from);
    let other = || ENDS.iter().find(|(end, _)| reason.ends_with(end)).map(|(_, kind)| *kind);
    of_analysis.or_else(other).unwrap_or(ReasonKind::Other)
}

/// What to do about a reason.
pub fn help(reason: &str) -> Option<&'static str> {
    if let Some(of_analysis) = DropReason::ALL.into_iter().find(|known| known.to_string() == reason) {
        return Some(of_analysis.help());
    }
    match kind(reason) {
        ReasonKind::Deleted => Some(
            "its result is known while compiling, or nothing uses it: remove the hint, or the loop; a loop that reads or writes \
             memory stays",
        ),
        ReasonKind::Merged => Some(
            "with `#[nounroll]` on the loop around it as well, the one loop stays; so does the inner one in a function of its own \
             with `#[inline(never)]`",
        ),
        ReasonKind::TripCount => Some(
            "bounds that are constants, const generics included, can be unrolled fully; for others, `#[unroll(N)]` makes N copies",
        ),
        ReasonKind::TooLarge => {
            Some("`#[unroll(N)]` makes a loop of N copies; or give the loop fewer turns or a smaller body")
        }
        ReasonKind::Convergent => Some(
            "LLVM makes no remainder loop around a call that all threads of a warp make together, such as a barrier or a \
             shuffle: make the trip count a constant, or take the call out of the loop",
        ),
        ReasonKind::Copies => Some("ask for as many, or give the loop a trip count that the number of copies divides"),
        ReasonKind::Unoptimized => Some("a release build unrolls it"),
        ReasonKind::MachineCode => Some(
            "the optimized LLVM IR and the PTX have the loop; `cargo latch inspect KERNEL --emit hints` shows the way",
        ),
        ReasonKind::Lost => {
            Some("this is a fault of Latch, or of a macro around the loop that drops what `#[kernel]` has written")
        }
        ReasonKind::NotCompiled if reason == IN_CONST => Some("remove the hint"),
        ReasonKind::NotCompiled => Some("call the function from a kernel, or remove it"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_kind_and_its_help() {
        let own = [
            reason::DELETED,
            reason::MERGED,
            reason::UNOPTIMIZED,
            reason::RUN_TIME,
            reason::TOO_LARGE,
            reason::CONVERGENT,
            &reason::copies(2, 4),
            NOT_IN_MACHINE_CODE,
            LOST,
            UNUSED,
            IN_CONST,
        ];
        let of_analysis = DropReason::ALL.map(|reason| reason.to_string());
        let lines = of_analysis.iter().map(String::as_str).chain(own).map(|reason| {
            let help = help(reason).unwrap_or_else(|| panic!("{reason}: nothing to do"));
            format!("{}: {reason}\n    {help}\n", kind(reason).keyword())
        });
        insta::assert_snapshot!(lines.collect::<String>());
    }

    #[test]
    fn an_unknown_reason_is_of_no_kind() {
        for unknown in ["the moon is full", reason::UNSAID] {
            assert_eq!((kind(unknown), help(unknown)), (ReasonKind::Other, None));
        }
    }
}
