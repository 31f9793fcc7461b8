//! Progress on stderr: bars on a terminal, plain lines elsewhere, nothing for a step that is already done.
//!
//! A step that is dropped before [`Step::finish`] (its work failed) takes its bar away and prints nothing: the error
//! that the command ends with says it all.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// How often a bar's spinner turns.
const TICK: Duration = Duration::from_millis(120);
/// A plain-text step reports each time this much of it is done.
const PLAIN_PERCENT: u64 = 10;

/// Where progress goes.
#[derive(Debug)]
pub struct Progress(Kind);

#[derive(Debug)]
enum Kind {
    Bars(MultiProgress),
    Lines,
    Silent,
}

impl Progress {
    /// Bars if stderr is a terminal, else one line for each thing that a step does, at each tenth of a long one, and at
    /// its end.
    pub fn on_stderr() -> Self {
        if std::io::stderr().is_terminal() { Self(Kind::Bars(MultiProgress::new())) } else { Self(Kind::Lines) }
    }

    /// Prints nothing.
    pub fn silent() -> Self {
        Self(Kind::Silent)
    }

    /// Begins a step.
    pub fn step(&self, name: &str) -> Step<'_> {
        Step { progress: self, bar: self.bar(name), name: name.to_owned(), began: Instant::now(), tenth: Mutex::new(0) }
    }

    fn bar(&self, name: &str) -> Option<ProgressBar> {
        let Kind::Bars(bars) = &self.0 else { return None };
        let bar = bars.add(ProgressBar::new_spinner());
        bar.set_style(style("{spinner} {prefix:.bold} {wide_msg} {elapsed}"));
        bar.set_prefix(name.to_owned());
        bar.enable_steady_tick(TICK);
        Some(bar)
    }
}

/// A step under way.
#[derive(Debug)]
pub struct Step<'p> {
    progress: &'p Progress,
    bar: Option<ProgressBar>,
    name: String,
    began: Instant,
    /// The last tenth that was reported in plain text.
    tenth: Mutex<u64>,
}

impl Step<'_> {
    /// Says what the step does now.
    pub fn message(&self, message: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(message.to_owned());
        }
        self.plain(message);
    }

    /// Says how far the step is: `done` of `total`, and the name of the piece just done.
    pub fn count(&self, done: u64, total: u64, piece: &str) {
        if let Some(bar) = &self.bar {
            if bar.length().is_none() {
                bar.set_style(style("{spinner} {prefix:.bold} [{bar:30}] {pos}/{len} {wide_msg} {elapsed}"));
            }
            bar.set_length(total);
            bar.set_position(done);
            bar.set_message(piece.to_owned());
        }
        if let Some(percent) = self.next_tenth(done, total) {
            self.plain(&format!("{percent}%"));
        }
    }

    /// Ends the step well.
    pub fn finish(self) {
        let line = format!("{}: ready after {:.1} s", self.name, self.began.elapsed().as_secs_f64());
        match &self.progress.0 {
            Kind::Bars(bars) => drop(bars.println(line)),
            Kind::Lines => eprintln!("latch: {line}"),
            Kind::Silent => {}
        }
    }

    fn next_tenth(&self, done: u64, total: u64) -> Option<u64> {
        let reached = (done * 100).checked_div(total)? / PLAIN_PERCENT * PLAIN_PERCENT;
        let mut last = self.tenth.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (reached > *last).then(|| {
            *last = reached;
            reached
        })
    }

    fn plain(&self, message: &str) {
        if let Kind::Lines = self.progress.0 {
            eprintln!("latch: {}: {message}", self.name);
        }
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The templates are constants of this file; a malformed one falls back to indicatif's own look.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_reports_each_tenth_once() {
        let progress = Progress::silent();
        let step = progress.step("build");
        let reported: Vec<_> = (0..=200).filter_map(|done| step.next_tenth(done, 200)).collect();
        assert_eq!(reported, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    }

    #[test]
    fn an_empty_step_has_no_tenths() {
        assert_eq!(Progress::silent().step("build").next_tenth(0, 0), None);
    }
}
