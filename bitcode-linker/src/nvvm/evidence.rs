//! Which loops libNVVM has left of every hint, read from its own PTX.
//!
//! What libNVVM optimizes cannot be seen, and PTX has no loop IDs. So the module is compiled once more, with its
//! instructions numbered ([`super::numbers`]). If that gives the same code, comments and lines aside, then what the
//! numbers tell of it holds for the code that is kept:
//!
//! 1. A natural loop of the PTX is made of the loop of the module that its jumps back are part of. Where code was inlined,
//!    a jump in no loop of the function inlined is part of the loop around the call, and so on outwards.
//! 2. A loop around others is never made of the same loop as one of these, nor of one inside that: an empty latch may have
//!    been folded into the inner loop, whose jump then ends both. So it is made of the first loop further out.
//! 3. Of a loop that is unrolled N times, what takes the remaining iterations is no loop of the hint: it has each of the
//!    loop's instructions at most half as often as the main loop has.
//!
//! When it is wrong: jumps that libNVVM makes of several others have no number; the loop is then judged by the number that
//! most of its instructions share. If the numbered module gives other code, there is no evidence at all; the caller then
//! goes by what LLVM's own optimizer leaves, and says so.

use super::listing::{self, Function, Kind, Place, Statement};
use super::numbers::{Numbers, SourceLoop};
use codegen_pass::{Block, Dominators, Flow, HintKind, LoopForest, LoopId};
use nounroll_metadata::SurvivingLoop;
use std::collections::{BTreeMap, HashMap};

/// The loops that are left. None if the numbered module has become other code than `ptx`.
pub fn loops_left(numbers: &Numbers, numbered: &str, ptx: &str) -> Option<Vec<SurvivingLoop>> {
    if listing::code_alone(numbered) != listing::code_alone(ptx) {
        return None;
    }
    let functions = listing::functions(numbered)?;
    Some(functions.iter().flat_map(|function| in_function(numbers, function)).collect())
}

fn in_function(numbers: &Numbers, function: &Function) -> Vec<SurvivingLoop> {
    let flow = Flow::of(function);
    let forest = LoopForest::from_flow(&flow, &Dominators::of(&flow));
    let origins = Origins { numbers, function, forest: &forest, calls: calls(function) }.of_loops();
    let copies: Vec<usize> = forest.ids().map(|id| most_copies(function, &forest, id)).collect();
    let mut most: HashMap<SourceLoop, usize> = HashMap::new();
    for (origin, copies) in origins.iter().zip(&copies).filter_map(|(origin, copies)| Some(((*origin)?, copies))) {
        let most = most.entry(origin).or_default();
        *most = (*most).max(*copies);
    }
    let left = forest.ids().filter_map(|id| {
        let origin = origins[id.index()]?;
        let hint = numbers.hint(origin)?;
        let is_main = hint.site.kind == HintKind::Nounroll || copies[id.index()] * 2 > most[&origin];
        let header = function.label(forest.get(id).header).to_owned();
        is_main.then(|| SurvivingLoop { function: function.name.clone(), header, ..hint.clone() })
    });
    left.collect()
}

/// Where every call that was inlined was itself inlined, as far as the text says.
fn calls(function: &Function) -> HashMap<u32, Option<u32>> {
    function.places.iter().map(|place| (place.number, place.inlined_at)).collect()
}

/// Finds what the loops of a function's PTX are made of.
struct Origins<'a> {
    numbers: &'a Numbers,
    function: &'a Function,
    forest: &'a LoopForest,
    calls: HashMap<u32, Option<u32>>,
}

impl Origins<'_> {
    fn of_loops(&self) -> Vec<Option<SourceLoop>> {
        let mut origins: Vec<Option<SourceLoop>> = vec![None; self.forest.loops().len()];
        // A loop comes before those inside it.
        for id in self.forest.ids().collect::<Vec<_>>().into_iter().rev() {
            let inner = |other: &LoopId| *other != id && self.forest.encloses(id, *other);
            let taken: Vec<SourceLoop> =
                self.forest.ids().filter(inner).filter_map(|other| origins[other.index()]).collect();
            origins[id.index()] = self.origin(id, &taken);
        }
        origins
    }

    /// The loop that a loop of the PTX is made of, given those that the loops inside it are made of.
    fn origin(&self, id: LoopId, taken: &[SourceLoop]) -> Option<SourceLoop> {
        let latches = self.forest.get(id).latches.iter();
        let jumps =
            latches.filter_map(|&latch| self.function.statements(latch).last()).filter(|last| last.kind == Kind::Jump);
        let places: Vec<Place> = jumps.filter_map(|jump| jump.place).collect();
        let places = if places.is_empty() { self.places_inside(id) } else { places };
        let mut votes: BTreeMap<SourceLoop, usize> = BTreeMap::new();
        for place in places {
            let outwards = self.outwards(place);
            let first_free = outwards.iter().rposition(|found| taken.contains(found)).map_or(0, |last| last + 1);
            if let Some(found) = outwards.get(first_free) {
                *votes.entry(*found).or_default() += 1;
            }
        }
        votes.into_iter().max_by_key(|&(_, count)| count).map(|(found, _)| found)
    }

    /// The places in the loop, those in loops inside it aside.
    fn places_inside(&self, id: LoopId) -> Vec<Place> {
        let own = self.forest.blocks(id).filter(|&block| self.forest.innermost(block) == Some(id));
        own.flat_map(|block| self.function.statements(block)).filter_map(|statement| statement.place).collect()
    }

    /// The loops around a place, through all calls that it was inlined at.
    fn outwards(&self, place: Place) -> Vec<SourceLoop> {
        let mut loops = Vec::new();
        let mut next = Some(place);
        // Recursion that was inlined into itself would go round for ever.
        for _ in 0..MOST_CALLS {
            let Some(place) = next else { break };
            let mut around = self.numbers.innermost(place.number);
            while let Some(found) = around {
                loops.push(found);
                around = self.numbers.parent(found);
            }
            let call = place.inlined_at;
            next = call.map(|number| Place { number, inlined_at: self.calls.get(&number).copied().flatten() });
        }
        loops
    }
}

/// More calls inlined into one another than any program has.
const MOST_CALLS: usize = 1000;

/// How often the loop has the instruction that it has most often. Counting and addresses are left to the side, where the loop
/// does anything else: of those there may be several for one instruction of the module.
fn most_copies(function: &Function, forest: &LoopForest, id: LoopId) -> usize {
    let own = || forest.blocks(id).filter(|&block: &Block| forest.innermost(block) == Some(id));
    let copies = |is_counted: fn(&Statement) -> bool| {
        let mut counts: HashMap<Place, usize> = HashMap::new();
        let counted = own().flat_map(|block| function.statements(block)).filter(|statement| is_counted(statement));
        counted.filter_map(|statement| statement.place).for_each(|place| *counts.entry(place).or_default() += 1);
        counts.into_values().max()
    };
    copies(|statement| statement.kind == Kind::Work).or_else(|| copies(|_| true)).unwrap_or(1)
}
