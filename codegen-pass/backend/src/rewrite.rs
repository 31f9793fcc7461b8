//! The change to a body: each hinted loop gets its single latch, and the latch holds the marker.
//!
//! ```text
//! bb3: marker(SITE, 1) -> bb4          bb3: goto bb4
//! bb5: switch [0: bb2, _: bb6]   =>    bb5: switch [0: bb9, _: bb6]
//! bb7: goto bb2                        bb7: goto bb9
//!                                      bb9: marker(SITE, 1) -> bb2
//! ```
//!
//! First everything is planned on the unchanged body, then it is made; both are linear in the body.
//!
//! The marker must still mean the same loop to whoever settles the hints again, here or at link. So it stays where it is,
//! first in the loop's body, and only the latch is merged, where
//! - the loop holds an enter marker of its own site (a site nested in itself): seen from the latch, that one is nearer than
//!   the loop's own;
//! - another hint was dropped in favour of this one: which of two is first would change;
//! - the marker's factor is no constant, so that the call cannot be made elsewhere.
//!
//! The moved call returns into a local of its own, which has no storage statements that could end before the latch, and
//! has no unwind edge: markers are erased before code is generated, so that none ever runs.

use crate::graph::{MirGraph, basic_block};
use crate::markers::{Arguments, Markers};
use crate::pass::Settled;
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
    /// The blocks whose marker moves away.
    left: Vec<BasicBlock>,
    /// Hints whose loop could not be given a single latch.
    pub refused: Vec<(usize, DropReason)>,
}

/// A latch to add or to change.
struct Latch<'a, 'tcx> {
    block: BasicBlock,
    header: BasicBlock,
    /// The marker's block in the unchanged body.
    marker: BasicBlock,
    /// The arguments of the marker that the latch gets; none if it gets no marker.
    arguments: Option<(Arguments<'a, 'tcx>, &'a ConstOperand<'tcx>)>,
}

impl<'a, 'tcx> Plan<'a, 'tcx> {
    /// Plans the changes to `body`.
    pub fn of(body: &Body<'tcx>, settled: &Settled<'a, 'tcx>) -> Plan<'a, 'tcx> {
        let Settled { markers, forest, resolution } = settled;
        let block_of = |marker: usize| basic_block(markers.list[marker].block);
        let honoured: Vec<(BasicBlock, LoopId)> =
            resolution.hints.iter().filter_map(|hint| Some((block_of(hint.marker), hint.verdict.ok()?))).collect();
        let honoured_blocks: FxHashSet<BasicBlock> = honoured.iter().map(|&(block, _)| block).collect();
        let movable = Movable::of(settled);

        let mut graph = MirGraph::new(body, honoured_blocks.clone());
        let mut plan = Plan { redirected: FxHashMap::default(), latches: vec![], left: vec![], refused: vec![] };
        // Where the marker of a loop ends up, for the loops whose markers move.
        let mut home: Vec<Option<BasicBlock>> = vec![None; forest.loops().len()];
        for hinted in &resolution.hinted {
            let found = forest.get(hinted.id);
            let block = match single_latch(&mut graph, found) {
                Ok(latch) => basic_block(latch),
                Err(reason) => {
                    plan.refused.push((hinted.marker, reason));
                    continue;
                }
            };
            let arguments = movable.arguments(markers, forest, hinted);
            if arguments.is_some() {
                home[hinted.id.index()] = Some(block);
            }
            let is_new = block.index() >= body.basic_blocks.len();
            if is_new || (arguments.is_some() && !honoured_blocks.contains(&block)) {
                let header = basic_block(found.header);
                plan.latches.push(Latch { block, header, marker: block_of(hinted.marker), arguments });
            }
        }
        plan.redirected = graph.redirected;
        let leaves = |&(block, id): &(BasicBlock, LoopId)| home[id.index()].is_some_and(|home| home != block);
        plan.left = honoured.into_iter().filter(leaves).map(|(block, _)| block).collect();
        plan
    }

    /// Is there nothing to change?
    pub fn is_empty(&self) -> bool {
        self.latches.is_empty() && self.left.is_empty()
    }

