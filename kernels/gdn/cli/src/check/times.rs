//! How long the kernels take, at sizes that models have.

use device_std::math::Bf16;
use gated_delta::cases::usual;
use gated_delta::plan::Kernel;
use gated_delta::problem::Sizes;
use gated_delta::{Call, Element, Error, Kernels, OwnedInputs};
use launch::Launcher;

use super::accuracy::name;
use super::sample::Sample;
use super::{Budget, Cell, Progress, Scope, Sequences, Stage};

/// Sizes of a problem with sequences of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Its sequences.
    pub sequences: Sequences,
    /// Heads of values.
    pub heads: u32,
    /// Heads of keys.
    pub key_heads: u32,
    /// Elements of a key.
    pub dk: u32,
    /// Elements of a value.
    pub dv: u32,
}

impl Shape {
    /// With the heads for which figures are published.
    pub fn of_models(sequences: Sequences) -> Shape {
        Shape { sequences, heads: 32, key_heads: 16, dk: 128, dv: 128 }
    }

    /// The same as sizes of a problem.
    pub fn sizes(&self) -> Sizes {
        let Sequences { count, tokens } = self.sequences;
        Sizes::batch(count, tokens, self.heads, self.key_heads, self.dk, self.dv)
    }
}

/// The kernels' times for one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// What was computed.
    pub shape: Shape,
    /// Milliseconds: the median of how many runs. `None` on a device without a clock.
    pub kernels: Vec<(Kernel, Cell<Option<Median>>)>,
}

/// A median, and of how many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Median {
    /// Milliseconds.
    pub milliseconds: f32,
    /// Runs.
    pub runs: usize,
}

/// The kernels that are compared: by tokens, by chunks, by chunks on tensor cores.
pub(super) fn three(chunk: u32) -> [Kernel; 3] {
    [Kernel::Recurrent, Kernel::Chunk(chunk), Kernel::Mma]
}

/// The largest chunk for which a block on the device has the memory.
pub(super) fn chunk_that_fits<L: Launcher>(kernels: &Kernels<L>, dk: u32) -> u32 {
    let limit = kernels.launcher().device().shared_limit;
    let sizes = Sizes::batch(1, 64, 1, 1, dk, 64);
    let fits = |chunk: &u32| {
        let plan = Kernel::Chunk(*chunk).plan(&sizes, Bf16::FORMAT);
        plan.is_ok_and(|plan| plan.shared_bytes <= limit)
    };
    [64, 32].into_iter().find(fits).unwrap_or(16)
}

pub(super) fn measure<L: Launcher>(
    kernels: &Kernels<L>,
    scope: &Scope,
    budget: &Budget,
    progress: Progress<'_>,
) -> Vec<Times> {
    scope.timed.iter().map(|shape| measure_shape(kernels, *shape, scope.timed_runs, budget, progress)).collect()
}

fn measure_shape<L: Launcher>(
    kernels: &Kernels<L>,
    shape: Shape,
    most: u32,
    budget: &Budget,
    progress: Progress<'_>,
) -> Times {
    let all = three(chunk_that_fits(kernels, shape.dk));
    let each = |cell: Cell<Option<Median>>| all.map(|kernel| (kernel, cell.clone())).into();
    if !budget.has_time(Stage::Times) {
        return Times { shape, kernels: each(Cell::LeftOut) };
    }
    progress(&format!("inputs of {} tokens", shape.sequences));
    let problem = usual(shape.sizes(), 102);
    let sample = Sample::of(&problem, shape);
    let mut call = match kernels.prepare(&OwnedInputs::<Bf16>::new(&problem).view()) {
        Ok(call) => call,
        Err(error) => return Times { shape, kernels: each(Err(error).into()) },
    };
    drop(problem);
    let mut time = |kernel| {
        if !budget.has_time(Stage::Times) {
            return (kernel, Cell::LeftOut);
        }
        progress(&format!("{} on {} tokens", name(kernel), shape.sequences));
        (kernel, measure_kernel(&mut call, kernel, most, &sample))
    };
    Times { shape, kernels: all.map(&mut time).into() }
}

/// Checks a head of what a kernel computes, then times it.
fn measure_kernel<L: Launcher, T: Element>(
    call: &mut Call<'_, L, T>,
    kernel: Kernel,
    most: u32,
    sample: &Sample,
) -> Cell<Option<Median>> {
    let run = call.poison().and_then(|()| call.run(kernel));
    match run.map(|outputs| sample.check(&outputs)) {
        Ok(Err(wrong)) => Cell::Wrong(format!("{} on {} tokens: {wrong}", name(kernel), sample.shape.sequences)),
        Ok(Ok(())) => median(call, kernel, most).into(),
        Err(error) => Err(error).into(),
    }
}

/// A second of runs, but no fewer than 5 and no more than `most`.
fn median<L: Launcher, T: Element>(call: &Call<'_, L, T>, kernel: Kernel, most: u32) -> Result<Option<Median>, Error> {
    let Some(first) = call.time(kernel, 1)? else { return Ok(None) };
    let runs = (1000.0 / first[0].max(1.0)).clamp(5.0, most.max(5) as f32) as u32;
    let mut times = call.time(kernel, runs)?.unwrap_or_default();
    times.sort_by(f32::total_cmp);
    let middle = times.get(times.len() / 2).copied();
    Ok(middle.map(|milliseconds| Median { milliseconds, runs: times.len() }))
}
