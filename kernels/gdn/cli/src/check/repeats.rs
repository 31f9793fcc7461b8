//! The same input gives the same bits, however often it is computed.

use device_std::math::Bf16;
use gated_delta::cases::usual;
use gated_delta::plan::Kernel;
use gated_delta::problem::Outputs;
use gated_delta::{Call, Element, Kernels, OwnedInputs};
use launch::Launcher;

use super::accuracy::name;
use super::times::{chunk_that_fits, three};
use super::{Budget, Cell, Progress, Scope, Sequences, Stage};

/// What became of a kernel's runs on one input.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeats {
    /// The kernel.
    pub kernel: Kernel,
    /// What it computed.
    pub sequences: Sequences,
    /// How many runs had the bits of the first; fewer than were asked for where time ran out.
    pub runs: Cell<u32>,
}

pub(super) fn check<L: Launcher>(
    kernels: &Kernels<L>,
    scope: &Scope,
    budget: &Budget,
    progress: Progress<'_>,
) -> Vec<Repeats> {
    let sequences = scope.repeated.sequences;
    let row = |kernel, runs| Repeats { kernel, sequences, runs };
    if !budget.has_time(Stage::Repeats) {
        return three(64).map(|kernel| row(kernel, Cell::LeftOut)).into();
    }
    let problem = usual(scope.repeated.sizes(), 101);
    let inputs = OwnedInputs::<Bf16>::new(&problem);
    let call = match kernels.prepare(&inputs.view()) {
        Ok(call) => call,
        Err(error) => return three(64).map(|kernel| row(kernel, Err(error.clone()).into())).into(),
    };
    let kernels = three(chunk_that_fits(kernels, scope.repeated.dk));
    let mut run = |kernel| {
        progress(&format!("{} runs of {} on {sequences} tokens", scope.runs, name(kernel)));
        row(kernel, repeat(&call, kernel, scope.runs, budget))
    };
    kernels.map(&mut run).into()
}

fn repeat<L: Launcher, T: Element>(call: &Call<'_, L, T>, kernel: Kernel, runs: u32, budget: &Budget) -> Cell<u32> {
    let first = match call.run(kernel).into() {
        Cell::Done(first) => first,
        Cell::NotFor => return Cell::NotFor,
        Cell::LeftOut => return Cell::LeftOut,
        Cell::Wrong(why) => return Cell::Wrong(why),
    };
    for done in 1..runs {
        if !budget.has_time(Stage::Repeats) {
            return Cell::Done(done);
        }
        match call.run(kernel) {
            Ok(next) if has_the_bits_of(&next, &first) => {}
            Ok(_) => return Cell::Wrong(format!("{}: run {} has other bits than run 1", name(kernel), done + 1)),
            Err(error) => return Cell::Wrong(error.to_string()),
        }
    }
    Cell::Done(runs)
}

/// NaN, which differs from itself, has bits too.
fn has_the_bits_of<T: Element>(one: &Outputs<T>, other: &Outputs<T>) -> bool {
    let same = |(a, b): (f32, f32)| a.to_bits() == b.to_bits();
    let outputs = one.y.iter().zip(&other.y).map(|(a, b)| (a.to_f32(), b.to_f32())).all(same);
    outputs && one.state.iter().copied().zip(other.state.iter().copied()).all(same)
}

#[cfg(test)]
mod tests {
    use gated_delta::problem::Outputs;

    use super::has_the_bits_of;

    #[test]
    fn one_bit_of_an_output_or_of_a_state_is_noticed() {
        let outputs = |y: f32, state: f32| Outputs { y: vec![1.0, y], state: vec![state, 2.0] };
        let first = outputs(f32::NAN, 0.0);
        assert!(has_the_bits_of(&outputs(f32::NAN, 0.0), &first));
        assert!(!has_the_bits_of(&outputs(f32::NAN, -0.0), &first));
        assert!(!has_the_bits_of(&outputs(0.0, 0.0), &first));
    }
}
