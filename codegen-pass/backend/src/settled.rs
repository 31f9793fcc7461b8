//! The hints of one body, settled: what the rewrite changes by, and what messages are about.

use crate::graph::MirGraph;
use crate::markers::Markers;
use codegen_pass::{Dominators, DropReason, Flow, LoopForest, Resolution, resolve};
use rustc_data_structures::fx::FxHashSet;
use rustc_middle::mir::Body;

/// A body's hints and what becomes of them.
pub struct Settled<'a, 'tcx> {
    /// The markers found.
    pub markers: Markers<'a, 'tcx>,
    /// The loops of the body.
    pub forest: LoopForest,
    /// The verdict on each hint.
    pub resolution: Resolution,
}

impl<'a, 'tcx> Settled<'a, 'tcx> {
    /// Settles every hint of `body`. None if it has no readable marker.
    pub fn of(body: &'a Body<'tcx>, markers: Markers<'a, 'tcx>) -> Option<Settled<'a, 'tcx>> {
        if markers.list.is_empty() {
            return None;
        }
        let flow = Flow::of(&MirGraph::new(body, FxHashSet::default()));
        let dominators = Dominators::of(&flow);
        let forest = LoopForest::from_flow(&flow, &dominators);
        let resolution = resolve(&flow, &dominators, &forest, &markers.list);
        Some(Settled { markers, forest, resolution })
    }

    /// The dropped hints: the position of each body marker, and the reason. What becomes of a copy is told by its
    /// marker.
    pub fn drops(&self) -> impl Iterator<Item = (usize, DropReason)> + '_ {
        let written = self.resolution.hints.iter().filter(|hint| !self.markers.is_copy(hint.marker));
        written.filter_map(|hint| Some((hint.marker, hint.verdict.err()?)))
    }
}
