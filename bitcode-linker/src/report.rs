//! The report: what became of every hint and every kernel.

use crate::why::{Left, Merged, Reasons};
use crate::{calls::CallGraph, merge, ptx};
use codegen_pass::report::{HintRecord, KernelRecord, LeftLoop, LinkReport, LoopRecord, Status, reason};
use codegen_pass::{HintKind, Site};
use inkwell::module::Module;
use nounroll_metadata::{HintOutcome, SurvivingLoop};
use std::collections::BTreeMap;

/// What is known once hints are resolved, before anything is optimized.
pub struct BeforeOptimization {
    hints: Vec<(Site, HintRecord)>,
    marked_latches: Vec<(String, usize)>,
    is_optimized: bool,
}

impl BeforeOptimization {
    /// Takes down the outcomes, and what each kernel can call. `is_optimized` says whether the module will be.
    pub fn of(module: &Module<'_>, outcomes: Vec<HintOutcome>, is_optimized: bool) -> BeforeOptimization {
        let mut hints: BTreeMap<(String, String), (Site, HintRecord)> = BTreeMap::new();
        for outcome in outcomes {
            let key = (outcome.site.to_string(), outcome.function.clone());
            let new = || (outcome.site.clone(), new_record(&outcome));
            add_outcome(&mut hints.entry(key).or_insert_with(new).1, outcome);
        }
        let hints: Vec<(Site, HintRecord)> = hints.into_values().collect();
        let marked_latches = kernel_sums(module, |function| {
            hints.iter().filter(|(_, hint)| hint.symbol == function).map(|(_, hint)| hint.loops.len()).sum()
        });
        BeforeOptimization { hints, marked_latches, is_optimized }
    }

    /// Has any loop a hint?
    pub fn has_loops(&self) -> bool {
        self.hints.iter().any(|(_, hint)| !hint.loops.is_empty())
    }

    /// Does what is left of some hint ask for a reason?
    pub fn is_open(&self, left: &[SurvivingLoop]) -> bool {
        let is_open = |(site, hint): &(Site, HintRecord)| {
            let mut own = own(site, hint, left).peekable();
            hint.status == Status::Honoured
                && match site.kind {
                    HintKind::Nounroll => own.peek().is_none(),
                    HintKind::Unroll => own.any(|left| hint.factor == 0 || !left.is_unrolled || left.is_convergent),
                }
        };
        self.hints.iter().any(is_open)
    }

    /// Adds what optimization has left, and judges every hint.
    pub fn finish(
        mut self,
        optimized: &Module<'_>,
        left: &[SurvivingLoop],
        reasons: &Reasons,
        ptx: &str,
    ) -> LinkReport {
        for (site, hint) in &mut self.hints {
            let own: Vec<&SurvivingLoop> = own(site, hint, left).collect();
            hint.left = own
                .iter()
                .map(|left| LeftLoop { symbol: left.function.clone(), header: left.header.clone() })
                .collect();
            let merged = reasons.merged(site, &hint.symbol).filter(|_| own.is_empty());
            if let Some(Merged { symbol, header, .. }) = merged.filter(|merged| merged.is_rolled) {
                hint.left.push(LeftLoop { symbol: symbol.clone(), header: header.clone() });
            }
            let reason = match site.kind {
                HintKind::Nounroll if !hint.left.is_empty() => None,
                HintKind::Nounroll if merged.is_some() => Some(reason::MERGED.to_owned()),
                HintKind::Nounroll => Some(reason::DELETED.to_owned()),
                HintKind::Unroll => judge(hint.factor, &own, self.is_optimized, reasons.left(site, &hint.symbol)),
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
        let hints = self.hints.into_iter().map(|(_, hint)| hint);
        LinkReport { hints: hints.collect(), kernels: kernels.collect() }
    }
}

/// What is left of one hint.
fn own<'a>(site: &Site, hint: &HintRecord, left: &'a [SurvivingLoop]) -> impl Iterator<Item = &'a SurvivingLoop> {
    left.iter().filter(move |left| left.site == *site && left.origin == hint.symbol)
}

fn new_record(outcome: &HintOutcome) -> HintRecord {
    HintRecord {
        site: outcome.site.to_string(),
        factor: outcome.factor,
        function: merge::demangle(&outcome.function),
        symbol: outcome.function.clone(),
        loops: Vec::new(),
        status: Status::Honoured,
        reason: None,
        left: Vec::new(),
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
            record.reason = Some(reason.to_string());
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
    merge::kernels(module).map(|kernel| sum(kernel.get_name().to_string_lossy().into_owned())).collect()
}

/// Holds what is left against the copies asked for: why the hint was not honoured, if so. `why` is what LLVM says.
fn judge(factor: u64, left: &[&SurvivingLoop], is_optimized: bool, why: Option<Left>) -> Option<String> {
    let is_cut = matches!(why, Some(Left::Convergent { .. }));
    let is_as_asked = |left: &&SurvivingLoop| factor != 0 && left.is_unrolled && !(left.is_convergent && is_cut);
    if left.iter().all(is_as_asked) {
        return None;
    }
    let reason = match why {
        _ if !is_optimized => reason::UNOPTIMIZED,
        Some(Left::RunTime) => reason::RUN_TIME,
        Some(Left::TooLarge) => reason::TOO_LARGE,
        Some(Left::Convergent { copies: 1 }) => reason::CONVERGENT,
        Some(Left::Convergent { copies }) => return Some(reason::copies(copies, factor)),
        None => reason::UNSAID,
    };
    Some(reason.to_owned())
}
