//! Why LLVM left a loop that a hint wants unrolled.
//!
//! LLVM's optimizer says it in remarks, which name a place in the source, and nothing else by which a loop could be known. So
//! this optimizes the module once more, with its instructions numbered as if the numbers were lines ([`crate::numbers`]), and
//! reads the remarks. It is done for the message alone, and only where there is something to explain.
//!
//! When it is wrong: LLVM may say nothing; then no reason is known. A loop that was inlined at several places has the reason
//! that was given first.

use crate::numbers::{self, Numbers};
use crate::session::Session;
use crate::target::{Gpu, Unrolling};
use crate::{Error, verify};
use codegen_pass::Site;
use inkwell::module::Module;
use nounroll_metadata::{FunctionGraph, LoopIds, ffi, hold};
use std::collections::HashMap;

/// Why LLVM has not done as a hint asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// The number of turns is known at run time only.
    RunTime,
    /// There would be more instructions than LLVM is ready to make.
    TooLarge,
    /// A convergent call allows no loop for the remainder, so that there are as many copies as divide the number of turns.
    Convergent {
        /// How many; 1 for a loop that was left as it is.
        copies: u64,
    },
}

/// The reasons by site and function, as far as LLVM gives any.
#[derive(Default)]
pub struct Reasons(HashMap<(Site, String), Left>);

impl Reasons {
    /// Asks LLVM about a module whose hints are resolved and that was not optimized. It is of no use afterwards.
    pub fn of(session: &Session, gpu: &Gpu, module: &Module<'_>, unrolling: Unrolling) -> Result<Reasons, Error> {
        let numbers = numbers::number(module);
        name_loops(module);
        verify(module, "with its instructions numbered")?;
        let (done, remarks) = session.listen(|| gpu.optimize(session, module, unrolling));
        done?;
        let mut reasons = HashMap::new();
        for (hint, left) in remarks.iter().filter_map(|remark| read(&numbers, remark)) {
            reasons.entry(hint).or_insert(left);
        }
        Ok(Reasons(reasons))
    }

    /// The reason for a hint in a function.
    pub fn get(&self, site: &Site, symbol: &str) -> Option<Left> {
        self.0.get(&(site.clone(), symbol.to_owned())).copied()
    }
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
