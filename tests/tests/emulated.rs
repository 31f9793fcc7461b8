//! The promise: what the emulator computes from a kernel's PTX is what the same function computes on the host, bit for
//! bit.
//!
//! Products and sums are never contracted, so there is one right result. Inputs are exactly as long as the kernels'
//! documentation needs, and the emulator's checks are on: a load too far, or any other fault, fails the test as well.
//! Wrong where an input holds or makes a NaN: a host may choose its bits.

#[path = "emulated/case.rs"]
mod case;
#[path = "emulated/memory.rs"]
mod memory_kernels;
#[path = "emulated/pieces.rs"]
mod piece_kernels;

use std::collections::BTreeSet;
use std::fs;

use cargo_latch::build::{Arch, BuildArgs, Builder, HintMode, Profile, Route, Wanted};
use cargo_latch::setup::Progress;
use device_std::host;
use emulator::{Arg, Config, Device, Module, Shape};
use latch_tests::{archs, checkout, ptx};
use subgroup::{RESULTS, cases};

/// What a kernel's input holds.
#[derive(Debug, Clone, Copy)]
enum Input {
    /// So many floats from every thread's index on.
    Along(usize),
    /// So many floats for all threads.
    Common(usize),
    /// So many floats for each thread.
    Each(usize),
    /// The lists that `while_let` walks.
    Lists,
}
use Input::{Along, Common, Each, Lists};

/// A kernel of 32-bit words, one of them put out by each thread.
struct Kernel {
    name: &'static str,
    inputs: Vec<Input>,
    count: Option<u32>,
    host: fn(&[Vec<u32>], *mut u32),
}

/// `family::kernel(inputs; count)` for each kernel.
macro_rules! table {
    ($($family:ident::$name:ident($first:expr $(, $second:expr)? $(; $count:expr)?);)+) => {
        [$((stringify!($family), Kernel {
            name: stringify!($name),
            inputs: vec![$first $(, $second)?],
            count: None::<u32> $(.or(Some($count)))?,
            // SAFETY: `words` makes the inputs as long as the kernel's documentation asks, and `y` has a word a thread.
            host: |x, y| unsafe {
                $family::$name(x[0].as_ptr().cast() $(, (x[1].as_ptr().cast(), $second).0)?, y.cast() $(, $count)?)
            },
        }),)+]
    };
}

/// Every kernel of the families that work on words alone.
fn table() -> impl IntoIterator<Item = (&'static str, Kernel)> {
    table! {
        nounroll::taps_default(Common(4), Along(4));
        nounroll::taps_rolled(Common(4), Along(4));
        nounroll::rolled_in_device_fn(Along(4));
        nounroll::range_for(Along(8));
        nounroll::while_loop(Along(5); 5);
        nounroll::while_let(Lists);
        nounroll::loop_break(Along(8));
        nounroll::two_continues(Along(8));
        nounroll::labelled_continue(Along(64));
        nounroll::nested_inner(Along(16));
        nounroll::nested_outer(Along(16));
        nounroll::nested_both(Along(16));
        nounroll::siblings(Along(12));

        unroll::full_range(Along(8));
        unroll::full_spelled_out(Along(8));
        unroll::full_inclusive(Along(8));
        unroll::full_while(Along(8));
        unroll::full_loop_break(Along(8));
        unroll::full_early_exit(Along(8));
        unroll::full_labelled_continue(Along(16));
        unroll::full_siblings(Along(8));
        unroll::by_tile(Along(128));
        unroll::inlined_twice(Along(16));
        unroll::across_crates(Along(12));
        unroll::closure_unrolled(Along(8));
        unroll::closure_in_itself(Along(16));
        unroll::unrolled_in_device_fn(Along(4));
        unroll::reversed_range(Along(8));
        unroll::reversed_inclusive(Along(8));
        unroll::stepped_range(Along(15));
        unroll::stepped_inclusive(Along(13));
        unroll::slice_elements(Along(8));
        unroll::slices_in_step(Common(8), Along(8));
        unroll::array_elements(Along(8));
        unroll::array_by_value(Along(8));
        unroll::numbered_elements(Along(8));
        unroll::rolled_k_unrolled_inner(Common(10), Along(10); 5);
        unroll::rolled_inside_full_unroll(Along(16));
        unroll::rolled_inside_partial_unroll(Along(28); 7);
        unroll::never(Along(8));
        unroll::partial_inside_rolled(Along(256));
        unroll::three_kinds(Along(128));
        unroll::triangle(Along(63));
        unroll::triangle_with_diagonal(Along(64));
        unroll::pyramid(Along(118));
        unroll::forward_substitution(Each(36), Each(6));
        unroll::halving(Along(25));
        unroll::by_four(Common(64), Along(64));
        unroll::by_expression(Along(64));
        unroll::by_four_with_rest(Along(7); 7);
        unroll::by_two_with_rest(Along(7); 7);
        unroll::by_four_while(Along(64));
        unroll::by_four_reversed(Along(64));
        unroll::by_four_stepped(Along(127));
        unroll::by_four_inclusive(Along(64));
        unroll::by_all(Along(8));
        unroll::by_four_early_exit(Along(64));
        unroll::by_four_of_66(Along(66));
    }
}

