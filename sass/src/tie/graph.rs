//! The machine code of one kernel with all that it calls, as one graph of blocks; and who calls whom in PTX.
//!
//! A call falls through to where it comes back, a return ends: the blocks of a function that is called form a part of
//! the graph of their own. Blocks that two functions share stand once.
//!
//! ptxas likes to take the code behind a loop into it, under the predicate of the branch that leaves:
//!
//! ```text
//! @P0 STG.E desc[UR4][R4.64], R11
//! @P0 BRA `(.L_x_4)
//! BRA `(.L_x_3)
//! ```
//!
//! The store runs only where the branch is taken, so it stands for the way out and not for the loop. Instructions under
//! the predicate of the branch that ends their block, or under its opposite, get a block of their own on that edge.

use std::collections::{HashMap, HashSet};

use super::uniform::writes;
use crate::{BasicBlock, EdgeKind, Function, Instruction, Kernel, Predicate, PtxModule};

/// The blocks of a kernel.
pub(super) struct Code<'m> {
    blocks: Vec<Node<'m>>,
    pub(super) successors: Vec<Vec<usize>>,
    pub(super) predecessors: Vec<Vec<usize>>,
}

/// A block of machine code.
struct Node<'m> {
    section: &'m str,
    code: Vec<&'m Instruction>,
    is_helper: bool,
    /// Where the block of machine code begins that this is, or is a part of.
    start: u64,
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

    fn add(&mut self, function: &Function<'m>, block: usize, known: &mut HashMap<(&'m str, u64), usize>) -> usize {
        let (section, code) = (function.section.name.as_str(), function.code(block));
        let start = code[0].address;
        *known.entry((section, start)).or_insert_with(|| {
            let is_helper = function.is_helper();
            self.push(Node { section, code: code.iter().collect(), is_helper, start })
        })
    }

    fn push(&mut self, node: Node<'m>) -> usize {
        self.blocks.push(node);
        self.successors.push(Vec::new());
        self.blocks.len() - 1
    }

    fn add_edges(&mut self, from: usize, block: &BasicBlock, names: &[usize]) {
        if !self.successors[from].is_empty() {
            return; // shared with a function before
        }
        let (taken, passed) = self.split_off(from);
        for edge in &block.edges {
            let way = if edge.kind == EdgeKind::Next { passed } else { taken };
            let source = way.unwrap_or(from);
            if !self.successors[source].contains(&names[edge.to]) {
                self.successors[source].push(names[edge.to]);
            }
        }
        self.successors[from].extend(taken.into_iter().chain(passed));
    }

    /// Gives the instructions that run only on one way out of a block a block of their own: for the way that the last
    /// instruction takes, and for the way past it.
    fn split_off(&mut self, node: usize) -> (Option<usize>, Option<usize>) {
        let Some((last, before)) = self.blocks[node].code.split_last() else { return (None, None) };
        let conditions = conditions(last);
        let (mut kept, mut taken, mut passed) = (vec![*last], Vec::new(), Vec::new());
        let mut known: Vec<&Predicate> = conditions.iter().collect();
        for &instruction in before.iter().rev() {
            known.retain(|condition| !writes(instruction, &condition.register));
            let place = match &instruction.predicate {
                Some(own) if known.iter().any(|condition| is_opposite(condition, own)) => &mut passed,
                Some(own) if conditions.len() == 1 && known.contains(&own) => &mut taken,
                _ => &mut kept,
            };
            place.push(instruction);
        }
        kept.reverse();
        self.blocks[node].code = kept;
        (self.part(node, taken), self.part(node, passed))
    }

    fn part(&mut self, of: usize, mut code: Vec<&'m Instruction>) -> Option<usize> {
        code.reverse();
        let Node { section, is_helper, start, .. } = self.blocks[of];
        (!code.is_empty()).then(|| self.push(Node { section, code, is_helper, start }))
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn block(&self, node: usize) -> &[&'m Instruction] {
        &self.blocks[node].code
    }

    /// The address of the block of machine code that it is, or is a part of.
    pub(super) fn start(&self, node: usize) -> u64 {
        self.blocks[node].start
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
        self.blocks
            .iter()
            .enumerate()
            .flat_map(|(at, node)| node.code.iter().map(move |&instruction| (at, instruction)))
    }
}

/// What must hold for the last instruction of a block to leave it; nothing where it always does, or never.
fn conditions(last: &Instruction) -> Vec<Predicate> {
    if last.flow == crate::Flow::Next {
        return Vec::new();
    }
    let among_operands = last.operands.iter().filter_map(|operand| Predicate::parse(operand));
    among_operands.chain(last.predicate.clone()).filter(|predicate| !predicate.register.ends_with('T')).collect()
}

fn is_opposite(first: &Predicate, second: &Predicate) -> bool {
    first.register == second.register && first.negated != second.negated
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
