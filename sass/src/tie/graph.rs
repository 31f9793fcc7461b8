//! The machine code of one kernel with all that it calls, as one graph of blocks; and who calls whom in PTX.
//!
//! A call falls through to where it comes back, a return ends: the blocks of a function that is called form a part of
//! the graph of their own. Blocks that two functions share stand once.

use std::collections::{HashMap, HashSet};

use crate::{BasicBlock, Function, Instruction, Kernel, PtxModule};

/// The blocks of a kernel.
pub(super) struct Code<'m> {
    blocks: Vec<Node<'m>>,
    pub(super) successors: Vec<Vec<usize>>,
    pub(super) predecessors: Vec<Vec<usize>>,
}

/// A block of machine code.
struct Node<'m> {
    section: &'m str,
    code: &'m [Instruction],
    is_helper: bool,
}

impl<'m> Code<'m> {
    pub(super) fn of(kernel: &Kernel<'_, 'm>) -> Code<'m> {
        let mut code = Code { blocks: Vec::new(), successors: Vec::new(), predecessors: Vec::new() };
        let mut known: HashMap<(&'m str, u64), usize> = HashMap::new();
        for function in kernel.functions() {
            let names: Vec<usize> =
                (0..function.graph.blocks.len()).map(|block| code.add(function, block, &mut known)).collect();
            for (from, block) in function.graph.blocks.iter().enumerate() {
                code.add_edges(names[from], block, &names);
            }
        }
        code.predecessors = reversed(&code.successors);
        code
    }

    fn add(
        &mut self,
        function: &Function<'m>,
        block: usize,
        known: &mut HashMap<(&'m str, u64), usize>,
    ) -> usize {
        let (section, code) = (function.section.name.as_str(), function.code(block));
        *known.entry((section, code[0].address)).or_insert_with(|| {
            self.blocks.push(Node { section, code, is_helper: function.is_helper() });
            self.successors.push(Vec::new());
            self.blocks.len() - 1
        })
    }

    fn add_edges(&mut self, from: usize, block: &BasicBlock, names: &[usize]) {
        for edge in &block.edges {
            if !self.successors[from].contains(&names[edge.to]) {
                self.successors[from].push(names[edge.to]);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn block(&self, node: usize) -> &'m [Instruction] {
        self.blocks[node].code
    }

    pub(super) fn section(&self, node: usize) -> &'m str {
        self.blocks[node].section
    }

    /// Is it in a function of ptxas's own?
    pub(super) fn is_helper(&self, node: usize) -> bool {
        self.blocks[node].is_helper
    }

    /// Every instruction with its block.
    pub(super) fn instructions(&self) -> impl Iterator<Item = (usize, &'m Instruction)> {
        self.blocks.iter().enumerate().flat_map(|(at, node)| node.code.iter().map(move |instruction| (at, instruction)))
    }
}

fn reversed(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (from, to) in successors.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |&to| (from, to))) {
        predecessors[to].push(from);
    }
    predecessors
}

/// The calls of every PTX function: the block, and the function called.
pub(super) struct Calls(Vec<Vec<(usize, usize)>>);

impl Calls {
    pub(super) fn of(ptx: &PtxModule) -> Calls {
        let of_one = |function: &crate::PtxFunction| {
            let calls = function.calls();
            calls.filter_map(|(at, name)| Some((function.block_of(at), ptx.position(name)?))).collect()
        };
        Calls(ptx.functions().iter().map(of_one).collect())
    }

    /// The functions that those blocks of a function call, in the end.
    pub(super) fn reached(&self, function: usize, is_inside: impl Fn(usize) -> bool) -> HashSet<usize> {
        let straight = self.0[function].iter().filter(|(block, _)| is_inside(*block)).map(|(_, callee)| *callee);
        let mut pending: Vec<usize> = straight.collect();
        let mut reached = HashSet::new();
        while let Some(callee) = pending.pop() {
            if reached.insert(callee) {
                pending.extend(self.0[callee].iter().map(|(_, callee)| *callee));
            }
        }
        reached
    }
}
