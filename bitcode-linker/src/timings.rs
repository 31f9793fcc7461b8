//! How long every pass of a link took.
//!
//! The pipeline runs each [`Step`] of a pass in a span of `tracing`. [`Timings`] is a layer that adds up what these
//! took, and is shown as a table; without it they cost next to nothing.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// The target of the spans.
const TARGET: &str = "latch_link::pass";

/// What is done for a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// The pass itself.
    Run,
    /// The module written to a file.
    Keep,
    /// LLVM's verifier.
    Verify,
}

impl Step {
    const ALL: [Step; 3] = [Step::Run, Step::Keep, Step::Verify];

    /// Does this step of a pass, in a span.
    pub(crate) fn of<T>(self, pass: &'static str, work: impl FnOnce() -> T) -> T {
        let span = match self {
            Step::Run => tracing::info_span!(target: TARGET, "run", pass),
            Step::Keep => tracing::info_span!(target: TARGET, "keep", pass),
            Step::Verify => tracing::info_span!(target: TARGET, "verify", pass),
        };
        span.in_scope(work)
    }

    fn name(self) -> &'static str {
        match self {
            Step::Run => "run",
            Step::Keep => "keep",
            Step::Verify => "verify",
        }
    }
}

/// The times so far. Clones share them.
#[derive(Clone, Default, Debug)]
pub struct Timings {
    rows: Arc<Mutex<Vec<Row>>>,
}

#[derive(Debug)]
struct Row {
    pass: String,
    /// In the order of [`Step::ALL`].
    times: [Duration; 3],
}

impl Timings {
    /// Which spans and events the layer is to hear of.
    pub fn listens_to(metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET
    }

    fn add(&self, pass: &str, step: usize, time: Duration) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let at = rows.iter().position(|row| row.pass == pass).unwrap_or_else(|| {
            rows.push(Row { pass: pass.to_owned(), times: Default::default() });
            rows.len() - 1
        });
        rows[at].times[step] += time;
    }
}

/// A table with one line a pass, in milliseconds.
impl fmt::Display for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line =
            |pass: &str, cells: [String; 3]| writeln!(f, "{pass:<24}{:>10}{:>10}{:>10}", cells[0], cells[1], cells[2]);
        line("pass, milliseconds", Step::ALL.map(|step| step.name().to_owned()))?;
        let mut total = [Duration::ZERO; 3];
        for row in rows.iter() {
            row.times.iter().zip(&mut total).for_each(|(time, total)| *total += *time);
            line(&row.pass, row.times.map(shown))?;
        }
        line("all", total.map(shown))
    }
}

fn shown(time: Duration) -> String {
    if time.is_zero() { String::new() } else { format!("{:.1}", time.as_secs_f64() * 1000.0) }
}

/// What is known of a span that is open.
struct Open {
    pass: String,
    step: usize,
    entered: Instant,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Timings {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut pass = PassName::default();
        attributes.record(&mut pass);
        let step = Step::ALL.iter().position(|step| step.name() == attributes.metadata().name());
        if let (Some(span), Some(step)) = (context.span(id), step) {
            span.extensions_mut().insert(Open { pass: pass.0, step, entered: Instant::now() });
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        if let Some(open) = span.extensions().get::<Open>() {
            self.add(&open.pass, open.step, open.entered.elapsed());
        }
    }
}

/// Reads a span's field `pass`.
#[derive(Default)]
struct PassName(String);

impl Visit for PassName {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "pass" {
            self.0 = value.to_owned();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
