//! The launcher that is always there: what it computes, what it counts, and every error of the API.

mod common;

use common::{PTX, keeps_its_promises};
use launch::{Arg, Buffer, Config, EmulatedKernel, Emulator, Error, Launcher, Plain, Shape};

#[test]
fn it_keeps_every_launchers_promises() {
    for arch in ["sm_80", "sm_90a", "sm_120a"] {
        let gpu = Emulator::new(arch).expect("the architecture is known");
        assert_eq!((gpu.device().name.as_str(), gpu.device().arch.as_str()), ("the emulator", arch));
        keeps_its_promises(&gpu).unwrap_or_else(|error| panic!("{arch}: {error}"));
    }
}

#[test]
fn a_block_has_the_shared_memory_of_its_architecture() {
    let limit = |arch| Emulator::new(arch).map(|gpu| gpu.device().shared_limit);
    assert_eq!(limit("sm_80"), Ok(163 << 10));
    assert_eq!(limit("sm_90"), Ok(227 << 10));
    assert_eq!(limit("sm_120a"), Ok(99 << 10));
    let mut config = Config::default();
    config.shared_limit = 1000;
    let gpu = Emulator::with_config("sm_90", config).expect("the architecture is known");
    assert_eq!(gpu.device().shared_limit, 1000);
}

#[test]
fn the_last_launch_has_its_counts() {
    let gpu = Emulator::default();
    assert_eq!(gpu.last_report(), None);
    let (axpy, x, y) = (kernel(&gpu, "axpy"), buffer(&gpu, 64), buffer(&gpu, 64));
    let args = [&x.slice()[..], &y.slice(), &[2.0f32.into()]].concat();
    let report = gpu.run(&axpy, Shape::line(1, 64), &args).expect("it runs");
    assert_eq!(report.counts.total.global_bytes, 3 * 64 * 4);
    assert_eq!(gpu.last_report().as_ref(), Some(&report));
    // SAFETY: the emulator finds every mistake.
    unsafe { gpu.launch(&axpy, Shape::line(1, 32), &args) }.expect("it runs");
    assert_eq!(gpu.last_report().expect("it ran").counts.total.global_bytes, 3 * 32 * 4);
    gpu.run(&axpy, Shape::line(1, 64), &[]).expect_err("arguments are missing");
    assert_eq!(gpu.last_report(), None);
}

