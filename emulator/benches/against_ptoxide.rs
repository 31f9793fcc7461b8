//! One core of the emulator against ptoxide, which has one, on kernels that both run: with every check and counting,
//! with every check, and with none. The sources are in `bench.cu`; `bench.ptx` is what nvcc 13.5 makes of them.

// What criterion's macros make has no documentation.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use emulator::{Arg, Config, Device, Kernel, Module, Shape};
use ptoxide::{Argument, Context, LaunchParams};

const PTX: &str = include_str!("bench.ptx");
const N: usize = 128;

fn configs() -> [(&'static str, Config); 3] {
    let one = |mut c: Config| {
        c.threads = 1;
        c
    };
    let mut checked = Config::default();
    checked.count = false;
    [("checked, counted", one(Config::default())), ("checked", one(checked)), ("unchecked", one(Config::unchecked()))]
}

struct Case {
    name: &'static str,
    shape: Shape,
}

fn cases() -> [Case; 2] {
    let tiles = (N / 32) as u32;
    let square = |x, y, bx, by| Shape { grid: [x, y, 1], block: [bx, by, 1], shared_bytes: 0 };
    [
        Case { name: "gemm", shape: square(tiles, N as u32 / 8, 32, 8) },
        Case { name: "transpose", shape: square(tiles, tiles, 32, 32) },
    ]
}

fn ours(device: &mut Device, kernel: &Kernel, case: &Case, buffers: &[emulator::Buffer<f32>; 3]) {
    let [a, b, c] = buffers;
    let args: Vec<Arg> = match case.name {
        "gemm" => vec![a.into(), b.into(), c.into(), N.into()],
        _ => vec![a.into(), c.into(), N.into()],
    };
    device.launch(kernel, case.shape, &args).expect("the kernel is clean");
}

fn against(c: &mut Criterion) {
    let data: Vec<f32> = (0..N * N).map(|i| (i % 97) as f32 * 0.25).collect();
    let module = Module::load(PTX).expect("the module loads");
    for case in cases() {
        let mut group = c.benchmark_group(case.name);
        group.sample_size(10);
        let kernel = module.kernel(case.name).expect("the kernel exists");
        for (name, config) in configs() {
            let mut device = Device::new(config);
            let buffers = [device.buffer(&data), device.buffer(&data), device.buffer(&data)];
            group.bench_function(name, |b| b.iter(|| ours(&mut device, &kernel, &case, &buffers)));
        }
        let mut theirs = Context::new_with_module(PTX).expect("ptoxide loads it");
        let [a, b, out] = [(); 3].map(|()| theirs.alloc::<f32>(N * N));
        theirs.write(a, &data);
        theirs.write(b, &data);
        let s = case.shape;
        group.bench_function("ptoxide", |bench| {
            bench.iter(|| {
                let params = LaunchParams::func(case.name).grid2d(s.grid[0], s.grid[1]).block2d(s.block[0], s.block[1]);
                let n = Argument::U64(N as u64);
                let args = match case.name {
                    "gemm" => vec![Argument::ptr(a), Argument::ptr(b), Argument::ptr(out), n],
                    _ => vec![Argument::ptr(a), Argument::ptr(out), n],
                };
                theirs.run(params, &args).expect("ptoxide runs it");
            });
        });
        group.finish();
    }
}

criterion_group!(benches, against);
criterion_main!(benches);
