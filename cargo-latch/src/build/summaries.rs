//! rustc's counts of its own messages ("aborting due to …", "… warnings emitted"), taken out of what it says: cargo
//! says the same in its own words, and such a count is no error of its own.
//!
//! A count is known by its place, whatever its words are. It has no place in the source, no code and nothing below it;
//! it comes after what it counts, so not first of its level; and it is the last that a run of the compiler says, notes
//! on error codes aside. So a message that may be one is held back until the run says something else, or never.
//!
//! When it is wrong: where rustc dies with a message of that shape after other errors, without counting them, that
//! message is not shown. The other errors are.

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use cargo_metadata::{CompilerMessage, PackageId, Target};

/// What runs of the compiler have said so far.
#[derive(Debug, Default)]
pub struct Summaries {
    runs: Vec<Run>,
}

/// One run of the compiler.
#[derive(Debug)]
struct Run {
    package: PackageId,
    target: Target,
    /// The levels of messages that are no counts.
    levels: Vec<DiagnosticLevel>,
    /// What may be a count.
    held: Option<Diagnostic>,
}

impl Summaries {
    /// The messages that are known to be no counts, now that this one has come.
    pub fn sift(&mut self, message: CompilerMessage) -> Vec<Diagnostic> {
        let CompilerMessage { package_id, target, message, .. } = message;
        self.run(package_id, target).sift(message)
    }

    fn run(&mut self, package: PackageId, target: Target) -> &mut Run {
        let known = self.runs.iter().position(|run| run.package == package && run.target == target);
        let at = known.unwrap_or_else(|| {
            self.runs.push(Run { package, target, levels: Vec::new(), held: None });
            self.runs.len() - 1
        });
        &mut self.runs[at]
    }
}

impl Run {
    fn sift(&mut self, message: Diagnostic) -> Vec<Diagnostic> {
        if message.level == DiagnosticLevel::FailureNote {
            return vec![message];
        }
        let mut passed: Vec<Diagnostic> = self.held.take().into_iter().collect();
        if self.may_be_count(&message) {
            self.held = Some(message);
        } else {
            self.levels.push(message.level);
            passed.push(message);
        }
        passed
    }

    fn may_be_count(&self, message: &Diagnostic) -> bool {
        let is_bare = message.spans.is_empty() && message.code.is_none() && message.children.is_empty();
        is_bare && self.levels.contains(&message.level)
    }
}
