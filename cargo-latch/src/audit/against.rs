//! What has changed since another audit: hints and kernels that are new, gone, or other than they were.
//!
//! Entries belong together that have the same package, architecture, route and profile. A hint is known by its file,
//! line and kind; where lines have moved, hints of one file that ask for the same in the same functions are paired in
//! their order.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use hint_record::Status;

use super::entry::{Entry, Hint, Kernel};
use super::table::{figures, grid, request, status};

/// Reads the report of an earlier audit.
pub fn read(path: &Path) -> Result<Vec<Entry>> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text)
        .with_context(|| format!("{} is no report of `cargo latch audit --json`", path.display()))
}

/// The changes as people read them.
pub fn render(old: &[Entry], new: &[Entry]) -> String {
    let mut text = String::new();
    let mut say = |line: &str| writeln!(text, "{line}").expect("a string can be written to");
    for entry in new {
        let name = format!("{} for {}, route {}, profile {}", entry.package, entry.arch, entry.route, entry.profile);
        let Some(before) = old.iter().find(|before| is_same(before, entry)) else {
            say(&format!("{name}: not in the old report"));
            continue;
        };
        let rows = changes(before, entry);
        if rows.is_empty() {
            say(&format!("{name}: nothing has changed"));
        } else {
            say(&format!("{name}:"));
            say(&grid(&rows));
        }
    }
    for before in old.iter().filter(|before| !new.iter().any(|entry| is_same(before, entry))) {
        say(&format!("{} for {}: only in the old report", before.package, before.arch));
    }
    text.trim_end().to_owned()
}

fn is_same(one: &Entry, other: &Entry) -> bool {
    let key = |entry: &Entry| (entry.package.clone(), entry.arch.clone(), entry.route, entry.profile);
    key(one) == key(other)
}

/// One row a change: what, which, how.
fn changes(old: &Entry, new: &Entry) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    for (before, after) in pairs(&old.hints, &new.hints) {
        rows.extend(hint_change(before, after));
    }
    let all = new.kernels.iter().map(|kernel| &kernel.name);
    let gone =
        old.kernels.iter().map(|kernel| &kernel.name).filter(|name| !new.kernels.iter().any(|k| k.name == **name));
    for name in all.chain(gone) {
        let find = |entry: &'_ Entry| entry.kernels.iter().find(|kernel| kernel.name == *name).cloned();
        rows.extend(kernel_change(find(old).as_ref(), find(new).as_ref()));
    }
    rows
}

/// Every hint of both reports, in the new one's order, those that are gone last.
fn pairs<'a>(old: &'a [Hint], new: &'a [Hint]) -> Vec<(Option<&'a Hint>, Option<&'a Hint>)> {
    let is_there =
        |hint: &Hint, other: &Hint| (&hint.file, hint.line, hint.kind) == (&other.file, other.line, other.kind);
    let mut rest: Vec<&Hint> = old.iter().filter(|hint| !new.iter().any(|other| is_there(hint, other))).collect();
    let mut pairs = Vec::new();
    for hint in new {
        let same = old.iter().find(|other| is_there(hint, other));
        let moved = || rest.iter().position(|other| is_alike(hint, other)).map(|at| rest.remove(at));
        pairs.push((same.or_else(moved), Some(hint)));
    }
    pairs.extend(rest.into_iter().map(|hint| (Some(hint), None)));
    pairs
}

/// Can one be the other, after lines were added above it?
fn is_alike(one: &Hint, other: &Hint) -> bool {
    let functions = |hint: &Hint| hint.instances.iter().map(|instance| instance.function.clone()).collect::<Vec<_>>();
    (&one.file, one.kind, one.request) == (&other.file, other.kind, other.request) && functions(one) == functions(other)
}

fn hint_change(old: Option<&Hint>, new: Option<&Hint>) -> Option<[String; 3]> {
    let place = |hint: &Hint| format!("{}:{}", hint.file, hint.line);
    let state = |hint: &Hint| {
        let reason = hint.why.sentence().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{} {}{reason}", request(hint), status(hint.status))
    };
    let (which, how) = match (old, new) {
        (None, None) => return None,
        (None, Some(new)) => (place(new), format!("new: {}", state(new))),
        (Some(old), None) => (place(old), format!("gone: was {}", state(old))),
        (Some(old), Some(new)) => {
            let moved = (old.line != new.line).then(|| format!("was in line {}", old.line));
            let other = (state(old) != state(new)).then(|| format!("{} -> {}", state(old), state(new)));
            let loops = loops_change(old, new).filter(|_| other.is_none());
            let parts: Vec<String> = moved.into_iter().chain(other).chain(loops).collect();
            (place(new), parts.join("; "))
        }
    };
    (!how.is_empty()).then(|| ["hint".to_owned(), which, how])
}

