//! What came of a check, as text.

use std::fmt::{self, Write};

use comfy_table::{CellAlignment, Table, presets};
use gated_delta::plan::Kernel;
use gated_delta::problem::Format;

use super::accuracy::name;
use super::times::Median;
use super::{Accuracy, Beside, Cell, Floors, Published, Repeats, Times};

/// What came of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The machine, in words.
    pub device: String,
    /// Cases against the oracle.
    pub accuracy: Vec<Accuracy>,
    /// Equal bits.
    pub repeats: Vec<Repeats>,
    /// Times.
    pub times: Vec<Times>,
}

impl Report {
    /// Everything that went wrong.
    pub fn wrongs(&self) -> Vec<String> {
        let cases = self.accuracy.iter().flat_map(|row| {
            let wrong = row.cases.iter().filter_map(Cell::wrong);
            wrong.map(|why| format!("{}: {why}", name(row.kernel)))
        });
        let repeats = self.repeats.iter().filter_map(|row| row.runs.wrong()).map(str::to_owned);
        let times = self.times.iter().flat_map(|row| &row.kernels).filter_map(|(_, cell)| cell.wrong());
        cases.chain(repeats).chain(times.map(str::to_owned)).collect()
    }

    /// Whether there was no time for all of it.
    pub fn is_cut(&self) -> bool {
        let is_cut = |row: &Accuracy| row.cases.contains(&Cell::LeftOut);
        self.accuracy.iter().any(is_cut)
            || self.repeats.iter().any(|row| row.runs == Cell::LeftOut)
            || self.times.iter().flat_map(|row| &row.kernels).any(|(_, cell)| *cell == Cell::LeftOut)
    }

    /// The whole report, with the times of another implementation where there are any.
    pub fn text(&self, beside: &Beside) -> String {
        let mut text = String::new();
        self.write(&mut text, beside).expect("a string can be written to");
        text
    }

    fn write(&self, to: &mut String, beside: &Beside) -> fmt::Result {
        writeln!(to, "machine: {}\n", self.device)?;
        writeln!(to, "cases within the tolerance of the oracle, outputs filled with NaN before:")?;
        writeln!(to, "{}\n", self.accuracy_table())?;
        for row in &self.repeats {
            writeln!(to, "{} on {} tokens, bf16: {}", name(row.kernel), row.sequences, repeats_in_words(&row.runs))?;
        }
        writeln!(to, "\n{}", self.times_table(beside))?;
        writeln!(to, "{LEGEND}")?;
        beside.notes.iter().try_for_each(|note| writeln!(to, "FLA here: {note}"))?;
        if self.is_cut() {
            writeln!(to, "\nThere was no time for what is marked `cut`.")?;
        }
        self.write_wrongs(to)
    }

    fn write_wrongs(&self, to: &mut String) -> fmt::Result {
        let wrongs = self.wrongs();
        if wrongs.is_empty() {
            return writeln!(to, "\nNothing was wrong.");
        }
        writeln!(to, "\n{} results are wrong:", wrongs.len())?;
        wrongs.iter().take(SHOWN).try_for_each(|wrong| writeln!(to, "  {wrong}"))?;
        match wrongs.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => writeln!(to, "  and {more} more"),
        }
    }

    fn accuracy_table(&self) -> String {
        let formats = [Format::F32, Format::F16, Format::Bf16];
        let mut table = table(std::iter::once("kernel").chain(formats.map(Format::name)));
        let mut kernels: Vec<Kernel> = self.accuracy.iter().map(|row| row.kernel).collect();
        kernels.dedup();
        for kernel in kernels {
            let cell = |format| {
                let row = self.accuracy.iter().find(|row| row.kernel == kernel && row.format == format);
                row.map_or_else(|| "-".to_owned(), |row| cases_in_words(&row.cases))
            };
            table.add_row(std::iter::once(name(kernel)).chain(formats.map(cell)));
        }
        trimmed(&table)
    }

    fn times_table(&self, beside: &Beside) -> String {
        let kernels = self.times.first().map_or(&[][..], |row| &row.kernels);
        let header =
            std::iter::once("milliseconds".to_owned()).chain(kernels.iter().map(|(kernel, _)| name(*kernel))).chain(
                ["FLA here", "FlashQLA *", "FlashInfer *", "FLA *", "memory +", "tensor cores +", "f32 +"]
                    .map(str::to_owned),
            );
        let mut table = table(header);
        for row in &self.times {
            let mut cells = vec![row.shape.sequences.to_string()];
            cells.extend(row.kernels.iter().map(|(_, cell)| time_in_words(cell)));
            let published = Published::of(&row.shape);
            let figures = [
                beside.of(&row.shape),
                published.map(|figures| figures.flash_qla),
                published.map(|figures| figures.flash_infer),
                published.map(|figures| figures.fla),
            ];
            cells.extend(figures.map(|figure| figure.map_or_else(|| "-".to_owned(), |time| format!("{time:.3}"))));
            let floors = Floors::of(&row.shape);
            cells.extend([floors.memory, floors.tensor_cores, floors.cores].map(|floor| format!("{floor:.3}")));
            table.add_row(cells);
        }
        trimmed(&table)
    }
}

const LEGEND: &str = "\
Sequences x tokens of each, in bf16; ours is the median of (runs).
* published for an H200, not measured here.  + the least that an H200 allows: 4.8 TB/s, 989 and 67 TFLOPS.";

/// Mistakes that are printed.
const SHOWN: usize = 20;

/// `48 of 48`, and what became of the others.
fn cases_in_words(cases: &[Cell<()>]) -> String {
    let count = |of: fn(&Cell<()>) -> bool| cases.iter().filter(|cell| of(cell)).count();
    let (not_for, cut) = (count(|cell| *cell == Cell::NotFor), count(|cell| *cell == Cell::LeftOut));
    let mut words = format!("{} of {}", count(|cell| cell.done().is_some()), cases.len() - not_for - cut);
    for (number, what) in [(not_for, "have no room"), (cut, "cut")] {
        if number > 0 {
            words.push_str(&format!(", {number} {what}"));
        }
    }
    words
}

fn repeats_in_words(runs: &Cell<u32>) -> String {
    match runs {
        Cell::Done(runs) => format!("{runs} runs, all bits the same"),
        Cell::NotFor => "no room".to_owned(),
        Cell::LeftOut => "cut".to_owned(),
        Cell::Wrong(_) => "WRONG".to_owned(),
    }
}

fn time_in_words(cell: &Cell<Option<Median>>) -> String {
    match cell {
        Cell::Done(Some(Median { milliseconds, runs })) => format!("{milliseconds:.3} ({runs})"),
        Cell::Done(None) => "no clock".to_owned(),
        Cell::NotFor => "no room".to_owned(),
        Cell::LeftOut => "cut".to_owned(),
        Cell::Wrong(_) => "WRONG".to_owned(),
    }
}

/// A table of figures, but for its first column.
fn table<S: Into<comfy_table::Cell>>(header: impl IntoIterator<Item = S>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

/// Without blanks at the ends of lines.
fn trimmed(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
