//! An LLVM function as a control-flow graph whose latches can be merged.
//!
//! Successors are read from the instructions each time, so the graph is never out of date. Blocks are numbered in the
//! order of the function when the graph was made; latches that are inserted later get the next numbers.

use crate::ffi;
use codegen_pass::{Block, ControlFlow, MergeLatches};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::values::{BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, PhiValue};
use std::collections::{HashMap, HashSet};

/// The blocks of one function with a body.
pub struct FunctionGraph<'ctx> {
    blocks: Vec<BasicBlock<'ctx>>,
    numbers: HashMap<BasicBlock<'ctx>, Block>,
    builder: Builder<'ctx>,
}

impl<'ctx> FunctionGraph<'ctx> {
    /// The graph of a function that has a body.
    pub fn new(function: FunctionValue<'ctx>) -> FunctionGraph<'ctx> {
        let blocks = function.get_basic_blocks();
        let numbers = blocks.iter().enumerate().map(|(at, &block)| (block, Block::new(at))).collect();
        let builder = blocks[0].get_context().create_builder();
        FunctionGraph { blocks, numbers, builder }
    }

    /// The LLVM block with a number.
    pub fn llvm_block(&self, block: Block) -> BasicBlock<'ctx> {
        self.blocks[block.index()]
    }

    /// The blocks, in the order of their numbers.
    pub fn llvm_blocks(&self) -> &[BasicBlock<'ctx>] {
        &self.blocks
    }

    /// The last instruction of a block. None in a block that is malformed, which verification reports.
    pub fn terminator(&self, block: Block) -> Option<InstructionValue<'ctx>> {
        self.llvm_block(block).get_terminator()
    }
}

impl ControlFlow for FunctionGraph<'_> {
    fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn entry(&self) -> Block {
        Block(0)
    }

    fn successors(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.terminator(block).into_iter().flat_map(ffi::successors).map(|target| self.numbers[&target])
    }
}

impl MergeLatches for FunctionGraph<'_> {
    fn ends_in_plain_jump(&self, latch: Block) -> bool {
        self.terminator(latch).is_some_and(|terminator| {
            terminator.get_opcode() == InstructionOpcode::Br && ffi::successors(terminator).len() == 1
        })
    }

    fn can_redirect(&self, latch: Block) -> bool {
        self.terminator(latch).is_some_and(|terminator| {
            matches!(terminator.get_opcode(), InstructionOpcode::Br | InstructionOpcode::Switch)
        })
    }

    fn insert_latch(&mut self, header: Block, latches: &[Block]) -> Block {
        let old: Vec<BasicBlock<'_>> = latches.iter().map(|&latch| self.llvm_block(latch)).collect();
        let header = self.llvm_block(header);
        let last = *old.last().expect("a loop has a latch");
        let new = last.get_context().insert_basic_block_after(last, "");

        let sources: HashSet<BasicBlock<'_>> = old.iter().copied().collect();
        for phi in phis(header) {
            split_phi(&self.builder, phi, &sources, new);
        }
        // Splitting the phis has left their place in the source behind, which is not the jump's.
        self.builder.unset_current_debug_location();
        self.builder.position_at_end(new);
        self.builder.build_unconditional_branch(header).expect("the builder stands at the end of a block");
        for latch in old {
            ffi::redirect(latch.get_terminator().expect("a latch ends in a branch"), header, new);
        }

        let number = Block::new(self.blocks.len());
        self.blocks.push(new);
        self.numbers.insert(new, number);
        number
    }
}

fn phis<'ctx>(block: BasicBlock<'ctx>) -> Vec<PhiValue<'ctx>> {
    block.get_instructions().map_while(|instruction| PhiValue::try_from(instruction).ok()).collect()
}

/// Moves what `phi` takes from the old latches into a phi of the new one. LLVM's C API cannot remove an edge from a
/// phi, so the phi is replaced by a new one.
fn split_phi<'ctx>(
    builder: &Builder<'ctx>,
    phi: PhiValue<'ctx>,
    old: &HashSet<BasicBlock<'ctx>>,
    new: BasicBlock<'ctx>,
) {
    let (from_latches, from_outside): (Vec<_>, Vec<_>) = phi.get_incomings().partition(|(_, from)| old.contains(from));
    let name = phi.get_name().to_string_lossy().into_owned();
    let ty = phi.as_basic_value().get_type();

    builder.position_at_end(new);
    let joined = builder.build_phi(ty, &format!("{name}.latch")).expect("a phi has a first-class type");
    add_incoming(joined, &from_latches);
    ffi::copy_fast_math(phi, joined);

    builder.position_before(&phi.as_instruction());
    let replacement = builder.build_phi(ty, "").expect("a phi has a first-class type");
    add_incoming(replacement, &from_outside);
    add_incoming(replacement, &[(joined.as_basic_value(), new)]);
    ffi::copy_fast_math(phi, replacement);
    phi.replace_all_uses_with(&replacement);
    phi.as_instruction().erase_from_basic_block();
    replacement.set_name(&name);
}

fn add_incoming<'ctx>(phi: PhiValue<'ctx>, incoming: &[(BasicValueEnum<'ctx>, BasicBlock<'ctx>)]) {
    let incoming: Vec<(&dyn BasicValue<'ctx>, BasicBlock<'ctx>)> =
        incoming.iter().map(|(value, from)| (value as &dyn BasicValue<'ctx>, *from)).collect();
    phi.add_incoming(&incoming);
}
