//! The verdict on every loop of random nests, held to two others.
//!
//! 1. **The truth by tags.** Every loop starts with a volatile store of its own offset, which is found in the machine
//!    code whatever became of the lines: a loop is alive if there is a way from its tag back to it past the tags
//!    of all loops around it. Of what is under test, the graph alone is used.
//! 2. **A second method.** Each natural loop of the machine code, found by dominators, goes to the innermost PTX loop
//!    around all its landmarks. It cannot see a loop that shares its header with the loop around it; ptxas makes such
//!    code where the outer one begins with nothing but the inner one. So it may miss a loop, but not find one more.
//!
//! A hundred kernels run with every test; `NESTS=5000 cargo test -p sass --test nests -- --ignored --nocapture`
//! runs as many as it says, and prints what it counted.

mod common;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::AddAssign;
use std::thread;

use common::nests::{HEADER, Nest, Style, Tagged, nest};
use sass::{AssembleOptions, EdgeKind, Function, Instruction, Program, PtxModule, TiedKernel, Verdict, Witness, tie};

/// What was seen.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Tally {
    kernels: usize,
    /// Kernels whose pointers ptxas rebased, so that tags say nothing.
    rebased: usize,
    alive: usize,
    gone: usize,
    false_alive: usize,
    false_gone: usize,
    /// Not proved, by what they truly are.
    unproved_alive: usize,
    unproved_gone: usize,
    /// Living loops that the second method misses, and others that it finds.
    second_misses: usize,
    second_finds_more: usize,
    irreducible: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.kernels += other.kernels;
        self.rebased += other.rebased;
        self.alive += other.alive;
        self.gone += other.gone;
        self.false_alive += other.false_alive;
        self.false_gone += other.false_gone;
        self.unproved_alive += other.unproved_alive;
        self.unproved_gone += other.unproved_gone;
        self.second_misses += other.second_misses;
        self.second_finds_more += other.second_finds_more;
        self.irreducible += other.irreducible;
    }
}

const ARCHS: [&str; 3] = ["sm_80", "sm_90", "sm_120a"];

/// Judges the kernels of one module; what is wrong is told with its seed.
fn judge_module(seeds: &[u64], arch: &str) -> Tally {
    let style = |seed: u64| Style { pragmas: seed.is_multiple_of(2), size: 6 + (seed % 23) as u32 };
    let nests: Vec<Nest> = seeds.iter().map(|&seed| nest(seed, style(seed))).collect();
    let text: String = std::iter::once(HEADER).chain(nests.iter().map(|nest| nest.text.as_str())).collect();
    let witness = Witness::of(&common::ptxas(), &common::nvdisasm(), &text, arch, &AssembleOptions::default());
    let witness = witness.unwrap_or_else(|error| panic!("seeds {seeds:?} on {arch}: {error}"));
    let ptx = PtxModule::parse(&text).expect("PTX");
    let program = Program::of(&witness.module);
    let mut tally = Tally::default();
    for tied in tie(&ptx, &program) {
        let nest = nests.iter().find(|nest| nest.kernel == tied.name).expect("a nest");
        tally += judge(nest, &ptx, &program, &tied, arch);
    }
    assert_eq!(tally.kernels, seeds.len());
    tally
}

fn judge(nest: &Nest, ptx: &PtxModule, program: &Program<'_>, tied: &TiedKernel<'_>, arch: &str) -> Tally {
    let kernel = program.kernel(&nest.kernel).expect("the kernel");
    let functions: Vec<&Function<'_>> = kernel.functions().collect();
    let irreducible = usize::from(functions.iter().any(|function| function.irreducible));
    let mut tally = Tally { kernels: 1, irreducible, ..Tally::default() };
    let Some(truth) = Truth::of(nest, &functions) else { return Tally { rebased: 1, ..tally } };
    let second = second_method(ptx, tied, &functions);
    for tagged in &nest.loops {
        // A loop that never repeats is none.
        let Some(found) = tied.find(ptx, &tagged.function, &tagged.label) else { continue };
        let place = format!("{} of {} on {arch}, {}", tagged.label, tagged.function, nest.kernel);
        let alive = truth.is_alive(tagged);
        let by_second = second.contains(&(found.function, found.id.index()));
        tally.alive += usize::from(alive);
        tally.gone += usize::from(!alive);
        match (found.verdict, alive) {
            (Verdict::Alive, false) => tally.false_alive += 1,
            (Verdict::Gone, true) => tally.false_gone += 1,
            (Verdict::NotProved, true) => tally.unproved_alive += 1,
            (Verdict::NotProved, false) => tally.unproved_gone += 1,
            _ => {}
        }
        let is_alive = found.verdict == Verdict::Alive;
        tally.second_misses += usize::from(is_alive && !by_second);
        tally.second_finds_more += usize::from(!is_alive && by_second);
        if is_alive != alive && (alive || is_alive) || by_second && !is_alive {
            println!("{place}: {:?}, by tags {alive}, by the second method {by_second}", found.verdict);
        }
    }
    tally
}

