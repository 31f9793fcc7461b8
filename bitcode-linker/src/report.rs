//! The report: what became of every hint and every kernel.

use crate::{calls::CallGraph, merge, ptx};
use codegen_pass::HintKind;
use codegen_pass::report::{HintRecord, KernelRecord, LeftLoop, LinkReport, LoopRecord, Status};
use inkwell::module::Module;
use nounroll_metadata::{HintOutcome, SurvivingLoop};
use std::collections::BTreeMap;

/// What is known once hints are resolved, before anything is optimized.
pub struct BeforeOptimization {
    hints: Vec<HintRecord>,
    marked_latches: Vec<(String, usize)>,
}

impl BeforeOptimization {
    /// Takes down the outcomes, and what each kernel can call.
    pub fn of(module: &Module<'_>, outcomes: Vec<HintOutcome>) -> BeforeOptimization {
        let mut hints: BTreeMap<(String, String), HintRecord> = BTreeMap::new();
        for outcome in outcomes {
            let key = (outcome.site.to_string(), outcome.function.clone());
            add_outcome(hints.entry(key).or_insert_with(|| new_record(&outcome)), outcome);
        }
        let hints: Vec<HintRecord> = hints.into_values().collect();
        let marked_latches = kernel_sums(module, |function| {
            hints.iter().filter(|hint| hint.symbol == function).map(|hint| hint.loops.len()).sum()
        });
        BeforeOptimization { hints, marked_latches }
    }

    /// Adds what optimization has left, and judges every hint.
    pub fn finish(mut self, optimized: &Module<'_>, left: &[SurvivingLoop], ptx: &str) -> LinkReport {
        for hint in &mut self.hints {
            let own = left.iter().filter(|left| left.site.to_string() == hint.site && left.origin == hint.symbol);
            hint.left =
                own.map(|left| LeftLoop { symbol: left.function.clone(), header: left.header.clone() }).collect();
            judge(hint);
        }
        let pragmas = ptx::pragmas(ptx);
        let pragmas = kernel_sums(optimized, |function| pragmas.get(function).copied().unwrap_or(0));
        let kernels = self.marked_latches.into_iter().zip(pragmas);
        let kernels =
            kernels.map(|((name, marked_latches), (_, pragmas))| KernelRecord { name, marked_latches, pragmas });
        LinkReport { hints: self.hints, kernels: kernels.collect() }
    }
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

/// Holds what is left against what was asked for.
fn judge(hint: &mut HintRecord) {
    if hint.status == Status::Dropped {
        return;
    }
    let is_rolled = hint.site.starts_with(&format!("{}|", HintKind::Nounroll));
    let reason = match (is_rolled, hint.factor, hint.left.len()) {
        (true, _, 0) => Some("the optimizer deleted the loop: nothing is left to keep rolled"),
        (false, 0, 1..) => Some("the loop is still there after optimization: its trip count is no constant"),
        _ => None,
    };
    if let Some(reason) = reason {
        hint.status = Status::Dropped;
        hint.reason = Some(reason.to_owned());
    }
}
