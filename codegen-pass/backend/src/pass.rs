//! The pass over one body: find the markers, settle their hints, tell of those that are dropped, give the others' loops
//! their single latch.
//!
//! Dominators and loops are computed once a body, and only for bodies with markers. Running it again on its own result
//! changes nothing, which matters because rustc inlines bodies that have been through it into others.

use crate::markers::Markers;
use crate::settled::Settled;
use crate::{report, rewrite};
use rustc_middle::mir::{Body, MirDumper};
use rustc_middle::ty::TyCtxt;

/// The name under which `-Zdump-mir` shows the body before and after.
const NAME: &str = "LatchHints";

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
