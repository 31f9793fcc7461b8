//! IDs for the loops without hint.
//!
//! LLVM folds an empty latch into the blocks that jump to it, and the latch's ID goes to their terminators. Such a
//! block may end another loop as well: an inner loop that is tested at its bottom, or an outer loop that the inner one
//! continues directly. That loop would then have the hint too. Where both latches have an ID, LLVM leaves them alone;
//! an ID without properties does not count.
//!
//! Which loops come to lie in or around each other is known only after inlining. So where a module has a hint, every
//! loop in it gets an ID.
//!
//! So does every switch in a loop, although it is no latch: where LLVM turns a switch into a comparison, it drops the
//! ID, and with it the hint of a latch that was folded into the switch before.
//!
//! What this cannot prevent: an outer loop whose turn starts with the inner loop can be made one loop with it, as in
//! `while a { loop { …; if b { break } } }`. LLVM takes the ID of either then. Where that is the hinted one, all of the
//! new loop is what its hint asks for, the outer one's part with it; no other loop is there any more. Where it is the
//! plain one, the hint is gone, and the report has to say so (the linker's `why` module finds out). An ID for the
//! branch into the inner loop, which keeps the two apart as long as loops are transformed, does not do so to the end;
//! and with no ID for the outer loop, hints would slip onto it in other shapes.

use crate::graph::FunctionGraph;
use crate::loop_id::{Existing, LoopIds};
use codegen_pass::{Block, ControlFlow, LoopForest, LoopId, MergeLatches, single_latch};
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};
use std::collections::HashSet;

/// Gives every loop of the function that carries no hint an ID of its own, and every switch in a loop. Other IDs on
/// blocks that are no latch (any more) are taken off.
pub fn mark_plain_loops<'ctx>(ids: &LoopIds<'ctx>, function: FunctionValue<'ctx>) {
    let mut graph = FunctionGraph::new(function);
    let forest = LoopForest::of(&graph);
    if forest.loops().is_empty() {
        return;
    }
    let plain: Vec<(LoopId, Existing<'ctx>)> = forest
        .ids()
        .filter(|&id| !is_hinted(ids, &graph, &forest, id))
        // A block that ends two loops has one ID for both, so it is read before the first of them is touched.
        .map(|id| (id, ids.existing(terminators(&graph, &forest, id))))
        .collect();
    for (id, existing) in plain {
        // A loop that cannot be given a single latch stays without an ID: LLVM could not fold into it either.
        let latch = single_latch(&mut graph, forest.get(id));
        if let Some(terminator) = latch.ok().and_then(|latch| graph.terminator(latch)) {
            ids.write_plain(terminator, &existing);
        }
    }
    mark_switches(ids, &graph);
}

fn terminators<'a, 'ctx>(
    graph: &'a FunctionGraph<'ctx>,
    forest: &'a LoopForest,
    id: LoopId,
) -> impl Iterator<Item = InstructionValue<'ctx>> + 'a {
    forest.get(id).latches.iter().filter_map(|&latch| graph.terminator(latch))
}

/// Hinted loops have a single latch by now, which names the hint.
fn is_hinted<'ctx>(ids: &LoopIds<'ctx>, graph: &FunctionGraph<'ctx>, forest: &LoopForest, id: LoopId) -> bool {
    match forest.get(id).latches[..] {
        [latch] if graph.ends_in_plain_jump(latch) => {
            graph.terminator(latch).is_some_and(|terminator| ids.read(terminator).is_some())
        }
        _ => false,
    }
}

/// Every loop has a latch of its own by now, so a switch is one only where its loop could not be changed.
fn mark_switches<'ctx>(ids: &LoopIds<'ctx>, graph: &FunctionGraph<'ctx>) {
    let forest = LoopForest::of(graph);
    let latches: HashSet<Block> = forest.loops().iter().flat_map(|found| found.latches.iter().copied()).collect();
    for block in (0..graph.block_count()).map(Block::new).filter(|block| !latches.contains(block)) {
        match graph.terminator(block) {
            Some(end) if end.get_opcode() == InstructionOpcode::Switch && forest.innermost(block).is_some() => {
                ids.write_plain(end, &Existing::default());
            }
            Some(end) => ids.remove(end),
            None => {}
        }
    }
}
