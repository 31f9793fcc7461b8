//! The last touch before LLVM prints PTX, so that it prints `.pragma "nounroll"` where a loop's ID asks for it.
//!
//! Code generation removes blocks that do nothing but jump. Where a loop's latch is such a block, its ID goes to the blocks
//! that jumped to it, in place of the IDs that they had, and an outer loop whose latch is merged into an inner loop is
//! printed without pragma (LLVM asks the latch's innermost loop alone). So, of the blocks that only jump on,
//! - those whose ID says nothing to the printer, or that are no latch, lose their ID;
//! - the others get an empty piece of assembly where they would come into conflict, and stay.
//!
//! The assembly costs no instruction: it is a comment in PTX, and the jump over it is ptxas's to fold.

use crate::graph::FunctionGraph;
use crate::loop_id::LoopIds;
use codegen_pass::{Block, Dominators, Flow, LoopForest, LoopId, MergeLatches};
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue};

/// Makes a module ready for printing. Nothing may run on it afterwards but code generation.
pub fn prepare_for_printing(module: &Module<'_>) {
    let ids = LoopIds::new(module.get_context());
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        prepare(&ids, function);
    }
}

fn prepare<'ctx>(ids: &LoopIds<'ctx>, function: FunctionValue<'ctx>) {
    let graph = FunctionGraph::new(function);
    let flow = Flow::of(&graph);
    let forest = LoopForest::from_flow(&flow, &Dominators::of(&flow));
    let jumps = flow.blocks().filter(|&block| graph.ends_in_plain_jump(block));
    let with_id = |block| graph.terminator(block).filter(|jump| ids.is_present(*jump)).map(|jump| (block, jump));
    let jumps: Vec<(Block, InstructionValue<'ctx>)> = jumps.filter_map(with_id).collect();
    for (block, jump) in jumps {
        match own_loop(&forest, block).filter(|_| ids.forbids_unrolling(jump)) {
            None => ids.remove(jump),
            Some(id) if in_conflict(ids, &graph, &flow, &forest, block, id) => insert_empty_assembly(jump),
            Some(_) => {}
        }
    }
}

/// The loop that a block is a latch of, and innermost in.
fn own_loop(forest: &LoopForest, block: Block) -> Option<LoopId> {
    forest.innermost(block).filter(|&id| forest.get(id).latches.contains(&block))
}

/// Does a block that jumps to this one belong to another loop, or carry an ID itself?
fn in_conflict<'ctx>(
    ids: &LoopIds<'ctx>,
    graph: &FunctionGraph<'ctx>,
    flow: &Flow,
    forest: &LoopForest,
    block: Block,
    id: LoopId,
) -> bool {
    let has_id = |from| graph.terminator(from).is_some_and(|terminator| ids.is_present(terminator));
    flow.predecessors(block).iter().any(|&from| forest.innermost(from) != Some(id) || has_id(from))
}

fn insert_empty_assembly(jump: InstructionValue<'_>) {
    let block = jump.get_parent().expect("a terminator is in a block");
    let context = block.get_context();
    let nothing = context.void_type().fn_type(&[], false);
    let assembly = context.create_inline_asm(nothing, String::new(), String::new(), true, false, None, false);
    let builder = context.create_builder();
    builder.position_before(&jump);
    builder.build_indirect_call(nothing, assembly, &[], "").expect("the builder stands before an instruction");
}
