//! The promise: a host program that is written against the launcher's trait runs compiled kernels, slices, per-thread
//! output and dynamic shared memory included, on the emulator and, where there is one, on a GPU, with the same results.

use cargo_latch::build::{BuildArgs, Builder, HintMode, Wanted};
use cargo_latch::setup::Progress;
use latch_tests::{archs, checkout};
use launch::{Arg, Buffer, Cudarc, Emulator, Error, Launcher, Plain, Shape};

/// The PTX of `kernels/memory` for an architecture.
fn ptx(arch: &str) -> String {
    let archs = archs(&[arch]);
    let args = BuildArgs { hints: HintMode::Llvm, archs: archs.clone(), ..BuildArgs::default() };
    let builder =
        Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    latch_tests::ptx(&builder, "memory", &archs[0])
}

/// A launcher with the kernels loaded.
struct Kernels<'a, L: Launcher> {
    gpu: &'a L,
    module: L::Module,
}

impl<L: Launcher> Kernels<'_, L> {
    /// Runs a kernel of which the output is the last parameter, and gives that.
    fn run<T: Plain>(&self, name: &str, shape: Shape, args: &[Arg<'_, L>], outputs: usize) -> Result<Vec<T>, Error> {
        let kernel = self.gpu.kernel(&self.module, name)?;
        let out: Buffer<L, T> = self.gpu.allocate(outputs)?;
        // SAFETY: the kernels are safe functions, and nothing else uses the output.
        unsafe { self.gpu.launch(&kernel, shape, &[args, &out.slice()].concat()) }?;
        self.gpu.download(&out)
    }

    fn check(&self) -> Result<(), Error> {
        let xs: Vec<f32> = (0..1003).map(|i| 0.37 * (i as f32 - 400.0)).collect();
        let input = self.gpu.upload(&xs)?;
        // Fewer threads than elements, and more.
        for shape in [Shape::line(3, 48), Shape::line(9, 128)] {
            let squares = self.run::<f32>("square", shape, &input.slice(), xs.len())?;
            assert_eq!(squares, xs.iter().map(|x| x * x).collect::<Vec<f32>>(), "{shape:?}");
        }
        let args = [&input.slice()[..], &[1.5f32.into()]].concat();
        let scaled = self.run::<f32>("scale_tiles", Shape::line(8, 32), &args, 1000)?;
        assert_eq!(scaled, xs[..1000].iter().map(|x| 1.5 * x).collect::<Vec<f32>>());

        let sums = self.run::<u64>("dynamic_parts", Shape::line(2, 64).with_shared(9 * 64), &[], 128)?;
        let wanted = |thread: u64| 10 * ((thread + 1) % 64) + (thread + 2) % 64;
        assert_eq!(sums, (0..128).map(|i| wanted(i % 64)).collect::<Vec<u64>>());

        // All that a block has, which is more than the driver gives unasked; and a byte more.
        let limit = self.gpu.device().shared_limit;
        let size = |bytes| self.run::<u64>("dynamic_size", Shape::line(1, 1).with_shared(bytes), &[], 1);
        assert_eq!(size(limit)?, [u64::from(limit)]);
        match size(limit + 1) {
            Err(Error::SharedMemory { dynamic, limit: said, .. }) => assert_eq!((dynamic, said), (limit + 1, limit)),
            other => panic!("{other:?}"),
        }
        Ok(())
    }
}

fn check<L: Launcher>(gpu: &L) {
    let module = gpu.load(&ptx(&gpu.device().arch)).unwrap_or_else(|error| panic!("{error}"));
    Kernels { gpu, module }.check().unwrap_or_else(|error| panic!("{:?}: {error}", gpu.device()));
}

#[test]
fn compiled_kernels_run_on_the_emulator() {
    for arch in ["sm_80", "sm_90", "sm_120a"] {
        check(&Emulator::new(arch).expect("the architecture is known"));
    }
}

#[test]
fn compiled_kernels_run_on_a_gpu_where_there_is_one() {
    match Cudarc::open(0) {
        Ok(gpu) => check(&gpu),
        Err(error) => assert!(matches!(error, Error::NoDriver { .. } | Error::NoDevice { .. }), "{error}"),
    }
}

#[test]
fn kernels_for_a_newer_gpu_are_refused_with_what_to_do() {
    let gpu = Emulator::new("sm_80").expect("the architecture is known");
    let error = gpu.load(&ptx("sm_90")).map(drop).expect_err("it is for a newer GPU");
    assert_eq!(
        error.to_string(),
        "the PTX is for sm_90 and the device is sm_80: build the kernels with `--arch sm_80`"
    );
}
