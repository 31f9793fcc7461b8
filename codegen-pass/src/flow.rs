//! A control-flow graph, as the analyses want it: dense block numbers and both directions of every edge.
//!
//! A host implements [`ControlFlow`]; [`Flow`] takes one look at it and keeps the edges in two flat arrays. The picture
//! is of that moment: after a rewrite, take a new one.

/// A basic block, by its position in the host's list of blocks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Block(pub u32);

impl Block {
    /// The block at `index` of the host's list.
    ///
    /// # Panics
    /// If `index` does not fit 32 bits: no compiler builds such a function.
    pub fn new(index: usize) -> Block {
        Block(u32::try_from(index).expect("a function has fewer than 2^32 blocks"))
    }

    /// The position in the host's list of blocks.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function body, seen as blocks and edges.
pub trait ControlFlow {
    /// How many blocks there are; they are numbered from 0.
    fn block_count(&self) -> usize;
    /// The block where execution starts.
    fn entry(&self) -> Block;
    /// The blocks that may run right after `block`. A block may be named twice (two arms of a switch).
    fn successors(&self, block: Block) -> impl Iterator<Item = Block> + '_;
}

/// Both directions of every edge of a graph. Edges into the same block from the same block are kept once.
#[derive(Clone, Debug)]
pub struct Flow {
    entry: Block,
    successors: Edges,
    predecessors: Edges,
}

/// Adjacency lists, one after the other in one array.
#[derive(Clone, Debug)]
struct Edges {
    starts: Vec<u32>,
    targets: Vec<Block>,
}

impl Edges {
    fn of(&self, block: Block) -> &[Block] {
        let (start, end) = (self.starts[block.index()], self.starts[block.index() + 1]);
        &self.targets[start as usize..end as usize]
    }

    /// The same edges, turned round. Sources come out in ascending order.
    fn reversed(&self) -> Edges {
        let count = self.starts.len() - 1;
        let mut starts = vec![0u32; count + 1];
        for target in &self.targets {
            starts[target.index() + 1] += 1;
        }
        for block in 0..count {
            starts[block + 1] += starts[block];
        }
        let mut next = starts.clone();
        let mut targets = vec![Block(0); self.targets.len()];
        for source in (0..count).map(Block::new) {
            for target in self.of(source) {
                targets[next[target.index()] as usize] = source;
                next[target.index()] += 1;
            }
        }
        Edges { starts, targets }
    }
}

impl Flow {
    /// Takes the picture of `graph`.
    pub fn of(graph: &impl ControlFlow) -> Flow {
        let count = graph.block_count();
        let mut starts = Vec::with_capacity(count + 1);
        let mut targets = Vec::new();
        // The block that last named a target, so that parallel edges are kept once without searching.
        let mut named_by = vec![None; count];
        starts.push(0);
        for block in (0..count).map(Block::new) {
            for target in graph.successors(block) {
                if named_by[target.index()].replace(block) != Some(block) {
                    targets.push(target);
                }
            }
            starts.push(u32::try_from(targets.len()).expect("a function has fewer than 2^32 edges"));
        }
        let successors = Edges { starts, targets };
        let predecessors = successors.reversed();
        Flow { entry: graph.entry(), successors, predecessors }
    }

    /// How many blocks there are, reachable or not.
    pub fn block_count(&self) -> usize {
        self.successors.starts.len() - 1
    }

    /// Every block, in the host's order.
    pub fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
        (0..self.block_count()).map(Block::new)
    }

    /// The block where execution starts.
    pub fn entry(&self) -> Block {
        self.entry
    }

    /// The blocks that may run right after `block`, each once.
    pub fn successors(&self, block: Block) -> &[Block] {
        self.successors.of(block)
    }

    /// The blocks that may run right before `block`, each once, in ascending order; unreachable ones too.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        self.predecessors.of(block)
    }
}
