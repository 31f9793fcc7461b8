//! The launcher on a CUDA driver: without one, one clear error; with one and a GPU, what every launcher does.
#![cfg(feature = "cudarc")]

mod common;

use launch::{Cudarc, Error, Launcher};

#[test]
fn a_gpu_keeps_every_launchers_promises_and_no_gpu_is_one_clear_error() {
    match Cudarc::open(0) {
        Ok(gpu) => {
            assert!(gpu.device().arch.starts_with("sm_"), "{:?}", gpu.device());
            common::keeps_its_promises(&gpu).unwrap_or_else(|error| panic!("{}: {error}", gpu.device().name));
            refuses_with_a_reason(&gpu);
        }
        Err(error @ Error::NoDriver { .. }) => assert_eq!(
            error.to_string(),
            "there is no CUDA driver on this machine (its library, libcuda.so, cannot be opened): install NVIDIA's driver, \
             or give the container access to the GPU, or use the emulator"
        ),
        Err(error @ Error::NoDevice { .. }) => assert_eq!(
            error.to_string(),
            "there is no GPU number 0: the CUDA driver has 0; see `nvidia-smi -L` and CUDA_VISIBLE_DEVICES"
        ),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_gpu_that_is_not_there() {
    match Cudarc::open(1000) {
        Err(Error::NoDriver { .. }) => {}
        Err(error) => {
            assert!(error.to_string().starts_with("there is no GPU number 1000: the CUDA driver has "), "{error}")
        }
        Ok(gpu) => panic!("{gpu:?}"),
    }
}

/// The driver's compiler says why it refuses text.
fn refuses_with_a_reason(gpu: &Cudarc) {
    let broken = common::PTX.replace("bar.sync 0;", "bar.sync nowhere;");
    let error = gpu.load(&broken).map(drop).expect_err("it is not PTX").to_string();
    assert!(error.starts_with("the PTX cannot be loaded on ") && error.contains("nowhere"), "{error}");
}
