//! The report: what became of every hint and every kernel.

use crate::why::{Left, Reasons};
use crate::{calls::CallGraph, ptx, symbols};
use hint_record::{
    HintKind, HintRecord, KernelRecord, LeftLoop, LinkReport, LoopRecord, NoLoop, PtxLoop, Reason, Request, Site,
    Status,
};
use inkwell::module::Module;
use nounroll_metadata::{HintOutcome, SurvivingLoop};
use std::collections::BTreeMap;

/// What is known once hints are resolved, before anything is optimized.
#[derive(Default)]
pub struct BeforeOptimization {
    hints: Vec<HintRecord>,
    marked_latches: Vec<(String, usize)>,
    is_optimized: bool,
}

impl BeforeOptimization {
    /// Takes down the outcomes, and what each kernel can call. `is_optimized` says whether the module will be.
    pub fn of(module: &Module<'_>, outcomes: Vec<HintOutcome>, is_optimized: bool) -> BeforeOptimization {
        let mut hints: BTreeMap<(Site, String), HintRecord> = BTreeMap::new();
        for outcome in outcomes {
            let key = (outcome.site.clone(), outcome.function.clone());
            add_outcome(hints.entry(key).or_insert_with(|| new_record(&outcome)), outcome);
        }
        let hints: Vec<HintRecord> = hints.into_values().collect();
        let marked_latches = kernel_sums(module, |function| {
            hints.iter().filter(|hint| hint.symbol == function).map(|hint| hint.loops.len()).sum()
        });
        BeforeOptimization { hints, marked_latches, is_optimized }
    }

    /// Has any loop a hint?
    pub fn has_loops(&self) -> bool {
        self.hints.iter().any(|hint| !hint.loops.is_empty())
    }

    /// Does what is left of some hint ask for a reason?
    pub fn is_open(&self, left: &[SurvivingLoop]) -> bool {
        let is_open = |hint: &HintRecord| {
            let mut own = own(hint, left).peekable();
            hint.status == Status::Honoured
                && match hint.request {
                    Request::Nounroll => own.peek().is_none(),
                    Request::Full => own.peek().is_some(),
                    Request::Copies(_) => own.any(|left| !left.is_unrolled || left.is_convergent),
                }
        };
        self.hints.iter().any(is_open)
    }

    /// Adds what optimization has left, and judges every hint. `in_ptx` are the same loops as far as the PTX shows
    /// them, known by their labels.
    pub fn finish(
        mut self,
        optimized: &Module<'_>,
        left: &[SurvivingLoop],
        in_ptx: Option<&[SurvivingLoop]>,
        reasons: &Reasons,
        ptx: &str,
    ) -> LinkReport {
        for hint in &mut self.hints {
            let own: Vec<&SurvivingLoop> = own(hint, left).collect();
            hint.ptx = in_ptx.map(|loops| ptx_loops(hint, loops));
            hint.left = own
                .iter()
                .map(|left| LeftLoop { symbol: left.function.clone(), header: left.header.clone() })
                .collect();
            let merged = reasons.merged(&hint.site, &hint.symbol).filter(|_| own.is_empty());
            if let Some(merged) = merged.filter(|merged| merged.is_rolled) {
                hint.left.push(LeftLoop { symbol: merged.symbol.clone(), header: merged.header.clone() });
                // In the PTX the one loop is known as that of the other hint.
                let is_merged = |found: &&SurvivingLoop| {
                    merged.hint.as_ref().is_some_and(|(site, origin)| found.site == *site && found.origin == *origin)
                };
                hint.ptx = in_ptx.map(|loops| loops.iter().filter(is_merged).map(ptx_loop).collect());
            }
            let reason = match hint.request.kind() {
                HintKind::Nounroll if !hint.left.is_empty() => None,
                HintKind::Nounroll if merged.is_some() => Some(Reason::Merged),
                HintKind::Nounroll => Some(Reason::Deleted),
                HintKind::Unroll => {
                    judge(hint.request, &own, self.is_optimized, reasons.left(&hint.site, &hint.symbol))
                }
            };
            if let Some(reason) = reason.filter(|_| hint.status == Status::Honoured) {
                hint.status = Status::Dropped;
                hint.reason = Some(reason);
            }
        }
        let pragmas = ptx::pragmas(ptx);
        let pragmas = kernel_sums(optimized, |function| pragmas.get(function).copied().unwrap_or(0));
        let kernels = self.marked_latches.into_iter().zip(pragmas);
        let kernels =
            kernels.map(|((name, marked_latches), (_, pragmas))| KernelRecord { name, marked_latches, pragmas });
        LinkReport { hints: self.hints, kernels: kernels.collect() }
    }
}

