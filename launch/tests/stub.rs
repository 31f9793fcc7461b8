//! The launcher on a CUDA driver, where the driver is the library in `tests/driver`: everything but the GPU is as it
//! would be.
//!
//! Which library is opened is decided once in a process, by its environment, so each test runs itself again in one of
//! its own.
#![cfg(all(feature = "cudarc", target_os = "linux"))]

mod common;

use std::env;
use std::path::PathBuf;
use std::process::Command;

use common::PTX;
use launch::{Cudarc, Error, Launcher, Shape};

/// The folder with the stand-in, which cargo builds with the tests.
fn folder() -> PathBuf {
    let program = env::current_exe().expect("a program has a path");
    let examples = program.ancestors().nth(2).expect("it lies in a folder of cargo's").join("examples");
    assert!(examples.join("libcuda.so").is_file(), "`cargo build -p launch --examples` builds the stand-in");
    examples
}

/// Runs `test`, the function of that name, in a process whose driver does something wrong.
fn with_driver_to(wrong: &str, name: &str, test: impl FnOnce()) {
    if env::var_os("LATCH_STUB_DRIVER").is_some() {
        return test();
    }
    let mut again = Command::new(env::current_exe().expect("a program has a path"));
    again.args(["--exact", name, "--nocapture"]).env("LATCH_STUB_DRIVER", wrong).env("LD_LIBRARY_PATH", folder());
    let output = again.output().expect("it runs");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

fn opened() -> Cudarc {
    Cudarc::open(0).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn it_keeps_every_launchers_promises() {
    with_driver_to("", "it_keeps_every_launchers_promises", || {
        let gpu = opened();
        let device = gpu.device();
        assert_eq!((&*device.name, &*device.arch, device.shared_limit), ("a stand-in", "sm_90", 227 << 10));
        common::keeps_its_promises(&gpu).unwrap_or_else(|error| panic!("{error}"));
        let other = Cudarc::open(1).map(|gpu| gpu.device().arch.clone());
        assert_eq!(other, Err(Error::NoDevice { ordinal: 1, count: 1 }));
    });
}

#[test]
fn a_launch_is_what_is_timed() {
    with_driver_to("", "a_launch_is_what_is_timed", || {
        let gpu = opened();
        let module = gpu.load(PTX).expect("it is right");
        let axpy = gpu.kernel(&module, "axpy").expect("it is there");
        let (x, y) = (gpu.upload(&[1.0f32; 8]).expect("it is small"), gpu.upload(&[0.0f32; 8]).expect("it is small"));
        let args = [&x.slice()[..], &y.slice(), &[1.0f32.into()]].concat();
        // SAFETY: each thread has an element of its own, and all runs add to them.
        let times = unsafe { gpu.time(&axpy, Shape::line(1, 8), &args, 5) };
        assert_eq!(times, Ok(Some(vec![1.0; 5])));
        assert_eq!(gpu.download(&y), Ok(vec![6.0; 8]), "five launches, and one before");
    });
}

#[test]
fn what_the_driver_says_is_passed_on() {
    with_driver_to("", "what_the_driver_says_is_passed_on", || {
        let gpu = opened();
        let text = PTX.replace("bar.sync 0;", "frobnicate.sync 0;");
        let said = gpu.load(&text).map(drop).expect_err("it is wrong").to_string();
        assert!(
            said.starts_with("the PTX cannot be loaded on a stand-in: ptxas application ptx input:; PTX line"),
            "{said}"
        );
        let said = gpu.allocate::<u64>(1 << 40).expect_err("it is too large").to_string();
        assert_eq!(
            said,
            "the CUDA driver could not allocate 1099511627776 u64: out of memory (CUDA_ERROR_OUT_OF_MEMORY)"
        );
        let elsewhere = gpu.load(".version 8.0\n.target sm_80, debug\n.future").map(drop).expect_err("it is wrong");
        assert!(matches!(elsewhere, Error::Load { .. }), "{elsewhere}");

        let module = gpu.load(PTX).expect("it is right");
        let axpy = gpu.kernel(&module, "axpy").expect("it is there");
        let (x, y) = (gpu.upload(&[1.0f32; 8]).expect("it is small"), gpu.upload(&[0.0f32; 4]).expect("it is small"));
        let args = [&x.slice()[..], &y.slice(), &[1.0f32.into()]].concat();
        // SAFETY: the stand-in finds that `y` is too short.
        let said = unsafe { gpu.launch(&axpy, Shape::line(1, 8), &args) }.expect_err("`y` is too short").to_string();
        assert_eq!(
            said,
            "the CUDA driver could not run kernel `axpy`: unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)"
        );
    });
}

#[test]
fn shared_memory_that_the_driver_refuses() {
    with_driver_to("refuse shared memory", "shared_memory_that_the_driver_refuses", || {
        let gpu = opened();
        let module = gpu.load(PTX).expect("it is right");
        let mirrored = gpu.kernel(&module, "mirrored").expect("it is there");
        let out = gpu.allocate::<u32>(8).expect("it is small");
        // SAFETY: each of 8 threads uses four bytes of shared memory and one element.
        let run = |bytes| unsafe { gpu.launch(&mirrored, Shape::line(1, 8).with_shared(bytes), &[out.arg()]) };
        assert_eq!(run(48 << 10), Ok(()), "for so much nobody is asked");
        assert_eq!(
            run((48 << 10) + 1).expect_err("it is refused").to_string(),
            "the CUDA driver refused kernel `mirrored` 49153 bytes of dynamic shared memory, of 232448 that a block can have: \
             invalid argument (CUDA_ERROR_INVALID_VALUE)"
        );
    });
}

#[test]
fn static_shared_memory_counts_too() {
    with_driver_to("have static memory", "static_shared_memory_counts_too", || {
        let gpu = opened();
        let module = gpu.load(PTX).expect("it is right");
        let mirrored = gpu.kernel(&module, "mirrored").expect("it is there");
        let out = gpu.allocate::<u32>(8).expect("it is small");
        // SAFETY: each of 8 threads uses four bytes of shared memory and one element.
        let run = |bytes| unsafe { gpu.launch(&mirrored, Shape::line(1, 8).with_shared(bytes), &[out.arg()]) };
        assert_eq!(run(226 << 10), Ok(()));
        for bytes in [(226 << 10) + 1, u32::MAX] {
            assert_eq!(
                run(bytes).expect_err("it is too much").to_string(),
                format!(
                    "kernel `mirrored` is launched with {bytes} bytes of dynamic shared memory besides its 1024 static \
                     ones, and a block on sm_90 has 232448: use a smaller tile, or a variant of the kernel for this GPU"
                )
            );
        }
    });
}

#[test]
fn a_block_that_the_kernels_registers_do_not_allow() {
    with_driver_to("have few registers", "a_block_that_the_kernels_registers_do_not_allow", || {
        let gpu = opened();
        let module = gpu.load(PTX).expect("it is right");
        let mirrored = gpu.kernel(&module, "mirrored").expect("it is there");
        let out = gpu.allocate::<u32>(64).expect("it is small");
        // SAFETY: each thread uses four bytes of shared memory and one element.
        let run = |threads| unsafe { gpu.launch(&mirrored, Shape::line(1, threads).with_shared(256), &[out.arg()]) };
        assert_eq!(run(32), Ok(()));
        assert_eq!(
            run(33).expect_err("it is too large").to_string(),
            "kernel `mirrored` cannot be launched so: a block of 33 threads; as it is compiled here it takes 32"
        );
    });
}

#[test]
fn a_driver_without_a_gpu() {
    with_driver_to("have no device", "a_driver_without_a_gpu", || {
        assert_eq!(
            Cudarc::open(0).expect_err("there is none").to_string(),
            "there is no GPU number 0: the CUDA driver has 0; see `nvidia-smi -L` and CUDA_VISIBLE_DEVICES"
        );
    });
}

#[test]
fn a_driver_that_is_too_old() {
    with_driver_to("be old", "a_driver_that_is_too_old", || {
        assert_eq!(
            Cudarc::open(0).expect_err("it is old").to_string(),
            "the CUDA driver could not be used: it is that of CUDA 11.4, and 12.0 is the oldest that will do"
        );
    });
}
