//! The dominator tree, by the Semi-NCA algorithm.
//!
//! Semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005) computes semidominators as
//! Lengauer and Tarjan do, then finds each immediate dominator by walking up the tree built so far. The well-known
//! iterative algorithm is shorter, but quadratic on a long chain of early returns, which is what a kernel full of
//! checks looks like; the tests keep a library's version of it as the oracle.
//!
//! Blocks that the entry cannot reach have no dominators: they are not in the tree, and dominate nothing.

use crate::{Block, Flow};

/// The dominator tree of one function.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The immediate dominator; none for the entry and for unreachable blocks.
    immediate: Vec<Option<Block>>,
    /// Reachable blocks in depth-first preorder of the tree.
    preorder: Vec<Block>,
    /// For a reachable block, the interval of `preorder` that it dominates. Empty for unreachable blocks.
    span: Vec<(u32, u32)>,
}

impl Dominators {
    /// Computes the tree of `flow`.
    pub fn of(flow: &Flow) -> Dominators {
        let tree = SpanningTree::of(flow);
        let semi = semidominators(flow, &tree);
        let idom = nearest_common_ancestors(&tree, semi);

        let mut immediate = vec![None; flow.block_count()];
        for (number, &block) in tree.block.iter().enumerate().skip(1) {
            immediate[block.index()] = Some(tree.block[idom[number] as usize]);
        }
        let (preorder, span) = number_tree(flow, &tree.block, &immediate);
        Dominators { immediate, preorder, span }
    }

    /// Can the entry reach `block`?
    pub fn is_reachable(&self, block: Block) -> bool {
        let (start, end) = self.span[block.index()];
        start < end
    }

    /// Does every path from the entry to `inner` pass through `outer`? A reachable block dominates itself.
    pub fn dominates(&self, outer: Block, inner: Block) -> bool {
        let (start, end) = self.span[outer.index()];
        let (at, inner_end) = self.span[inner.index()];
        at < inner_end && start <= at && at < end
    }

    /// The closest block that dominates `block` and is not `block`.
    pub fn immediate(&self, block: Block) -> Option<Block> {
        self.immediate[block.index()]
    }

    /// The reachable blocks, each after its dominators; what a block dominates follows it without a gap.
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }
}

/// A depth-first spanning tree of the reachable blocks, named by their preorder numbers.
struct SpanningTree {
    /// The block with a number.
    block: Vec<Block>,
    /// The number of a block; `UNREACHED` if it has none.
    number: Vec<u32>,
    /// The number of a number's parent. The entry is its own parent.
    parent: Vec<u32>,
}

const UNREACHED: u32 = u32::MAX;

impl SpanningTree {
    fn of(flow: &Flow) -> SpanningTree {
        let mut tree =
            SpanningTree { block: Vec::new(), number: vec![UNREACHED; flow.block_count()], parent: Vec::new() };
        let mut pending = vec![(flow.entry(), 0)];
        while let Some((block, parent)) = pending.pop() {
            if tree.number[block.index()] != UNREACHED {
                continue;
            }
            let number = tree.block.len() as u32;
            tree.number[block.index()] = number;
            tree.block.push(block);
            tree.parent.push(parent);
            pending.extend(flow.successors(block).iter().map(|&next| (next, number)));
        }
        tree
    }
}

/// The semidominator of every number: the smallest number from which a path leads to it whose inner blocks all have
/// larger numbers than it.
fn semidominators(flow: &Flow, tree: &SpanningTree) -> Vec<u32> {
    let count = tree.block.len();
    let mut forest = LinkedForest::new(tree);
    for number in (1..count as u32).rev() {
        let mut smallest = tree.parent[number as usize];
        for predecessor in flow.predecessors(tree.block[number as usize]) {
            let from = tree.number[predecessor.index()];
            if from != UNREACHED {
                smallest = smallest.min(forest.evaluate(from, number + 1));
            }
        }
        forest.semi[number as usize] = smallest;
    }
    forest.semi
}

/// The numbers linked so far, which are those above the one in work, with path compression.
struct LinkedForest {
    semi: Vec<u32>,
    ancestor: Vec<u32>,
    /// The number with the smallest semidominator on the compressed path.
    label: Vec<u32>,
    path: Vec<u32>,
}

impl LinkedForest {
    fn new(tree: &SpanningTree) -> LinkedForest {
        let count = tree.block.len() as u32;
        LinkedForest {
            semi: (0..count).collect(),
            ancestor: tree.parent.clone(),
            label: (0..count).collect(),
            path: Vec::new(),
        }
    }

    /// The smallest semidominator on the tree path from `number` up to, but without, its first ancestor that is not
    /// linked yet; `linked` and everything larger is. A number that is not linked itself stands for itself.
    fn evaluate(&mut self, number: u32, linked: u32) -> u32 {
        if number < linked {
            return number;
        }
        let mut at = number;
        while self.ancestor[at as usize] >= linked {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        let root = self.ancestor[at as usize];
        let mut best = self.label[at as usize];
        while let Some(below) = self.path.pop() {
            if self.semi[best as usize] < self.semi[self.label[below as usize] as usize] {
                self.label[below as usize] = best;
            }
            best = self.label[below as usize];
            self.ancestor[below as usize] = root;
        }
        self.semi[best as usize]
    }
}

/// The immediate dominator is the nearest ancestor in the tree built so far that is not below the semidominator.
fn nearest_common_ancestors(tree: &SpanningTree, semi: Vec<u32>) -> Vec<u32> {
    let mut idom = tree.parent.clone();
    for number in 1..tree.block.len() {
        while idom[number] > semi[number] {
            idom[number] = idom[idom[number] as usize];
        }
    }
    idom
}

/// Preorder of the dominator tree and the interval that each block dominates. `order` lists parents before children.
fn number_tree(flow: &Flow, order: &[Block], immediate: &[Option<Block>]) -> (Vec<Block>, Vec<(u32, u32)>) {
    let mut size = vec![0u32; flow.block_count()];
    for &block in order.iter().rev() {
        size[block.index()] += 1;
        if let Some(parent) = immediate[block.index()] {
            size[parent.index()] += size[block.index()];
        }
    }
    let mut preorder = vec![flow.entry(); order.len()];
    let mut span = vec![(0, 0); flow.block_count()];
    // The next free place among the children of a block.
    let mut next = vec![0u32; flow.block_count()];
    for &block in order {
        let start = immediate[block.index()].map_or(0, |parent| next[parent.index()]);
        if let Some(parent) = immediate[block.index()] {
            next[parent.index()] += size[block.index()];
        }
        preorder[start as usize] = block;
        span[block.index()] = (start, start + size[block.index()]);
        next[block.index()] = start + 1;
    }
    (preorder, span)
}
