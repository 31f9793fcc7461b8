//! Telling of dropped hints, as rustc diagnostics at the loop.
//!
//! The level comes from `--cfg latch_hints="allow|warn|deny"`, since a backend can register neither lints nor options. One
//! reason can have a level of its own: `--cfg latch_hints="never-repeats=allow"`. With `--cfg latch_trace` every hinted loop
//! gets a note that says what became of it.
//!
//! rustc prints equal messages once; so a message names the function that the loop stands in, not the one that it was
//! inlined into, and is the same in every caller.

use crate::markers::Markers;
use crate::pass::Settled;
use crate::rewrite::Plan;
use codegen_pass::{DropReason, MirLoop, Site, TRACE_CFG};
use rustc_errors::{Diag, EmissionGuarantee};
use rustc_middle::mir::{Body, SourceInfo, SourceScope};
use rustc_middle::ty::TyCtxt;
use rustc_middle::ty::print::with_no_trimmed_paths;
use rustc_session::Session;
use rustc_span::def_id::DefId;
use rustc_span::{ExpnKind, Span, Symbol};

/// The name in `--cfg latch_hints="warn"`.
const LEVEL_CFG: &str = "latch_hints";

/// How much is made of a dropped hint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Nothing is said.
    Allow,
    /// A warning.
    Warn,
    /// An error.
    Deny,
}

impl Level {
    /// The level for a reason: its own, where it has one, else the one for all; the strictest, where there are several. A
    /// level that does not exist is an error.
    pub fn of(sess: &Session, reason: Option<DropReason>) -> Level {
        let name = Symbol::intern(LEVEL_CFG);
        let values = sess.psess.config.iter().filter(|(key, _)| *key == name).map(|&(_, value)| value);
        let settings: Vec<Setting> = values.filter_map(|value| Setting::of(sess, value)).collect();
        let strictest = |keyword: Option<&str>| {
            let of_it = settings.iter().filter(|setting| setting.keyword == keyword);
            of_it.map(|setting| setting.level).max()
        };
        let own = reason.and_then(|reason| strictest(Some(reason.keyword())));
        own.or_else(|| strictest(None)).unwrap_or(Level::Warn)
    }

    fn emit(self, tcx: TyCtxt<'_>, span: Span, text: String, note: String, help: Option<&'static str>) {
        match self {
            Level::Allow => {}
            Level::Warn => with_notes(tcx.dcx().struct_span_warn(span, text), note, help).emit(),
            Level::Deny => _ = with_notes(tcx.dcx().struct_span_err(span, text), note, help).emit(),
        }
    }
}

fn with_notes<'a, G: EmissionGuarantee>(
    mut message: Diag<'a, G>,
    note: String,
    help: Option<&'static str>,
) -> Diag<'a, G> {
    message.note(note);
    if let Some(help) = help {
        message.help(help);
    }
    message
}

/// One value of the option.
struct Setting {
    /// The reason that it is for; none where it is for all.
    keyword: Option<&'static str>,
    level: Level,
}

impl Setting {
    fn of(sess: &Session, value: Option<Symbol>) -> Option<Setting> {
        let value = value.map(|value| value.to_string()).unwrap_or_default();
        let setting = Setting::parse(&value);
        if setting.is_none() {
            sess.dcx().err(format!(
                "`{LEVEL_CFG}=\"{value}\"` is no level for loop hints: use `allow`, `warn` or `deny`, or one of them for one \
                 reason, as in `never-repeats=allow`"
            ));
        }
        setting
    }

    fn parse(value: &str) -> Option<Setting> {
        let (keyword, level) = match value.split_once('=') {
            Some((keyword, level)) => (Some(known_keyword(keyword)?), level),
            None => (None, value),
        };
        let level = match level {
            "allow" => Level::Allow,
            "warn" => Level::Warn,
            "deny" => Level::Deny,
            _ => return None,
        };
        Some(Setting { keyword, level })
    }
}

fn known_keyword(keyword: &str) -> Option<&'static str> {
    DropReason::ALL.into_iter().map(DropReason::keyword).find(|known| *known == keyword)
}

/// Tells that the hint of a body marker is dropped.
pub fn dropped<'tcx>(
    tcx: TyCtxt<'tcx>,
    body: &Body<'tcx>,
    markers: &Markers<'_, 'tcx>,
    marker: usize,
    reason: DropReason,
) {
    let level = Level::of(tcx.sess, Some(reason));
    let block = crate::graph::basic_block(markers.list[marker].block);
    let place = body.basic_blocks[block].terminator().source_info;
    let site = markers.site(marker);
    if level == Level::Allow || told_elsewhere(tcx, body, place.scope, site, reason) {
        return;
    }
    let text = format!("`#[{}]` was not honoured: {reason}", site.kind);
    level.emit(tcx, loop_span(place.span), text, function_note(tcx, body, place), Some(reason.help()));
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
        let note = MirLoop { site, function: function.clone(), header, back_edges, latch };
        let marker = crate::graph::basic_block(settled.markers.list[hinted.marker].block);
        let place = body.basic_blocks[marker].terminator().source_info;
        tcx.dcx().span_note(loop_span(place.span), note.to_string());
    }
}

/// Tells that a marker cannot be read. An error at any level, since the link stage would refuse the crate.
pub fn unreadable<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>, place: SourceInfo, reason: &str) {
    Level::Deny.emit(tcx, loop_span(place.span), reason.to_owned(), function_note(tcx, body, place), None);
}

fn function_note<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>, place: SourceInfo) -> String {
    let written_in = place.scope.inlined_instance(&body.source_scopes).map(|instance| instance.def_id());
    let function = written_in.unwrap_or_else(|| body.source.def_id());
    with_no_trimmed_paths!(format!("in the function `{}`", tcx.def_path_str(function)))
}

/// Does the foreign function that the marker was inlined from drop the hint for the same reason? Then this was told when
/// its crate was compiled. (Within one crate, rustc's rule to print equal messages once is enough.)
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
