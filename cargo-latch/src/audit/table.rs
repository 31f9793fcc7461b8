//! The report as people read it: a table of kernels and one of hints, or architectures side by side.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, Table, presets};
use hint_record::{HintKind, Request, Status};

use crate::audit::{Entry, Hint, Kernel};

/// Both tables of an entry, under a line that says what was built.
pub fn render(entry: &Entry) -> String {
    let mut text = String::new();
    let (package, arch, route, mode, profile) = (&entry.package, &entry.arch, entry.route, entry.mode, entry.profile);
    let written = write!(
        text,
        "{package} for {arch}: route {route}, mode {mode}, profile {profile}\n\n{}\n\n{}\n",
        kernels(&entry.kernels),
        hints(&entry.hints)
    );
    written.expect("a string can be written to");
    text
}

/// Entries that differ in their architecture alone, side by side: for every kernel its loops and loads in the machine
/// code.
pub fn overview(entries: &[Entry]) -> String {
    let Some(first) = entries.first() else { return String::new() };
    let mut header = vec!["kernel".to_owned(), "marked".to_owned()];
    for entry in entries {
        header.extend([format!("{} loops", entry.arch), "loads".to_owned()]);
    }
    let mut table = plain_table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for (at, kernel) in first.kernels.iter().enumerate() {
        let mut row = vec![Cell::new(&kernel.name), number(Some(kernel.marked_latches as u64))];
        for entry in entries {
            let sass = entry.kernels.get(at).and_then(|kernel| kernel.sass.as_ref());
            row.push(number(sass.map(|sass| sass.loops as u64)));
            row.push(number(sass.map(|sass| sass.global_loads as u64)));
        }
        table.add_row(row);
    }
    let counts = entries.iter().map(|entry| {
        let honoured = entry.hints.iter().filter(|hint| hint.status == Status::Honoured).count();
        format!("{}: {honoured} of {} hints honoured", entry.arch, entry.hints.len())
    });
    format!("{}\n\n{}\n", trimmed(&table), counts.collect::<Vec<_>>().join(", "))
}

fn kernels(kernels: &[Kernel]) -> String {
    let header =
        ["kernel", "marked", "pragmas", "SASS loops", "global loads", "registers", "spilled", "local", "calls"];
    let mut table = plain_table(&header);
    for kernel in kernels {
        let sass = |figure: fn(&sass::Counts) -> usize| kernel.sass.as_ref().map(|counts| figure(counts) as u64);
        let figures = [
            Some(kernel.marked_latches as u64),
            Some(kernel.pragmas as u64),
            sass(|counts| counts.loops),
            sass(|counts| counts.global_loads),
            kernel.registers.map(u64::from),
            kernel.spill_bytes.map(u64::from),
            sass(|counts| counts.local_loads + counts.local_stores),
            sass(|counts| counts.calls),
        ];
        let figures = figures.map(number);
        table.add_row(std::iter::once(Cell::new(&kernel.name)).chain(figures));
    }
    trimmed(&table)
}

/// Every figure of a kernel, with its name in words.
pub(super) fn figures(kernel: &Kernel) -> Vec<(&'static str, Option<u64>)> {
    let sass = |figure: fn(&sass::Counts) -> usize| kernel.sass.as_ref().map(|counts| figure(counts) as u64);
    vec![
        ("marked", Some(kernel.marked_latches as u64)),
        ("pragmas", Some(kernel.pragmas as u64)),
        ("loops", sass(|counts| counts.loops)),
        ("instructions", sass(|counts| counts.instructions)),
        ("global loads", sass(|counts| counts.global_loads)),
        ("global stores", sass(|counts| counts.global_stores)),
        ("local loads", sass(|counts| counts.local_loads)),
        ("local stores", sass(|counts| counts.local_stores)),
        ("registers", kernel.registers.map(u64::from)),
        ("spilled", kernel.spill_bytes.map(u64::from)),
        ("stack", kernel.stack_bytes.map(u64::from)),
        ("shared", kernel.shared_bytes.map(u64::from)),
        ("calls", sass(|counts| counts.calls)),
        ("helper calls", sass(|counts| counts.helper_calls)),
    ]
}

/// Rows without header, each column as wide as it must be.
pub(super) fn grid(rows: &[[String; 3]]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    rows.iter().for_each(|row| _ = table.add_row(row));
    trimmed(&table)
}

fn number(figure: Option<u64>) -> Cell {
    let text = figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string());
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn hints(hints: &[Hint]) -> String {
    let mut table = plain_table(&["hint", "asks for", "status", "loops left", "why"]);
    for hint in hints {
        let left = hint.instances.iter().map(|instance| instance.loops_after_opt as u64).sum();
        table.add_row([
            Cell::new(format!("{}:{}", hint.file, hint.line)),
            Cell::new(request(hint)),
            Cell::new(status(hint.status)),
            number((hint.status != Status::NotCompiled).then_some(left)),
            Cell::new(hint.why.sentence().unwrap_or_default()),
        ]);
    }
    trimmed(&table)
}

pub(super) fn request(hint: &Hint) -> String {
    match (hint.kind, hint.request) {
        (HintKind::Nounroll, _) | (_, Some(Request::Full)) => hint.kind.to_string(),
        (_, Some(Request::Copies(copies))) => format!("{}({copies})", hint.kind),
        (_, Some(Request::Nounroll) | None) => format!("{}(..)", hint.kind),
    }
}

pub(super) fn status(status: Status) -> &'static str {
    match status {
        Status::Honoured => "honoured",
        Status::Dropped => "DROPPED",
        Status::NotCompiled => "not compiled",
        Status::Unverified => "UNVERIFIED",
    }
}

fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let cells = header.iter().enumerate().map(|(at, title)| {
        let is_figure = at > 0 && header[0] == "kernel" || *title == "loops left";
        Cell::new(title).set_alignment(if is_figure { CellAlignment::Right } else { CellAlignment::Left })
    });
    table.set_header(cells);
    table
}

/// Without blanks at the ends of lines.
fn trimmed(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