#[test]
fn there_is_no_clock_and_mistakes_are_found_all_the_same() {
    let gpu = Emulator::default();
    let (mirrored, out) = (kernel(&gpu, "mirrored"), gpu.allocate::<u32>(32).expect("it is small"));
    let shape = Shape::line(1, 32).with_shared(128);
    // SAFETY: the emulator finds every mistake.
    let time = |args: &[Arg<'_, Emulator>]| unsafe { gpu.time(&mirrored, shape, args, 5) };
    assert_eq!(time(&[out.arg()]), Ok(None));
    said(time(&[]), "kernel `mirrored` takes 1 arguments, 0 were given; its parameters are .u64 pointer");
    said(gpu.download(&out), "byte 0 was never written");
}

#[test]
fn values_of_any_plain_type_travel() {
    #[derive(Debug, Clone, Copy, PartialEq, Plain)]
    #[repr(C)]
    struct Pair {
        value: f32,
        lane: u32,
    }
    let gpu = Emulator::default();
    let pairs = [Pair { value: 1.5, lane: 2 }, Pair { value: -0.0, lane: u32::MAX }];
    let uploaded = gpu.upload(&pairs).expect("it is small");
    assert_eq!(uploaded.len(), 2);
    assert_eq!(gpu.download(&uploaded).as_deref(), Ok(&pairs[..]));
    let halves = [device_std::math::Bf16::from_f32(1.5)];
    let uploaded = gpu.upload(&halves).expect("it is small");
    assert_eq!(gpu.download(&uploaded).expect("it is written")[0].to_f32(), 1.5);
}

#[test]
fn architectures_that_are_not_known() {
    for arch in ["sm_52", "sm_", "", "gfx90a"] {
        let error = Emulator::new(arch).map(|gpu| gpu.device().shared_limit);
        said(error, &format!("the emulator does not know the architecture `{arch}`; it knows sm_70, sm_75, sm_80,"));
    }
}

#[test]
fn ptx_that_cannot_be_loaded() {
    let gpu = Emulator::default();
    let load = |text: &str| gpu.load(text).map(drop);
    said(load("not PTX"), "the PTX cannot be loaded on the emulator: PTX line 1: ");
    said(
        load(&format!("{PTX}\0")),
        &format!("cannot be loaded on the emulator: byte {} of the text is zero", PTX.len()),
    );
    let unknown = PTX.replace("bar.sync 0;", "frobnicate.sync 0;");
    said(load(&unknown), "does not know the instruction `frobnicate.sync`");
    let newer = PTX.replace("sm_80", "sm_100");
    said(load(&newer), "the PTX is for sm_100 and the device is sm_90: build the kernels with `--arch sm_90`");
}

#[test]
fn kernels_that_are_not_there() {
    let gpu = Emulator::default();
    let module = gpu.load(PTX).expect("it is right");
    let missing = gpu.kernel(&module, "gemm").map(drop);
    said(missing, "the module has no kernel `gemm`; it has axpy, numbers, mirrored");
    let empty = gpu.load(".version 8.0\n.target sm_80\n.address_size 64\n").expect("it is right");
    said(gpu.kernel(&empty, "gemm").map(drop), "the module has no kernel `gemm`; it has none");
}

#[test]
fn arguments_that_do_not_fit() {
    let gpu = Emulator::default();
    let (axpy, x, y) = (kernel(&gpu, "axpy"), buffer(&gpu, 8), buffer(&gpu, 8));
    let run = |args: &[Arg<'_, Emulator>]| gpu.run(&axpy, Shape::line(1, 8), args).map(drop);
    said(
        run(&[x.arg(), y.arg(), 2.0f32.into()]),
        "kernel `axpy` takes 5 arguments, 3 were given; its parameters are .u64 pointer, .u64, .u64 pointer, .u64, .f32 \
         (a slice has two, its buffer and its length)",
    );
    let with = |index: usize, arg: Arg<'_, Emulator>| {
        let mut args = [&x.slice()[..], &y.slice(), &[2.0f32.into()]].concat();
        args[index] = arg;
        run(&args)
    };
    assert_eq!(with(1, 8u64.into()), Ok(()));
    let text = "argument 1 of kernel `axpy`: the parameter is .u64, the argument is the u32 8";
    said(with(1, 8u32.into()), text);
    said(with(1, 8.0f64.into()), "argument 1 of kernel `axpy`: the parameter is .u64, the argument is the f64 8");
    said(with(0, 8u64.into()), "argument 0 of kernel `axpy`: the parameter is .u64 pointer, the argument is the u64 8");
    said(with(4, (-8).into()), "argument 4 of kernel `axpy`: the parameter is .f32, the argument is the i32 -8");
    said(with(4, y.arg()), "argument 4 of kernel `axpy`: the parameter is .f32, the argument is a buffer of 8 f32");
    said(with(4, 0.5f64.into()), "argument 4 of kernel `axpy`: the parameter is .f32, the argument is the f64 0.5");
}

#[test]
fn buffers_modules_and_kernels_of_another_launcher() {
    let (gpu, other) = (Emulator::default(), Emulator::default());
    let (axpy, x, theirs) = (kernel(&gpu, "axpy"), buffer(&gpu, 8), buffer(&other, 8));
    let args = [&x.slice()[..], &theirs.slice(), &[2.0f32.into()]].concat();
    said(
        gpu.run(&axpy, Shape::line(1, 8), &args),
        "argument 2 of kernel `axpy`, a buffer of 8 f32, belongs to another launcher: use a buffer only with the launcher",
    );
    said(gpu.download(&theirs), "the buffer of 8 f32 belongs to another launcher");
    let module = other.load(PTX).expect("it is right");
    said(
        gpu.kernel(&module, "axpy").map(drop),
        "the module belongs to another launcher: load the PTX with the launcher",
    );
    said(other.run(&axpy, Shape::line(1, 8), &args), "kernel `axpy` belongs to another launcher");
}

#[test]
fn shapes_that_no_gpu_takes() {
    let gpu = Emulator::default();
    let (mirrored, out) = (kernel(&gpu, "mirrored"), gpu.allocate::<u32>(8).expect("it is small"));
    let run = |grid, block| gpu.run(&mirrored, Shape { grid, block, shared_bytes: 64 }, &[out.arg()]);
    let begin = "kernel `mirrored` cannot be launched so: ";
    said(run([1; 3], [1025, 1, 1]), &format!("{begin}a block of 1025 threads; it takes 1 to 1024"));
    said(run([1; 3], [1, 0, 1]), &format!("{begin}a block of 0 threads"));
    said(run([1; 3], [u32::MAX; 3]), &format!("{begin}a block of 18446744073709551615 threads"));
    said(run([1; 3], [1, 1, 65]), &format!("{begin}a block of depth 65; the limit is 64"));
    said(run([1, 0, 1], [1; 3]), &format!("{begin}a grid of [1, 0, 1], which has no blocks"));
    said(
        run([1, 65536, 1], [1; 3]),
        &format!("{begin}a grid of [1, 65536, 1]; the limits are 2147483647, 65535 and 65535"),
    );
    said(run([1, 1, 65536], [1; 3]), &format!("{begin}a grid of [1, 1, 65536]"));
    said(run([1 << 31, 1, 1], [1; 3]), &format!("{begin}a grid of [2147483648, 1, 1]"));
}

#[test]
fn more_shared_memory_than_a_block_has() {
    let gpu = Emulator::new("sm_120a").expect("the architecture is known");
    let (mirrored, out) = (kernel(&gpu, "mirrored"), gpu.allocate::<u32>(8).expect("it is small"));
    let run = |bytes| gpu.run(&mirrored, Shape::line(1, 8).with_shared(bytes), &[out.arg()]);
    said(
        run(232_448),
        "kernel `mirrored` is launched with 232448 bytes of dynamic shared memory, and a block on sm_120a has 101376: use",
    );
    said(
        run(u32::MAX),
        "is launched with 4294967295 bytes of dynamic shared memory, and a block on sm_120a has 101376",
    );
    run(101_376).expect("that is what it has");
}

#[test]
fn static_shared_memory_counts_too() {
    let gpu = Emulator::new("sm_120a").expect("the architecture is known");
    let text = PTX.replace(".extern .shared", ".shared .align 4 .b8 fixed[1024];\n.extern .shared");
    let text = text.replace("mov.u32 %r2, dynamic;", "mov.u32 %r2, fixed; mov.u32 %r2, dynamic;");
    let module = gpu.load(&text).expect("it is right");
    let mirrored = gpu.kernel(&module, "mirrored").expect("it is there");
    let out = gpu.allocate::<u32>(8).expect("it is small");
    let run = |bytes| gpu.run(&mirrored, Shape::line(1, 8).with_shared(bytes), &[out.arg()]);
    run(100_352).expect("both fit");
    said(run(100_353), "kernel `mirrored` cannot be launched so: 101377 bytes of shared memory, the limit is 101376");
}

#[test]
fn buffers_larger_than_memory_and_such_as_are_not_written() {
    let gpu = Emulator::default();
    said(gpu.allocate::<f64>(usize::MAX), "a buffer of 18446744073709551615 f64 is larger than any memory");
    let blank = gpu.allocate::<f32>(4).expect("it is small");
    said(gpu.download(&blank), "a buffer of 4 f32: byte 0 was never written, so it cannot be downloaded");
    let mut config = Config::default();
    config.uninitialized = false;
    let gpu = Emulator::with_config("sm_90", config).expect("the architecture is known");
    let blank = gpu.allocate::<f32>(4).expect("it is small");
    assert_eq!(gpu.download(&blank).map(|values| values.len()), Ok(4));
}

#[test]
fn a_kernels_mistake_is_a_fault_that_names_the_buffer() {
    let gpu = Emulator::default();
    let (axpy, x, y) = (kernel(&gpu, "axpy"), buffer(&gpu, 8), buffer(&gpu, 4));
    let args = [&x.slice()[..], &y.slice(), &[2.0f32.into()]].concat();
    // SAFETY: the emulator finds every mistake.
    let launched = unsafe { gpu.launch(&axpy, Shape::line(1, 8), &args) };
    assert!(matches!(launched, Err(Error::Fault(_))));
    said(launched, "out of bounds: 4 bytes at byte 16 of a buffer of 4 f32 (16 bytes)");
}

#[test]
fn a_dropped_buffer_is_freed() {
    const STORE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
        .visible .entry store(.param .u64 to) {\n.reg .b64 %d;\nld.param.u64 %d, [to]; st.global.u64 [%d], %d; ret;\n}";
    const ADDRESS: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
        .visible .entry address(.param .u64 of, .param .u64 to) {\n.reg .b64 %d<3>;\n\
        ld.param.u64 %d1, [of]; ld.param.u64 %d2, [to]; st.global.u64 [%d2], %d1; ret;\n}";
    let gpu = Emulator::default();
    let find = |text, name| gpu.kernel(&gpu.load(text).expect("it is right"), name).expect("it is there");
    let (store, address) = (find(STORE, "store"), find(ADDRESS, "address"));
    let (doomed, to) = (gpu.upload(&[0u64]).expect("it is small"), gpu.allocate::<u64>(1).expect("it is small"));
    gpu.run(&address, Shape::line(1, 1), &[doomed.arg(), to.arg()]).expect("it runs");
    let address = gpu.download(&to).expect("it is written")[0];
    let run = || gpu.run(&store, Shape::line(1, 1), &[address.into()]);
    run().expect("the buffer is there");
    drop(doomed);
    said(run(), "a buffer of 1 u64");
}

fn kernel(gpu: &Emulator, name: &str) -> EmulatedKernel {
    let module = gpu.load(PTX).expect("it is right");
    gpu.kernel(&module, name).expect("it is there")
}

fn buffer(gpu: &Emulator, len: usize) -> Buffer<Emulator, f32> {
    gpu.upload(&vec![1.0; len]).expect("it is small")
}

/// The error says this.
#[track_caller]
fn said<T>(result: Result<T, Error>, wanted: &str) {
    let error = result.err().expect("it is an error").to_string();
    assert!(error.contains(wanted), "{error}");
}
