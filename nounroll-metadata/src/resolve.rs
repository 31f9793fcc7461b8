//! The stage itself: from markers to loop IDs, function by function.

use crate::Error;
use crate::graph::FunctionGraph;
use crate::loop_id::{Existing, LoopIds};
use crate::markers::Markers;
use crate::place;
use crate::plain::mark_plain_loops;
use codegen_pass::{Block, Dominators, DropReason, Flow, LoopForest, LoopId, resolve, single_latch};
use hint_record::{Request, Site, marker};
use inkwell::module::Module;
use inkwell::values::{BasicValue, FunctionValue};
use std::collections::HashMap;

/// What became of one hint in one function of the linked module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HintOutcome {
    /// Where the hint stands in the source.
    pub site: Site,
    /// The symbol of the function that holds the loop. A function that rustc inlined before is not seen.
    pub function: String,
    /// What it asks for.
    pub request: Request,
    /// The loop's header and single latch, as LLVM names them, or why there is none.
    pub verdict: Result<MarkedLoop, DropReason>,
}

/// A loop that carries a hint now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MarkedLoop {
    /// The header's name.
    pub header: String,
    /// How many back edges the loop had before they were joined.
    pub back_edges: usize,
    /// The single latch's name.
    pub latch: String,
}

/// Resolves every hint of a module that no LLVM pass has touched. No marker is left afterwards, and the module is
/// verified.
pub fn resolve_hints(module: &Module<'_>) -> Result<Vec<HintOutcome>, Error> {
    let ids = LoopIds::new(module.get_context());
    let functions: Vec<_> = module.get_functions().filter(|function| function.count_basic_blocks() > 0).collect();
    let mut outcomes = Vec::new();
    for &function in &functions {
        outcomes.extend(resolve_function(&ids, function)?);
    }
    remove_declarations(module)?;
    if outcomes.iter().any(|outcome| outcome.verdict.is_ok()) {
        functions.iter().for_each(|&function| mark_plain_loops(&ids, function));
    }
    module.verify().map_err(|message| Error::Invalid { message: message.to_string() })?;
    Ok(outcomes)
}

fn resolve_function<'ctx>(ids: &LoopIds<'ctx>, function: FunctionValue<'ctx>) -> Result<Vec<HintOutcome>, Error> {
    let graph = FunctionGraph::new(function);
    let markers = Markers::of(function, &graph)?;
    if markers.list.is_empty() {
        return Ok(Vec::new());
    }
    let flow = Flow::of(&graph);
    let dominators = Dominators::of(&flow);
    let forest = LoopForest::from_flow(&flow, &dominators);
    let resolution = resolve(&flow, &dominators, &forest, &markers.list);

    let symbol = function.get_name().to_string_lossy().into_owned();
    let mut rewrite = Rewrite::new(graph, &forest, ids);
    let marked: HashMap<LoopId, Result<MarkedLoop, DropReason>> = resolution
        .hinted
        .iter()
        .map(|hinted| (hinted.id, rewrite.mark(hinted.id, &markers, hinted.marker, &symbol)))
        .collect();

    let outcomes = resolution.hints.iter().map(|hint| {
        let verdict = hint.verdict.and_then(|id| marked[&id].clone());
        tracing::debug!(site = %markers.site(hint.marker), function = symbol, ?verdict, "hint resolved");
        let (site, request) = (markers.site(hint.marker).clone(), markers.request(hint.marker));
        HintOutcome { site, function: symbol.clone(), request, verdict }
    });
    let outcomes = outcomes.collect();
    markers.erase();
    Ok(outcomes)
}

/// One function's hinted loops in work.
struct Rewrite<'a, 'ctx> {
    graph: FunctionGraph<'ctx>,
    forest: &'a LoopForest,
    ids: &'a LoopIds<'ctx>,
    /// The properties of every loop's latches before any was touched: a block that ends two loops has one ID for both.
    existing: Vec<Existing<'ctx>>,
}

impl<'a, 'ctx> Rewrite<'a, 'ctx> {
    fn new(graph: FunctionGraph<'ctx>, forest: &'a LoopForest, ids: &'a LoopIds<'ctx>) -> Rewrite<'a, 'ctx> {
        let terminators = |id: LoopId| forest.get(id).latches.iter().filter_map(|&latch| graph.terminator(latch));
        let existing = forest.ids().map(|id| ids.existing(terminators(id))).collect();
        Rewrite { graph, forest, ids, existing }
    }

    fn mark(
        &mut self,
        id: LoopId,
        markers: &Markers<'ctx>,
        marker: usize,
        function: &str,
    ) -> Result<MarkedLoop, DropReason> {
        let found = self.forest.get(id);
        let latch = single_latch(&mut self.graph, found)?;
        let terminator = self.graph.terminator(latch).ok_or(DropReason::FixedBackEdge)?;
        let (site, request) = (markers.site(marker), markers.request(marker));
        self.ids.write_hint(terminator, &self.existing[id.index()], site, request, function);
        place::keep(terminator, markers.calls[marker], site);
        let header = self.name(found.header, &format!("loop{}", site.line));
        let latch = self.name(latch, &format!("{header}.latch"));
        Ok(MarkedLoop { header, back_edges: found.latches.len(), latch })
    }

    /// The block's name. Compilers drop names in release builds; a hinted loop's blocks get new ones, so that they can
    /// be found in what LLVM prints.
    fn name(&self, block: Block, fallback: &str) -> String {
        let block = self.graph.llvm_block(block);
        if block.get_name().is_empty() {
            block.set_name(fallback);
        }
        block.get_name().to_string_lossy().into_owned()
    }
}

/// The markers' declarations are not needed any more. A use that is left is none of ours.
fn remove_declarations(module: &Module<'_>) -> Result<(), Error> {
    for marker in [marker::ENTER, marker::BODY] {
        let declaration = module.get_function(marker).filter(|function| function.count_basic_blocks() == 0);
        let Some(declaration) = declaration else { continue };
        if declaration.as_global_value().as_pointer_value().get_first_use().is_some() {
            return Err(Error::MarkerEscapes { marker });
        }
        // SAFETY: nothing in the module uses the declaration, and the handle is not used again.
        unsafe { declaration.delete() };
    }
    Ok(())
}
