//! What a launch cost: warp instructions by class and source line, memory traffic, bank conflicts, divergence.
//!
//! While a kernel runs there is one small record per instruction and per core, added up by the instruction's index; the
//! sorting into classes and lines is done afterwards. Executions are noted where a stretch of instructions that follow
//! one another begins and ends, not at each of them, and summed up along the program in the end: so counting costs
//! little but at branches and memory accesses.
//!
//! Figures are those of the PTX as executed here, not of a GPU: registers are unlimited, nothing is cached, and `ptxas`
//! may merge, split or remove instructions.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::program::{Inst, NONE, Program};
use crate::table::Class;

/// Counters of one instruction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PerInst {
    pub warps: u64,
    pub threads: u64,
    pub bytes: u64,
    pub sectors: u64,
    pub conflicts: u64,
    pub divergent: u64,
}

/// By how much the executions of an instruction differ from those of the one before it. Sums wrap around and back.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    warps: u64,
    threads: u64,
}

/// Counters of one core, by instruction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub per: Vec<PerInst>,
    /// One more than there are instructions.
    steps: Vec<Step>,
}

impl Tally {
    pub(crate) fn new(n: usize) -> Tally {
        Tally { per: vec![PerInst::default(); n], steps: vec![Step::default(); n + 1] }
    }

    /// A group of so many threads executed the instructions from `start` up to `end`.
    #[inline]
    pub(crate) fn executed(&mut self, start: u32, end: u32, threads: u32) {
        let threads = u64::from(threads);
        let first = &mut self.steps[start as usize];
        first.warps = first.warps.wrapping_add(1);
        first.threads = first.threads.wrapping_add(threads);
        let after = &mut self.steps[end as usize];
        after.warps = after.warps.wrapping_sub(1);
        after.threads = after.threads.wrapping_sub(threads);
    }

    /// So many threads of a group, which [`Tally::executed`] counts whole, had their guard off.
    #[inline]
    pub(crate) fn guarded_off(&mut self, pc: u32, threads: u32) {
        let p = &mut self.per[pc as usize];
        p.threads = p.threads.wrapping_sub(u64::from(threads));
    }

    /// Sums up the stretches. Called once, before counts are read.
    pub(crate) fn finish(&mut self) {
        let mut sum = Step::default();
        for (p, step) in self.per.iter_mut().zip(&self.steps) {
            sum.warps = sum.warps.wrapping_add(step.warps);
            sum.threads = sum.threads.wrapping_add(step.threads);
            p.warps = sum.warps;
            p.threads = p.threads.wrapping_add(sum.threads);
        }
        self.steps.clear();
    }

    /// Adds another core's counts, both finished.
    pub(crate) fn add(&mut self, other: &Tally) {
        for (a, b) in self.per.iter_mut().zip(&other.per) {
            a.warps += b.warps;
            a.threads += b.threads;
            a.bytes += b.bytes;
            a.sectors += b.sectors;
            a.conflicts += b.conflicts;
            a.divergent += b.divergent;
        }
    }
}

/// Counts of a class, a line or the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Totals {
    /// Instructions, a warp's counted once.
    pub warp_instructions: u64,
    /// Instructions, each thread's counted.
    pub thread_instructions: u64,
    /// Floating-point operations: `add` is one of each thread, `fma` two, `mma` 2 m n k of a warp; the whole rule is in
    /// [`crate::flops`].
    pub flops: u64,
    /// Bytes that threads asked of global memory.
    pub global_bytes: u64,
    /// 32-byte sectors of global memory touched, per warp instruction.
    pub global_sectors: u64,
    /// Extra passes over shared memory because lanes met in a bank.
    pub bank_conflicts: u64,
    /// Branches that split a warp's group of lanes.
    pub divergent_branches: u64,
}

impl Totals {
    fn add(&mut self, inst: &Inst, p: &PerInst) {
        self.warp_instructions += p.warps;
        self.thread_instructions += p.threads;
        self.flops += u64::from(inst.flops) * p.threads;
        self.global_bytes += p.bytes;
        self.global_sectors += p.sectors;
        self.bank_conflicts += p.conflicts;
        self.divergent_branches += p.divergent;
    }
}

/// A source line, or a PTX line where the module has no line table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LineKey {
    /// The source file; empty for PTX lines.
    pub file: String,
    /// The line.
    pub line: u32,
}

/// Counts of a launch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Everything.
    pub total: Totals,
    /// By class of instruction, in the order of [`Class`].
    pub classes: BTreeMap<Class, Totals>,
    /// By line, serialized as a list.
    #[serde(serialize_with = "as_list")]
    pub lines: BTreeMap<LineKey, Totals>,
}

fn as_list<S: serde::Serializer>(m: &BTreeMap<LineKey, Totals>, s: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        #[serde(flatten)]
        key: &'a LineKey,
        #[serde(flatten)]
        totals: &'a Totals,
    }
    s.collect_seq(m.iter().map(|(key, totals)| Row { key, totals }))
}

impl Counts {
    pub(crate) fn collect(prog: &Program, tally: &Tally) -> Counts {
        let mut c = Counts::default();
        for (inst, p) in prog.code.iter().zip(&tally.per) {
            if p.warps == 0 || inst.name == NONE {
                continue;
            }
            c.total.add(inst, p);
            c.classes.entry(inst.class).or_default().add(inst, p);
            let key = match prog.locs.get(inst.loc as usize) {
                Some((loc, _)) if inst.loc != NONE => {
                    LineKey { file: prog.files.get(&loc.file).cloned().unwrap_or_default(), line: loc.line }
                }
                _ => LineKey { file: String::new(), line: inst.line },
            };
            c.lines.entry(key).or_default().add(inst, p);
        }
        c
    }

    /// Threads active per warp instruction, of 32; 1 is no divergence.
    pub fn lane_efficiency(&self) -> f64 {
        match self.total.warp_instructions {
            0 => 1.0,
            n => self.total.thread_instructions as f64 / (32.0 * n as f64),
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:<12} {:>14} {:>14}", "class", "warp instr.", "thread instr.")?;
        for (class, t) in &self.classes {
            writeln!(f, "{:<12} {:>14} {:>14}", class.name(), t.warp_instructions, t.thread_instructions)?;
        }
        let t = &self.total;
        writeln!(f, "{:<12} {:>14} {:>14}", "total", t.warp_instructions, t.thread_instructions)?;
        writeln!(f, "floating-point operations: {}", t.flops)?;
        writeln!(f, "global memory: {} bytes in {} sectors of 32", t.global_bytes, t.global_sectors)?;
        writeln!(f, "bank conflicts: {}", t.bank_conflicts)?;
        write!(f, "divergent branches: {}, lanes active: {:.1} %", t.divergent_branches, 100.0 * self.lane_efficiency())
    }
}
