//! The promise: the Gated DeltaNet kernels, as compiled to PTX, compute the recurrence, and break no rule on the way.
//!
//! They run on the emulator, which checks every access, every read of memory that nothing wrote, and races between
//! barriers, and does not hand out outputs that are not written in full.

use cargo_latch::build::{BuildArgs, Builder, HintMode, Route};
use cargo_latch::setup::Progress;
use device_std::math::{Bf16, F16};
use gated_delta::cases::Case;
use gated_delta::plan::Kernel;
use gated_delta::problem::{Outputs, Problem};
use gated_delta::{Element, Error, Kernels, OwnedInputs};
use latch_tests::{archs, checkout};
use launch::Emulator;

/// The kernels for an architecture, on the emulator.
fn kernels(hints: HintMode, route: Route, arch: &str) -> Kernels<Emulator> {
    let archs = archs(&[arch]);
    let args = BuildArgs { hints, route, archs: archs.clone(), ..BuildArgs::default() };
    let builder = Builder::new(&checkout(), &args, &Progress::silent()).expect("set-up has been done");
    let found = builder.workspace.kernel_crates(&["gdn".to_owned()]).expect("the package is a kernel crate");
    let built = builder.build(&found[0], &archs[0], None).expect("the package builds");
    let ptx = std::fs::read_to_string(&built.ptx).expect("the PTX is there");
    let emulator = Emulator::new(arch).expect("the architecture is known");
    Kernels::load(emulator, &ptx).unwrap_or_else(|error| panic!("{error}"))
}

fn run<T: Element>(kernels: &Kernels<Emulator>, kernel: Kernel, problem: &Problem) -> Result<Outputs, Error> {
    let inputs = OwnedInputs::<T>::new(problem);
    kernels.prepare(&inputs.view())?.run(kernel).map(|outputs| outputs.to_f32())
}

#[track_caller]
fn check<T: Element>(kernels: &Kernels<Emulator>, kernel: Kernel, cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for case in cases {
        let case = case.rounded(T::FORMAT);
        match case.run(|problem| run::<T>(kernels, kernel, problem)) {
            Ok(outputs) => wrong.extend(case.check(T::FORMAT, &outputs).err()),
            Err(error) => wrong.push(format!("{}: {error}", case.name)),
        }
    }
    assert!(wrong.is_empty(), "{kernel:?}:\n{}", wrong.join("\n"));
}

#[test]
fn every_kernel_computes_the_recurrence() {
    let kernels = kernels(HintMode::Llvm, Route::Llc, "sm_90");
    check::<f32>(&kernels, Kernel::Recurrent, Case::all(64));
    check::<f32>(&kernels, Kernel::Chunk(16), Case::all(16));
    check::<f32>(&kernels, Kernel::Chunk(32), Case::all(32));
    check::<f32>(&kernels, Kernel::Chunk(64), Case::all(64));
    check::<F16>(&kernels, Kernel::Recurrent, Case::all(64));
    check::<F16>(&kernels, Kernel::Chunk(64), Case::all(64));
    check::<Bf16>(&kernels, Kernel::Recurrent, Case::all(64));
    check::<Bf16>(&kernels, Kernel::Chunk(64), Case::all(64));
    check::<F16>(&kernels, Kernel::Mma, Case::wide());
    check::<Bf16>(&kernels, Kernel::Mma, Case::wide());
}

#[test]
fn long_sequences_in_bfloat16() {
    let kernels = kernels(HintMode::Mir, Route::Llc, "sm_80");
    check::<Bf16>(&kernels, Kernel::Recurrent, Case::long());
    check::<Bf16>(&kernels, Kernel::Chunk(64), Case::long());
}

#[test]
fn libnvvm_compiles_the_same_kernels() {
    let kernels = kernels(HintMode::Llvm, Route::Nvvm, "sm_120a");
    check::<f32>(&kernels, Kernel::Recurrent, Case::all(32));
    check::<f32>(&kernels, Kernel::Chunk(32), Case::all(32));
    check::<Bf16>(&kernels, Kernel::Mma, Case::wide());
}
