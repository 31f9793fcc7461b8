//! The change to a body: each hinted loop gets its single latch, and the latch gets the marker.
//!
//! ```text
//! bb3: marker(SITE, 1) -> bb4          bb3: marker(SITE, 1) -> bb4
//! bb5: switch [0: bb2, _: bb6]   =>    bb5: switch [0: bb9, _: bb6]
//! bb7: goto bb2                        bb7: goto bb9
//!                                      bb9: marker(SITE, 1) -> bb2
//! ```
//!
//! First everything is planned on the unchanged body, then it is made; both are linear in the body.
//!
//! The latch gets a **copy**. The marker that the macro wrote stays first in the loop's body, because it tells the link
//! stage that the body is there: in an instance, or inlined into a caller, where the loop turns out to run once, the
//! latch is never reached, no code is generated for it, and a marker that had moved would be lost in silence.
//!
//! A copy must mean the same loop as the marker to whoever settles the hints again. So there is none
//! - in a loop that holds an enter marker of its own site (a site nested in itself): seen from the latch, that one is
//!   nearer than the loop's own. Inlining can bring this about later, and then the copy is erased again: copies are
//!   known by their call source, which no call from source text has;
//! - in a loop where another hint was dropped in favour of this one: which of two is first could change;
//! - where the marker's factor is no constant, so that the call cannot be made elsewhere.
//!
//! The copied call returns into a local of its own, which has no storage statements that could end before the latch,
//! and has no unwind edge: markers are erased before code is generated, so that none ever runs.

use crate::graph::{MirGraph, basic_block};
use crate::markers::{Arguments, COPY};
use crate::settled::Settled;
use codegen_pass::{DropReason, HintedLoop, LoopForest, LoopId, Role, SiteId, single_latch};
use rustc_data_structures::fx::{FxHashMap, FxHashSet};
use rustc_middle::mir::{
    BasicBlock, BasicBlockData, Body, ConstOperand, LocalDecl, Operand, Place, Terminator, TerminatorKind, UnwindAction,
};
use rustc_middle::ty::TyCtxt;
use rustc_span::Spanned;

/// What is to be changed.
pub struct Plan<'a, 'tcx> {
    redirected: FxHashMap<(BasicBlock, BasicBlock), BasicBlock>,
    latches: Vec<Latch<'a, 'tcx>>,
    /// The blocks that hold a copy which has come to mean another loop.
    stale: Vec<BasicBlock>,
    /// Hints whose loop could not be given a single latch.
    pub refused: Vec<(usize, DropReason)>,
    /// The single latch of every other hinted loop, changed or not.
    pub settled: Vec<(HintedLoop, BasicBlock)>,
}

/// A latch to add or to change.
struct Latch<'a, 'tcx> {
    block: BasicBlock,
    header: BasicBlock,
    /// The block of the marker that the loop has its hint from.
    marker: BasicBlock,
    /// What the copy of the marker is called with; none if the latch gets no copy.
    copy: Option<Arguments<'a, 'tcx>>,
}

impl<'a, 'tcx> Plan<'a, 'tcx> {
    /// Plans the changes to `body`.
    pub fn of(body: &Body<'tcx>, settled: &Settled<'a, 'tcx>) -> Plan<'a, 'tcx> {
        let Settled { markers, forest, resolution } = settled;
        let block_of = |marker: usize| basic_block(markers.list[marker].block);
        let copying = Copying::of(settled);
        let stale = copying.stale(settled);
        let honoured: FxHashSet<BasicBlock> =
            resolution.hints.iter().filter(|hint| hint.verdict.is_ok()).map(|hint| block_of(hint.marker)).collect();

        let mut graph = MirGraph::new(body, honoured.iter().chain(&stale).copied().collect());
        let mut plan = Plan {
            redirected: FxHashMap::default(),
            latches: Vec::new(),
            stale,
            refused: Vec::new(),
            settled: Vec::new(),
        };
        for hinted in &resolution.hinted {
            let found = forest.get(hinted.id);
            match single_latch(&mut graph, found) {
                Ok(latch) => {
                    let block = basic_block(latch);
                    plan.settled.push((*hinted, block));
                    let may_copy = copying.allowed(forest, hinted.id, markers.list[hinted.marker].site);
                    let copy = markers.arguments(hinted.marker).filter(|_| may_copy && !honoured.contains(&block));
                    if copy.is_some() || block.index() >= body.basic_blocks.len() {
                        let header = basic_block(found.header);
                        plan.latches.push(Latch { block, header, marker: block_of(hinted.marker), copy });
                    }
                }
                Err(reason) => plan.refused.push((hinted.marker, reason)),
            }
        }
        plan.redirected = graph.redirected;
        plan
    }

    /// Is there nothing to change?
    pub fn is_empty(&self) -> bool {
        self.latches.is_empty() && self.stale.is_empty()
    }

