//! The audit report, field by field as its readers rely on it.
//!
//! `audit --json` prints an array of [`Entry`], one per package, architecture, route and mode, in the order asked.

use hint_record::{HintKind, Level, Reason, Request, Status};
use serde::{Deserialize, Serialize};

use super::factor;
use super::why::Why;
use crate::build::{Arch, Mode, Profile, Route};

/// One package, built for one architecture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The package.
    pub package: String,
    /// The GPU.
    pub arch: Arch,
    /// Who made the PTX.
    pub route: Route,
    /// The mode that was used.
    pub mode: Mode,
    /// cargo's profile.
    pub profile: Profile,
    /// Every hint in the source, and every hint of another package that was compiled, by file and line.
    pub hints: Vec<Hint>,
    /// Every kernel.
    pub kernels: Vec<Kernel>,
    /// What the audit has to say of hints and budgets. Left out where that is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// One thing that the audit has to say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// `warn` or `deny`.
    pub level: Level,
    /// In a sentence.
    pub message: String,
    /// The file, relative to the package.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The kernel, where it is about one.
    pub kernel: Option<String>,
}

/// One hint of the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hint {
    /// The file, relative to the package.
    pub file: String,
    /// The line of the loop's keyword.
    pub line: u32,
    /// Its column, in characters, from 1. For messages; no part of the report.
    #[serde(skip)]
    pub column: u32,
    /// The line of the loop's last brace, and the function around it, where the source is the audited package's. For
    /// messages.
    #[serde(skip)]
    pub extent: Option<(u32, String)>,
    /// Which hint.
    pub kind: HintKind,
    /// What an `unroll` asks for; none where instances differ, and for `nounroll`. The report's `factor`.
    #[serde(rename = "factor", with = "factor")]
    pub request: Option<Request>,
    /// Honoured when all instances are.
    pub status: Status,
    /// Why not: the report's `reason` and `reason_kind`.
    #[serde(flatten)]
    pub why: Why,
    /// One per function of the linked module that held the loop.
    pub instances: Vec<Instance>,
}

/// A hint in one function of the linked module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// The function, demangled.
    pub function: String,
    /// Honoured or dropped.
    pub status: Status,
    /// Why it was dropped: the report's `reason` and `reason_kind`.
    #[serde(flatten)]
    pub why: Why,
    /// The true latches left that name the hint.
    pub loops_after_opt: usize,
}

/// One kernel, with all that it can call. What needs ptxas is null without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// The symbol.
    pub name: String,
    /// Loops with a hint before optimization.
    pub marked_latches: usize,
    /// Pragmas in the PTX.
    pub pragmas: usize,
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Spill stores plus loads.
    pub spill_bytes: Option<u32>,
    /// Stack of a thread.
    pub stack_bytes: Option<u32>,
    /// Static shared memory of a block.
    pub shared_bytes: Option<u32>,
    /// What the disassembly shows.
    pub sass: Option<sass::Counts>,
}

impl Hint {
    /// Drops a hint that has no instance.
    pub fn drop_whole(&mut self, reason: Reason) {
        self.status = Status::Dropped;
        self.why = reason.into();
    }

    /// Drops the hint in one of its functions.
    pub fn drop_in(&mut self, function: &str, reason: Reason) {
        for instance in self.instances.iter_mut().filter(|instance| instance.function == function) {
            instance.status = Status::Dropped;
            instance.why = reason.into();
        }
        self.status = Status::Dropped;
        if self.why.is_none() {
            self.why = reason.into();
        }
    }
}

impl Entry {
    /// Was a hint dropped?
    pub fn has_dropped(&self) -> bool {
        self.hints.iter().any(|hint| hint.status == Status::Dropped)
    }
}
