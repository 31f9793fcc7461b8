//! Basic blocks and edges of one function, rebuilt from its instructions.
//!
//! The walk starts at the function's first instruction and follows control ([`Flow`]), so a block is here only if it
//! can be reached. A section is not simply cut at its symbols: what belongs to a function is what its entry reaches.
//!
//! Four rules keep code out that never runs:
//!
//! 1. ptxas closes every section with a branch to itself and `NOP`s. Nothing but falling off the code before it leads
//!    there, so this tail is cut off; a loop that the user wrote (`loop {}`) stands before it.
//! 2. Control never falls into another function's first instruction: ptxas lays a callee right behind a call that does
//!    not return.
//! 3. A call goes on only if the callee can return. A panic handler has no `RET`, and what stands behind such a call
//!    may be any other block.
//! 4. A jump to another function's first instruction is a call that returns to the caller's caller.
//!
//! And one keeps calls out that are none: before sm_90, ptxas writes some jumps out of a loop as `CALL.REL.NOINC` of
//! the label behind it, from which nothing returns. A call of code that is no function ([`crate::Symbol`]) is therefore
//! a jump.
//!
//! A block ends at every jump, call, return and exit, conditional or not.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::{Bound, Range};

use codegen_pass::{Block, ControlFlow};

use crate::{Callee, Flow, Place, Section};

/// The control flow of one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    /// By address.
    pub blocks: Vec<BasicBlock>,
    /// The block where the function starts.
    pub entry: usize,
    /// Every call and every jump into another function: the instruction's position and where it goes.
    pub calls: Vec<(usize, Callee)>,
    /// Can it return to its caller?
    pub returns: bool,
    /// Indirect jumps without known targets: each got an edge to every label of the function.
    pub unresolved_jumps: usize,
}

/// Instructions that run one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BasicBlock {
    /// Positions in [`Section::instructions`].
    pub code: Range<usize>,
    /// Where control can go at the end.
    pub edges: Vec<Edge>,
}

/// A way from one block to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The other block.
    pub to: usize,
    /// Why control goes there.
    pub kind: EdgeKind,
}

/// Why control goes along an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeKind {
    /// It goes on.
    Next,
    /// A jump.
    Jump,
    /// A jump whose target is picked at run time.
    Indirect,
    /// The function called before came back.
    Returned,
}

impl ControlFlow for Graph {
    fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn entry(&self) -> Block {
        Block::new(self.entry)
    }

    fn successors(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.blocks[block.index()].edges.iter().map(|edge| Block::new(edge.to))
    }
}

/// What must be known about a section to walk in it.
pub(crate) struct Layout<'m> {
    section: &'m Section,
    /// Instructions from here on are padding.
    end: usize,
    function_starts: BTreeSet<u64>,
    /// For every barrier register, where its threads meet.
    meeting_points: BTreeMap<&'m str, BTreeSet<u64>>,
}

/// One way on from an instruction.
type Step = (usize, EdgeKind);

impl<'m> Layout<'m> {
    pub(crate) fn of(section: &'m Section) -> Layout<'m> {
        let mut meeting_points: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        for instruction in &section.instructions {
            if let Flow::ArmBarrier { barrier, at: Place::Address(at) } = &instruction.flow {
                meeting_points.entry(barrier).or_default().insert(*at);
            }
        }
        let function_starts = section.symbols.iter().map(|symbol| symbol.address).collect();
        Layout { section, end: padding_start(section), function_starts, meeting_points }
    }

    /// Walks the function that starts at `start`. `can_return` knows the other functions.
    pub(crate) fn walk(&self, start: u64, can_return: &dyn Fn(&Callee) -> bool) -> Graph {
        let mut walk = Walk {
            layout: self,
            start,
            can_return,
            steps: BTreeMap::new(),
            leaders: HashSet::new(),
            calls: vec![],
            returns: false,
            unresolved_jumps: 0,
        };
        walk.run();
        walk.into_graph()
    }

    /// The instruction behind `at`, if control can fall into it.
    fn next(&self, at: usize) -> Option<usize> {
        let next = at + 1;
        let address = self.section.instructions.get(next)?.address;
        (next < self.end && !self.function_starts.contains(&address)).then_some(next)
    }

    /// The first instructions of everything that may be jumped to in the function that starts at `start`.
    fn labels_of(&self, start: u64) -> impl Iterator<Item = usize> + '_ {
        let next_function =
            self.function_starts.range((Bound::Excluded(start), Bound::Unbounded)).next().copied().unwrap_or(u64::MAX);
        let inside = move |(address, _): &&(u64, String)| (start..next_function).contains(address);
        let indices =
            self.section.labels.iter().filter(inside).filter_map(|(address, _)| self.section.index_of(*address));
        indices.filter(|&index| index < self.end)
    }
}

