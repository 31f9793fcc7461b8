//! What an audit has to say, at the levels and budgets of the kernel crate, and whether it passes.
//!
//! 1. hints that were not honoured, one message for a site and a reason ([`hints`]);
//! 2. kernels whose machine code has fewer loops than their PTX asks for ([`kernels`]);
//! 3. budgets ([`super::budgets`]);
//! 4. what ptxas warns of, such as matrix instructions that have to wait for each other ([`assembler`]).

use std::path::{Path, PathBuf};

use anyhow::Result;
use hint_record::{Level, Reason, ReasonKind, Status, text};

use super::entry::{Entry, Hint};
use super::machine::MachineCode;
use super::{Audited, budgets};
use crate::config::{Figure, HintLevels, LatchToml};
use crate::diagnose::{Diagnostic, Place, reasons};

/// Everything that there is to say of one audit.
pub fn findings(audited: &Audited, config: &LatchToml, levels: &HintLevels, folder: &Path) -> Result<Vec<Diagnostic>> {
    let mut found = hints(&audited.entry.hints, levels, folder);
    found.extend(kernels(&audited.entry, audited.code.as_ref(), levels));
    found.extend(budgets::check(config, &audited.entry, audited.code.as_ref())?);
    found.extend(assembler(&audited.entry, audited.code.as_ref()));
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
    let message = |status, reason| message(hint, status, reason, levels, folder);
    if hint.instances.is_empty() {
        let told = is_told(hint.status).then(|| message(hint.status, hint.why.reason()));
        return told.map(|diagnostic| of_whole(hint, diagnostic)).into_iter().collect();
    }
    let mut found: Vec<Diagnostic> = Vec::new();
    for instance in hint.instances.iter().filter(|instance| is_told(instance.status)) {
        let reason = instance.why.reason();
        let known = found.iter().position(|known| known.reason == reason);
        let at = known.unwrap_or_else(|| {
            found.push(message(instance.status, reason));
            found.len() - 1
        });
        let functions = &mut found[at].functions;
        if !functions.contains(&instance.function) {
            functions.push(instance.function.clone());
        }
    }
    found
}

/// Is there anything to say of a hint of this status?
fn is_told(status: Status) -> bool {
    status != Status::Honoured
}

/// What is known of a hint without instance: the function of the source.
fn of_whole(hint: &Hint, diagnostic: Diagnostic) -> Diagnostic {
    Diagnostic { functions: hint.extent.iter().map(|(_, function)| function.clone()).collect(), ..diagnostic }
}

fn message(hint: &Hint, status: Status, reason: Option<Reason>, levels: &HintLevels, folder: &Path) -> Diagnostic {
    let level = levels.of(reason.map_or(ReasonKind::Other, Reason::kind));
    let file = folder.join(&hint.file);
    Diagnostic {
        places: vec![Place::word(without_detours(&file), hint.line, hint.column)],
        help: reason.and_then(reasons::help).map(str::to_owned),
        reason,
        ..Diagnostic::new(level, title(hint, status, &reasons::sentence_or_unknown(reason)))
    }
}

