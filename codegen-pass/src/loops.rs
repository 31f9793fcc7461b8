//! Natural loops and how they nest.
//!
//! A back edge is an edge to a block (the header) that dominates its source (the latch). The natural loop of a header
//! holds the header and every block that reaches one of its latches without passing through the header; all back edges
//! of one header make one loop. Two natural loops are disjoint or nested.
//!
//! Reading computes in three steps: collect the back edges of every header; walk backwards from the latches, headers
//! that are deeper in the dominator tree first, so that inner loops are found before the loops around them; number the
//! loop tree, so that "is this block in that loop" is two comparisons.
//!
//! A cycle that can be entered at two places has no header and is no natural loop: see [`crate::IrreducibleCycles`].

use crate::{Block, ControlFlow, Dominators, Flow};

/// A loop of a [`LoopForest`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopId(u32);

impl LoopId {
    /// The position in [`LoopForest::loops`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The only block through which the loop is entered.
    pub header: Block,
    /// The sources of the back edges, in ascending order.
    pub latches: Vec<Block>,
    /// The loop right around this one.
    pub parent: Option<LoopId>,
    /// 1 for an outermost loop.
    pub depth: u32,
}

/// All natural loops of a function that its entry can reach. A loop comes before the loops inside it.
#[derive(Clone, Debug)]
pub struct LoopForest {
    loops: Vec<Loop>,
    innermost: Vec<Option<LoopId>>,
    /// The last loop, in the order of `loops`, that lies inside the loop.
    last_inside: Vec<u32>,
}

impl LoopForest {
    /// Finds the loops of `graph`.
    pub fn of(graph: &impl ControlFlow) -> LoopForest {
        let flow = Flow::of(graph);
        LoopForest::from_flow(&flow, &Dominators::of(&flow))
    }

    /// Finds the loops of `flow`, whose dominators are known already.
    pub fn from_flow(flow: &Flow, dominators: &Dominators) -> LoopForest {
        let mut search = Search::new(flow.block_count());
        for &header in dominators.preorder().iter().rev() {
            let is_latch = |&from: &Block| dominators.dominates(header, from);
            let latches: Vec<Block> = flow.predecessors(header).iter().copied().filter(is_latch).collect();
            if !latches.is_empty() {
                search.add_loop(flow, dominators, header, latches);
            }
        }
        search.finish()
    }

    /// The loops; [`LoopId::index`] is the position here.
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The name of every loop, outer loops first.
    pub fn ids(&self) -> impl Iterator<Item = LoopId> + use<> {
        (0..self.loops.len() as u32).map(LoopId)
    }

    /// The loop with a name.
    pub fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }

    /// The smallest loop that holds `block`.
    pub fn innermost(&self, block: Block) -> Option<LoopId> {
        self.innermost[block.index()]
    }

    /// Does `outer` hold `inner`? Every loop holds itself.
    pub fn encloses(&self, outer: LoopId, inner: LoopId) -> bool {
        outer <= inner && inner.0 <= self.last_inside[outer.index()]
    }

    /// Is `block` one of the blocks of the loop?
    pub fn contains(&self, id: LoopId, block: Block) -> bool {
        self.innermost(block).is_some_and(|inner| self.encloses(id, inner))
    }

    /// The blocks of the loop, in ascending order. Looks at every block of the function.
    pub fn blocks(&self, id: LoopId) -> impl Iterator<Item = Block> + '_ {
        (0..self.innermost.len()).map(Block::new).filter(move |&block| self.contains(id, block))
    }
}

/// The loops found so far, inner ones first.
struct Search {
    loops: Vec<Loop>,
    innermost: Vec<Option<LoopId>>,
    /// A loop around the loop, or the loop itself while nothing around it is known. Paths are halved on the way.
    outermost: Vec<u32>,
}

impl Search {
    fn new(blocks: usize) -> Search {
        Search { loops: Vec::new(), innermost: vec![None; blocks], outermost: Vec::new() }
    }

    fn add_loop(&mut self, flow: &Flow, dominators: &Dominators, header: Block, latches: Vec<Block>) {
        let id = LoopId(self.loops.len() as u32);
        let mut pending = latches.clone();
        self.loops.push(Loop { header, latches, parent: None, depth: 0 });
        self.outermost.push(id.0);
        self.innermost[header.index()] = Some(id);
        while let Some(block) = pending.pop() {
            let enter_at = match self.innermost[block.index()] {
                None => {
                    self.innermost[block.index()] = Some(id);
                    block
                }
                Some(inner) => {
                    let outer = self.outermost(inner);
                    if outer == id {
                        continue;
                    }
                    self.loops[outer.index()].parent = Some(id);
                    self.outermost[outer.index()] = id.0;
                    self.loops[outer.index()].header
                }
            };
            let reachable = |&from: &Block| dominators.is_reachable(from);
            pending.extend(flow.predecessors(enter_at).iter().copied().filter(reachable));
        }
    }

    fn outermost(&mut self, id: LoopId) -> LoopId {
        let mut at = id.0;
        while self.outermost[at as usize] != at {
            let above = self.outermost[at as usize];
            self.outermost[at as usize] = self.outermost[above as usize];
            at = above;
        }
        LoopId(at)
    }

    /// Renames the loops so that each comes right before the loops inside it.
    fn finish(self) -> LoopForest {
        let count = self.loops.len();
        let mut inside = vec![1u32; count];
        for (at, found) in self.loops.iter().enumerate() {
            if let Some(parent) = found.parent {
                inside[parent.index()] += inside[at];
            }
        }
        // Parents were found after their children: going backwards, a parent has its new name before its children ask.
        let mut renamed = vec![0u32; count];
        let mut next_child = vec![0u32; count];
        let mut next_root = 0u32;
        let mut loops: Vec<Option<Loop>> = vec![None; count];
        let mut last_inside = vec![0u32; count];
        for (at, mut found) in self.loops.into_iter().enumerate().rev() {
            let place = found.parent.map_or(&mut next_root, |parent| &mut next_child[parent.index()]);
            let name = *place;
            *place += inside[at];
            renamed[at] = name;
            next_child[at] = name + 1;
            last_inside[name as usize] = name + inside[at] - 1;
            found.parent = found.parent.map(|parent| LoopId(renamed[parent.index()]));
            let around = found.parent.map(|parent| loops[parent.index()].as_ref().expect("a parent has been placed"));
            found.depth = around.map_or(1, |around| around.depth + 1);
            loops[name as usize] = Some(found);
        }
        let innermost = self.innermost.into_iter().map(|id| id.map(|id| LoopId(renamed[id.index()]))).collect();
        LoopForest { loops: loops.into_iter().flatten().collect(), innermost, last_inside }
    }
}
