//! A MIR body as `codegen_pass` wants to see it, and the record of the changes that it asks for.
//!
//! Nothing is changed here: the body is shared with the rest of the compiler until it is known that there is anything
//! to change, and redirecting each loop's edges at once would look at every arm of a big switch once for each loop.

use codegen_pass::{Block, ControlFlow, MergeLatches};
use rustc_data_structures::fx::{FxHashMap, FxHashSet};
use rustc_middle::mir::{BasicBlock, Body, START_BLOCK, TerminatorKind};

/// A body and its recorded changes.
pub struct MirGraph<'a, 'tcx> {
    body: &'a Body<'tcx>,
    /// The blocks whose marker counts as a jump when they are a loop's latch.
    jumps: FxHashSet<BasicBlock>,
    /// How many latches are to be added. Their numbers follow the body's own.
    added: usize,
    /// The new target of an edge, by its source and its old target.
    pub redirected: FxHashMap<(BasicBlock, BasicBlock), BasicBlock>,
}

impl<'a, 'tcx> MirGraph<'a, 'tcx> {
    /// Looks at `body`. `jumps` are the blocks that hold the marker of an honoured hint, or one that will be erased.
    pub fn new(body: &'a Body<'tcx>, jumps: FxHashSet<BasicBlock>) -> MirGraph<'a, 'tcx> {
        MirGraph { body, jumps, added: 0, redirected: FxHashMap::default() }
    }

    /// Does `block` end in a marker that counts as a jump, and go on to one block only?
    fn jumps_after_marker(&self, block: BasicBlock) -> bool {
        self.jumps.contains(&block) && self.body.basic_blocks[block].terminator().successors().count() == 1
    }
}

/// The block of the body with a number of `codegen_pass`.
pub fn basic_block(block: Block) -> BasicBlock {
    BasicBlock::from_usize(block.index())
}

fn block(block: BasicBlock) -> Block {
    Block::new(block.index())
}

impl ControlFlow for MirGraph<'_, '_> {
    fn block_count(&self) -> usize {
        self.body.basic_blocks.len()
    }

    fn entry(&self) -> Block {
        block(START_BLOCK)
    }

    fn successors(&self, of: Block) -> impl Iterator<Item = Block> + '_ {
        self.body.basic_blocks[basic_block(of)].terminator().successors().map(block)
    }
}

impl MergeLatches for MirGraph<'_, '_> {
    /// A latch that holds the marker of its loop is what this pass makes, so a body that has been through it is left
    /// alone. The marker is no other loop's: a block with one successor, the header, is in no loop inside that
    /// header's.
    fn ends_in_plain_jump(&self, latch: Block) -> bool {
        let latch = basic_block(latch);
        let end = &self.body.basic_blocks[latch].terminator().kind;
        matches!(end, TerminatorKind::Goto { .. }) || self.jumps_after_marker(latch)
    }

    /// MIR names every successor in the open, those of inline assembly and of unwinding too.
    fn can_redirect(&self, _: Block) -> bool {
        true
    }

    fn insert_latch(&mut self, header: Block, latches: &[Block]) -> Block {
        let new = BasicBlock::from_usize(self.body.basic_blocks.len() + self.added);
        self.added += 1;
        for &latch in latches {
            self.redirected.insert((basic_block(latch), basic_block(header)), new);
        }
        block(new)
    }
}
