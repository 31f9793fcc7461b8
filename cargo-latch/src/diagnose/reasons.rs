//! Why hints were not honoured: from the texts of the reports to the kinds that levels know, and what to do about each.
//!
//! The linker's report carries a reason as text. Those of the analysis are known one by one; of the linker's own, a few words
//! tell them apart. A text that fits none is of the kind `other`, whose level is that of all.

use codegen_pass::DropReason;

use crate::config::ReasonKind;

/// ptxas did not follow the pragma; found in the machine code alone.
pub const NOT_IN_MACHINE_CODE: &str = "ptxas left no loop of it in the machine code";
/// A hint without record, whose loop is in the machine code.
pub const LOST: &str = "its marker was lost: its loop is in the machine code, and nothing says what became of it";
/// A hint without record.
pub const UNUSED: &str = "no kernel reaches the loop: its function is never used, or it stands in dead code";
/// A hint on a loop that runs while compiling.
pub const IN_CONST: &str = "the loop is evaluated while compiling, where a hint has no meaning";

/// Words by which the linker's own reasons are known, the more special ones first.
const WORDS: [(&str, ReasonKind); 8] = [
    (LOST, ReasonKind::Lost),
    (NOT_IN_MACHINE_CODE, ReasonKind::MachineCode),
    (UNUSED, ReasonKind::NotCompiled),
    (IN_CONST, ReasonKind::NotCompiled),
    ("convergent", ReasonKind::Convergent),
    ("deleted the loop", ReasonKind::Deleted),
    ("trip count", ReasonKind::TripCount),
    ("copies", ReasonKind::Copies),
];

/// The kind of a reason.
pub fn kind(reason: &str) -> ReasonKind {
    let of_analysis = DropReason::ALL.into_iter().find(|known| known.to_string() == reason).map(ReasonKind::from);
    let by_words = || WORDS.iter().find(|(words, _)| reason.contains(words)).map(|(_, kind)| *kind);
    of_analysis.or_else(by_words).unwrap_or(ReasonKind::Other)
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
        ReasonKind::TripCount => Some(
            "bounds that are constants, const generics included, can be unrolled fully; for others, `#[unroll(N)]` makes N copies",
        ),
        ReasonKind::Convergent => Some(
            "LLVM makes no remainder loop around a call that all threads of a warp make together, such as a barrier or a \
             shuffle: make the trip count a constant, or take the call out of the loop",
        ),
        ReasonKind::Copies => {
            Some("LLVM cuts the number of copies down where a loop's size or trip count allows no more: ask for fewer")
        }
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
            "the optimizer deleted the loop: nothing is left to keep rolled",
            "the loop is still there after optimization: its trip count is no constant",
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
        assert_eq!(kind("the moon is full"), ReasonKind::Other);
        assert_eq!(help("the moon is full"), None);
    }
}