    /// Changes the body that the plan was made for.
    pub fn apply(&self, tcx: TyCtxt<'tcx>, body: &mut Body<'tcx>) {
        let calls: Vec<Terminator<'tcx>> = self.latches.iter().map(|latch| latch.end(tcx, body)).collect();
        self.redirect(body);
        self.empty_left_blocks(body);
        for (latch, end) in self.latches.iter().zip(calls) {
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

    fn empty_left_blocks(&self, body: &mut Body<'tcx>) {
        let blocks = body.basic_blocks.as_mut();
        for &block in &self.left {
            let end = blocks[block].terminator_mut();
            if let TerminatorKind::Call { target: Some(target), .. } = end.kind {
                end.kind = TerminatorKind::Goto { target };
            }
        }
    }
}

impl<'tcx> Latch<'_, 'tcx> {
    /// The end of the block: the marker call, or a jump where the marker stays where it is.
    fn end(&self, tcx: TyCtxt<'tcx>, body: &mut Body<'tcx>) -> Terminator<'tcx> {
        let mut end = body.basic_blocks[self.marker].terminator().clone();
        let span = end.source_info.span;
        let jump = TerminatorKind::Goto { target: self.header };
        end.kind = match (end.kind, self.arguments) {
            (TerminatorKind::Call { func, call_source, fn_span, .. }, Some((Arguments { site, .. }, factor))) => {
                let argument = |constant: &ConstOperand<'tcx>| Spanned {
                    node: Operand::Constant(Box::new(*constant)),
                    span: constant.span,
                };
                let result = body.local_decls.push(LocalDecl::new(tcx.types.unit, span));
                TerminatorKind::Call {
                    func,
                    args: Box::new([argument(site), argument(factor)]),
                    destination: Place::from(result),
                    target: Some(self.header),
                    unwind: UnwindAction::Unreachable,
                    call_source,
                    fn_span,
                }
            }
            _ => jump,
        };
        end
    }
}

/// Which loops' markers can move.
struct Movable {
    /// Per site, the innermost loops around its enter markers, in ascending order.
    enters: FxHashMap<SiteId, Vec<LoopId>>,
    /// The loops in which a hint was dropped in favour of the one that they carry.
    contested: FxHashSet<LoopId>,
}

impl Movable {
    fn of(settled: &Settled<'_, '_>) -> Movable {
        let Settled { markers, forest, resolution } = settled;
        let mut enters: FxHashMap<SiteId, Vec<LoopId>> = FxHashMap::default();
        for marker in markers.list.iter().filter(|marker| marker.role == Role::Enter) {
            if let Some(inside) = forest.innermost(marker.block) {
                enters.entry(marker.site).or_default().push(inside);
            }
        }
        enters.values_mut().for_each(|loops| loops.sort_unstable());
        let dropped = |reason| resolution.hints.iter().filter(move |hint| hint.verdict == Err(reason));
        let contested = dropped(DropReason::Conflict)
            .filter_map(|hint| forest.innermost(markers.list[hint.marker].block))
            .collect();
        Movable { enters, contested }
    }

    /// What the marker of a hinted loop is called with, if it can move.
    fn arguments<'a, 'tcx>(
        &self,
        markers: &Markers<'a, 'tcx>,
        forest: &LoopForest,
        hinted: &HintedLoop,
    ) -> Option<(Arguments<'a, 'tcx>, &'a ConstOperand<'tcx>)> {
        let arguments = markers.arguments(hinted.marker);
        let factor = arguments.factor?;
        let stays = self.contested.contains(&hinted.id)
            || self.holds_enter(forest, hinted.id, markers.list[hinted.marker].site);
        (!stays).then_some((arguments, factor))
    }

    /// Does the loop hold an enter marker of `site`? The loops inside a loop follow it in the order of names.
    fn holds_enter(&self, forest: &LoopForest, id: LoopId, site: SiteId) -> bool {
        let Some(enters) = self.enters.get(&site) else { return false };
        enters.get(enters.partition_point(|&inside| inside < id)).is_some_and(|&inside| forest.encloses(id, inside))
    }
}
