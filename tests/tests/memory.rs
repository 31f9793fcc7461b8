//! The promise: shared memory, atomic operations and per-thread output do in compiled code what they do on the host;
//! shared memory is in its address space, also where several crates ask for it; and scopes reach the instructions.
//!
//! What the instructions look like, one by one, is under snapshot (`snapshots/tests/pieces`).

use cargo_latch::build::{BuildArgs, Builder, HintMode, Profile, Route, Wanted};
use cargo_latch::setup::Progress;
use device_std::atomic::{Atomic, Block, Relaxed};
use device_std::host::{self, Output};
use emulator::{Arg, Device, Module, Scalar, Shape};
use latch_tests::{archs, checkout, fixture, latch, shown};
use memory::{BLOCK, Numbers, TILE};

fn ptx(folder: &std::path::Path, package: &str, profile: Profile, route: Route, name: &str) -> String {
    let args = BuildArgs { hints: HintMode::Llvm, profile, route, archs: archs(&[name]), ..BuildArgs::default() };
    let builder = Builder::new(folder, &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    latch_tests::ptx(&builder, package, &archs(&[name])[0])
}

/// A module on a device of its own for each launch.
struct Compiled(Module);

impl Compiled {
    /// Runs a kernel on `xs` as its slice, `more` arguments and an output that each thread has a part of.
    fn run<X: Scalar, Y: Scalar>(
        &self,
        name: &str,
        shape: Shape,
        xs: Option<&[X]>,
        more: &[Arg],
        len: usize,
    ) -> Vec<Y> {
        let mut device = Device::default();
        let mut args = Vec::new();
        if let Some(xs) = xs {
            args.extend([device.buffer(xs).into(), Arg::from(xs.len())]);
        }
        args.extend_from_slice(more);
        let out = device.uninit::<Y>(len);
        args.extend([out.into(), Arg::from(len)]);
        self.launch(&mut device, name, shape, &args);
        device.read_written(&out).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn launch(&self, device: &mut Device, name: &str, shape: Shape, args: &[Arg]) {
        let kernel = self.0.kernel(name).unwrap_or_else(|error| panic!("{error}"));
        device.launch(&kernel, shape, args).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

fn floats(many: usize) -> Vec<f32> {
    (0..many).map(|number| number as f32 + 0.25).collect()
}

#[track_caller]
fn does_what_the_host_does(profile: Profile, route: Route, arch: &str) {
    let ptx = ptx(&checkout(), "memory", profile, route, arch);
    let compiled = Compiled(Module::load(&ptx).unwrap_or_else(|error| panic!("{error}")));
    arrays(&compiled);
    dynamic(&compiled);
    output(&compiled);
    atomics(&compiled);
    assert_eq!(compiled.0.kernels().count(), 11, "every kernel is run");
}

fn arrays(compiled: &Compiled) {
    let xs = floats(3 * BLOCK);
    let turned: Vec<f32> = compiled.run("reverse", Shape::line(3, BLOCK as u32), Some(&xs), &[], xs.len());
    assert_eq!(turned, xs.chunks(BLOCK).flat_map(|part| part.iter().rev().copied()).collect::<Vec<_>>());

    let mut wanted = vec![0; 100];
    let out = Output::new(&mut wanted);
    host::launch(1, 100, 0, || memory::instances(out.per_thread())).expect("the host runs it");
    let found: Vec<u32> = compiled.run("instances", Shape::line(1, 100), None::<&[u32]>, &[], 100);
    assert_eq!(found, wanted);

    let side = 3 * TILE;
    let xs = floats(side * side);
    let mut device = Device::default();
    let out = device.uninit::<f32>(xs.len());
    let args = [device.buffer(&xs).into(), Arg::from(xs.len()), out.into()];
    let tile = TILE as u32;
    let shape = Shape { grid: [3, 3, 1], block: [tile, tile, 1], shared_bytes: 0 };
    compiled.launch(&mut device, "transpose", shape, &args);
    let found = device.read_written(&out).expect("every element is written");
    assert!((0..xs.len()).all(|i| found[i % side * side + i / side] == xs[i]));

    let xs = floats(4 * 40);
    let found: Vec<f32> = compiled.run("vectors", Shape::line(1, 40), Some(&xs), &[], xs.len());
    assert_eq!(found, [&xs[4..], &xs[..4]].concat());
}

fn dynamic(compiled: &Compiled) {
    for bytes in [0, 100, 99 << 10] {
        let shape = Shape::line(1, 1).with_shared(bytes);
        let found: Vec<u64> = compiled.run("dynamic_size", shape, None::<&[u32]>, &[], 1);
        assert_eq!(found, [u64::from(bytes)]);
    }
    let found: Vec<u64> =
        compiled.run("dynamic_parts", Shape::line(1, 33).with_shared(9 * 33), None::<&[u32]>, &[], 33);
    assert_eq!(found, (0..33).map(|i| 10 * ((i + 1) % 33) + (i + 2) % 33).collect::<Vec<u64>>());
}

fn output(compiled: &Compiled) {
    let xs = floats(50);
    for (grid, block) in [(1, 1), (2, 7), (1, 50), (4, 16)] {
        let found: Vec<f32> = compiled.run("square", Shape::line(grid, block), Some(&xs), &[], xs.len());
        assert_eq!(found, xs.iter().map(|x| x * x).collect::<Vec<_>>());
    }
    let found: Vec<f32> = compiled.run("scale_tiles", Shape::line(1, 4), Some(&xs[..16]), &[2.0f32.into()], 16);
    assert_eq!(found, xs[..16].iter().map(|x| 2.0 * x).collect::<Vec<_>>());
}

fn atomics(compiled: &Compiled) {
    let xs: Vec<u32> = (0..1000u32).map(|i| i.wrapping_mul(i)).collect();
    let mut device = Device::default();
    let bins = device.buffer(&[5u64; 64]);
    let args = [device.buffer(&xs).into(), Arg::from(xs.len()), bins.into(), Arg::from(64usize)];
    compiled.launch(&mut device, "histogram", Shape::line(3, 40), &args);
    let wanted = |bin: usize| 5 + xs.iter().filter(|x| **x as usize % 64 == bin).count() as u64;
    assert_eq!(device.read(&bins).expect("read"), (0..64).map(wanted).collect::<Vec<_>>());

    let mut device = Device::default();
    let (words, flags) = (device.buffer(&[0u32; 2]), device.buffer(&[0u32; 2]));
    let out = device.buffer(&[0u32; 8]);
    let buffers = [(words.into(), 2usize), (flags.into(), 2), (out.into(), 8)];
    let args: Vec<Arg> = buffers.into_iter().flat_map(|(buffer, len)| [buffer, Arg::from(len)]).collect();
    compiled.launch(&mut device, "message", Shape::line(2, 4), &args);
    assert_eq!(device.read(&out).expect("read"), [0x1000, 0, 0, 0, 0x1001, 0, 0, 0]);

    let numbers =
        [100u64, -100i64 as u64, 1.5f64.to_bits(), 100 | (-100i32 as u32 as u64) << 32, u64::from(1.5f32.to_bits())];
    let host_numbers = Numbers {
        wide: Atomic::new(100),
        signed_wide: Atomic::new(-100),
        double: Atomic::new(1.5),
        short: Atomic::new(100),
        signed_short: Atomic::new(-100),
        float: Atomic::new(1.5),
    };
    host::launch(1, 1, 0, || memory::every_operation(std::slice::from_ref(&host_numbers))).expect("the host runs it");
    let mut device = Device::default();
    let buffer = device.buffer(&numbers);
    compiled.launch(&mut device, "every_operation", Shape::line(1, 1), &[buffer.into(), Arg::from(1usize)]);
    let found = device.read(&buffer).expect("read");
    let Numbers { wide, signed_wide, double, short, signed_short, float } = host_numbers;
    let shorts = u64::from(short.load(Relaxed, Block)) | u64::from(signed_short.load(Relaxed, Block) as u32) << 32;
    let wides = [wide.load(Relaxed, Block), signed_wide.load(Relaxed, Block) as u64];
    assert_eq!(found[..4], [wides[0], wides[1], double.load(Relaxed, Block).to_bits(), shorts]);
    assert_eq!(found[4] as u32, float.load(Relaxed, Block).to_bits());
}

#[test]
fn optimized() {
    does_what_the_host_does(Profile::Release, Route::Llc, "sm_80");
}

#[test]
fn not_optimized() {
    does_what_the_host_does(Profile::Dev, Route::Llc, "sm_90");
}

#[test]
fn by_libnvvm() {
    does_what_the_host_does(Profile::Release, Route::Nvvm, "sm_120a");
}

#[test]
fn crates_that_both_ask_for_shared_memory_do_not_clash() {
    let ptx = ptx(&fixture("shared"), "shared", Profile::Release, Route::Llc, "sm_90");
    assert_eq!(ptx.matches(".extern .shared .align 16 .b8").count(), 1, "dynamic memory is one for all: {ptx}");
    assert_eq!(ptx.matches("[256];").count(), 2, "each crate's array is its own: {ptx}");
    assert!(ptx.contains("st.shared") && ptx.contains("ld.shared"), "{ptx}");
    assert!(!ptx.contains("st.u32") && !ptx.contains("st.b32"), "no access is generic: {ptx}");
    let compiled = Compiled(Module::load(&ptx).unwrap_or_else(|error| panic!("{error}")));
    let found: Vec<u32> = compiled.run("two_crates", Shape::line(1, 50).with_shared(200), None::<&[u32]>, &[], 50);
    let wanted = |i: u32| {
        let next = (i + 1) % 50;
        1_000 * next + 100_000 * next * next + next
    };
    assert_eq!(found, (0..50).map(wanted).collect::<Vec<_>>());
}

/// The machine code too: ptxas accepts the scopes and the address spaces, and nothing of a shared array is local
/// memory.
#[test]
fn machine_code_has_no_local_memory() {
    let audited =
        latch(&checkout(), &["audit", "-p", "memory", "--hints", "llvm", "--arch", "sm_80,sm_120a", "--json"]);
    assert_eq!(audited.status.code(), Some(0), "{}", shown(&audited));
    let report: serde_json::Value = serde_json::from_slice(&audited.stdout).expect("JSON");
    let entries = report.as_array().expect("an entry for each architecture");
    for kernel in entries.iter().flat_map(|entry| entry["kernels"].as_array().expect("kernels")) {
        let sass = &kernel["sass"];
        assert_eq!(
            (&sass["local_loads"], &sass["local_stores"], &sass["calls"]),
            (&0.into(), &0.into(), &0.into()),
            "{kernel}"
        );
    }
}
