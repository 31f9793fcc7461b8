//! The verdict on every loop of a function, from the outside in.
//!
//! 1. Take the blocks in which the loops at hand may be: of all the code, or of the cycles of the loop around them.
//! 2. Take away the blocks with landmarks of what is around the loops but in none of them. What cycles are left keeps
//!    the loops beside each other apart, so that each is looked for among its own blocks only.
//! 3. For each loop, take the cycles with any of its instructions, and take away the blocks with landmarks from outside
//!    the loop. The cycles that are left tell the verdict, and are where the loops inside it are looked for.
//!
//! A block is taken away as a whole: whoever goes through a block goes through all of it. Taking away more for an inner
//! loop than for the outer one, a cycle of the inner one lies in a cycle of the outer one; so step 1 loses nothing, and
//! the time is that of the code times the depth of nesting.

use std::collections::{BTreeMap, HashMap, HashSet};

use codegen_pass::{Block, LoopForest, LoopId};

use super::cycles::Cycles;
use super::graph::{Calls, Code};
use super::landmarks::{Landmark, LandmarkKind};
use super::{Instance, TiedLoop, Verdict};
use crate::PtxModule;

/// Judges every loop of `functions`.
pub(super) fn of(
    ptx: &PtxModule,
    calls: &Calls,
    code: &Code<'_>,
    landmarks: &[Landmark<'_>],
    functions: &[usize],
) -> Vec<TiedLoop> {
    let lines = Lines::of(ptx, code);
    let mut at_node = vec![Vec::new(); code.len()];
    landmarks.iter().for_each(|landmark| at_node[landmark.node].push(landmark));
    let mut found = Vec::new();
    for &function in functions {
        let forest = &ptx.functions()[function].forest;
        let mut inside = vec![Vec::new(); forest.loops().len() + 1];
        forest.ids().for_each(|id| inside[slot(forest.get(id).parent)].push(id));
        let cycles = Cycles::new(&code.successors);
        let (at_node, lines) = (&at_node, &lines);
        let mut judge = Judge { function, forest, inside, calls, code, at_node, lines, cycles, found: vec![] };
        judge.loops_in(None, &(0..code.len()).collect::<Vec<_>>());
        judge.found.sort_by_key(|tied| tied.id);
        found.append(&mut judge.found);
    }
    found
}

/// A place for each loop, and the first one for what is in no loop.
fn slot(id: Option<LoopId>) -> usize {
    id.map_or(0, |id| id.index() + 1)
}

/// Which PTX blocks the instructions of every block of machine code were made from.
struct Lines(Vec<Vec<(usize, Block)>>);

impl Lines {
    fn of(ptx: &PtxModule, code: &Code<'_>) -> Lines {
        let mut lines: Vec<Vec<(usize, Block)>> = vec![Vec::new(); code.len()];
        for (node, instruction) in code.instructions() {
            // A uniform branch has the line of something else.
            let line = instruction.ptx_line.filter(|_| !super::uniform::is_uniform_branch(instruction));
            let Some(id) = line.and_then(|line| ptx.at_line(line)) else { continue };
            let function = id.function as usize;
            let place = (function, Block::new(ptx.functions()[function].block_of(id.statement as usize)));
            if lines[node].last() != Some(&place) {
                lines[node].push(place);
            }
        }
        Lines(lines)
    }
}

/// The loops of one function, being judged.
struct Judge<'a, 'm> {
    function: usize,
    forest: &'a LoopForest,
    /// The loops right inside each loop, by [`slot`].
    inside: Vec<Vec<LoopId>>,
    calls: &'a Calls,
    code: &'a Code<'m>,
    at_node: &'a [Vec<&'a Landmark<'m>>],
    lines: &'a Lines,
    cycles: Cycles<'a>,
    found: Vec<TiedLoop>,
}

impl Judge<'_, '_> {
    /// Judges the loops right inside `around`, whose cycles are `nodes`.
    fn loops_in(&mut self, around: Option<LoopId>, nodes: &[usize]) {
        let inside = std::mem::take(&mut self.inside[slot(around)]);
        if inside.is_empty() {
            return;
        }
        let between: Vec<usize> = nodes.iter().copied().filter(|&node| !self.is_between(node, around)).collect();
        let cycles = self.cycles.among(&between);
        let mut nodes_of = self.shared_out(around, cycles);
        for id in inside {
            let nodes = nodes_of.remove(&id).unwrap_or_default();
            self.judge(id, &nodes);
        }
    }

    /// Has the block a landmark of the loop's own body, which is outside all loops inside it?
    fn is_between(&self, node: usize, around: Option<LoopId>) -> bool {
        self.at_node[node].iter().any(|landmark| {
            let own = |&block: &usize| self.forest.innermost(Block::new(block)) == around;
            landmark.function == self.function && landmark.blocks.iter().all(own)
        })
    }

    /// The blocks of the cycles that hold any instruction of each loop right inside `around`.
    fn shared_out(&self, around: Option<LoopId>, cycles: Vec<Vec<usize>>) -> HashMap<LoopId, Vec<usize>> {
        let mut nodes_of: HashMap<LoopId, Vec<usize>> = HashMap::new();
        for cycle in cycles {
            let loops: HashSet<LoopId> = cycle
                .iter()
                .flat_map(|&node| self.blocks_at(node))
                .filter_map(|block| self.below(around, block))
                .collect();
            loops.into_iter().for_each(|id| nodes_of.entry(id).or_default().extend(&cycle));
        }
        nodes_of
    }

    /// The blocks of this function that a block of machine code was made from, or has landmarks for.
    fn blocks_at(&self, node: usize) -> impl Iterator<Item = Block> + '_ {
        let own = self.lines.0[node].iter().filter(|(function, _)| *function == self.function).map(|(_, block)| *block);
        let landmarks = self.at_node[node].iter().filter(|landmark| landmark.function == self.function);
        own.chain(landmarks.flat_map(|landmark| landmark.blocks.iter().map(|&block| Block::new(block))))
    }

    /// The loop right inside `around` that holds `block`.
    fn below(&self, around: Option<LoopId>, block: Block) -> Option<LoopId> {
        let mut id = self.forest.innermost(block)?;
        while self.forest.get(id).parent != around {
            id = self.forest.get(id).parent?;
        }
        Some(id)
    }

    fn judge(&mut self, id: LoopId, nodes: &[usize]) {
        let called = self.calls.reached(self.function, |block| self.forest.contains(id, Block::new(block)));
        let inside: Vec<usize> = nodes.iter().copied().filter(|&node| !self.is_outside(node, id, &called)).collect();
        let cycles = self.cycles.among(&inside);
        let mut instances: Vec<Instance> = cycles.iter().filter_map(|cycle| self.instance(id, cycle)).collect();
        instances.sort_by(|a, b| (&a.section, &a.blocks).cmp(&(&b.section, &b.blocks)));
        let is_own = |block: Block| self.forest.innermost(block) == Some(id);
        let verdict = match instances.is_empty() {
            false => Verdict::Alive,
            true if cycles.iter().flatten().any(|&node| self.blocks_at(node).any(is_own)) => Verdict::NotProved,
            true => Verdict::Gone,
        };
        self.found.push(TiedLoop { function: self.function, id, verdict, instances });
        self.loops_in(Some(id), &cycles.concat());
    }

    /// Has the block a landmark from outside the loop?
    fn is_outside(&self, node: usize, id: LoopId, called: &HashSet<usize>) -> bool {
        self.at_node[node].iter().any(|landmark| match landmark.function == self.function {
            true => !landmark.blocks.iter().any(|&block| self.forest.contains(id, Block::new(block))),
            false => !called.contains(&landmark.function),
        })
    }

    /// A cycle with a landmark of the loop's own body.
    fn instance(&self, id: LoopId, cycle: &[usize]) -> Option<Instance> {
        let mut copies: BTreeMap<usize, u32> = BTreeMap::new();
        let mut is_alive = false;
        for landmark in cycle.iter().flat_map(|&node| &self.at_node[node]) {
            let own = |&block: &usize| self.forest.innermost(Block::new(block)) == Some(id);
            if landmark.function == self.function && landmark.blocks.iter().any(own) {
                is_alive = true;
                if landmark.kind != LandmarkKind::Branch {
                    *copies.entry(landmark.statement).or_default() += 1;
                }
            }
        }
        let mut blocks: Vec<u64> = cycle.iter().map(|&node| self.code.start(node)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let section = self.code.section(*cycle.first()?).to_owned();
        is_alive.then(|| Instance { copies: copies.into_values().min().unwrap_or(1), section, blocks })
    }
}
