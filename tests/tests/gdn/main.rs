//! The Gated DeltaNet kernels, as compiled to PTX: what they compute, and what they cost.

mod cases;
mod costs;
mod twins;

use cargo_latch::build::{BuildArgs, Builder, HintMode, Route, Wanted};
use cargo_latch::setup::Progress;
use device_std::math::{Bf16, F16};
use gated_delta::plan::Kernel;
use gated_delta::problem::{Format, Outputs, Problem};
use gated_delta::{Element, Error, Kernels, OwnedInputs};
use latch_tests::{archs, checkout, ptx};
use launch::{Emulator, Report};

/// The kernels for an architecture, on the emulator.
fn kernels(hints: HintMode, route: Route, arch: &str) -> Kernels<Emulator> {
    let archs = archs(&[arch]);
    let args = BuildArgs { hints, route, archs: archs.clone(), ..BuildArgs::default() };
    let builder =
        Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    load(arch, &ptx(&builder, "gdn", &archs[0]))
}

fn load(arch: &str, ptx: &str) -> Kernels<Emulator> {
    let emulator = Emulator::new(arch).expect("the architecture is known");
    Kernels::load(emulator, ptx).unwrap_or_else(|error| panic!("{error}"))
}

/// What a kernel computes.
fn run(kernels: &Kernels<Emulator>, kernel: Kernel, format: Format, problem: &Problem) -> Result<Outputs, Error> {
    fn run_as<T: Element>(kernels: &Kernels<Emulator>, kernel: Kernel, problem: &Problem) -> Result<Outputs, Error> {
        let inputs = OwnedInputs::<T>::new(problem);
        kernels.prepare(&inputs.view())?.run(kernel).map(|outputs| outputs.to_f32())
    }
    match format {
        Format::F32 => run_as::<f32>(kernels, kernel, problem),
        Format::F16 => run_as::<F16>(kernels, kernel, problem),
        Format::Bf16 => run_as::<Bf16>(kernels, kernel, problem),
    }
}

/// What a kernel computes, and what it cost.
fn report(kernels: &Kernels<Emulator>, kernel: Kernel, format: Format, problem: &Problem) -> (Outputs, Report) {
    let outputs = run(kernels, kernel, format, problem).unwrap_or_else(|error| panic!("{error}"));
    (outputs, kernels.launcher().last_report().expect("a kernel has run"))
}