    /// Changes the body that the plan was made for.
    pub fn apply(&self, tcx: TyCtxt<'tcx>, body: &mut Body<'tcx>) {
        let ends: Vec<Terminator<'tcx>> = self.latches.iter().map(|latch| latch.end(tcx, body)).collect();
        self.redirect(body);
        self.erase_stale_copies(body);
        for (latch, end) in self.latches.iter().zip(ends) {
            let is_cleanup = body.basic_blocks[latch.header].is_cleanup;
            let blocks = body.basic_blocks.as_mut();
            match blocks.get_mut(latch.block) {
                Some(there) => there.terminator = Some(end),
                None => {
                    let new = blocks.push(BasicBlockData::new(Some(end), is_cleanup));
                    debug_assert_eq!(new, latch.block, "latches are planned in the order in which they are added");
                }
            }
        }
    }

    /// Looks at each source of redirected edges once, also where it continues many loops.
    fn redirect(&self, body: &mut Body<'tcx>) {
        let sources: FxHashSet<BasicBlock> = self.redirected.keys().map(|&(source, _)| source).collect();
        let blocks = body.basic_blocks.as_mut();
        for source in sources {
            blocks[source].terminator_mut().successors_mut(|target| {
                if let Some(latch) = self.redirected.get(&(source, *target)) {
                    *target = *latch;
                }
            });
        }
    }

    fn erase_stale_copies(&self, body: &mut Body<'tcx>) {
        let blocks = body.basic_blocks.as_mut();
        for &block in &self.stale {
            let end = blocks[block].terminator_mut();
            if let TerminatorKind::Call { target: Some(target), .. } = end.kind {
                end.kind = TerminatorKind::Goto { target };
            }
        }
    }
}

impl<'tcx> Latch<'_, 'tcx> {
    /// The end of the block: a copy of the marker call, or a jump.
    fn end(&self, tcx: TyCtxt<'tcx>, body: &mut Body<'tcx>) -> Terminator<'tcx> {
        let mut end = body.basic_blocks[self.marker].terminator().clone();
        end.kind = match (end.kind, self.copy) {
            (TerminatorKind::Call { func, fn_span, .. }, Some(Arguments { site, factor })) => {
                let result = body.local_decls.push(LocalDecl::new(tcx.types.unit, end.source_info.span));
                TerminatorKind::Call {
                    func,
                    args: Box::new([site, factor].map(argument)),
                    destination: Place::from(result),
                    target: Some(self.header),
                    unwind: UnwindAction::Unreachable,
                    call_source: COPY,
                    fn_span,
                }
            }
            _ => TerminatorKind::Goto { target: self.header },
        };
        end
    }
}

fn argument<'tcx>(constant: &ConstOperand<'tcx>) -> Spanned<Operand<'tcx>> {
    Spanned { node: Operand::Constant(Box::new(*constant)), span: constant.span }
}

/// In which loops a copy of the marker means the same as the marker.
struct Copying {
    /// Per site, the innermost loops around its enter markers, in ascending order.
    enters: FxHashMap<SiteId, Vec<LoopId>>,
    /// The loops in which a hint was dropped in favour of the one that they carry.
    contested: FxHashSet<LoopId>,
}

impl Copying {
    fn of(settled: &Settled<'_, '_>) -> Copying {
        let Settled { markers, forest, resolution } = settled;
        let mut enters: FxHashMap<SiteId, Vec<LoopId>> = FxHashMap::default();
        for marker in markers.list.iter().filter(|marker| marker.role == Role::Enter) {
            if let Some(inside) = forest.innermost(marker.block) {
                enters.entry(marker.site).or_default().push(inside);
            }
        }
        enters.values_mut().for_each(|loops| loops.sort_unstable());
        let conflicts = resolution.hints.iter().filter(|hint| hint.verdict == Err(DropReason::Conflict));
        let contested = conflicts.filter_map(|hint| forest.innermost(markers.list[hint.marker].block)).collect();
        Copying { enters, contested }
    }

    fn allowed(&self, forest: &LoopForest, id: LoopId, site: SiteId) -> bool {
        !self.contested.contains(&id) && !self.holds_enter(forest, id, site)
    }

    /// Does the loop hold an enter marker of `site`? The loops inside a loop follow it in the order of their names.
    fn holds_enter(&self, forest: &LoopForest, id: LoopId, site: SiteId) -> bool {
        let Some(enters) = self.enters.get(&site) else { return false };
        enters.get(enters.partition_point(|&inside| inside < id)).is_some_and(|&inside| forest.encloses(id, inside))
    }

    /// The blocks of the copies that have come to mean another loop.
    fn stale(&self, settled: &Settled<'_, '_>) -> Vec<BasicBlock> {
        let Settled { markers, forest, resolution } = settled;
        let copies = resolution.hints.iter().filter(|hint| markers.is_copy(hint.marker));
        let marker_of = |marker: usize| markers.list[marker];
        let is_stale = |marker: &codegen_pass::Marker| {
            forest.innermost(marker.block).is_some_and(|id| self.holds_enter(forest, id, marker.site))
        };
        copies.map(|hint| marker_of(hint.marker)).filter(is_stale).map(|marker| basic_block(marker.block)).collect()
    }
}
