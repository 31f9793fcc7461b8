//! Telling of dropped hints, as rustc diagnostics at the loop.
//!
//! The level comes from `--cfg latch_hints="allow|warn|deny"`, since a backend can register neither lints nor options.
//! rustc prints equal messages once; so a message names the function that the loop stands in, not the one that it was
//! inlined into, and is the same in every caller.

use crate::markers::Markers;
use crate::pass::Settled;
use codegen_pass::{DropReason, HintKind, Site};
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
    /// The level asked for; the strictest, where there are several. A level that does not exist is an error.
    pub fn of(sess: &Session) -> Level {
        let name = Symbol::intern(LEVEL_CFG);
        let asked = sess.psess.config.iter().filter(|(key, _)| *key == name);
        asked.filter_map(|&(_, value)| parse_level(sess, value)).max().unwrap_or(Level::Warn)
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

fn parse_level(sess: &Session, value: Option<Symbol>) -> Option<Level> {
    let value = value.map(|value| value.to_string()).unwrap_or_default();
    match value.as_str() {
        "allow" => Some(Level::Allow),
        "warn" => Some(Level::Warn),
        "deny" => Some(Level::Deny),
        _ => {
            sess.dcx()
                .err(format!("`{LEVEL_CFG}=\"{value}\"` is no level for loop hints: use `allow`, `warn` or `deny`"));
            None
        }
    }
}

/// Tells that the hint of a body marker is dropped.
pub fn dropped<'tcx>(
    tcx: TyCtxt<'tcx>,
    body: &Body<'tcx>,
    markers: &Markers<'_, 'tcx>,
    marker: usize,
    reason: DropReason,
) {
    let level = Level::of(tcx.sess);
    let block = crate::graph::basic_block(markers.list[marker].block);
    let place = body.basic_blocks[block].terminator().source_info;
    let site = markers.site(marker);
    if level == Level::Allow || told_elsewhere(tcx, body, place.scope, site, reason) {
        return;
    }
    let kind = site.parse::<Site>().map_or(HintKind::Nounroll, |site| site.kind);
    let text = format!("`#[{kind}]` is dropped: {reason}");
    level.emit(tcx, loop_span(place.span), text, function_note(tcx, body, place), help(reason));
}

/// Tells that a marker cannot be read. An error at any level, since the link stage would refuse the crate.
pub fn unreadable<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>, place: SourceInfo, reason: &str) {
    Level::Deny.emit(tcx, loop_span(place.span), reason.to_owned(), function_note(tcx, body, place), None);
}

fn help(reason: DropReason) -> Option<&'static str> {
    match reason {
        DropReason::OutsideLoop | DropReason::NeverRepeats => Some(
            "every path through its body leaves it, so that there is no loop to hint: remove the hint, or the loop",
        ),
        DropReason::Irreducible | DropReason::NoEnter => {
            Some("a pass of the compiler has given the loop this shape: fewer jumps in and around it may help")
        }
        DropReason::Unreachable | DropReason::Conflict | DropReason::FixedBackEdge => None,
    }
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
    site: &str,
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