fn title(hint: &Hint, status: Status, why: &str) -> String {
    match status {
        Status::NotCompiled => format!("`#[{}]` was not compiled: {why}", hint.kind),
        Status::Unverified => format!("`#[{}]` could not be verified: {why}", hint.kind),
        Status::Dropped | Status::Honoured => text::not_honoured(hint.kind, why),
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
    let instances = || entry.hints.iter().flat_map(|hint| &hint.instances);
    let is_explained = instances().any(|instance| instance.why.kind() == Some(ReasonKind::MachineCode));
    if is_explained {
        return Vec::new();
    }
    let level = levels.of(ReasonKind::MachineCode);
    let lacking = entry.kernels.iter().filter_map(|kernel| {
        let loops = kernel.sass.filter(|counts| counts.loops < kernel.pragmas)?.loops;
        let (name, arch, pragmas) = (&kernel.name, &entry.arch, kernel.pragmas);
        let loops = Figure::Loops.amount(loops as u64);
        let title = format!("`{name}` for {arch} has {loops} in its machine code, and its PTX asks for {pragmas}");
        let help = (!code.is_some_and(|code| code.has_lines))
            .then(|| "`cargo latch audit --lines` tells which loop is missing".to_owned());
        Some(Diagnostic { help, kernel: Some(name.clone()), ..Diagnostic::new(level, title) })
    });
    lacking.collect()
}

/// What ptxas warns of, losses of speed included.
fn assembler(entry: &Entry, code: Option<&MachineCode>) -> Vec<Diagnostic> {
    let warnings = code.into_iter().flat_map(|code| &code.report.warnings);
    let title = |warning: &sass::Message| format!("ptxas says of `{}` for {}: {warning}", entry.package, entry.arch);
    warnings.map(|warning| Diagnostic::new(Level::Warn, title(warning))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::samples;
    use crate::config::HintTable;
    use crate::diagnose::text::Printer;
    use hint_record::NoLoop;

    fn levels(text: &str, command_line: Option<Level>) -> HintLevels {
        let table: HintTable = toml::from_str(text).expect("a table");
        table.levels(command_line)
    }

    fn audited(entry: Entry) -> Audited {
        Audited { entry, code: None }
    }

    fn found(entry: Entry, levels: &HintLevels) -> Vec<Diagnostic> {
        findings(&audited(entry), &LatchToml::default(), levels, Path::new("/kernels")).expect("no budget")
    }

    #[test]
    fn one_message_names_every_instance_with_the_same_reason() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        std::fs::create_dir(folder.path().join("src")).expect("made");
        std::fs::write(folder.path().join("src/lib.rs"), "fn f() {\n    loop { break }\n}\n").expect("written");
        let (deleted, never) = (Reason::Deleted, Reason::NoLoop(NoLoop::NeverRepeats));
        let functions = [("f::<1>", Some(never)), ("f::<2>", Some(deleted)), ("f::<3>", Some(never)), ("g", None)];
        let found = hints(&[samples::hint(2, &functions)], &levels("", None), folder.path());
        let printer = Printer::plain(folder.path());
        let texts: Vec<String> = found.iter().filter_map(|found| printer.render(found)).collect();
        insta::assert_snapshot!(texts.join("\n\n"));
    }

    #[test]
    fn the_level_of_its_reason_decides() {
        let denied = |levels: HintLevels| is_denied(&found(samples::entry(), &levels));
        assert!(denied(levels("", None)));
        assert!(!denied(levels("level = \"warn\"", None)));
        assert!(!denied(levels("never-repeats = \"warn\"", None)));
        assert!(denied(levels("deleted = \"warn\"", None)));
        assert!(denied(levels("never-repeats = \"allow\"", Some(Level::Deny))));
        assert!(!denied(levels("", Some(Level::Warn))));
        assert_eq!(found(samples::entry(), &levels("", Some(Level::Allow))), []);
    }

    #[test]
    fn a_hint_that_is_not_compiled_is_told_of_where_that_is_asked_for() {
        let mut entry = samples::entry();
        entry.hints = vec![samples::hint(3, &[])];
        entry.hints[0].status = Status::NotCompiled;
        entry.hints[0].why = Reason::Unused.into();
        assert_eq!(found(entry.clone(), &levels("", Some(Level::Deny))), []);
        let told = found(entry, &levels("not-compiled = \"deny\"", None));
        assert!(is_denied(&told));
        assert!(
            told[0].title.starts_with("`#[nounroll]` was not compiled: no kernel reaches the loop"),
            "{}",
            told[0].title
        );
    }

    #[test]
    fn what_could_not_be_verified_fails_and_is_told_as_that() {
        let mut entry = samples::entry();
        entry.hints = vec![samples::hint(3, &[("taps", Some(Reason::Unmatched))])];
        entry.hints[0].instances[0].status = Status::Unverified;
        let told = found(entry, &levels("", None));
        assert!(is_denied(&told));
        let title = format!("`#[nounroll]` could not be verified: {}", reasons::sentence(Reason::Unmatched));
        assert_eq!(told[0].title, title);
    }

    #[test]
    fn a_kernel_with_fewer_loops_than_its_ptx_asks_for_is_an_error() {
        let mut entry = samples::entry();
        entry.hints.clear();
        assert_eq!(found(entry.clone(), &levels("", None)), []);
        entry.kernels[0].pragmas = 2;
        let told = found(entry.clone(), &levels("", None));
        assert!(is_denied(&told));
        assert_eq!(told[0].title, "`taps` for sm_90 has 1 loop in its machine code, and its PTX asks for 2");
        assert!(!is_denied(&found(entry.clone(), &levels("machine-code = \"warn\"", None))));
        entry.hints = vec![samples::hint(3, &[("taps", Some(Reason::MachineCode))])];
        assert_eq!(found(entry, &levels("", None)).len(), 1, "the hint tells which one");
    }

    #[test]
    fn what_ptxas_warns_of_is_told_and_fails_nothing() {
        let mut entry = samples::entry();
        entry.hints.clear();
        let mut code = MachineCode::of_kernels(Vec::new(), false);
        code.report.warnings.push(sass::Message {
            severity: sass::Severity::Info,
            code: Some("C7515".to_owned()),
            line: None,
            line_text: None,
            text: "Potential Performance Loss: instructions are serialized".to_owned(),
        });
        let audited = Audited { entry, code: Some(code) };
        let told = findings(&audited, &LatchToml::default(), &levels("", None), Path::new("/")).expect("no budget");
        let said = "ptxas says of `sample` for sm_90: Potential Performance Loss: instructions are serialized";
        assert_eq!(told.iter().map(|told| (told.level, &*told.title)).collect::<Vec<_>>(), [(Level::Warn, said)]);
    }

    #[test]
    fn files_of_other_packages_are_named_without_detours() {
        assert_eq!(without_detours(Path::new("/a/b/../c/src/../lib.rs")), Path::new("/a/c/lib.rs"));
        assert_eq!(without_detours(Path::new("../c/lib.rs")), Path::new("../c/lib.rs"));
    }
}