/// The blocks of the machine code, with the tags in each.
struct Truth {
    functions: Vec<Vec<Tags>>,
}

/// A block.
struct Tags {
    /// With where control goes from there: a store under the predicate of the branch that ends the block runs only
    /// where that is taken, or only where it is not.
    all: Vec<(u32, Vec<usize>)>,
    /// Those that whoever goes through the block stores.
    always: BTreeSet<u32>,
    next: Vec<usize>,
}

impl Truth {
    /// None where a store has an offset that nobody wrote.
    fn of(nest: &Nest, functions: &[&Function<'_>]) -> Option<Truth> {
        let highest = 0x10000 + 4 * nest.text.matches("st.volatile").count() as i64;
        let mut stores = functions.iter().flat_map(|function| &function.section.instructions).filter_map(offset);
        if stores.any(|offset| !(0x10004..=highest).contains(&offset)) {
            return None;
        }
        let tags = |function: &Function<'_>, block: usize| {
            let code = || function.code(block).iter().filter_map(|i| Some((i, offset(i)? as u32)));
            let always = code().filter(|(i, _)| i.predicate.is_none());
            Tags {
                all: code().map(|(i, tag)| (tag, ways_on(function, block, i))).collect(),
                always: always.map(|(_, tag)| tag).collect(),
                next: function.graph.blocks[block].edges.iter().map(|edge| edge.to).collect(),
            }
        };
        let blocks = |f: &&Function<'_>| (0..f.graph.blocks.len()).map(|block| tags(f, block)).collect();
        Some(Truth { functions: functions.iter().map(blocks).collect() })
    }

    /// Is there a way from the loop's tag to itself past the tags of what is around it?
    fn is_alive(&self, tagged: &Tagged) -> bool {
        self.functions.iter().any(|blocks| {
            let is_open = |block: usize| tagged.outside.iter().all(|tag| !blocks[block].always.contains(tag));
            let starts = (0..blocks.len()).filter(|&block| is_open(block)).flat_map(|block| {
                let own = blocks[block].all.iter().filter(|(tag, _)| *tag == tagged.tag);
                own.map(move |(_, next)| (block, next.clone()))
            });
            starts.into_iter().any(|(start, next)| {
                let (mut seen, mut pending) = (BTreeSet::new(), next);
                while let Some(block) = pending.pop() {
                    if is_open(block) && seen.insert(block) {
                        pending.extend(&blocks[block].next);
                    }
                }
                seen.contains(&start)
            })
        })
    }
}

/// The blocks that may follow where an instruction of a block has run.
fn ways_on(function: &Function<'_>, block: usize, instruction: &Instruction) -> Vec<usize> {
    let last = function.code(block).last().and_then(|last| last.predicate.as_ref());
    let same = instruction.predicate.as_ref().zip(last).filter(|(own, last)| own.register == last.register);
    let fits = |kind: EdgeKind| same.is_none_or(|(own, last)| (own == last) == (kind != EdgeKind::Next));
    function.graph.blocks[block].edges.iter().filter(|edge| fits(edge.kind)).map(|edge| edge.to).collect()
}

