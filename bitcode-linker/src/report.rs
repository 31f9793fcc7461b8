//! The report: what became of every hint and every kernel.

use crate::why::{Left, Reasons};
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

    /// Is there a loop to unroll?
    pub fn wants_unrolling(&self) -> bool {
        self.hints.iter().any(|(site, hint)| site.kind == HintKind::Unroll && !hint.loops.is_empty())
    }

    /// Does what is left of some hint ask for a reason?
    pub fn is_open(&self, left: &[SurvivingLoop]) -> bool {
        let is_open = |(site, hint): &(Site, HintRecord)| {
            hint.status == Status::Honoured && site.kind == HintKind::Unroll && {
                let mut own = own(site, hint, left);
                own.any(|left| hint.factor == 0 || !left.is_unrolled || left.is_convergent)
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
            let reason = judge(site, hint, &own, self.is_optimized, reasons.get(site, &hint.symbol));
            hint.left = own
                .iter()
                .map(|left| LeftLoop { symbol: left.function.clone(), header: left.header.clone() })
                .collect();
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

/// Holds what is left against what was asked for: why the hint was not honoured, if so. `why` is what LLVM says.
fn judge(
    site: &Site,
    hint: &HintRecord,
    left: &[&SurvivingLoop],
    is_optimized: bool,
    why: Option<Left>,
) -> Option<String> {
    let as_asked = match (site.kind, hint.factor) {
        (HintKind::Nounroll, _) if left.is_empty() => return Some(reason::DELETED.to_owned()),
        (HintKind::Nounroll, _) => true,
        (HintKind::Unroll, 0) => left.is_empty(),
        (HintKind::Unroll, _) => left
            .iter()
            .all(|left| left.is_unrolled && !(left.is_convergent && matches!(why, Some(Left::Convergent { .. })))),
    };
    match why {
        _ if as_asked => None,
        _ if !is_optimized => Some(reason::UNOPTIMIZED.to_owned()),
        Some(Left::RunTime) => Some(reason::RUN_TIME.to_owned()),
        Some(Left::TooLarge) => Some(reason::TOO_LARGE.to_owned()),
        Some(Left::Convergent { copies: 1 }) => Some(reason::CONVERGENT.to_owned()),
        Some(Left::Convergent { copies }) => Some(reason::copies(copies, hint.factor)),
        None => Some(reason::UNSAID.to_owned()),
    }
}
