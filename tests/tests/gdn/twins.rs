//! The promise: a kernel executes no more than 1.1 times the warp instructions that nvcc's code of the same source
//! does.
//!
//! The twins in CUDA C++ cut the work in the same way and name the same fused multiply-adds, and nothing else is fused.
//! So their results have the same bits, and what differs is the compiler.

use super::{kernels, load, report};
use cargo_latch::build::{HintMode, Route};
use cargo_latch::setup::{self, Progress};
use gated_delta::cases::Case;
use gated_delta::plan::Kernel;
use gated_delta::problem::Format;
use latch_tests::fixture;
use std::process::Command;

/// nvcc's PTX of the twins.
fn twins(arch: &str) -> String {
    let nvcc = setup::with_nvcc(&Progress::silent()).expect("nvcc can be had");
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = folder.path().join("gdn.ptx");
    let output = Command::new(nvcc.nvcc)
        .args(["-ptx", "-O3", "-fmad=false", "-arch", arch, "-o"])
        .args([&ptx, &fixture("twins/gdn.cu")])
        .output()
        .expect("nvcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(ptx).expect("nvcc wrote the PTX")
}

#[test]
fn as_few_instructions_as_nvcc() {
    let ours = kernels(HintMode::Llvm, Route::Llc, "sm_90");
    let theirs = load("sm_90", &twins("sm_90"));
    let case = Case::all(64).into_iter().find(|case| case.name == "dk = dv = 128").expect("there is such a case");
    for kernel in [Kernel::Recurrent, Kernel::Chunk(64)] {
        let (found, our_report) = report(&ours, kernel, Format::F32, &case.problem);
        let (wanted, their_report) = report(&theirs, kernel, Format::F32, &case.problem);
        assert!(found == wanted, "{kernel:?}: the twins differ in what they compute");
        let [our_count, their_count] = [our_report, their_report].map(|report| report.counts.total.warp_instructions);
        println!("{kernel:?}: {our_count} warp instructions, nvcc {their_count}");
        assert!(10 * our_count <= 11 * their_count, "{kernel:?}: {our_count} warp instructions, nvcc {their_count}");
    }
}
