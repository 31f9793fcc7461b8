//! What is left of each hint after optimization.
//!
//! Only true latches count: unrolling can leave a copy of the loop ID on a branch that does not jump back.

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
        for natural in LoopForest::of(&graph).loops() {
            let mut latches = natural.latches.iter().filter_map(|&latch| graph.terminator(latch));
            if let Some((site, origin)) = latches.find_map(|terminator| ids.read_site(terminator)) {
                let function = function.get_name().to_string_lossy().into_owned();
                let header = graph.llvm_block(natural.header).get_name().to_string_lossy().into_owned();
                found.push(SurvivingLoop { site, origin, function, header });
            }
        }
    }
    found
}
