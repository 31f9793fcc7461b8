//! Why LLVM left a loop that a hint wants unrolled, and what became of one that should have stayed.
//!
//! 1. LLVM's optimizer says why it does not unroll in remarks, which name a place in the source, and nothing else by
//!    which a loop could be known.
//! 2. It can make one loop of two: where an inner loop starts with nothing before it in the outer one's turn, as in
//!    `while a { loop { …; if b { break } } }`, the condition of either may send it back to the same place. The loop
//!    then has the ID of one of them, and it may be the one without hint. It is known by its jumps back, of which one
//!    is the inner loop's.
//!
//! For both, this optimizes the module once more, with its instructions numbered as if the numbers were lines
//! ([`crate::numbers`]). It is done for the message alone, and only where there is something to explain.
//!
//! When it is wrong: LLVM may say nothing; then no reason is known. A loop that was inlined at several places has the
//! reason that was given first.

use crate::Error;
use crate::numbers::{self, Numbers};
use crate::session::Session;
use crate::target::{Gpu, Unrolling};
use codegen_pass::{Block, Flow, LoopForest, LoopId, MergeLatches};
use hint_record::{HintKind, Site};
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue};
use nounroll_metadata::{FunctionGraph, LoopIds, ffi, hold};
use std::collections::HashMap;

/// Why LLVM has not done as a hint asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// The number of turns is known at run time only.
    RunTime,
    /// There would be more instructions than LLVM is ready to make.
    TooLarge,
    /// A convergent call allows no loop for the remainder, so that there are as many copies as divide the number of
    /// turns.
    Convergent {
        /// How many; 1 for a loop that was left as it is.
        copies: u64,
    },
}

/// The loop that a hinted one was made one with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merged {
    /// The symbol of the function that it stands in.
    pub symbol: String,
    /// The header's name in LLVM's text.
    pub header: String,
    /// Does its ID keep it rolled?
    pub is_rolled: bool,
    /// The hint that its ID names, by site and symbol.
    pub hint: Option<(Site, String)>,
}

/// A hint in a function, by site and symbol.
type Key = (Site, String);

/// What there is to explain, as far as LLVM tells.
#[derive(Default)]
pub struct Reasons {
    left: HashMap<Key, Left>,
    merged: HashMap<Key, Merged>,
}

impl Reasons {
    /// Asks LLVM about a module whose hints are resolved and that was not optimized. It is of no use afterwards.
    pub fn of(session: &Session, gpu: &Gpu, module: &Module<'_>, unrolling: Unrolling) -> Result<Reasons, Error> {
        let numbers = numbers::number(module);
        name_loops(module);
        module.verify().map_err(|message| Error::Numbered { message: message.to_string() })?;
        let (done, remarks) = session.listen(|| gpu.optimize(session, module, unrolling));
        done?;
        let mut reasons = Reasons::default();
        for (hint, left) in remarks.iter().filter_map(|remark| read(&numbers, remark)) {
            reasons.left.entry(hint).or_insert(left);
        }
        for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
            for (hint, merged) in merged(&numbers, function) {
                reasons.merged.entry(hint).or_insert(merged);
            }
        }
        Ok(reasons)
    }

    /// Why a loop is left of the hint in a function.
    pub fn left(&self, site: &Site, symbol: &str) -> Option<Left> {
        self.left.get(&(site.clone(), symbol.to_owned())).copied()
    }

    /// What the hint's loop was made one with.
    pub fn merged(&self, site: &Site, symbol: &str) -> Option<&Merged> {
        self.merged.get(&(site.clone(), symbol.to_owned()))
    }
}

