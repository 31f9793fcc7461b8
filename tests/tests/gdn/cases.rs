//! The promise: the kernels compute the recurrence, and break no rule on the way.
//!
//! The emulator checks every access, every read of memory that nothing wrote, and races between barriers, and does not
//! hand out outputs that are not written in full.

use super::{kernels, run};
use cargo_latch::build::{HintMode, Route};
use gated_delta::cases::Case;
use gated_delta::plan::Kernel;
use gated_delta::problem::{Format, Problem, Sizes};
use gated_delta::{Error, Kernels, OwnedInputs, gated_delta_rule, oracle};
use launch::Emulator;

#[track_caller]
fn check(kernels: &Kernels<Emulator>, kernel: Kernel, format: Format, cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for case in cases {
        let case = case.rounded(format);
        match case.run(|problem| run(kernels, kernel, format, problem)) {
            Ok(outputs) => wrong.extend(case.check(format, &outputs).err()),
            Err(error) => wrong.push(format!("{}: {error}", case.name)),
        }
    }
    assert!(wrong.is_empty(), "{kernel:?}:\n{}", wrong.join("\n"));
}

#[test]
fn every_kernel_computes_the_recurrence() {
    let kernels = kernels(HintMode::Llvm, Route::Llc, "sm_90");
    check(&kernels, Kernel::Recurrent, Format::F32, Case::all(64));
    check(&kernels, Kernel::Chunk(16), Format::F32, Case::all(16));
    check(&kernels, Kernel::Chunk(32), Format::F32, Case::all(32));
    check(&kernels, Kernel::Chunk(64), Format::F32, Case::all(64));
    check(&kernels, Kernel::Recurrent, Format::F32, Case::large());
    check(&kernels, Kernel::Chunk(32), Format::F32, Case::large());
    for format in [Format::F16, Format::Bf16] {
        check(&kernels, Kernel::Recurrent, format, Case::all(64));
        check(&kernels, Kernel::Chunk(64), format, Case::all(64));
        check(&kernels, Kernel::Mma, format, Case::wide());
    }
}

#[test]
fn long_sequences_in_bfloat16() {
    let kernels = kernels(HintMode::Mir, Route::Llc, "sm_80");
    check(&kernels, Kernel::Recurrent, Format::Bf16, Case::long());
    check(&kernels, Kernel::Chunk(64), Format::Bf16, Case::long());
}

#[test]
fn libnvvm_compiles_the_same_kernels() {
    let kernels = kernels(HintMode::Llvm, Route::Nvvm, "sm_120a");
    check(&kernels, Kernel::Recurrent, Format::F32, Case::all(32));
    check(&kernels, Kernel::Chunk(32), Format::F32, Case::all(32));
    check(&kernels, Kernel::Mma, Format::Bf16, Case::wide());
}

/// One of the cases.
fn named(name: &str, cases: Vec<Case>) -> Problem {
    cases.into_iter().find(|case| case.name == name).expect("there is such a case").problem
}

#[test]
fn a_hundred_runs_give_the_same_bits() {
    let kernels = kernels(HintMode::Llvm, Route::Llc, "sm_90");
    let narrow = named("2 key heads for 6 heads", Case::all(64));
    let wide = named("65 tokens", Case::wide());
    for (kernel, format, problem) in [
        (Kernel::Recurrent, Format::F32, &narrow),
        (Kernel::Chunk(64), Format::F16, &narrow),
        (Kernel::Mma, Format::Bf16, &wide),
    ] {
        let run = || run(&kernels, kernel, format, problem).unwrap_or_else(|error| panic!("{error}"));
        let first = run();
        for _ in 1..100 {
            // Bits, as numbers would let a zero's sign pass.
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
            let again = run();
            assert_eq!((bits(&again.y), bits(&again.state)), (bits(&first.y), bits(&first.state)), "{kernel:?}");
        }
    }
}

/// One token for each of so many sequences of two heads.
fn many(sequences: usize) -> Problem {
    let sizes = Sizes { sequences: vec![1; sequences], heads: 2, key_heads: 1, dk: 8, dv: 8 };
    let some = |many: usize| (0..many).map(|i| ((i * 37) % 101) as f32 / 101.0 - 0.3).collect::<Vec<f32>>();
    let keys = sizes.keys();
    let (v, gates) = (some(sizes.values()), some(sizes.gates()));
    Problem { q: some(keys), k: some(keys), v, g: gates.clone(), beta: gates, state: None, sizes }
}

#[test]
fn more_heads_of_sequences_than_a_grid_is_high() {
    let kernels = kernels(HintMode::Llvm, Route::Llc, "sm_90");
    let problem = many(32_800);
    let inputs = OwnedInputs::<f32>::new(&problem);
    let outputs = gated_delta_rule(&kernels, &inputs.view()).unwrap_or_else(|error| panic!("{error}"));
    let wanted = oracle::gated_delta_rule::<f64>(&problem);
    let far = |(found, wanted): (&f32, &f64)| (f64::from(*found) - wanted).abs() > 1e-6;
    assert!(!outputs.y.iter().zip(&wanted.y).any(far) && !outputs.state.iter().zip(&wanted.state).any(far));
}

#[test]
fn shared_memory_that_the_device_has_not_is_an_error() {
    let kernels = kernels(HintMode::Llvm, Route::Llc, "sm_120a");
    let case = Case::all(64).into_iter().find(|case| case.name == "dk = dv = 128").expect("there is such a case");
    let problem = &case.problem;
    match run(&kernels, Kernel::Chunk(64), Format::F32, problem) {
        Err(Error::Launch(error)) => assert!(error.to_string().contains("154624"), "{error}"),
        other => panic!("{other:?}"),
    }
    // What the host chooses itself fits.
    let inputs = OwnedInputs::<f32>::new(problem);
    let outputs = gated_delta_rule(&kernels, &inputs.view()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(case.check(Format::F32, &outputs.to_f32()), Ok(()));
}
