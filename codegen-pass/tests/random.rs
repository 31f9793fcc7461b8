//! The promise: on any graph, the fast analyses say what their definitions say.
//!
//! The oracles are slow and written from the definitions: dominance by taking a block away and looking what is still
//! reached, natural loops as sets, cycles by reachability, and pairing by trying every enter marker.

mod common;

use codegen_pass::{Block, ControlFlow, Dominators, DropReason, LoopForest, Marker, Role, SiteId};
use common::{Graph, verdicts};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn graphs(blocks: usize, edges: usize) -> impl Strategy<Value = Graph> {
    (1..=blocks).prop_flat_map(move |count| {
        let edge = (0..count as u32, 0..count as u32);
        prop::collection::vec(edge, 0..=edges).prop_map(move |edges| {
            let mut graph = Graph::with_blocks(count);
            for (from, to) in edges {
                graph.add_edge(Block(from), Block(to));
            }
            graph
        })
    })
}

fn with_markers() -> impl Strategy<Value = (Graph, Vec<Marker>)> {
    graphs(10, 22).prop_flat_map(|graph| {
        let count = graph.block_count() as u32;
        let marker = (0..count, any::<bool>(), 0..3u32).prop_map(|(block, is_enter, site)| Marker {
            block: Block(block),
            role: if is_enter { Role::Enter } else { Role::Body },
            site: SiteId(site),
        });
        (Just(graph), prop::collection::vec(marker, 0..12))
    })
}

/// Everything that the entry reaches without passing through `without`.
fn reached(graph: &Graph, from: Block, without: Option<Block>) -> BTreeSet<Block> {
    let mut seen = BTreeSet::new();
    let mut pending = vec![from];
    while let Some(block) = pending.pop() {
        if Some(block) != without && seen.insert(block) {
            pending.extend(graph.successors(block));
        }
    }
    seen
}

struct Oracle {
    graph: Graph,
    reachable: BTreeSet<Block>,
    /// For each block, what the entry no longer reaches without it.
    dominated: Vec<BTreeSet<Block>>,
}

impl Oracle {
    fn new(graph: &Graph) -> Oracle {
        let reachable = reached(graph, Block(0), None);
        let dominated = (0..graph.block_count())
            .map(|block| {
                let left = reached(graph, Block(0), Some(Block::new(block)));
                reachable.iter().copied().filter(|other| !left.contains(other)).collect()
            })
            .collect();
        Oracle { graph: graph.clone(), reachable, dominated }
    }

    fn dominates(&self, outer: Block, inner: Block) -> bool {
        self.dominated[outer.index()].contains(&inner)
    }

    /// The natural loop of a header, if it has one: its latches and its blocks.
    fn natural_loop(&self, header: Block) -> Option<(Vec<Block>, BTreeSet<Block>)> {
        let jumps_here = |&from: &Block| self.graph.successors(from).any(|to| to == header);
        let latches: Vec<Block> =
            self.reachable.iter().copied().filter(|&from| self.dominates(header, from)).filter(jumps_here).collect();
        // A block belongs to the loop if it reaches a latch without passing through the header.
        let reaches_latch = |&from: &Block| {
            from == header || reached(&self.graph, from, Some(header)).iter().any(|block| latches.contains(block))
        };
        if latches.is_empty() {
            return None;
        }
        let blocks = self.reachable.iter().copied().filter(reaches_latch).collect();
        Some((latches, blocks))
    }

    /// The smallest natural loop around a block.
    fn innermost(&self, block: Block) -> Option<(Block, BTreeSet<Block>)> {
        let around = |&header: &Block| {
            let (_, blocks) = self.natural_loop(header)?;
            blocks.contains(&block).then_some((header, blocks))
        };
        self.reachable.iter().filter_map(around).min_by_key(|(_, blocks)| blocks.len())
    }

    /// Does `block` lie on a cycle that avoids every natural back edge and, if it is in a loop, the loop's header?
    fn in_irreducible_cycle(&self, block: Block) -> bool {
        let mut forward = self.graph.clone();
        for from in 0..forward.successors.len() {
            let from_block = Block::new(from);
            forward.successors[from].retain(|&to| !self.dominates(to, from_block));
        }
        let cycle: BTreeSet<Block> = reached(&forward, block, None)
            .into_iter()
            .filter(|&other| other != block && reached(&forward, other, None).contains(&block))
            .collect();
        let header = self.innermost(block).map(|(header, _)| header);
        !cycle.is_empty() && header.is_none_or(|header| header != block && !cycle.contains(&header))
    }

    fn verdict(&self, markers: &[Marker], at: usize) -> Result<Block, DropReason> {
        let block = markers[at].block;
        if !self.reachable.contains(&block) {
            return Err(DropReason::Unreachable);
        }
        if self.in_irreducible_cycle(block) {
            return Err(DropReason::Irreducible);
        }
        let (header, blocks) = self.innermost(block).ok_or(DropReason::OutsideLoop)?;
        let enter = self.nearest_enter(markers, at).ok_or(DropReason::NoEnter)?;
        if blocks.contains(&enter) { Err(DropReason::NeverRepeats) } else { Ok(header) }
    }