/// Where ptxas's padding begins: a branch to itself that nothing else jumps to, with nothing but `NOP`s behind it.
fn padding_start(section: &Section) -> usize {
    let code = &section.instructions;
    let Some(last) = code.iter().rposition(|instruction| instruction.mnemonic() != "NOP") else { return code.len() };
    let address = code[last].address;
    let to_it = |flow: &Flow| match flow {
        Flow::Jump { to: Place::Address(to), .. } => *to == address,
        Flow::IndirectJump { to: Some(to), .. } => to.contains(&address),
        _ => false,
    };
    let is_self_branch = to_it(&code[last].flow) && matches!(code[last].flow, Flow::Jump { conditional: false, .. });
    let has_other_way_in = code[..last].iter().any(|instruction| to_it(&instruction.flow));
    let is_function = section.symbols.iter().any(|symbol| symbol.address == address);
    if is_self_branch && !has_other_way_in && !is_function { last } else { code.len() }
}

/// A walk in progress.
struct Walk<'a> {
    layout: &'a Layout<'a>,
    start: u64,
    can_return: &'a dyn Fn(&Callee) -> bool,
    /// The instructions reached, with the ways on from them.
    steps: BTreeMap<usize, Vec<Step>>,
    /// Instructions that begin a block.
    leaders: HashSet<usize>,
    calls: Vec<(usize, Callee)>,
    returns: bool,
    unresolved_jumps: usize,
}