/// Blocks and threads of a block: several blocks with a partial warp, whole warps, one thread.
const SHAPES: [(u32, u32); 3] = [(3, 48), (2, 64), (1, 1)];

/// Reproducible bits.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 32) as u32
    }

    /// A float of a sign and size that make sums round: above 1, below, tiny, not normal, or zero. Never infinite or
    /// NaN.
    fn float(&mut self) -> f32 {
        let size = [3.0, 1.0, 1.0e-3, 1.0e-38, 1.0e-44, 0.0][self.bits() as usize % 6];
        let sign = if self.bits().is_multiple_of(4) { -1.0 } else { 1.0 };
        sign * size * (self.bits() as f32 / u32::MAX as f32)
    }
}

/// The words of an input for so many threads.
fn words(input: Input, threads: usize, random: &mut Random) -> Vec<u32> {
    let floats = match input {
        Along(reach) => threads + reach - 1,
        Common(count) => count,
        Each(count) => threads * count,
        Lists => return (0..threads as u32).map(link).collect(),
    };
    (0..floats).map(|_| random.float().to_bits()).collect()
}

/// Element `at` goes on at half its index, down to 0, and ends there or at a multiple of 5.
fn link(at: u32) -> u32 {
    let next = if at.is_multiple_of(5) { 0 } else { at / 2 + 1 };
    next << 16 | (at * 37) & 0xffff
}

impl Kernel {
    fn on_host(&self, inputs: &[Vec<u32>], (grid, block): (u32, u32)) -> Vec<u32> {
        let mut output = vec![0; (grid * block) as usize];
        let y = output.as_mut_ptr();
        host::launch(grid, block, 0, || (self.host)(inputs, y)).expect("the host runs it");
        output
    }

