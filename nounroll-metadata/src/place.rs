//! Where in the source a hinted loop's jump back belongs: to the loop's keyword, from here to the machine code.
//!
//! A marker's own debug location is of no use for that: rustc gives all code of a macro the place at which the macro is
//! called, and so every marker in a kernel the line of its `#[kernel]`. The site knows the keyword's line; the marker's
//! location knows the file, the function, and the calls through which it was inlined.
//!
//! The optimizer replaces a latch's jump by others, with other places. But a location in the loop's ID it keeps, and
//! corrects where it inlines the loop. So [`keep`] puts one there, and [`place_latches`] gives it to the jumps that are
//! left. A loop that LLVM has unrolled has lost it, and keeps its site: the jump then gets the keyword's line, in the
//! function that it is in.
//!
//! When it is wrong: a loop that a `macro_rules!` of another file wrote keeps the marker's place.

use crate::ffi::{self, MetadataBuilder, Place};
use crate::graph::FunctionGraph;
use crate::loop_id::LoopIds;
use codegen_pass::{Block, LoopForest};
use hint_record::Site;
use inkwell::module::Module;
use inkwell::values::{BasicValue, FunctionValue, InstructionOpcode, InstructionValue, MetadataValue};
use std::collections::BTreeSet;
use std::path::Path;

const LOOP_KIND: &str = "llvm.loop";

/// Gives a hinted loop's latch the place of the loop's keyword, and its ID too. Nothing happens without debug
/// information.
pub fn keep<'ctx>(latch: InstructionValue<'ctx>, marker: InstructionValue<'ctx>, site: &Site) {
    let Some(place) = keyword(marker, site) else { return };
    place.set(latch);
    hold(latch, place);
}

/// Puts a place into a latch's ID, if it has one, in place of others.
pub fn hold<'ctx>(latch: InstructionValue<'ctx>, place: Place<'ctx>) {
    let Some(block) = latch.get_parent() else { return };
    let (builder, kind) = (MetadataBuilder::new(block.get_context()), block.get_context().get_kind_id(LOOP_KIND));
    let Some(id) = latch.get_metadata(kind) else { return };
    let properties = ffi::node_operands(id).into_iter().flatten().filter(|property| *property != id);
    let properties = properties.filter(|property| Place::in_node(*property).is_none());
    let all: Vec<_> =
        std::iter::once(builder.place(place)).chain(properties.map(|property| builder.existing(property))).collect();
    builder.attach(latch, kind, builder.self_referencing(&all));
}

/// Gives every latch whose ID holds a place that place, and what decides whether it jumps back too, unless that was
/// written in the same file. For a module that has been optimized.
///
/// The comparison, because ptxas knows no line for a jump that all threads take together; and not one of the same file,
/// because it is then what the user wrote: the condition of a `while`, or of a `break`.
pub fn place_latches(module: &Module<'_>) {
    let ids = LoopIds::new(module.get_context());
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        for latch in latches(function) {
            let held = ids.node(latch).and_then(held);
            let named = || ids.read(latch).and_then(|named| at_keyword(latch, &named.site));
            if let Some(place) = held.or_else(named) {
                place.set(latch);
                let condition = condition(latch);
                let foreign = condition.filter(|&from| Place::of(from).and_then(Place::file) != place.file());
                foreign.into_iter().for_each(|from| place.set(from));
            }
        }
    }
}

fn latches<'ctx>(function: FunctionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let graph = FunctionGraph::new(function);
    let forest = LoopForest::of(&graph);
    let blocks: BTreeSet<Block> = forest.loops().iter().flat_map(|found| found.latches.iter().copied()).collect();
    blocks.into_iter().filter_map(|block| graph.terminator(block)).collect()
}

/// The instruction that decides where a conditional branch goes.
fn condition(branch: InstructionValue<'_>) -> Option<InstructionValue<'_>> {
    let is_conditional = branch.get_opcode() == InstructionOpcode::Br && branch.get_num_operands() == 3;
    branch.get_operand(0).filter(|_| is_conditional)?.value()?.as_instruction_value()
}

fn held(id: MetadataValue<'_>) -> Option<Place<'_>> {
    ffi::node_operands(id).into_iter().flatten().find_map(Place::in_node)
}

/// The marker's place with the keyword's line and column, if both are in one file.
fn keyword<'ctx>(marker: InstructionValue<'ctx>, site: &Site) -> Option<Place<'ctx>> {
    at_keyword(marker, site).or_else(|| Place::of(marker))
}

fn at_keyword<'ctx>(instruction: InstructionValue<'ctx>, site: &Site) -> Option<Place<'ctx>> {
    let place = Place::of(instruction)?;
    let is_same_file = place.file().is_some_and(|file| Path::new(&file).ends_with(&site.file));
    let context = instruction.get_parent()?.get_context();
    is_same_file.then(|| place.with_line(context, site.line, site.column))
}
