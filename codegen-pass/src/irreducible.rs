//! Cycles that have no header.
//!
//! A cycle that can be entered at two places is no natural loop, so no hint can be put on it. LLVM does not know it as
//! a loop either. What must not happen is that a hint in such a cycle is taken for one of the natural loop around it.
//!
//! Without the back edges of natural loops, what still runs in a circle is irreducible: the strongly connected
//! components of that graph (found by Tarjan's algorithm) are the irreducible cycles. A component that holds the header
//! of a natural loop lies around that loop, and does not concern the blocks inside it.

use crate::{Block, Dominators, Flow, LoopForest};

/// The irreducible cycles of a function.
#[derive(Clone, Debug)]
pub struct IrreducibleCycles {
    /// The component of every block that lies in an irreducible cycle.
    component: Vec<Option<u32>>,
}

impl IrreducibleCycles {
    /// Finds them. Costs one walk over the function, also where there are none.
    pub fn of(flow: &Flow, dominators: &Dominators) -> IrreducibleCycles {
        Tarjan::new(flow, dominators).run()
    }

    /// Does `block` repeat in a cycle without header that is smaller than the smallest natural loop around it?
    pub fn is_tightest_around(&self, block: Block, forest: &LoopForest) -> bool {
        let Some(cycle) = self.component[block.index()] else { return false };
        forest.innermost(block).is_none_or(|inner| self.component[forest.get(inner).header.index()] != Some(cycle))
    }
}

/// Tarjan's strongly connected components, with a stack of its own instead of recursion.
struct Tarjan<'a> {
    flow: &'a Flow,
    dominators: &'a Dominators,
    number: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<Block>,
    next_number: u32,
    component: Vec<Option<u32>>,
    components: u32,
}

const UNVISITED: u32 = u32::MAX;

impl<'a> Tarjan<'a> {
    fn new(flow: &'a Flow, dominators: &'a Dominators) -> Tarjan<'a> {
        let count = flow.block_count();
        Tarjan {
            flow,
            dominators,
            number: vec![UNVISITED; count],
            low: vec![0; count],
            on_stack: vec![false; count],
            stack: Vec::new(),
            next_number: 0,
            component: vec![None; count],
            components: 0,
        }
    }

    fn run(mut self) -> IrreducibleCycles {
        // A block, and how many of its successors are done.
        let mut path = vec![(self.flow.entry(), 0)];
        self.enter(self.flow.entry());
        while let Some((block, done)) = path.last_mut() {
            let block = *block;
            match self.flow.successors(block).get(*done) {
                Some(&next) => {
                    *done += 1;
                    if self.dominators.dominates(next, block) {
                        continue; // a natural back edge
                    }
                    if self.number[next.index()] == UNVISITED {
                        self.enter(next);
                        path.push((next, 0));
                    } else if self.on_stack[next.index()] {
                        self.low[block.index()] = self.low[block.index()].min(self.number[next.index()]);
                    }
                }
                None => {
                    path.pop();
                    if let Some(&(parent, _)) = path.last() {
                        self.low[parent.index()] = self.low[parent.index()].min(self.low[block.index()]);
                    }
                    self.leave(block);
                }
            }
        }
        IrreducibleCycles { component: self.component }
    }

    fn enter(&mut self, block: Block) {
        self.number[block.index()] = self.next_number;
        self.low[block.index()] = self.next_number;
        self.next_number += 1;
        self.stack.push(block);
        self.on_stack[block.index()] = true;
    }

    /// Closes the component that `block` opened, if it opened one. Single blocks are no cycle.
    fn leave(&mut self, block: Block) {
        if self.low[block.index()] != self.number[block.index()] {
            return;
        }
        let start = self.stack.iter().rposition(|&other| other == block).expect("an open block is on the stack");
        let members = self.stack.split_off(start);
        let is_cycle = members.len() > 1;
        for member in members {
            self.on_stack[member.index()] = false;
            self.component[member.index()] = is_cycle.then_some(self.components);
        }
        self.components += u32::from(is_cycle);
    }
}
