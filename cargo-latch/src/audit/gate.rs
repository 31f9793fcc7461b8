//! What an audit has to say, at the levels and budgets of the kernel crate, and whether it passes.
//!
//! 1. hints that were not honoured, one message for a site and a reason ([`hints`]);
//! 2. kernels whose machine code has fewer loops than their PTX asks for ([`kernels`]);
//! 3. budgets ([`super::budgets`]).

use std::path::{Path, PathBuf};

use anyhow::Result;
use codegen_pass::report::Status;

use super::entry::{Entry, Hint, Kind};
use super::machine::MachineCode;
use super::{Audited, budgets};
use crate::config::{HintLevels, LatchToml, Level, ReasonKind};
use crate::diagnose::{Diagnostic, Place, reasons};

/// Everything that there is to say of one audit.
pub fn findings(audited: &Audited, config: &LatchToml, levels: &HintLevels, folder: &Path) -> Result<Vec<Diagnostic>> {
    let mut found = hints(&audited.entry.hints, levels, folder);
    found.extend(kernels(&audited.entry, audited.code.as_ref(), levels));
    found.extend(budgets::check(config, &audited.entry, audited.code.as_ref())?);
    found.retain(|diagnostic| diagnostic.level > Level::Allow);
    Ok(found)
}

/// Is there an error among the messages?
pub fn is_denied(found: &[Diagnostic]) -> bool {
    found.iter().any(|diagnostic| diagnostic.level == Level::Deny)
}

/// One message for every site and reason, with the functions that it is about. `folder` is the package's.
pub fn hints(hints: &[Hint], levels: &HintLevels, folder: &Path) -> Vec<Diagnostic> {
    hints.iter().flat_map(|hint| of_hint(hint, levels, folder)).collect()
}

fn of_hint(hint: &Hint, levels: &HintLevels, folder: &Path) -> Vec<Diagnostic> {
    if hint.status == Status::NotCompiled {
        let reason = hint.reason.as_deref().unwrap_or(reasons::UNUSED);
        return vec![message(hint, reason, "was not compiled", levels, folder)];
    }
    let mut found: Vec<(&str, Diagnostic)> = Vec::new();
    for instance in hint.instances.iter().filter(|instance| instance.status == Status::Dropped) {
        let reason = instance.reason.as_deref().unwrap_or("no reason is known");
        let known = found.iter().position(|(known, _)| *known == reason);
        let at = known.unwrap_or_else(|| {
            found.push((reason, message(hint, reason, "was not honoured", levels, folder)));
            found.len() - 1
        });
        let functions = &mut found[at].1.functions;
        if !functions.contains(&instance.function) {
            functions.push(instance.function.clone());
        }
    }
    found.into_iter().map(|(_, diagnostic)| diagnostic).collect()
}

fn message(hint: &Hint, reason: &str, what: &str, levels: &HintLevels, folder: &Path) -> Diagnostic {
    let kind = match hint.kind {
        Kind::Nounroll => "nounroll",
        Kind::Unroll => "unroll",
    };
    let level = levels.of(reasons::kind(reason));
    let file = folder.join(&hint.file);
    Diagnostic {
        places: vec![Place::word(without_detours(&file), hint.line, hint.column)],
        help: reasons::help(reason).map(str::to_owned),
        ..Diagnostic::new(level, format!("`#[{kind}]` {what}: {reason}"))
    }
}

/// `a/../b` as `b`: the report names files of other packages from the package's folder.
fn without_detours(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for step in path.components() {
        match step {
            std::path::Component::ParentDir if short.file_name().is_some() => _ = short.pop(),
            step => short.push(step),
        }
    }
    short
}

/// Kernels whose machine code has fewer loops than their PTX has pragmas, unless a hint was found to be the reason.
fn kernels(entry: &Entry, code: Option<&MachineCode>, levels: &HintLevels) -> Vec<Diagnostic> {
    let is_explained = entry.hints.iter().flat_map(|hint| &hint.instances).any(|instance| {
        instance.reason.as_deref().is_some_and(|reason| reasons::kind(reason) == ReasonKind::MachineCode)
    });
    if is_explained {
        return Vec::new();
    }
    let level = levels.of(ReasonKind::MachineCode);
    let lacking = entry.kernels.iter().filter_map(|kernel| {
        let loops = kernel.sass.filter(|counts| counts.loops < kernel.pragmas)?.loops;
        let (name, arch, pragmas) = (&kernel.name, &entry.arch, kernel.pragmas);
        let title =
            format!("`{name}` for {arch} has {loops} loops in its machine code, and its PTX asks for {pragmas}");
        let help = (!code.is_some_and(|code| code.has_lines))
            .then(|| "`cargo latch audit --lines` tells which loop is missing".to_owned());
        Some(Diagnostic { help, kernel: Some(name.clone()), ..Diagnostic::new(level, title) })
    });
    lacking.collect()
}
