//! Loops that LLVM has made of one.
//!
//! Where several paths lead back to a header, LLVM may put a block with nothing in it before the header, to which some
//! of them lead from then on. That is a loop to all analyses, around the one whose header comes next; some of its jumps
//! carry the ID that the whole loop had, or none. It counts as a part of the inner one.
//!
//! When it is wrong: it goes by the name that LLVM gives such a block, and by what a hint that nests in itself has not:
//! it stands in the source only once.

use crate::graph::FunctionGraph;
use crate::loop_id::{LoopIds, Named};
use codegen_pass::{ControlFlow, LoopForest, LoopId, MergeLatches};
use inkwell::values::InstructionOpcode;

/// What LLVM appends to the header's name.
const SUFFIX: &str = ".outer";

/// The loop that a loop is a part of; nearly always itself.
pub fn whole<'ctx>(ids: &LoopIds<'ctx>, graph: &FunctionGraph<'ctx>, forest: &LoopForest, id: LoopId) -> LoopId {
    let header = forest.get(id).header;
    let block = graph.llvm_block(header);
    let does_nothing = |opcode| matches!(opcode, InstructionOpcode::Phi | InstructionOpcode::Br);
    let is_empty = || block.get_instructions().all(|instruction| does_nothing(instruction.get_opcode()));
    if !block.get_name().to_string_lossy().contains(SUFFIX) || !graph.ends_in_plain_jump(header) || !is_empty() {
        return id;
    }
    let next = graph.successors(header).next();
    let is_next = |inner: &LoopId| forest.get(*inner).parent == Some(id) && Some(forest.get(*inner).header) == next;
    match forest.ids().find(is_next) {
        Some(inner) if names_no_other(ids, graph, forest, id, inner) => whole(ids, graph, forest, inner),
        _ => id,
    }
}

fn names_no_other<'ctx>(
    ids: &LoopIds<'ctx>,
    graph: &FunctionGraph<'ctx>,
    forest: &LoopForest,
    outer: LoopId,
    inner: LoopId,
) -> bool {
    let named = |id: LoopId| -> Vec<Named> {
        forest.get(id).latches.iter().filter_map(|&latch| ids.read(graph.terminator(latch)?)).collect()
    };
    let inner = named(inner);
    named(outer)
        .iter()
        .all(|outer| inner.iter().any(|inner| (&inner.site, &inner.function) == (&outer.site, &outer.function)))
}