fn loops_change(old: &Hint, new: &Hint) -> Option<String> {
    let loops = |hint: &Hint| hint.instances.iter().map(|instance| instance.loops_after_opt).sum::<usize>();
    let is_compiled = |hint: &Hint| hint.status != Status::NotCompiled;
    (is_compiled(old) && is_compiled(new) && loops(old) != loops(new))
        .then(|| format!("loops left {} -> {}", loops(old), loops(new)))
}

fn kernel_change(old: Option<&Kernel>, new: Option<&Kernel>) -> Option<[String; 3]> {
    let (name, how) = match (old, new) {
        (None, None) => return None,
        (None, Some(new)) => (&new.name, "new".to_owned()),
        (Some(old), None) => (&old.name, "gone".to_owned()),
        (Some(old), Some(new)) => {
            let changed = figures(old).into_iter().zip(figures(new)).filter(|((_, old), (_, new))| old != new);
            let shown = |figure: Option<u64>| figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string());
            let parts = changed.map(|((what, old), (_, new))| format!("{what} {} -> {}", shown(old), shown(new)));
            (&new.name, parts.collect::<Vec<_>>().join(", "))
        }
    };
    (!how.is_empty()).then(|| ["kernel".to_owned(), name.clone(), how])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::samples;
    use hint_record::Reason;

    #[test]
    fn every_change_is_a_line() {
        let (old, mut new) = (samples::entry(), samples::entry());
        new.hints[0] = samples::hint(3, &[("taps", Some(Reason::Deleted))]);
        new.hints[1].line = 12;
        new.hints.push(samples::hint(20, &[("g", None)]));
        let mut gone = old.clone();
        gone.hints.push(samples::hint(30, &[("h", None)]));
        gone.kernels.push(Kernel { name: "old".to_owned(), ..samples::kernel() });
        new.kernels[0].registers = None;
        new.kernels[0].sass.as_mut().expect("counts").loops = 4;
        new.kernels.push(Kernel { name: "new".to_owned(), ..samples::kernel() });
        let mut other = samples::entry();
        other.arch = "sm_80".parse().expect("an architecture");
        let added = Entry { package: "added".to_owned(), ..samples::entry() };
        insta::assert_snapshot!(render(&[gone, other.clone()], &[new, added]));
        let same = std::slice::from_ref(&old);
        assert_eq!(render(same, same), "sample for sm_90, route llc, profile release: nothing has changed");
        assert_eq!(render(&[], &[other]), "sample for sm_80, route llc, profile release: not in the old report");
    }

    #[test]
    fn a_hint_that_only_moved_is_the_same_hint() {
        let (old, mut new) = (samples::entry(), samples::entry());
        new.hints.iter_mut().for_each(|hint| hint.line += 2);
        let rows = changes(&old, &new);
        let shown: Vec<&str> = rows.iter().map(|[_, _, how]| how.as_str()).collect();
        assert_eq!(shown, ["was in line 3", "was in line 9"]);
    }

    #[test]
    fn what_is_no_report_is_named() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("old.json");
        for alien in ["", "{", "{}", "[{\"package\": 3}]", "[{\"name\": \"x\"}]", "3", "[[]]"] {
            fs::write(&path, alien).expect("written");
            let error = format!("{:#}", read(&path).expect_err(alien));
            assert!(error.contains("old.json is no report of `cargo latch audit --json`: "), "{alien}: {error}");
        }
        fs::write(&path, serde_json::to_vec(&[samples::entry()]).expect("JSON")).expect("written");
        let again = serde_json::to_value(read(&path).expect("a report")).expect("JSON");
        assert_eq!(again, serde_json::to_value([samples::entry()]).expect("JSON"));
        assert!(format!("{:#}", read(&folder.path().join("none")).expect_err("no file")).starts_with("cannot read "));
    }
}
