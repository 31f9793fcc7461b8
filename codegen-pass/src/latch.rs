//! One latch for a loop.
//!
//! LLVM reads a loop's metadata from its latch, and ignores it where several latches disagree. A latch may also end
//! another loop at the same time (a bottom-tested inner loop that continues the outer one), or end in a switch; then
//! metadata on it would be read for the wrong loop, or lost. A block of its own, whose one jump goes to the header and
//! which no other loop ends in, has none of these troubles.
//!
//! The rewrite is sound because the new block does nothing: every path through a back edge still goes to the header.
//! Every edge is checked before the first is changed, so that a refusal leaves the function as it was.

use crate::{Block, ControlFlow, DropReason, Loop};

/// A function body whose back edges can be redirected.
pub trait MergeLatches: ControlFlow {
    /// Does `latch` end in an unconditional jump, and nothing but?
    fn ends_in_plain_jump(&self, latch: Block) -> bool;

    /// Can the edges from `latch` be given another target?
    fn can_redirect(&self, latch: Block) -> bool;

    /// Adds a block that jumps to `header`, and redirects every edge from `latches` to `header` there. Values that
    /// arrive at the header along these edges arrive through the new block.
    fn insert_latch(&mut self, header: Block, latches: &[Block]) -> Block;
}

/// The single latch of `found`, made if there is none yet. `found` is of the function before any rewrite: latches that
/// were inserted for other loops do not change it.
pub fn single_latch(graph: &mut impl MergeLatches, found: &Loop) -> Result<Block, DropReason> {
    match found.latches[..] {
        [only] if graph.ends_in_plain_jump(only) => Ok(only),
        ref latches if latches.iter().all(|&latch| graph.can_redirect(latch)) => {
            Ok(graph.insert_latch(found.header, latches))
        }
        _ => Err(DropReason::FixedBackEdge),
    }
}
