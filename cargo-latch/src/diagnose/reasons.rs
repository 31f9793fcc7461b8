//! What is said of each reason that a hint was not honoured for: what happened, and what to do about it.
//!
//! Every reason has its sentence here, but for those that the compiler plugin prints too: they are in
//! [`hint_record::text`]. Nothing reads a sentence, so each may be reworded at will.

use hint_record::{Reason, text};

/// What happened.
pub fn sentence(reason: Reason) -> String {
    let fixed = match reason {
        Reason::NoLoop(reason) => text::no_loop(reason),
        Reason::Deleted => "the optimizer deleted the loop: nothing is left to keep rolled",
        Reason::Merged => "the optimizer made one loop of it and the one around it, which has no hint",
        Reason::Unoptimized => "the build is not optimized (`opt-level = 0`), and nothing is unrolled there",
        Reason::TripCount => "the loop is still there: its trip count is known at run time only",
        Reason::TooLarge => "the loop is still there: unrolled, it would be larger than LLVM's limit",
        Reason::Convergent => {
            "the loop is still there: it holds a convergent call, and its trip count is known at run time only"
        }
        Reason::Copies { made, asked } => {
            return format!(
                "LLVM made {made} copies instead of {asked}, which is what a convergent call allows at this trip count"
            );
        }
        Reason::Unsaid => "the loop is still there, and LLVM does not say why",
        Reason::MachineCode => "ptxas left no loop of it in the machine code",
        Reason::Lost => "its marker was lost: its loop is in the machine code, and nothing says what became of it",
        Reason::Unused => "no kernel reaches the loop: its function is never used, or it stands in dead code",
        Reason::InConst => "the loop is evaluated while compiling, where a hint has no meaning",
        Reason::InConstAtRunTime => {
            "it stands in a `const fn`, where a hint has no effect, and its loop is in the machine code"
        }
        Reason::Unmatched => "no loop of the machine code could be matched with it",
        Reason::NoPtxas => "there is no ptxas, and so no machine code to look at",
    };
    fixed.to_owned()
}

/// The same, also where no reason is given.
pub fn sentence_or_unknown(reason: Option<Reason>) -> String {
    reason.map_or_else(|| "no reason is known".to_owned(), sentence)
}

/// What to do about it.
pub fn help(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::NoLoop(reason) => text::no_loop_help(reason),
        Reason::Deleted => {
            "it runs once at most, its result is known while compiling, or nothing uses it: remove the hint, or the loop; a loop that reads or writes \
             memory stays"
        }
        Reason::Merged => {
            "with `#[nounroll]` on the loop around it as well, the one loop stays; so does the inner one in a function of its own \
             with `#[inline(never)]`"
        }
        Reason::TripCount => {
            "a loop can be unrolled fully if the most turns that it can make are a constant, const generics included, and no more \
             than 1024; for others, `#[unroll(N)]` makes N copies"
        }
        Reason::TooLarge => "`#[unroll(N)]` makes a loop of N copies; or give the loop fewer turns or a smaller body",
        Reason::Convergent => {
            "LLVM makes no remainder loop around a call that all threads of a warp make together, such as a barrier or a \
             shuffle: make the trip count a constant, or take the call out of the loop"
        }
        Reason::Copies { .. } => "ask for as many, or give the loop a trip count that the number of copies divides",
        Reason::Unoptimized => "a release build unrolls it",
        Reason::MachineCode => {
            "the optimized LLVM IR and the PTX have the loop; `cargo latch inspect KERNEL --emit hints` shows the way"
        }
        Reason::Lost => {
            "this is a fault of Latch, or of a macro around the loop that drops what `#[kernel]` has written"
        }
        Reason::Unused => "call the function from a kernel, or remove it",
        Reason::InConst => "remove the hint",
        Reason::InConstAtRunTime => {
            "take `const` off the function, or let kernels call another one that has no `const`"
        }
        Reason::Unmatched => "`cargo latch inspect KERNEL --emit hints` shows what is known of it",
        Reason::NoPtxas => "`cargo latch doctor` says how to get it",
        Reason::Unsaid => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_kind_and_its_help() {
        let lines = Reason::samples().into_iter().map(|reason| {
            let help = help(reason).unwrap_or("(nothing to do)");
            format!("{}: {}\n    {help}\n", reason.kind(), sentence(reason))
        });
        insta::assert_snapshot!(lines.collect::<String>());
    }

    #[test]
    fn no_two_reasons_are_told_alike() {
        let sentences: std::collections::BTreeSet<String> = Reason::samples().into_iter().map(sentence).collect();
        assert_eq!(sentences.len(), Reason::samples().len());
    }
}