    fn emulated(&self, module: &Module, inputs: &[Vec<u32>], (grid, block): (u32, u32)) -> Vec<u32> {
        let mut device = Device::default();
        let output = device.uninit::<u32>((grid * block) as usize);
        let mut args: Vec<Arg> = inputs.iter().map(|words| device.buffer(words).into()).collect();
        args.push(output.into());
        args.extend(self.count.map(Arg::from));
        let kernel = module.kernel(self.name).expect("the kernel is in its family's PTX");
        let launched = device.launch(&kernel, Shape::line(grid, block), &args);
        launched.unwrap_or_else(|error| panic!("{error}"));
        device.read_written(&output).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// The PTX of a family.
fn module(package: &str, builder: &Builder, arch: &Arch) -> Module {
    Module::load(&ptx(builder, package, arch)).unwrap_or_else(|error| panic!("{package}: {error}"))
}

fn same_bits(package: &'static str, builder: &Builder, arch: &Arch) {
    let module = module(package, builder, arch);
    let kernels: Vec<Kernel> =
        table().into_iter().filter(|(family, _)| *family == package).map(|(_, kernel)| kernel).collect();
    let listed: BTreeSet<&str> = kernels.iter().map(|kernel| kernel.name).collect();
    assert_eq!(listed, module.kernels().collect(), "every kernel of {package} stands in the table");
    for kernel in &kernels {
        for (grid, block) in SHAPES {
            let mut random = Random(u64::from(grid));
            let threads = (grid * block) as usize;
            let inputs: Vec<_> = kernel.inputs.iter().map(|input| words(*input, threads, &mut random)).collect();
            let wanted = kernel.on_host(&inputs, (grid, block));
            let found = kernel.emulated(&module, &inputs, (grid, block));
            assert_eq!(found, wanted, "{} in {grid} blocks of {block}", kernel.name);
        }
    }
}

/// The contract of sub-groups, whose expectations hold on the host too: `kernels/subgroup` tests that.
fn sub_groups_keep_their_contract(builder: &Builder, arch: &Arch) {
    let module = module("subgroup", builder, arch);
    let mut config = Config::default();
    config.count = false;
    let mut unused: BTreeSet<&str> = module.kernels().collect();
    for case in cases::Case::all(32) {
        let kernel = module.kernel(case.kernel).unwrap_or_else(|error| panic!("{error}"));
        unused.remove(case.kernel);
        let mut device = Device::new(config.clone());
        let mut args = Vec::new();
        for input in [&case.threads, &case.common] {
            args.extend([device.buffer(input).into(), Arg::from(input.len())]);
        }
        let output = device.uninit::<u64>(case.expected.len() * RESULTS);
        args.extend([output.into(), Arg::from(output.len())]);
        let shape = Shape { grid: [1; 3], block: case.block, shared_bytes: 0 };
        let launched = device.launch(&kernel, shape, &args);
        launched.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let output = device.read_written(&output).expect("every thread puts out its results");
        assert_eq!(case.check(&output), Ok(()), "{arch}");
    }
    assert!(unused.is_empty(), "no case runs {unused:?}");
}

/// Kernels with buffers of their own kinds, in the crate `package`; others are run by the test whose text is
/// `elsewhere`, and approximations, named `fast_…`, have no bits to be held to.
fn cases_have_the_same_bits(package: &str, cases: &[case::Case], elsewhere: &str, builder: &Builder, arch: &Arch) {
    let module = module(package, builder, arch);
    for case in cases {
        case.check(&module);
    }
    let run: BTreeSet<&str> = cases.iter().map(|case| case.kernel).collect();
    let known = |name: &&str| run.contains(name) || elsewhere.contains(name) || name.starts_with("fast_");
    let left: Vec<&str> = module.kernels().filter(|name| !known(name)).collect();
    assert!(left.is_empty(), "no case runs {left:?} of {package}");
}

#[track_caller]
fn check(hints: HintMode, profile: Profile, route: Route, names: &[&str]) {
    let archs = archs(names);
    let args = BuildArgs { hints, profile, route, archs: archs.clone(), ..BuildArgs::default() };
    let builder =
        Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    for arch in &archs {
        same_bits("nounroll", &builder, arch);
        same_bits("unroll", &builder, arch);
        sub_groups_keep_their_contract(&builder, arch);
        cases_have_the_same_bits("memory", &memory_kernels::cases(&mut Random(1)), "", &builder, arch);
        cases_have_the_same_bits(
            "pieces",
            &piece_kernels::cases(&mut Random(2)),
            include_str!("math.rs"),
            &builder,
            arch,
        );
    }
}

#[test]
fn optimized_with_hints_resolved_on_bitcode() {
    check(HintMode::Llvm, Profile::Release, Route::Llc, &["sm_80", "sm_120a"]);
}

#[test]
fn optimized_with_hints_resolved_on_mir() {
    check(HintMode::Mir, Profile::Release, Route::Llc, &["sm_80", "sm_120a"]);
}

#[test]
fn not_optimized_with_hints_resolved_on_bitcode() {
    check(HintMode::Llvm, Profile::Dev, Route::Llc, &["sm_90"]);
}

#[test]
fn not_optimized_with_hints_resolved_on_mir() {
    check(HintMode::Mir, Profile::Dev, Route::Llc, &["sm_90"]);
}

#[test]
fn by_libnvvm_with_hints_resolved_on_bitcode() {
    check(HintMode::Llvm, Profile::Release, Route::Nvvm, &["sm_120a"]);
}

#[test]
fn by_libnvvm_with_hints_resolved_on_mir() {
    check(HintMode::Mir, Profile::Release, Route::Nvvm, &["sm_120a"]);
}

/// What the newest architectures print differs in form only: it loads.
#[test]
fn ptx_for_other_architectures_loads() {
    let archs = archs(&["sm_86", "sm_90a", "sm_100a", "sm_103a"]);
    let args = BuildArgs { hints: HintMode::Llvm, archs: archs.clone(), ..BuildArgs::default() };
    let builder =
        Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    for arch in &archs {
        for package in ["nounroll", "unroll", "subgroup", "memory", "pieces", "reduce"] {
            assert!(module(package, &builder, arch).kernels().count() > 0, "{package} for {arch}");
        }
    }
}

/// The test that runs a crate of `kernels` in the emulator.
const TESTS: [(&str, &str); 8] = [
    ("gdn", "gdn"),
    ("matrix", "matrix"),
    ("memory", "emulated"),
    ("nounroll", "emulated"),
    ("pieces", "emulated"),
    ("reduce", "reductions"),
    ("subgroup", "emulated"),
    ("unroll", "emulated"),
];

#[test]
fn every_kernel_crate_is_run_by_a_test() {
    let entries = fs::read_dir(checkout().join("kernels")).expect("it is there").map(|entry| entry.expect("readable"));
    let crates = entries.filter(|entry| entry.path().join("Cargo.toml").is_file());
    let crates: BTreeSet<String> = crates.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let listed: BTreeSet<String> = TESTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(crates, listed, "each crate of kernels/ has a test that runs it in the emulator");
    for (name, test) in TESTS {
        let folder = checkout().join("tests/tests").join(test);
        let file = [folder.join("main.rs"), folder.with_extension("rs")].into_iter().find(|file| file.is_file());
        let file = file.unwrap_or_else(|| panic!("there is no test `{test}`"));
        let text = fs::read_to_string(file).expect("readable").to_lowercase();
        assert!(text.contains("emulator") && text.contains(name), "{test} runs {name} in the emulator");
    }
}
