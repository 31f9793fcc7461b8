//! What the link stage says of one linked module: every hint in it, and every kernel.
//!
//! The linker writes it as JSON, the command reads it. It knows only what reached the link stage; hints of functions
//! that were never compiled are added by the command, which reads the source.

use serde::{Deserialize, Serialize};

/// The report of one link.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LinkReport {
    /// One entry per hint and function, ordered by site and function.
    pub hints: Vec<HintRecord>,
    /// One entry per kernel, in the module's order.
    pub kernels: Vec<KernelRecord>,
}

/// Was a hint kept?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// What came out is what the hint asked for.
    Honoured,
    /// It is not; a reason says why.
    Dropped,
    /// The function that holds the hint is not in the module.
    NotCompiled,
}

/// One hint in one function of the linked module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HintRecord {
    /// The [`Site`](crate::Site), as text.
    pub site: String,
    /// The copies asked for: 0 for all, 1 for a loop that stays rolled.
    pub factor: u64,
    /// The function, demangled.
    pub function: String,
    /// The function's symbol.
    pub symbol: String,
    /// The loops that got the hint. More than one where rustc inlined a function twice into this one.
    pub loops: Vec<LoopRecord>,
    /// Honoured or dropped.
    pub status: Status,
    /// Why it was dropped.
    pub reason: Option<String>,
    /// The loops left of it after optimization, wherever they were inlined.
    pub left: Vec<LeftLoop>,
}

/// A loop that got a hint.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoopRecord {
    /// The header's name in LLVM's text.
    pub header: String,
    /// How many jumps led back to the header.
    pub back_edges: usize,
    /// The name of the single latch.
    pub latch: String,
}

/// A loop left after optimization.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftLoop {
    /// The symbol of the function that it stands in.
    pub symbol: String,
    /// The header's name in LLVM's text.
    pub header: String,
}

/// One kernel, with all that it can call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelRecord {
    /// The kernel's symbol.
    pub name: String,
    /// The loops that carried a hint before optimization.
    pub marked_latches: usize,
    /// The `.pragma "nounroll"` directives in its PTX.
    pub pragmas: usize,
}

/// Why the link stage drops a hint whose loop was found. What the analysis says is in [`DropReason`](crate::DropReason).
pub mod reason {
    /// No loop is left of one that is to stay.
    pub const DELETED: &str = "the optimizer deleted the loop: nothing is left to keep rolled";
    /// A loop that is to stay has become one with another, which has no hint.
    pub const MERGED: &str = "the optimizer made one loop of it and the one around it, which has no hint";
    /// A loop is left because LLVM was not asked to optimize.
    pub const UNOPTIMIZED: &str = "the build is not optimized (`opt-level = 0`), and nothing is unrolled there";
    /// A loop is left whose trip count LLVM does not know.
    pub const RUN_TIME: &str = "the loop is still there: its trip count is known at run time only";
    /// A loop is left that would become too large.
    pub const TOO_LARGE: &str = "the loop is still there: unrolled, it would be larger than LLVM's limit";
    /// A loop is left that cannot have a remainder.
    pub const CONVERGENT: &str =
        "the loop is still there: it holds a convergent call, and its trip count is known at run time only";
    /// A loop is left for a reason that LLVM does not give.
    pub const UNSAID: &str = "the loop is still there, and LLVM does not say why";
    /// How [`copies`] ends.
    pub const COPIES: &str = "which is what a convergent call allows at this trip count";

    /// There is a loop of another number of copies.
    pub fn copies(made: u64, asked: u64) -> String {
        format!("LLVM made {made} copies instead of {asked}, {COPIES}")
    }
}
