//! What is left of each hint after optimization.

use crate::ffi;
use crate::graph::FunctionGraph;
use crate::holders::Holders;
use crate::loop_id::{LoopIds, Named};
use crate::split::whole;
use codegen_pass::{Dominators, Flow, LoopForest, LoopId};
use hint_record::Site;
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
    /// Has LLVM made copies of the body, as the hint asks? Not necessarily as many.
    pub is_unrolled: bool,
    /// Does it hold a call that all threads of a warp make together? LLVM makes no loop for the remainder then.
    pub is_convergent: bool,
}

/// Every loop of the module whose ID names a hint.
pub fn surviving_loops(module: &Module<'_>) -> Vec<SurvivingLoop> {
    let ids = LoopIds::new(module.get_context());
    let mut found = Vec::new();
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        let graph = FunctionGraph::new(function);
        let flow = Flow::of(&graph);
        let forest = LoopForest::from_flow(&flow, &Dominators::of(&flow));
        let holders = Holders::of(&ids, &graph, &flow, &forest);
        for id in forest.ids() {
            if whole(&ids, &graph, &forest, id) != id {
                continue;
            }
            let holder = holders.get(id).and_then(|block| graph.terminator(block));
            if let Some(Named { site, function: origin, is_unrolled }) = holder.and_then(|end| ids.read(end)) {
                let function = function.get_name().to_string_lossy().into_owned();
                let header = graph.llvm_block(forest.get(id).header).get_name().to_string_lossy().into_owned();
                let is_convergent = is_convergent(&graph, &forest, id);
                found.push(SurvivingLoop { site, origin, function, header, is_unrolled, is_convergent });
            }
        }
    }
    found
}

fn is_convergent(graph: &FunctionGraph<'_>, forest: &LoopForest, id: LoopId) -> bool {
    let blocks = forest.blocks(id).map(|block| graph.llvm_block(block));
    blocks.flat_map(|block| block.get_instructions()).any(ffi::is_convergent)
}
