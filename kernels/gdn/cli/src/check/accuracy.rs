//! Every kernel against the oracle.

use device_std::math::{Bf16, F16};
use gated_delta::cases::Case;
use gated_delta::plan::Kernel;
use gated_delta::problem::{Format, Outputs, Problem};
use gated_delta::{Element, Error, Kernels, OwnedInputs};
use launch::Launcher;

use super::{Budget, Cell, Progress, Scope, Stage};

/// How a kernel did with the cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Accuracy {
    /// The kernel.
    pub kernel: Kernel,
    /// Its elements.
    pub format: Format,
    /// What became of each case.
    pub cases: Vec<Cell<()>>,
}

const CHUNKS: [u32; 3] = [16, 32, 64];

pub(super) fn check<L: Launcher>(
    kernels: &Kernels<L>,
    scope: &Scope,
    budget: &Budget,
    progress: Progress<'_>,
) -> Vec<Accuracy> {
    let plain = std::iter::once((Kernel::Recurrent, cases(64)));
    let chunked = CHUNKS.map(|chunk| (Kernel::Chunk(chunk), cases(chunk)));
    let mut found = Vec::new();
    for (kernel, cases) in plain.chain(chunked).chain([(Kernel::Mma, Case::wide())]) {
        let cases: Vec<Case> = cases.into_iter().filter(|case| scope.has(&case.problem.sizes)).collect();
        progress(&format!("{}: cases: {}", name(kernel), cases.len()));
        if kernel != Kernel::Mma {
            found.push(check_type::<L, f32>(kernels, kernel, &cases, budget));
        }
        found.push(check_type::<L, F16>(kernels, kernel, &cases, budget));
        found.push(check_type::<L, Bf16>(kernels, kernel, &cases, budget));
    }
    found
}

/// All cases, for chunks of at most so many tokens.
fn cases(chunk: u32) -> Vec<Case> {
    [Case::all(chunk), Case::long(), Case::wide()].concat()
}

/// A kernel in words.
pub(super) fn name(kernel: Kernel) -> String {
    match kernel {
        Kernel::Recurrent => "recurrent".to_owned(),
        Kernel::Chunk(tokens) => format!("chunk {tokens}"),
        Kernel::Mma => "mma".to_owned(),
    }
}

fn check_type<L: Launcher, T: Element>(
    kernels: &Kernels<L>,
    kernel: Kernel,
    cases: &[Case],
    budget: &Budget,
) -> Accuracy {
    let check = |case: &Case| match budget.has_time(Stage::Accuracy) {
        true => check_case::<L, T>(kernels, kernel, case.clone().rounded(T::FORMAT)),
        false => Cell::LeftOut,
    };
    Accuracy { kernel, format: T::FORMAT, cases: cases.iter().map(check).collect() }
}

fn check_case<L: Launcher, T: Element>(kernels: &Kernels<L>, kernel: Kernel, case: Case) -> Cell<()> {
    match case.run(|problem| run::<L, T>(kernels, kernel, problem)) {
        Ok(outputs) => case.check(T::FORMAT, &outputs).map_or_else(Cell::Wrong, Cell::Done),
        Err(error) => match Cell::from(Err(error)) {
            Cell::Wrong(why) => Cell::Wrong(format!("{}, {}: {why}", case.name, T::FORMAT.name())),
            other => other,
        },
    }
}

fn run<L: Launcher, T: Element>(kernels: &Kernels<L>, kernel: Kernel, problem: &Problem) -> Result<Outputs, Error> {
    let inputs = OwnedInputs::<T>::new(problem);
    let mut call = kernels.prepare(&inputs.view())?;
    call.poison()?;
    Ok(call.run(kernel)?.to_f32())
}
