//! The sentences that both the compiler plugin and the command print, each once.
//!
//! All others are made where they are printed. Nothing reads a sentence: what it says is in the types beside it.

use crate::{HintKind, NoLoop};
use std::fmt;

/// The title of a message on a hint that was not honoured.
pub fn not_honoured(hint: HintKind, reason: impl fmt::Display) -> String {
    format!("`#[{hint}]` was not honoured: {reason}")
}

/// The note that names a function.
pub fn in_function(name: impl fmt::Display) -> String {
    format!("in the function `{name}`")
}

/// Why a hint has no loop.
pub fn no_loop(reason: NoLoop) -> &'static str {
    match reason {
        NoLoop::Unreachable => "the loop is never reached",
        NoLoop::NeverRepeats => "the loop never repeats",
        NoLoop::Irreducible => "the loop can be entered at two places, so no compiler pass knows it as a loop",
        NoLoop::NoEnter => "the loop can be reached without passing its start",
        NoLoop::Conflict => "the loop carries another hint already",
        NoLoop::FixedBackEdge => "the jump back to the loop's start cannot be redirected",
    }
}

/// What to do about a hint that has no loop.
pub fn no_loop_help(reason: NoLoop) -> &'static str {
    match reason {
        NoLoop::NeverRepeats => {
            "every path through its body leaves it, so that there is no loop to hint: remove the hint, or the loop"
        }
        NoLoop::Irreducible | NoLoop::NoEnter => {
            "no loop of Rust's has this shape, so a compiler pass has given it, although `cargo latch` switches off the one \
             that is known to do so (jump threading): keep other passes out of the crate's flags, or put the loop into a \
             function of its own with `#[inline(never)]`"
        }
        NoLoop::Unreachable => "nothing leads to it: remove the loop, or what keeps it from being reached",
        NoLoop::Conflict => "two hints have met on one loop, perhaps by inlining: keep one of them",
        NoLoop::FixedBackEdge => {
            "an instruction with fixed targets, such as inline assembly with labels, jumps back: move it out of the end \
             of the loop's body"
        }
    }
}
