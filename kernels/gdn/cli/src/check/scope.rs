//! How much is checked, and the time for it.

use std::fmt;
use std::time::{Duration, Instant};

use gated_delta::problem::Sizes;

use super::Shape;

/// What a check covers.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Cases of more than so many tokens by elements of a state, of all heads, are not run.
    pub largest_case: usize,
    /// Runs whose bits are compared.
    pub runs: u32,
    /// What they run on.
    pub repeated: Shape,
    /// What is timed.
    pub timed: Vec<Shape>,
    /// A time is the median of at most so many runs, and of at least 5.
    pub timed_runs: u32,
    /// All of it takes little more than this.
    pub time: Duration,
}

impl Scope {
    /// Everything, at the sizes that others publish figures for.
    pub fn full(time: Duration) -> Scope {
        let timed = [(1, 2048), (1, 8192), (1, 32768), (4, 8192)];
        let timed: Vec<Shape> = timed.map(|(count, tokens)| Shape::of_models(Sequences { count, tokens })).into();
        Scope { largest_case: usize::MAX, runs: 100, repeated: timed[0], timed, timed_runs: 100, time }
    }

    /// The same steps at sizes that the emulator is done with soon.
    pub fn small(time: Duration) -> Scope {
        let shape =
            |count, tokens| Shape { sequences: Sequences { count, tokens }, heads: 2, key_heads: 1, dk: 128, dv: 64 };
        Scope {
            largest_case: 10_000,
            runs: 3,
            repeated: shape(1, 5),
            timed: vec![shape(1, 20), shape(2, 10)],
            timed_runs: 5,
            time,
        }
    }

    /// All cases, and the other steps as in the small one.
    pub fn all_cases(time: Duration) -> Scope {
        Scope { largest_case: usize::MAX, ..Scope::small(time) }
    }

    /// Whether a case is in it.
    pub fn has(&self, sizes: &Sizes) -> bool {
        sizes.gates() * sizes.state() <= self.largest_case
    }
}

/// Several sequences of the same length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequences {
    /// How many.
    pub count: u32,
    /// Tokens of each.
    pub tokens: u32,
}

impl fmt::Display for Sequences {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} x {}", self.count, self.tokens)
    }
}

/// The parts of a check, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Cases against the oracle.
    Accuracy,
    /// Equal bits.
    Repeats,
    /// Times.
    Times,
}

/// The time for a check, of which an early stage may not use all.
#[derive(Debug)]
pub struct Budget {
    start: Instant,
    time: Duration,
}

impl Budget {
    /// It runs from now on.
    pub fn new(time: Duration) -> Budget {
        Budget { start: Instant::now(), time }
    }

    /// Whether a stage has time to begin something.
    pub fn has_time(&self, stage: Stage) -> bool {
        let share = match stage {
            Stage::Accuracy => 0.5,
            Stage::Repeats => 0.65,
            Stage::Times => 1.0,
        };
        self.start.elapsed() < self.time.mul_f64(share)
    }
}