/// The offset of a volatile store: `0x10008` in `STG.E.STRONG.SYS desc[UR4][R2.64+0x10008], R5`.
fn offset(instruction: &Instruction) -> Option<i64> {
    let is_store = instruction.is("STG") || instruction.is("ST");
    if !is_store || !instruction.opcode.contains(".STRONG") {
        return None;
    }
    let address = instruction.operands.first()?.rsplit_once('[')?.1.trim_end_matches(']');
    let Some((_, offset)) = address.rsplit_once('+') else { return Some(0) };
    let (sign, digits) = offset.strip_prefix('-').map_or((1, offset), |digits| (-1, digits));
    i64::from_str_radix(digits.strip_prefix("0x")?, 16).ok().map(|offset| sign * offset)
}

/// The PTX loops that a natural loop of the machine code goes to, by function and loop.
fn second_method(ptx: &PtxModule, tied: &TiedKernel<'_>, functions: &[&Function<'_>]) -> BTreeSet<(usize, usize)> {
    let mut at: HashMap<(&str, u64), Vec<(usize, usize)>> = HashMap::new();
    for landmark in &tied.landmarks {
        let place = at.entry((landmark.section, landmark.instruction.address)).or_default();
        place.extend(landmark.blocks.iter().map(|&block| (landmark.function, block)));
    }
    let mut found = BTreeSet::new();
    for (function, natural) in functions.iter().flat_map(|function| function.loops.iter().map(move |l| (function, l))) {
        let section = function.section.name.as_str();
        let mut chains: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
        let code = natural.blocks.iter().flat_map(|&block| function.code(block).iter().map(move |i| (block, i)));
        // What runs only on the way out is not in it.
        let stays =
            |block: usize, i: &Instruction| ways_on(function, block, i).iter().any(|b| natural.blocks.contains(b));
        for (_, instruction) in code.filter(|&(block, i)| stays(block, i)) {
            for &(function, block) in at.get(&(section, instruction.address)).into_iter().flatten() {
                chains.entry(function).or_default().push(chain(ptx, function, block));
            }
        }
        for (function, chains) in chains {
            found.extend(common_end(&chains).map(|id| (function, id)));
        }
    }
    found
}

/// The loops around a block, the outermost first.
fn chain(ptx: &PtxModule, function: usize, block: usize) -> Vec<usize> {
    let forest = &ptx.functions()[function].forest;
    let around = std::iter::successors(forest.innermost(codegen_pass::Block::new(block)), |&id| forest.get(id).parent);
    let mut chain: Vec<usize> = around.map(|id| id.index()).collect();
    chain.reverse();
    chain
}

/// The innermost loop that all have in common.
fn common_end(chains: &[Vec<usize>]) -> Option<usize> {
    let first = chains.first()?;
    let shared = |chain: &Vec<usize>| chain.iter().zip(first).take_while(|(a, b)| a == b).count();
    let length = chains.iter().map(shared).min()?;
    length.checked_sub(1).map(|last| first[last])
}

/// Judges many kernels, ten in a module, on two threads.
fn judge_all(seeds: std::ops::Range<u64>) -> Tally {
    let seeds: Vec<u64> = seeds.collect();
    let half = |odd: usize| {
        let mut tally = Tally::default();
        for (at, seeds) in seeds.chunks(10).enumerate().filter(|(at, _)| at % 2 == odd) {
            tally += judge_module(seeds, ARCHS[at % ARCHS.len()]);
        }
        tally
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        let mut tally = half(0);
        tally += other.join().expect("no panic");
        tally
    })
}

fn assert_right(tally: Tally) {
    assert_eq!((tally.false_alive, tally.false_gone, tally.unproved_alive), (0, 0, 0), "{tally:?}");
    assert_eq!(tally.second_finds_more, 0, "{tally:?}");
    assert!(tally.second_misses * 100 <= tally.alive, "{tally:?}");
}

#[test]
fn no_verdict_is_wrong_on_a_hundred_kernels() {
    let tally = judge_all(0..100);
    assert_right(tally);
    assert!(tally.alive > 300 && tally.gone > 40 && tally.rebased < 40, "{tally:?}");
}

#[test]
#[ignore = "takes minutes; NESTS says how many"]
fn no_verdict_is_wrong_on_thousands() {
    let count = std::env::var("NESTS").ok().and_then(|count| count.parse().ok()).unwrap_or(3000);
    let tally = judge_all(1000..1000 + count);
    println!("{tally:#?}");
    assert_right(tally);
}