impl Walk<'_> {
    fn run(&mut self) {
        let mut pending: Vec<usize> = self.layout.section.index_of(self.start).into_iter().collect();
        self.leaders.extend(&pending);
        while let Some(at) = pending.pop() {
            if self.steps.contains_key(&at) {
                continue;
            }
            let steps = self.step(at);
            let ends_block = steps.len() != 1 || steps[0].1 != EdgeKind::Next || self.is_transfer(at);
            if ends_block {
                self.leaders.extend(steps.iter().map(|&(to, _)| to));
            }
            pending.extend(steps.iter().map(|&(to, _)| to));
            self.steps.insert(at, steps);
        }
    }

    fn is_transfer(&self, at: usize) -> bool {
        let flow = &self.layout.section.instructions[at].flow;
        !matches!(flow, Flow::Next | Flow::ArmBarrier { .. } | Flow::AwaitBarrier { .. })
    }

    /// The ways on from the instruction at `at`.
    fn step(&mut self, at: usize) -> Vec<Step> {
        let flow = &self.layout.section.instructions[at].flow;
        let mut steps = match flow {
            Flow::Next | Flow::ArmBarrier { .. } => vec![],
            Flow::AwaitBarrier { barrier } => self.meet(at, barrier),
            Flow::Jump { to, .. } => self.jump(at, to),
            Flow::IndirectJump { to: Some(to), .. } => to.iter().flat_map(|&to| self.jump_indirectly(at, to)).collect(),
            Flow::IndirectJump { to: None, .. } => self.jump_anywhere(),
            Flow::Call { callee, .. } => self.call(at, callee),
            Flow::Return { .. } => {
                self.returns = true;
                vec![]
            }
            Flow::Exit { .. } => vec![],
        };
        if goes_on(flow) {
            steps.extend(self.layout.next(at).map(|next| (next, EdgeKind::Next)));
        }
        steps.dedup();
        steps
    }

    fn jump(&mut self, at: usize, to: &Place) -> Vec<Step> {
        match to {
            Place::Address(to) if *to == self.start || !self.layout.function_starts.contains(to) => {
                self.layout.section.index_of(*to).map(|to| (to, EdgeKind::Jump)).into_iter().collect()
            }
            elsewhere => {
                let callee = Callee::Known(elsewhere.clone());
                self.returns |= (self.can_return)(&callee);
                self.calls.push((at, callee));
                vec![]
            }
        }
    }

    fn jump_indirectly(&mut self, at: usize, to: u64) -> Vec<Step> {
        let mut steps = self.jump(at, &Place::Address(to));
        steps.iter_mut().for_each(|step| step.1 = EdgeKind::Indirect);
        steps
    }

    fn jump_anywhere(&mut self) -> Vec<Step> {
        self.unresolved_jumps += 1;
        self.layout.labels_of(self.start).map(|to| (to, EdgeKind::Indirect)).collect()
    }

    fn call(&mut self, at: usize, callee: &Callee) -> Vec<Step> {
        if let Callee::Known(Place::Address(to)) = callee
            && !self.layout.function_starts.contains(to)
        {
            return self.jump(at, &Place::Address(*to));
        }
        self.calls.push((at, callee.clone()));
        let next = self.layout.next(at).filter(|_| (self.can_return)(callee));
        next.map(|next| (next, EdgeKind::Returned)).into_iter().collect()
    }

    /// Threads meet right behind the `BSYNC`, where control goes on anyway. The register at hand need not be the one
    /// that was armed with that place: ptxas saves barriers with `BMOV` and brings them back in other registers. Should
    /// it ever put a meeting point elsewhere, every point of that barrier register is taken to follow.
    fn meet(&self, at: usize, barrier: &str) -> Vec<Step> {
        let Some(points) = self.layout.meeting_points.get(barrier) else { return vec![] };
        let next = self.layout.section.instructions.get(at + 1).map(|next| next.address);
        if next.is_some_and(|next| self.layout.meeting_points.values().any(|points| points.contains(&next))) {
            return vec![];
        }
        points.iter().filter_map(|&point| self.layout.section.index_of(point)).map(|to| (to, EdgeKind::Jump)).collect()
    }

    fn into_graph(self) -> Graph {
        let mut blocks: Vec<BasicBlock> = Vec::new();
        let mut block_of: HashMap<usize, usize> = HashMap::new();
        for &at in self.steps.keys() {
            match blocks.last_mut().filter(|block| block.code.end == at && !self.leaders.contains(&at)) {
                Some(block) => block.code.end += 1,
                None => {
                    block_of.insert(at, blocks.len());
                    blocks.push(BasicBlock { code: at..at + 1, edges: vec![] });
                }
            }
        }
        for block in &mut blocks {
            let steps = &self.steps[&(block.code.end - 1)];
            block.edges =
                steps.iter().filter_map(|(to, kind)| Some(Edge { to: *block_of.get(to)?, kind: *kind })).collect();
        }
        let entry =
            self.layout.section.index_of(self.start).and_then(|at| block_of.get(&at)).copied().unwrap_or_default();
        Graph { blocks, entry, calls: self.calls, returns: self.returns, unresolved_jumps: self.unresolved_jumps }
    }
}

/// Can control simply go on? Behind a call it goes on by returning.
fn goes_on(flow: &Flow) -> bool {
    match flow {
        Flow::Next | Flow::ArmBarrier { .. } | Flow::AwaitBarrier { .. } => true,
        Flow::Jump { conditional, .. }
        | Flow::IndirectJump { conditional, .. }
        | Flow::Call { conditional, .. }
        | Flow::Return { conditional }
        | Flow::Exit { conditional } => *conditional,
    }
}
