//! The launcher on `cust`, for machines with CUDA and a GPU; elsewhere this is only type-checked.
#![cfg(feature = "cust")]

mod common;

use launch::{Cust, Error, Launcher};

#[test]
fn a_gpu_keeps_every_launchers_promises() {
    match Cust::open(0) {
        Ok(gpu) => common::keeps_its_promises(&gpu).unwrap_or_else(|error| panic!("{}: {error}", gpu.device().name)),
        Err(error) => assert!(matches!(error, Error::NoDevice { .. }), "{error}"),
    }
}
