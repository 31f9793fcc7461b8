//! What is left of each hint after optimization.
//!
//! Only true latches count: unrolling can leave a copy of the loop ID on a branch that does not jump back. A latch speaks
//! for the innermost loop around it alone, although it may end outer loops too; that is how LLVM prints `.pragma
//! "nounroll"`, so a loop counts here exactly if it would be printed with one.

use crate::graph::FunctionGraph;
use crate::loop_id::LoopIds;
use codegen_pass::{LoopForest, Site};
use inkwell::module::Module;

/// A loop of the optimized module that still names a hint.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SurvivingLoop {
    /// The hint's site.
    pub site: Site,
    /// The symbol of the function that the loop stood in when its hint was resolved.
    pub origin: String,
    /// The symbol of the function that it stands in now.
    pub function: String,
    /// The header's name in LLVM's text; empty if it has none.
    pub header: String,
}

/// Every loop of the module whose latch names a hint.
pub fn surviving_loops(module: &Module<'_>) -> Vec<SurvivingLoop> {
    let ids = LoopIds::new(module.get_context());
    let mut found = Vec::new();
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        let graph = FunctionGraph::new(function);
        let forest = LoopForest::of(&graph);
        for id in forest.ids() {
            let natural = forest.get(id);
            let own = natural.latches.iter().filter(|&&latch| forest.innermost(latch) == Some(id));
            let mut latches = own.filter_map(|&latch| graph.terminator(latch));
            if let Some((site, origin)) = latches.find_map(|terminator| ids.read_site(terminator)) {
                let function = function.get_name().to_string_lossy().into_owned();
                let header = graph.llvm_block(natural.header).get_name().to_string_lossy().into_owned();
                found.push(SurvivingLoop { site, origin, function, header });
            }
        }
    }
    found
}
