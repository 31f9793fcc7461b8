//! The promise: `kernels/reduce` keeps its budgets on every architecture and in both modes, and its PTX computes in the
//! emulator what the same functions compute on the host, bit for bit; the forms named `…_fast` are as good as the ISA
//! says.
//!
//! That the host's results are right is tested beside the kernels.

use cargo_latch::build::{Arch, BuildArgs, Builder, HintMode, Profile, Route, Wanted};
use cargo_latch::setup::Progress;
use device_std::host::{self, Output, Rows};
use emulator::{Arg, Device, Module, Scalar, Shape};
use latch_tests::{archs, checkout, latch, ptx, shown};
use reduce::blocks::{self, Found};
use reduce::rmsnorm::{rmsnorm, rmsnorm_fast};
use reduce::softmax::{softmax, softmax_fast};
use reduce::strided::{largest_of_8, sums_of_8, sums_of_32_by_4};
use reduce::subgroups::{group_largest, group_scan, group_sum};

/// Rows shorter than a tile, with and without a rest, and longer than a block takes in one turn.
const COLUMNS: [usize; 5] = [1, 3, 64, 131, 1024];
/// A partial warp, one warp, several with the last partial.
const BLOCKS: [u32; 3] = [5, 32, 72];
const ROWS: usize = 3;
const EPSILON: f32 = 1.0e-5;

/// Reproducible numbers from -span to span.
fn numbers(many: usize, span: f32) -> Vec<f32> {
    let mut seed = many as u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..many).map(|_| span * next()).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// One kernel in one module.
struct Compiled<'a> {
    module: &'a Module,
    name: &'static str,
}