/// The loops of an optimized function that jump back by what was a jump of another one that is to stay.
fn merged(numbers: &Numbers, function: FunctionValue<'_>) -> Vec<(Key, Merged)> {
    let ids = LoopIds::new(function.get_type().get_context());
    let graph = FunctionGraph::new(function);
    let flow = Flow::of(&graph);
    let forest = LoopForest::of(&graph);
    let mut found = Vec::new();
    for id in forest.ids() {
        let is_rolled = ends(&graph, &forest, id).any(|end| ids.forbids_unrolling(end));
        let header = graph.llvm_block(forest.get(id).header).get_name().to_string_lossy().into_owned();
        let symbol = function.get_name().to_string_lossy().into_owned();
        let named = ends(&graph, &forest, id).find_map(|end| ids.read(end));
        let hint = named.map(|named| (named.site, named.function));
        let merged = Merged { symbol, header, is_rolled, hint };
        let jumps = jumps_back(&graph, &flow, &forest, id).into_iter().filter_map(ffi::Place::of);
        let hints = jumps.filter_map(|place| numbers.hint(numbers.innermost(place.line())?));
        let hints = hints.filter(|hint| hint.site.kind == HintKind::Nounroll);
        found.extend(hints.map(|hint| ((hint.site.clone(), hint.origin.clone()), merged.clone())));
    }
    found
}

fn ends<'a, 'ctx>(
    graph: &'a FunctionGraph<'ctx>,
    forest: &'a LoopForest,
    id: LoopId,
) -> impl Iterator<Item = InstructionValue<'ctx>> + 'a {
    forest.get(id).latches.iter().filter_map(|&latch| graph.terminator(latch))
}

/// The conditional jumps that lead back to a loop's header, through a latch that only jumps too.
fn jumps_back<'ctx>(
    graph: &FunctionGraph<'ctx>,
    flow: &Flow,
    forest: &LoopForest,
    id: LoopId,
) -> Vec<InstructionValue<'ctx>> {
    let from = |latch: Block| -> Vec<Block> {
        if graph.ends_in_plain_jump(latch) { flow.predecessors(latch).to_vec() } else { vec![latch] }
    };
    let blocks = forest.get(id).latches.iter().flat_map(|&latch| from(latch));
    let inside = blocks.filter(|&block| forest.contains(id, block) && !graph.ends_in_plain_jump(block));
    inside.filter_map(|block| graph.terminator(block)).collect()
}

/// Gives every hinted loop's ID the number of its latch: LLVM speaks of a loop by the place in its ID first.
fn name_loops(module: &Module<'_>) {
    let ids = LoopIds::new(module.get_context());
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        let graph = FunctionGraph::new(function);
        for end in graph.llvm_blocks().iter().filter_map(|block| block.get_terminator()) {
            if let Some(place) = ffi::Place::of(end).filter(|_| ids.read(end).is_some()) {
                hold(end, place);
            }
        }
    }
}

/// `instructions:12:1: Unable to …`
fn read(numbers: &Numbers, remark: &str) -> Option<((Site, String), Left)> {
    let (place, text) = remark.split_once(": ")?;
    let line = place.rsplit(':').nth(1)?.parse().ok()?;
    let hint = numbers.hint(numbers.innermost(line)?)?;
    Some(((hint.site.clone(), hint.origin.clone()), meaning(text)?))
}

fn meaning(text: &str) -> Option<Left> {
    if text.contains("because loop has a runtime trip count") {
        Some(Left::RunTime)
    } else if text.contains("because unrolled size is too large") {
        Some(Left::TooLarge)
    } else if text.contains("because remainder loop is restricted") {
        let (_, copies) = text.split_once("Unrolling instead ")?;
        Some(Left::Convergent { copies: copies.split(' ').next()?.parse().ok()? })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn llvms_words_have_a_meaning() {
        let restricted = "Unable to unroll loop the number of times directed by unroll_count pragma because remainder loop is \
                          restricted (that could architecture specific or because the loop contains a convergent \
                          instruction) and so must have an unroll count that divides the loop trip multiple of 2.  Unrolling \
                          instead 2 time(s).";
        assert_eq!(meaning(restricted), Some(Left::Convergent { copies: 2 }));
        assert_eq!(meaning("completely unrolled loop with 8 iterations"), None);
    }
}
