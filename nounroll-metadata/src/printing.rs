//! The last touch before LLVM prints PTX, so that it prints `.pragma "nounroll"` for those loops whose ID asks for it.
//!
//! LLVM prints the pragma at a header if some block jumps there that lies in no inner loop and came from an IR block
//! whose terminator has such an ID. Code generation gets in the way twice: it removes blocks that do nothing but jump,
//! and their ID goes to the blocks before them, in place of those blocks' own; and it makes several blocks of one that
//! ends in a switch, all of which count as having its ID. So
//! - an outer loop's latch that is merged into an inner loop takes the inner loop's ID away, and loses its own;
//! - an outer loop that an inner one's switch continues directly gets the inner loop's pragma.
//!
//! Against both, a loop around another is given a latch of its own that is never merged: an empty piece of assembly
//! stands in it, which is a comment in PTX and no instruction. IDs that say nothing to the printer, or stand on no
//! latch, go.

use crate::graph::FunctionGraph;
use crate::holders::Holders;
use crate::loop_id::LoopIds;
use codegen_pass::{Block, ControlFlow, Dominators, Flow, LoopForest, LoopId, MergeLatches, single_latch};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue, MetadataValue};
use std::collections::HashSet;

/// Makes a module ready for printing. Nothing may run on it afterwards but code generation.
pub fn prepare_for_printing(module: &Module<'_>) {
    let ids = LoopIds::new(module.get_context());
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        keep_latches(&ids, function);
        remove_mute(&ids, function);
    }
}

/// Gives every loop that has loops inside it a lasting latch, if it or one of these is printed with the pragma.
fn keep_latches<'ctx>(ids: &LoopIds<'ctx>, function: FunctionValue<'ctx>) {
    let mut graph = FunctionGraph::new(function);
    let flow = Flow::of(&graph);
    let forest = LoopForest::from_flow(&flow, &Dominators::of(&flow));
    let rolled = rolled(ids, &graph, &forest, &Holders::of(ids, &graph, &flow, &forest));
    let mut concerns: Vec<bool> = rolled.iter().map(Option::is_some).collect();
    let mut has_inner = vec![false; concerns.len()];
    // A loop comes before those inside it.
    for (at, found) in forest.loops().iter().enumerate().rev() {
        if let Some(parent) = found.parent {
            concerns[parent.index()] |= concerns[at];
            has_inner[parent.index()] = true;
        }
    }
    for id in forest.ids().filter(|id| concerns[id.index()] && has_inner[id.index()]) {
        keep_latch(ids, &mut graph, &forest, id, rolled[id.index()]);
    }
}

/// The IDs of the loops that are printed with the pragma.
fn rolled<'ctx>(
    ids: &LoopIds<'ctx>,
    graph: &FunctionGraph<'ctx>,
    forest: &LoopForest,
    holders: &Holders,
) -> Vec<Option<MetadataValue<'ctx>>> {
    let forbidding = |id: LoopId| {
        let holder = graph.terminator(holders.get(id)?)?;
        ids.node(holder).filter(|_| ids.forbids_unrolling(holder))
    };
    forest.ids().map(forbidding).collect()
}

fn keep_latch<'ctx>(
    ids: &LoopIds<'ctx>,
    graph: &mut FunctionGraph<'ctx>,
    forest: &LoopForest,
    id: LoopId,
    node: Option<MetadataValue<'ctx>>,
) {
    let latch = match forest.get(id).latches[..] {
        // A conditional branch is never empty, and speaks for its own loop.
        [only] if forest.innermost(only) == Some(id) => Ok(only),
        _ => single_latch(graph, forest.get(id)),
    };
    let Some((latch, end)) = latch.ok().and_then(|latch| Some((latch, graph.terminator(latch)?))) else { return };
    if let Some(node) = node {
        ids.set(end, node);
    }
    if graph.ends_in_plain_jump(latch) {
        insert_empty_assembly(end);
    }
}

/// Takes the IDs off blocks that are no latch, and those that make nothing printed off blocks that only jump on.
fn remove_mute<'ctx>(ids: &LoopIds<'ctx>, function: FunctionValue<'ctx>) {
    let graph = FunctionGraph::new(function);
    let forest = LoopForest::of(&graph);
    let latches: HashSet<Block> = forest.loops().iter().flat_map(|found| found.latches.iter().copied()).collect();
    for block in (0..graph.block_count()).map(Block::new) {
        let Some(end) = graph.terminator(block) else { continue };
        let is_mute = graph.ends_in_plain_jump(block) && !ids.forbids_unrolling(end);
        if is_mute || !latches.contains(&block) {
            ids.remove(end);
        }
    }
}

/// Convergent, so that the block is not duplicated into those before it.
fn insert_empty_assembly(jump: InstructionValue<'_>) {
    let block = jump.get_parent().expect("a terminator is in a block");
    let context = block.get_context();
    let nothing = context.void_type().fn_type(&[], false);
    let assembly = context.create_inline_asm(nothing, String::new(), String::new(), true, false, None, false);
    let convergent = context.create_enum_attribute(Attribute::get_named_enum_kind_id("convergent"), 0);
    let builder = context.create_builder();
    builder.position_before(&jump);
    let call =
        builder.build_indirect_call(nothing, assembly, &[], "").expect("the builder stands before an instruction");
    call.add_attribute(AttributeLoc::Function, convergent);
}
