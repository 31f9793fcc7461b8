//! Telling of dropped hints, as rustc diagnostics at the loop.
//!
//! The level comes from `--cfg latch_hints="…"` ([`crate::level`]). With `--cfg latch_trace` every hinted loop gets a
//! note. What a diagnostic says in words is for people; the command reads its code, which holds the same as a [`Note`].
//!
//! rustc prints equal messages once; so a message names the function that the loop stands in, not the one that it was
//! inlined into, and is the same in every caller.

use crate::level;
use crate::markers::Markers;
use crate::rewrite::Plan;
use crate::settled::Settled;
use codegen_pass::DropReason;
use hint_record::{Level, MirLoop, NoLoop, Note, Site, TRACE_CFG, text};
use rustc_errors::{Diag, EmissionGuarantee};
use rustc_middle::mir::{Body, SourceInfo, SourceScope};
use rustc_middle::ty::TyCtxt;
use rustc_middle::ty::print::with_no_trimmed_paths;
use rustc_span::def_id::DefId;
use rustc_span::{ExpnKind, Span, Symbol};

/// What a diagnostic has beside its first line.
struct Details {
    function: String,
    help: Option<&'static str>,
    /// For the command.
    note: Option<Note>,
}

fn emit(level: Level, tcx: TyCtxt<'_>, span: Span, text: String, details: Details) {
    match level {
        Level::Allow => {}
        Level::Warn => details.add_to(tcx.dcx().struct_span_warn(span, text)).emit(),
        Level::Deny => _ = details.add_to(tcx.dcx().struct_span_err(span, text)).emit(),
    }
}

impl Details {
    fn add_to<'a, G: EmissionGuarantee>(self, mut message: Diag<'a, G>) -> Diag<'a, G> {
        message.note(self.function);
        self.help.into_iter().for_each(|help| _ = message.help(help));
        self.note.into_iter().for_each(|note| set_code(&mut message, &note));
        message
    }
}

/// A lint's name becomes the code in rustc's JSON, and is not printed.
fn set_code<G: EmissionGuarantee>(message: &mut Diag<'_, G>, note: &Note) {
    message.is_lint(note.to_string(), false);
}

/// Tells that the hint of a body marker is dropped.
pub fn dropped<'tcx>(
    tcx: TyCtxt<'tcx>,
    body: &Body<'tcx>,
    markers: &Markers<'_, 'tcx>,
    marker: usize,
    reason: DropReason,
) {
    let why = NoLoop::from(reason);
    let level = level::of(tcx.sess, Some(why.kind()));
    let block = crate::graph::basic_block(markers.list[marker].block);
    let place = body.basic_blocks[block].terminator().source_info;
    let site = markers.site(marker);
    if level == Level::Allow || told_elsewhere(tcx, body, place.scope, site, reason) {
        return;
    }
    let details = Details {
        function: function_note(tcx, body, place),
        help: Some(text::no_loop_help(why)),
        note: Some(Note::Dropped { site: site.clone(), reason: why }),
    };
    emit(level, tcx, loop_span(place.span), text::not_honoured(site.kind, text::no_loop(why)), details);
}

/// Where that is asked for, tells of every hinted loop what it was and what it will be.
pub fn trace<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>, settled: &Settled<'_, 'tcx>, plan: &Plan<'_, 'tcx>) {
    let name = Symbol::intern(TRACE_CFG);
    if !tcx.sess.psess.config.iter().any(|(key, _)| *key == name) {
        return;
    }
    let function = with_no_trimmed_paths!(tcx.def_path_str(body.source.def_id()));
    for (hinted, latch) in &plan.settled {
        let site = settled.markers.site(hinted.marker).clone();
        let found = settled.forest.get(hinted.id);
        let back_edges = found.latches.iter().map(|latch| latch.index()).collect();
        let (header, latch) = (found.header.index(), latch.index());
        let note = Note::Loop(MirLoop { site, function: function.clone(), header, back_edges, latch });
        let marker = crate::graph::basic_block(settled.markers.list[hinted.marker].block);
        let place = body.basic_blocks[marker].terminator().source_info;
        let mut message = tcx.dcx().struct_span_note(loop_span(place.span), "a loop with a hint");
        set_code(&mut message, &note);
        message.emit();
    }
}

/// Tells that a marker cannot be read. An error at any level, since the link stage would refuse the crate.
pub fn unreadable<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>, place: SourceInfo, reason: &str) {
    let details = Details { function: function_note(tcx, body, place), help: None, note: None };
    emit(Level::Deny, tcx, loop_span(place.span), reason.to_owned(), details);
}

fn function_note<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>, place: SourceInfo) -> String {
    let written_in = place.scope.inlined_instance(&body.source_scopes).map(|instance| instance.def_id());
    let function = written_in.unwrap_or_else(|| body.source.def_id());
    text::in_function(with_no_trimmed_paths!(tcx.def_path_str(function)))
}

/// Does the foreign function that the marker was inlined from drop the hint for the same reason? Then this was told
/// when its crate was compiled. (Within one crate, rustc's rule to print equal messages once is enough.)
fn told_elsewhere<'tcx>(
    tcx: TyCtxt<'tcx>,
    body: &Body<'tcx>,
    scope: SourceScope,
    site: &Site,
    reason: DropReason,
) -> bool {
    let Some(function) = inlined_from(body, scope) else { return false };
    if function.is_local() || !tcx.is_mir_available(function) {
        return false;
    }
    let theirs = tcx.optimized_mir(function);
    let settled = Settled::of(theirs, Markers::of(tcx, theirs));
    settled.is_some_and(|theirs| {
        theirs.drops().any(|(marker, their_reason)| their_reason == reason && theirs.markers.site(marker) == site)
    })
}

/// The function whose call in this very body was replaced by what holds `scope`: the outermost of several.
fn inlined_from(body: &Body<'_>, scope: SourceScope) -> Option<DefId> {
    let mut at = Some(scope);
    let mut outermost = None;
    while let Some(scope) = at {
        let data = &body.source_scopes[scope];
        if let Some((instance, _)) = data.inlined {
            outermost = Some(instance.def_id());
        }
        at = data.parent_scope;
    }
    outermost
}

/// The place of the loop as its author sees it. The marker's tokens carry the place of the loop's keyword and the
/// expansion of the attribute; without the latter, rustc would explain to the reader how attributes expand.
fn loop_span(marker: Span) -> Span {
    let expansion = marker.ctxt().outer_expn_data();
    match expansion.kind {
        ExpnKind::Macro(..) => marker.with_ctxt(expansion.call_site.ctxt()),
        _ => marker,
    }
}
