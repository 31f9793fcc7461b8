//! A graph of letters for the tests: `"a>b b>c c>b c>d"` has the entry `a` and a back edge from `c` to `b`.
#![allow(dead_code, reason = "every test file uses a part of it")]

use codegen_pass::{
    Block, ControlFlow, Dominators, DropReason, Flow, LoopForest, Marker, MergeLatches, Resolution, Role, SiteId,
    resolve, single_latch,
};

/// Adjacency lists, and which blocks end in something that cannot be redirected.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub successors: Vec<Vec<Block>>,
    pub fixed: Vec<Block>,
}

impl Graph {
    pub fn new(edges: &str) -> Graph {
        let mut graph = Graph::default();
        for edge in edges.split_whitespace() {
            let (from, to) = edge.split_once('>').expect("an edge is written a>b");
            graph.add_edge(block(from), block(to));
        }
        graph
    }

    pub fn with_blocks(count: usize) -> Graph {
        Graph { successors: vec![Vec::new(); count], fixed: Vec::new() }
    }

    pub fn add_edge(&mut self, from: Block, to: Block) {
        let needed = from.index().max(to.index()) + 1;
        if self.successors.len() < needed {
            self.successors.resize(needed, Vec::new());
        }
        self.successors[from.index()].push(to);
    }

    pub fn flow(&self) -> Flow {
        Flow::of(self)
    }

    pub fn resolve(&self, markers: &[Marker]) -> (LoopForest, Resolution) {
        let flow = self.flow();
        let dominators = Dominators::of(&flow);
        let forest = LoopForest::from_flow(&flow, &dominators);
        let resolution = resolve(&flow, &dominators, &forest, markers);
        (forest, resolution)
    }

    /// Gives every hinted loop its single latch; the headers and what came out.
    pub fn merge(&mut self, markers: &[Marker]) -> Vec<(Block, Result<Block, DropReason>)> {
        let (forest, resolution) = self.resolve(markers);
        let merge = |id| {
            let found = forest.get(id);
            (found.header, single_latch(self, found))
        };
        resolution.hinted.iter().map(|hinted| hinted.id).map(merge).collect()
    }

    /// The latches of the loop with this header, as it is now.
    pub fn latches(&self, header: &str) -> Vec<Block> {
        let forest = LoopForest::of(self);
        let header = block(header);
        forest.loops().iter().find(|found| found.header == header).map_or(Vec::new(), |found| found.latches.clone())
    }
}

impl ControlFlow for Graph {
    fn block_count(&self) -> usize {
        self.successors.len()
    }

    fn entry(&self) -> Block {
        Block(0)
    }

    fn successors(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.successors[block.index()].iter().copied()
    }
}

impl MergeLatches for Graph {
    fn ends_in_plain_jump(&self, latch: Block) -> bool {
        self.successors[latch.index()].len() == 1
    }

    fn can_redirect(&self, latch: Block) -> bool {
        !self.fixed.contains(&latch)
    }

    fn insert_latch(&mut self, header: Block, latches: &[Block]) -> Block {
        let new = Block::new(self.successors.len());
        for latch in latches {
            for target in &mut self.successors[latch.index()] {
                if *target == header {
                    *target = new;
                }
            }
        }
        self.successors.push(vec![header]);
        new
    }
}

pub fn block(name: &str) -> Block {
    assert_eq!(name.len(), 1, "a block is one letter");
    Block(u32::from(name.as_bytes()[0] - b'a'))
}

pub fn enter(name: &str, site: u32) -> Marker {
    Marker { block: block(name), role: Role::Enter, site: SiteId(site) }
}

pub fn body(name: &str, site: u32) -> Marker {
    Marker { block: block(name), role: Role::Body, site: SiteId(site) }
}

/// The header of every body marker's loop, or why it has none.
pub fn verdicts(forest: &LoopForest, resolution: &Resolution) -> Vec<Result<Block, DropReason>> {
    resolution.hints.iter().map(|hint| hint.verdict.map(|id| forest.get(id).header)).collect()
}