impl Compiled<'_> {
    /// Runs it: `inputs` as slices, `others` after them, and an output of `len` words whose second argument is
    /// `length`.
    fn run<T: Scalar>(&self, shape: Shape, inputs: &[&[f32]], others: &[Arg], len: usize, length: usize) -> Vec<T> {
        let mut device = Device::default();
        let mut args = Vec::new();
        for input in inputs {
            args.extend([device.buffer(input).into(), Arg::from(input.len())]);
        }
        args.extend_from_slice(others);
        let output = device.uninit::<T>(len);
        args.extend([output.into(), Arg::from(length)]);
        let kernel = self.module.kernel(self.name).unwrap_or_else(|error| panic!("{error}"));
        let launched = device.launch(&kernel, shape, &args);
        launched.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        device.read_written(&output).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// What a row kernel leaves on the host.
fn on_host(columns: usize, block: u32, kernel: impl Fn(&Rows<'_, f32, 4>)) -> Vec<f32> {
    let mut ys = vec![0.0; ROWS * columns];
    let rows = Rows::new(&mut ys, columns);
    host::launch(ROWS as u32, block, 0, || kernel(&rows)).expect("the host runs it");
    ys
}

fn row_kernels(module: &Module) {
    for (columns, block) in COLUMNS.into_iter().flat_map(|columns| BLOCKS.map(|block| (columns, block))) {
        let (xs, weight) = (numbers(ROWS * columns, 8.0), numbers(columns, 2.0));
        let shape = Shape::line(ROWS as u32, block);
        let emulated = |name, inputs: &[&[f32]], others: &[Arg]| -> Vec<f32> {
            Compiled { module, name }.run(shape, inputs, others, xs.len(), columns)
        };
        let at = format!("{ROWS} rows of {columns} by {block}");

        let exact = on_host(columns, block, |rows| softmax(&xs, rows.per_block()));
        assert_eq!(bits(&emulated("softmax", &[&xs], &[])), bits(&exact), "softmax of {at}");
        close(&emulated("softmax_fast", &[&xs], &[]), &exact, &at);
        close(&on_host(columns, block, |rows| softmax_fast(&xs, rows.per_block())), &exact, &at);

        let exact = on_host(columns, block, |rows| rmsnorm(&xs, &weight, EPSILON, rows.per_block()));
        assert_eq!(bits(&emulated("rmsnorm", &[&xs, &weight], &[EPSILON.into()])), bits(&exact), "rmsnorm of {at}");
        close(&emulated("rmsnorm_fast", &[&xs, &weight], &[EPSILON.into()]), &exact, &at);
        close(&on_host(columns, block, |rows| rmsnorm_fast(&xs, &weight, EPSILON, rows.per_block())), &exact, &at);

        let (mut sums, mut found) = ([0.0; ROWS], [Found { value: 0.0, at: 0 }; ROWS]);
        let (sum_rows, found_rows) = (Rows::new(&mut sums, 1), Rows::new(&mut found, 1));
        host::launch(ROWS as u32, block, 0, || blocks::row_sum(&xs, columns, sum_rows.per_block())).expect("it runs");
        host::launch(ROWS as u32, block, 0, || blocks::row_largest(&xs, columns, found_rows.per_block()))
            .expect("it runs");
        let one: Vec<f32> = Compiled { module, name: "row_sum" }.run(shape, &[&xs], &[columns.into()], ROWS, 1);
        assert_eq!(bits(&one), bits(&sums), "row_sum of {at}");
        let one: Vec<u32> = Compiled { module, name: "row_largest" }.run(shape, &[&xs], &[columns.into()], 2 * ROWS, 1);
        let found: Vec<u32> = found.iter().flat_map(|found| [found.value.to_bits(), found.at]).collect();
        assert_eq!(one, found, "row_largest of {at}");
    }
}

/// Approximations: the exponential of a rounded product of up to 16 * log2(e), 2^-19, and a few of 2^-22.
#[track_caller]
fn close(fast: &[f32], exact: &[f32], at: &str) {
    for (fast, exact) in fast.iter().zip(exact) {
        assert!((fast - exact).abs() <= 3.0e-6 * exact.abs(), "{fast:e} for {exact:e}: {at}");
    }
}

fn thread_kernels(module: &Module) {
    type Kernel<const N: usize> = fn(&[f32], device_std::memory::PerThread<'_, f32, N>);
    fn check<const N: usize>(module: &Module, name: &'static str, kernel: Kernel<N>, each: usize) {
        for (grid, block) in [(1, 5), (2, 64), (3, 72)] {
            // A vector in the last thread's place would reach beyond the buffer's end.
            let threads = (grid * block) as usize;
            let xs = Aligned::of(&numbers(each * threads - each / 2, 1.0e3));
            let mut ys = vec![0.0; N * threads];
            let out = Output::<f32, N>::new(&mut ys);
            host::launch(grid, block, 0, || kernel(xs.values(), out.per_thread())).expect("the host runs it");
            let compiled = Compiled { module, name };
            let found: Vec<f32> = compiled.run(Shape::line(grid, block), &[xs.values()], &[], ys.len(), ys.len());
            assert_eq!(bits(&found), bits(&ys), "{name} in {grid} blocks of {block}");
        }
    }
    check::<1>(module, "sums_of_8", sums_of_8, 8);
    check::<4>(module, "sums_of_32_by_4", sums_of_32_by_4, 32);
    check::<1>(module, "largest_of_8", largest_of_8, 8);
    check::<1>(module, "group_sum", group_sum, 1);
    check::<1>(module, "group_largest", group_largest, 1);
    check::<1>(module, "group_scan", group_scan, 1);
}

/// Floats at a multiple of 16 bytes, as buffers on a GPU are.
struct Aligned {
    blocks: Vec<Block>,
    len: usize,
}

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Block([f32; 4]);

impl Aligned {
    fn of(values: &[f32]) -> Aligned {
        let block = |four: &[f32]| Block(std::array::from_fn(|k| four.get(k).copied().unwrap_or(0.0)));
        Aligned { blocks: values.chunks(4).map(block).collect(), len: values.len() }
    }

    fn values(&self) -> &[f32] {
        // SAFETY: the blocks are nothing but their floats, one behind the other, and `len` is at most their number.
        unsafe { std::slice::from_raw_parts(self.blocks.as_ptr().cast(), self.len) }
    }
}

#[track_caller]
fn same_bits(hints: HintMode, profile: Profile, route: Route, name: &str) {
    let arch: &Arch = &archs(&[name])[0];
    let args = BuildArgs { hints, profile, route, archs: archs(&[name]), ..BuildArgs::default() };
    let builder =
        Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    let module = Module::load(&ptx(&builder, "reduce", arch)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(module.kernels().count(), 12, "every kernel is run below");
    row_kernels(&module);
    thread_kernels(&module);
}

#[test]
fn ptx_computes_what_the_host_does() {
    same_bits(HintMode::Llvm, Profile::Release, Route::Llc, "sm_80");
    same_bits(HintMode::Llvm, Profile::Release, Route::Llc, "sm_120a");
}

#[test]
fn ptx_computes_what_the_host_does_with_hints_resolved_on_mir() {
    same_bits(HintMode::Mir, Profile::Release, Route::Llc, "sm_90");
}

#[test]
fn unoptimized_ptx_computes_what_the_host_does() {
    same_bits(HintMode::Llvm, Profile::Dev, Route::Llc, "sm_90");
}

#[test]
fn libnvvms_ptx_computes_what_the_host_does() {
    same_bits(HintMode::Llvm, Profile::Release, Route::Nvvm, "sm_120a");
}

#[test]
fn budgets_are_kept() {
    for hints in ["llvm", "mir"] {
        let arguments = ["audit", "-p", "reduce", "--hints", hints, "--arch", "sm_80,sm_90,sm_120a"];
        let audited = latch(&checkout(), &arguments);
        assert_eq!(audited.status.code(), Some(0), "{}", shown(&audited));
    }
}
