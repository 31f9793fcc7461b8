//! The loops of one function, with what a caller may want to know about each.
//!
//! Finding them is `codegen-pass`'s work: the same natural loops by which hints are placed in MIR and LLVM IR.

use std::collections::BTreeSet;

use codegen_pass::{Block, Flow, LoopForest};

use crate::{Frame, Graph, Instruction, Section, Source};

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop<'m> {
    /// The address of the only instruction through which the loop is entered.
    pub header: u64,
    /// The addresses of the instructions that go back to it, in ascending order.
    pub latches: Vec<u64>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// The loop right around this one, by its position among the function's loops.
    pub parent: Option<usize>,
    /// Its blocks, by their position in [`Graph::blocks`].
    pub blocks: Vec<usize>,
    /// Its instructions, those of the loops inside it included, by address.
    pub instructions: Vec<&'m Instruction>,
}

impl<'m> Loop<'m> {
    /// Does the loop hold an instruction whose opcode starts with `opcode`, modifier by modifier? `HGMMA`, `ATOMS.CAS`.
    pub fn holds(&self, opcode: &str) -> bool {
        self.instructions.iter().any(|instruction| instruction.is(opcode))
    }

    /// The source line of the branch back, or else of the header. Where the compiler rotated the loop, that is its
    /// condition.
    pub fn source(&self) -> Option<&'m Source> {
        let at = |address: u64| self.instructions.iter().find(move |i| i.address == address)?.source.as_ref();
        self.latches.iter().chain([&self.header]).find_map(|&address| at(address))
    }

    /// Every source line of the loop, and of the calls through which its code was inlined.
    pub fn lines(&self) -> BTreeSet<&'m Frame> {
        self.instructions.iter().filter_map(|i| i.source.as_ref()).flat_map(Source::frames).collect()
    }
}

/// The loops of `graph`, outer loops first, and whether there are cycles beside them.
pub(crate) fn loops_of<'m>(graph: &Graph, section: &'m Section) -> (Vec<Loop<'m>>, bool) {
    let forest = LoopForest::of(graph);
    (describe(graph, section, &forest), is_irreducible(graph, &forest))
}

fn describe<'m>(graph: &Graph, section: &'m Section, forest: &LoopForest) -> Vec<Loop<'m>> {
    let code = |block: usize| &section.instructions[graph.blocks[block].code.clone()];
    let first = |block: Block| code(block.index())[0].address;
    let last = |block: &Block| code(block.index()).last().map_or(0, |instruction| instruction.address);
    let one = |(found, blocks): (&codegen_pass::Loop, Vec<usize>)| Loop {
        header: first(found.header),
        latches: found.latches.iter().map(last).collect(),
        depth: found.depth,
        parent: found.parent.map(|parent| parent.index()),
        instructions: blocks.iter().flat_map(|&block| code(block)).collect(),
        blocks,
    };
    forest.loops().iter().zip(blocks_of(forest, graph.blocks.len())).map(one).collect()
}

/// The blocks of every loop, in ascending order. A block belongs to its innermost loop and to all around that.
fn blocks_of(forest: &LoopForest, count: usize) -> Vec<Vec<usize>> {
    let mut blocks = vec![Vec::new(); forest.loops().len()];
    for block in 0..count {
        let mut inside = forest.innermost(Block::new(block));
        while let Some(id) = inside {
            blocks[id.index()].push(block);
            inside = forest.get(id).parent;
        }
    }
    blocks
}

/// Is there a cycle that is no natural loop? Without the branches back to headers, is there still a cycle: can the
/// blocks not be put in an order where every edge goes forward?
fn is_irreducible(graph: &Graph, forest: &LoopForest) -> bool {
    let flow = Flow::of(graph);
    let back: BTreeSet<_> =
        forest.loops().iter().flat_map(|l| l.latches.iter().map(|&latch| (latch, l.header))).collect();
    let forward = |&block: &Block| {
        let back = &back;
        flow.successors(block).iter().copied().filter(move |&to| !back.contains(&(block, to)))
    };
    let mut waiting_for: Vec<usize> = vec![0; graph.blocks.len()];
    flow.blocks().for_each(|block| forward(&block).for_each(|to| waiting_for[to.index()] += 1));
    let mut ready: Vec<_> = flow.blocks().filter(|block| waiting_for[block.index()] == 0).collect();
    let mut ordered = 0;
    while let Some(block) = ready.pop() {
        ordered += 1;
        for to in forward(&block) {
            waiting_for[to.index()] -= 1;
            if waiting_for[to.index()] == 0 {
                ready.push(to);
            }
        }
    }
    ordered < graph.blocks.len()
}
