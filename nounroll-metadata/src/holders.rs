//! Which block carries the ID of a loop that has been through the optimizer.
//!
//! It is a latch, and only a latch: unrolling can leave a copy of the ID on a branch that does not jump back. A block
//! can end several loops; its ID is that of the innermost one of these.
//!
//! One detour: LLVM may fold a latch into the switch before it and later put an empty block on that edge again, without
//! taking the ID there if several cases of the switch lead to it. So the ID of an empty latch that has none is that of
//! a block before it, if this block is no latch and no loop has the same ID.

use crate::graph::FunctionGraph;
use crate::loop_id::LoopIds;
use codegen_pass::{Block, Flow, LoopForest, LoopId, MergeLatches};
use inkwell::values::{InstructionOpcode, MetadataValue};
use std::collections::{HashMap, HashSet};

/// The block that carries each loop's ID.
pub struct Holders {
    holder: Vec<Option<Block>>,
}

impl Holders {
    /// Finds them, for the function whose loops are given.
    pub fn of(ids: &LoopIds<'_>, graph: &FunctionGraph<'_>, flow: &Flow, forest: &LoopForest) -> Holders {
        let id_of = |block: Block| graph.terminator(block).and_then(|end| ids.node(end));
        // A loop comes before those inside it, so the innermost one stays.
        let ended: HashMap<Block, LoopId> =
            forest.ids().flat_map(|id| forest.get(id).latches.iter().map(move |&latch| (latch, id))).collect();
        let is_holder = |id: LoopId, latch: &&Block| ended[*latch] == id && id_of(**latch).is_some();
        let at_latch = |id: LoopId| forest.get(id).latches.iter().find(|latch| is_holder(id, latch)).copied();
        let mut holder: Vec<Option<Block>> = forest.ids().map(at_latch).collect();

        let in_use: HashSet<MetadataValue<'_>> = holder.iter().flatten().copied().filter_map(id_of).collect();
        let is_left_behind =
            |block: &&Block| !ended.contains_key(*block) && id_of(**block).is_some_and(|id| !in_use.contains(&id));
        for id in forest.ids().filter(|id| holder[id.index()].is_none()).collect::<Vec<_>>() {
            let empty = forest.get(id).latches.iter().filter(|&&latch| only_jumps(graph, latch));
            let before = empty.flat_map(|&latch| flow.predecessors(latch)).find(is_left_behind);
            holder[id.index()] = before.copied();
        }
        Holders { holder }
    }

    /// The block that carries the loop's ID.
    pub fn get(&self, id: LoopId) -> Option<Block> {
        self.holder[id.index()]
    }
}

fn only_jumps(graph: &FunctionGraph<'_>, block: Block) -> bool {
    let does_nothing = |opcode| matches!(opcode, InstructionOpcode::Phi | InstructionOpcode::Br);
    graph.ends_in_plain_jump(block)
        && graph.llvm_block(block).get_instructions().all(|instruction| does_nothing(instruction.get_opcode()))
}