    /// The dominating enter marker that every other dominating enter marker dominates.
    fn nearest_enter(&self, markers: &[Marker], at: usize) -> Option<Block> {
        let before = |other: usize| {
            let (one, two) = (markers[other].block, markers[at].block);
            if one == two { other < at } else { self.dominates(one, two) }
        };
        let candidates: Vec<usize> = (0..markers.len())
            .filter(|&other| markers[other].role == Role::Enter && markers[other].site == markers[at].site)
            .filter(|&other| before(other))
            .collect();
        let nearest = candidates
            .iter()
            .copied()
            .find(|&near| candidates.iter().all(|&other| self.dominates(markers[other].block, markers[near].block)));
        nearest.map(|near| markers[near].block)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn dominators_are_what_the_definition_says(graph in graphs(12, 30)) {
        let oracle = Oracle::new(&graph);
        let dominators = Dominators::of(&graph.flow());
        for outer in (0..graph.block_count()).map(Block::new) {
            prop_assert_eq!(dominators.is_reachable(outer), oracle.reachable.contains(&outer));
            for inner in (0..graph.block_count()).map(Block::new) {
                prop_assert_eq!(dominators.dominates(outer, inner), oracle.dominates(outer, inner), "{:?} {:?}", outer, inner);
            }
        }
    }

    #[test]
    fn immediate_dominators_are_what_a_library_says(graph in graphs(60, 160)) {
        let mut library = DiGraph::<(), (), u32>::default();
        for _ in 0..graph.block_count() { library.add_node(()); }
        for from in (0..graph.block_count()).map(Block::new) {
            for to in graph.successors(from) {
                library.add_edge(NodeIndex::new(from.index()), NodeIndex::new(to.index()), ());
            }
        }
        let expected = simple_fast(&library, NodeIndex::new(0));
        let dominators = Dominators::of(&graph.flow());
        for block in (0..graph.block_count()).map(Block::new) {
            let idom = expected.immediate_dominator(NodeIndex::new(block.index())).map(|node| Block::new(node.index()));
            prop_assert_eq!(dominators.immediate(block), idom, "{:?}", block);
        }
    }

    #[test]
    fn loops_are_what_the_definition_says(graph in graphs(12, 26)) {
        let oracle = Oracle::new(&graph);
        let forest = LoopForest::of(&graph);
        let headers: BTreeSet<Block> = forest.loops().iter().map(|found| found.header).collect();
        prop_assert_eq!(headers.len(), forest.loops().len());
        for header in (0..graph.block_count()).map(Block::new) {
            let expected = oracle.natural_loop(header);
            prop_assert_eq!(headers.contains(&header), expected.is_some());
        }
        for id in forest.ids() {
            let found = forest.get(id);
            let (latches, blocks) = oracle.natural_loop(found.header).unwrap();
            prop_assert_eq!(&found.latches, &latches);
            prop_assert_eq!(forest.blocks(id).collect::<BTreeSet<_>>(), blocks);
        }
        for block in (0..graph.block_count()).map(Block::new) {
            let innermost = forest.innermost(block).map(|id| forest.get(id).header);
            prop_assert_eq!(innermost, oracle.innermost(block).map(|(header, _)| header), "{:?}", block);
        }
    }

    #[test]
    fn hints_are_settled_as_the_rules_say((graph, markers) in with_markers()) {
        let oracle = Oracle::new(&graph);
        let (forest, resolution) = graph.resolve(&markers);
        let bodies: Vec<usize> = (0..markers.len()).filter(|&at| markers[at].role == Role::Body).collect();
        prop_assert_eq!(resolution.hints.len(), bodies.len(), "every hint has a verdict");
        let alone: Vec<_> = bodies.iter().map(|&at| (markers[at].site, oracle.verdict(&markers, at))).collect();
        for (&(site, expected), verdict) in alone.iter().zip(verdicts(&forest, &resolution)) {
            // Of several sites on one loop the first has it.
            let is_beaten = expected.is_ok() && alone.iter().any(|&(other, same)| other < site && same == expected);
            prop_assert_eq!(verdict, if is_beaten { Err(DropReason::Conflict) } else { expected });
        }
    }

    #[test]
    fn one_latch_each_and_no_loop_more((mut graph, markers) in with_markers()) {
        let before = LoopForest::of(&graph);
        let merged = graph.merge(&markers);
        let after = LoopForest::of(&graph);
        prop_assert_eq!(before.loops().len(), after.loops().len());
        for (header, latch) in merged {
            let latch = latch.unwrap();
            let found = after.loops().iter().find(|found| found.header == header).unwrap();
            prop_assert_eq!(&found.latches, &vec![latch]);
            prop_assert_eq!(graph.successors[latch.index()].len(), 1);
            prop_assert_eq!(after.innermost(latch).map(|id| after.get(id).header), Some(header));
        }
        // What the old blocks reach of each other is unchanged.
        for (old, new) in before.loops().iter().zip(after.loops()) {
            prop_assert_eq!(old.header, new.header);
            prop_assert_eq!(old.depth, new.depth);
        }
    }
}