/// What is left of one hint.
fn own<'a>(hint: &HintRecord, left: &'a [SurvivingLoop]) -> impl Iterator<Item = &'a SurvivingLoop> {
    left.iter().filter(move |left| left.site == hint.site && left.origin == hint.symbol)
}

/// The loops of the PTX that are made of a hint's.
fn ptx_loops(hint: &HintRecord, in_ptx: &[SurvivingLoop]) -> Vec<PtxLoop> {
    own(hint, in_ptx).map(ptx_loop).collect()
}

/// A loop that was found in the PTX: its header's name is the label.
fn ptx_loop(found: &SurvivingLoop) -> PtxLoop {
    PtxLoop { symbol: found.function.clone(), label: found.header.clone() }
}

fn new_record(outcome: &HintOutcome) -> HintRecord {
    HintRecord {
        site: outcome.site.clone(),
        request: outcome.request,
        function: symbols::demangle(&outcome.function),
        symbol: outcome.function.clone(),
        loops: Vec::new(),
        status: Status::Honoured,
        reason: None,
        left: Vec::new(),
        ptx: None,
    }
}

fn add_outcome(record: &mut HintRecord, outcome: HintOutcome) {
    match outcome.verdict {
        Ok(marked) => {
            let found = LoopRecord { header: marked.header, back_edges: marked.back_edges, latch: marked.latch };
            if !record.loops.contains(&found) {
                record.loops.push(found);
            }
        }
        Err(reason) => {
            record.status = Status::Dropped;
            record.reason = Some(NoLoop::from(reason).into());
        }
    }
}

/// For every kernel, the sum of `count` over it and all that it can call.
fn kernel_sums(module: &Module<'_>, count: impl Fn(&str) -> usize) -> Vec<(String, usize)> {
    let calls = CallGraph::of(module);
    let sum = |kernel: String| {
        let total = calls.reached(&kernel).iter().map(|function| count(function)).sum();
        (kernel, total)
    };
    symbols::kernels(module).map(|kernel| sum(kernel.get_name().to_string_lossy().into_owned())).collect()
}

/// Holds what is left against what was asked for: why the hint was not honoured, if so. `why` is what LLVM says.
fn judge(request: Request, left: &[&SurvivingLoop], is_optimized: bool, why: Option<Left>) -> Option<Reason> {
    let is_cut = matches!(why, Some(Left::Convergent { .. }));
    let is_of_copies = matches!(request, Request::Copies(_));
    let is_as_asked = |left: &&SurvivingLoop| is_of_copies && left.is_unrolled && !(left.is_convergent && is_cut);
    if left.iter().all(is_as_asked) {
        return None;
    }
    Some(match (why, request) {
        _ if !is_optimized => Reason::Unoptimized,
        (Some(Left::RunTime), _) => Reason::TripCount,
        (Some(Left::TooLarge), _) => Reason::TooLarge,
        (Some(Left::Convergent { copies: made }), Request::Copies(asked)) if made > 1 => Reason::Copies { made, asked },
        (Some(Left::Convergent { .. }), _) => Reason::Convergent,
        (None, _) => Reason::Unsaid,
    })
}
