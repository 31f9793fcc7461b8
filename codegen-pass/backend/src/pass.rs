//! The pass over one body: find the markers, settle their hints, tell of those that are dropped, give the others' loops
//! their single latch.
//!
//! Dominators and loops are computed once a body, and only for bodies with markers. Running it again on its own result
//! changes nothing, which matters because rustc inlines bodies that have been through it into others.

use crate::graph::MirGraph;
use crate::markers::Markers;
use crate::{report, rewrite};
use codegen_pass::{Dominators, DropReason, Flow, LoopForest, Resolution, resolve};
use rustc_data_structures::fx::FxHashSet;
use rustc_middle::mir::{Body, MirDumper};
use rustc_middle::ty::TyCtxt;

/// The name under which `-Zdump-mir` shows the body before and after.
const NAME: &str = "LatchHints";

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

    /// The dropped hints: the position of each body marker, and the reason. What becomes of a copy is told by its marker.
    pub fn drops(&self) -> impl Iterator<Item = (usize, DropReason)> + '_ {
        let written = self.resolution.hints.iter().filter(|hint| !self.markers.is_copy(hint.marker));
        written.filter_map(|hint| Some((hint.marker, hint.verdict.err()?)))
    }
}

/// Runs the pass. None if the body stays as it is.
pub fn run<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>) -> Option<Body<'tcx>> {
    let markers = Markers::of(tcx, body);
    for (place, reason) in &markers.unreadable {
        report::unreadable(tcx, body, *place, reason);
    }
    let settled = Settled::of(body, markers)?;
    let plan = rewrite::Plan::of(body, &settled);
    for (marker, reason) in settled.drops().chain(plan.refused.iter().copied()) {
        report::dropped(tcx, body, &settled.markers, marker, reason);
    }
    report::trace(tcx, body, &settled, &plan);
    if plan.is_empty() {
        return None;
    }
    dump(tcx, body, "before");
    let mut body = body.clone();
    plan.apply(tcx, &mut body);
    dump(tcx, &body, "after");
    Some(body)
}

fn dump<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>, moment: &'static str) {
    if let Some(dumper) = MirDumper::new(tcx, NAME, body) {
        dumper.set_disambiguator(&moment).dump_mir(body);
    }
}
