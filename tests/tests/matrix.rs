//! The promise: a counted loop around a matrix instruction that is to stay rolled is one loop of the machine code, with
//! every such instruction inside, and ptxas has nothing to say against it; no pass may move the instruction behind a
//! condition; and what the emulator computes from the PTX is what the host computes, bit for bit, which is the product
//! of the matrices.
//!
//! Wrong where a GPU adds in another order: its last bits are its own.

use cargo_latch::build::{Arch, Builder, Built, HintMode, Intermediates, Profile};
use cargo_latch::setup::CudaTools;
use device_std::host;
use device_std::math::{Bf16, F16};
use device_std::matrix::{A, B, Element};
use emulator::{Arg, Device, Module, Shape};
use hint_record::stages::OPTIMIZED;
use latch_tests::{archs, builder, checkout, expected, latch, shown};
use matrix::Product;
use sass::{AssembleOptions, Cubin, Nvdisasm, Program, Ptxas};

/// The architecture on which every kernel is there, and two on which those with `wgmma` are not.
const ALL: &str = "sm_90a";
const WITHOUT_WGMMA: [&str; 2] = ["sm_80", "sm_120a"];

/// The instruction of a kernel in the machine code; none where it only loads.
fn instruction(kernel: &str) -> Option<&'static str> {
    match kernel {
        "loaders" => None,
        name if name.starts_with("wgmma") => Some("HGMMA"),
        _ => Some("HMMA"),
    }
}

fn build(hints: HintMode, profile: Profile, arch: &str) -> (Builder, Built, String) {
    let builder = builder(&checkout(), hints, profile);
    let arch: Arch = archs(&[arch]).remove(0);
    let found = builder.workspace.kernel_crates(&["matrix".to_owned()]).expect("the package is a kernel crate");
    let keep = Intermediates::of(&found[0], builder.stages_folder(&found[0], &arch));
    let built = builder.build(&found[0], &arch, Some(&keep)).expect("the package builds");
    let optimized = keep.after(OPTIMIZED).expect("the module was kept");
    (builder, built, optimized)
}

fn cuda(builder: &Builder) -> &CudaTools {
    builder.tools().cuda.as_ref().expect("NVIDIA's tools are here")
}

fn assemble(builder: &Builder, ptx: &str, arch: &str) -> Cubin {
    let ptxas = Ptxas::new(&cuda(builder).ptxas);
    ptxas.assemble(ptx, arch, &AssembleOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn ptx(built: &Built) -> String {
    built.text.clone()
}

/// What ptxas warns of, and all else that it has a number for: where it waits on its own, it says so for information.
fn complaints(cubin: &Cubin) -> Vec<&str> {
    let is_one = |message: &&sass::Message| message.is_warning() || message.code.is_some();
    cubin.messages.iter().filter(is_one).map(|message| message.text.as_str()).collect()
}

fn check_machine_code(hints: HintMode, arch: &str) {
    let (builder, built, _) = build(hints, Profile::Release, arch);
    let cubin = assemble(&builder, &ptx(&built), arch);
    assert_eq!(complaints(&cubin), [] as [&str; 0], "{arch}");
    let module = Nvdisasm::new(&cuda(&builder).nvdisasm).disassemble(&cubin).expect("it can be disassembled");
    let program = Program::of(&module);
    let mut expected = expected::of_sources(&checkout().join("kernels/matrix/src"));
    expected.retain(|kernel| arch == ALL || !kernel.name.starts_with("wgmma"));
    assert_eq!(program.kernels().count(), expected.len(), "the kernels for {arch}");
    for expected in expected {
        let name = &expected.name;
        let kernel = program.kernel(name).unwrap_or_else(|| panic!("{name} is not in the code for {arch}"));
        let (loops, instructions) = (kernel.loops(), kernel.instructions());
        let count = |opcode: &str| instructions.iter().filter(|instruction| instruction.is(opcode)).count();
        assert_eq!((loops.len(), count("LDG")), (expected.loops, expected.loads), "{name} for {arch}");
        assert_eq!((count("LDL"), count("STL"), kernel.calls().len()), (0, 0, 0), "{name} for {arch}");
        let Some(opcode) = instruction(name) else { continue };
        let inside = loops[0].1.instructions.iter().filter(|instruction| instruction.is(opcode)).count();
        assert!(inside > 0, "{name} for {arch}: no {opcode} in its loop\n{}", kernel.sass());
        assert_eq!(inside, count(opcode), "{name} for {arch}: every {opcode} is in its loop\n{}", kernel.sass());
    }
}

#[test]
fn one_loop_around_each_instruction_with_hints_resolved_on_bitcode() {
    WITHOUT_WGMMA.iter().chain([&ALL]).for_each(|arch| check_machine_code(HintMode::Llvm, arch));
}

#[test]
fn one_loop_around_each_instruction_with_hints_resolved_on_mir() {
    WITHOUT_WGMMA.iter().chain([&ALL]).for_each(|arch| check_machine_code(HintMode::Mir, arch));
}

/// That no complaint is found above is worth something only if there can be one.
#[test]
fn sums_that_are_touched_too_early_are_found() {
    let (builder, built, _) = build(HintMode::Llvm, Profile::Release, ALL);
    let ptx = ptx(&built);
    let with = |text: &str, instead: &str| {
        let changed = ptx.replace(text, instead);
        assert_ne!(changed, ptx, "{text}");
        complaints(&assemble(&builder, &changed, ALL)).join("\n")
    };
    let said = with("wgmma.wait_group.sync.aligned 0;", "");
    assert!(said.contains("wgmma.wait_group is injected") && said.contains("'wgmma_bf16'"), "{said}");
    // The products' first register of sums is written between a product and its wait.
    let first = ptx.split_once("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {").expect("a product").1;
    let first = first.split_once(',').expect("registers").0;
    let commit = "wgmma.commit_group.sync.aligned;";
    let said = with(commit, &format!("mov.b32 {first}, 0f3f800000; {commit}"));
    assert!(said.contains("wgmma.mma_async instructions are serialized") && said.contains("'wgmma_bf16'"), "{said}");
}

/// The calls of the module that the tensor cores execute, one a line.
fn matrix_calls(module: &str) -> Vec<&str> {
    let named =
        ["mma.sync", "ldmatrix", "@llvm.nvvm.mma.", "wgmma.mma_async", "wgmma.fence", "wgmma.commit", "wgmma.wait"];
    module.lines().filter(|line| line.contains(" call ") && named.iter().any(|name| line.contains(name))).collect()
}

/// The attributes of a call, which its line names by a number.
fn attributes<'a>(module: &'a str, call: &str) -> &'a str {
    let group = call.rsplit_once(") #").map(|(_, group)| group.split([',', ' ']).next().unwrap_or_default());
    let group = group.unwrap_or_else(|| panic!("no attributes: {call}"));
    let start = format!("attributes #{group} = ");
    module.lines().find_map(|line| line.strip_prefix(start.as_str())).expect("the group is in the module")
}

#[test]
fn every_instruction_is_convergent_in_the_optimized_module() {
    let (_, _, module) = build(HintMode::Llvm, Profile::Release, ALL);
    let calls = matrix_calls(&module);
    for call in &calls {
        assert!(attributes(&module, call).split_whitespace().any(|word| word == "convergent"), "{call}");
    }
    // Kernels of one, two and four products by mma in each format; two loads a staged kernel, three a chained one and
    // six of all kinds; and of the warpgroup's products three, with a fence, a commit and a wait a kernel.
    let count = |name: &str| calls.iter().filter(|call| call.contains(name)).count();
    assert_eq!(["@llvm.nvvm.mma.", " asm "].map(count), [7, 7 + 16 + 9], "{calls:#?}");
}

/// Reproducible numbers of up to 2 in size, the coarser the fewer bits a format has.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 40) as f32 / (1u32 << 23) as f32 - 1.0) * 2.0
    }

    fn matrix<T: Element>(&mut self, rows: usize, columns: usize) -> Vec<T> {
        (0..rows * columns).map(|_| T::from_f32(self.number())).collect()
    }
}

/// Rows and columns of blocks, and rounds of the loop.
const GRIDS: [(u32, u32, u32); 3] = [(1, 1, 1), (2, 3, 5), (1, 2, 0)];

/// One kernel of the form `(a, b, c, steps)`.
struct Gemm<T> {
    name: &'static str,
    sizes: Product,
    by_columns: bool,
    host: unsafe fn(*const T, *const T, *mut f32, u32),
}

/// Elements that begin at a multiple of 16 bytes, as memory of a GPU does.
#[repr(align(16))]
#[derive(Clone, Copy)]
struct Eight<T>([T; 8]);

fn aligned<T: Copy>(elements: &[T]) -> Vec<Eight<T>> {
    elements.chunks_exact(8).map(|eight| Eight(std::array::from_fn(|i| eight[i]))).collect()
}

impl<T: Element> Gemm<T> {
    fn check(&self, module: &Module) {
        for (grid_rows, grid_columns, steps) in GRIDS {
            let (rows, columns) = (grid_rows as usize * self.sizes.rows, grid_columns as usize * self.sizes.columns);
            let depth = steps as usize * self.sizes.depth;
            let mut random = Random(u64::from(steps) + 7);
            let (a, b) = (random.matrix::<T>(rows, depth), random.matrix::<T>(depth, columns));
            let grid = (grid_columns, grid_rows);
            let on_host = self.on_host(&a, &b, rows * columns, grid, steps);
            let emulated = self.emulated(module, &a, &b, rows * columns, grid, steps);
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&emulated), bits(&on_host), "{} in {grid:?} blocks, {steps} steps", self.name);
            for row in 0..rows {
                for column in 0..columns {
                    let left = |k: usize| a[if self.by_columns { k * rows + row } else { row * depth + k }];
                    let right = |k: usize| b[if self.by_columns { column * depth + k } else { k * columns + column }];
                    let value = |element: T| f64::from(element.to_f32());
                    let exact: f64 = (0..depth).map(|k| value(left(k)) * value(right(k))).sum();
                    let found = f64::from(on_host[row * columns + column]);
                    // Each round of the loop rounds a sum below 4 * depth once or twice.
                    let allowed = f64::from(steps) * 8.0 * depth as f64 * f64::from(f32::EPSILON);
                    assert!((found - exact).abs() <= allowed, "{}: {found} for {exact}", self.name);
                }
            }
        }
    }

    fn on_host(&self, a: &[T], b: &[T], many: usize, grid: (u32, u32), steps: u32) -> Vec<f32> {
        let (a, b, mut c) = (aligned(a), aligned(b), vec![f32::NAN; many]);
        let to = c.as_mut_ptr();
        // SAFETY: the matrices have the sizes that the launch makes them have.
        let run = || unsafe { (self.host)(a.as_ptr().cast(), b.as_ptr().cast(), to, steps) };
        host::launch(grid, self.sizes.threads, 0, run).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        c
    }

    fn emulated(&self, module: &Module, a: &[T], b: &[T], many: usize, grid: (u32, u32), steps: u32) -> Vec<f32> {
        let kernel = module.kernel(self.name).expect("the kernel is in the PTX");
        let mut device = Device::default();
        let bits = |elements: &[T]| elements.iter().map(|element| element.to_bits()).collect::<Vec<u16>>();
        let (a, b, c) = (device.buffer(&bits(a)), device.buffer(&bits(b)), device.uninit::<f32>(many));
        let args: [Arg; 4] = [a.into(), b.into(), c.into(), steps.into()];
        let shape = Shape { grid: [grid.0, grid.1, 1], block: [self.sizes.threads, 1, 1], shared_bytes: 0 };
        device.launch(&kernel, shape, &args).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        device.read_written(&c).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

macro_rules! gemm {
    ($name:ident, $sizes:ident, $by_columns:literal) => {
        Gemm { name: stringify!($name), sizes: matrix::$sizes, by_columns: $by_columns, host: matrix::$name }
    };
}

fn check_products(module: &Module) {
    Gemm::<Bf16>::check(&gemm!(mma_bf16, MMA, false), module);
    Gemm::<F16>::check(&gemm!(mma_f16, MMA, false), module);
    Gemm::<Bf16>::check(&gemm!(staged_bf16, STAGED, false), module);
    Gemm::<F16>::check(&gemm!(staged_f16_transposed, STAGED, true), module);
    check_chain(module, "chained_bf16", matrix::chained_bf16, 1.0 / 256.0);
    check_chain(module, "chained_f16", matrix::chained_f16, 1.0 / 2048.0);
    Gemm::<Bf16>::check(&gemm!(wgmma_bf16, WGMMA, false), module);
    Gemm::<F16>::check(&gemm!(wgmma_f16_transposed, WGMMA_DEEP, true), module);
}

/// `chained_bf16` or its like, on the host and in the emulator.
fn check_chain<T: Element>(
    module: &Module,
    name: &str,
    host: unsafe fn(*const T, *const T, *const T, *mut f32, u32),
    precision: f64,
) {
    const SIDE: usize = matrix::CHAINED;
    for steps in [0, 1, 4] {
        let mut random = Random(u64::from(steps));
        let deep = SIDE * steps as usize;
        let (q, k, v) =
            (random.matrix::<T>(SIDE, SIDE), random.matrix::<T>(deep, SIDE), random.matrix::<T>(deep, SIDE));
        let mut on_host = vec![f32::NAN; SIDE * SIDE];
        let (y, inputs) = (on_host.as_mut_ptr(), [&q, &k, &v].map(|elements| aligned(elements)));
        let [q_at, k_at, v_at] = inputs.each_ref().map(|input| input.as_ptr().cast());
        // SAFETY: the matrices have the sizes that the kernel's documentation asks for.
        host::launch(1, 32, 0, || unsafe { host(q_at, k_at, v_at, y, steps) }).expect("the host runs it");
        let mut device = Device::default();
        let bits = |elements: &[T]| elements.iter().map(|element| element.to_bits()).collect::<Vec<u16>>();
        let [q_in, k_in, v_in] = [&q, &k, &v].map(|elements| device.buffer(&bits(elements)));
        let out = device.uninit::<f32>(SIDE * SIDE);
        let kernel = module.kernel(name).expect("the kernel is in the PTX");
        let args: [Arg; 5] = [q_in.into(), k_in.into(), v_in.into(), out.into(), steps.into()];
        device.launch(&kernel, Shape::line(1, 32), &args).unwrap_or_else(|error| panic!("{name}: {error}"));
        let emulated = device.read_written(&out).expect("all was written");
        assert_eq!(
            emulated.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            on_host.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        );
        for (at, found) in on_host.iter().enumerate() {
            let (row, column) = (at / SIDE, at % SIDE);
            let value = |elements: &[T], row: usize, column: usize| f64::from(elements[SIDE * row + column].to_f32());
            let middle = |j| (0..SIDE).map(|d| value(&q, row, d) * value(&k, j, d)).sum::<f64>();
            let terms: Vec<f64> = (0..deep).map(|j| middle(j) * value(&v, j, column)).collect();
            // Each product in the middle is off by half a last place at most, and the sum in single precision by less.
            let allowed = precision * terms.iter().map(|term| term.abs()).sum::<f64>();
            let exact: f64 = terms.iter().sum();
            assert!((f64::from(*found) - exact).abs() <= allowed, "{name}: {found} for {exact}");
        }
    }
}

/// The registers of `matrix::loaders`, by the formulas of the fragments.
fn loaded(matrix: &[u16]) -> Vec<u32> {
    let element = |row: usize, column: usize| u32::from(matrix[16 * row + column]);
    let mut words = Vec::new();
    for lane in 0..32 {
        let place_a = |i| (A::<Bf16>::row(i, lane), A::<Bf16>::column(i, lane));
        let place_b = |i| (B::<Bf16>::row(i, lane), B::<Bf16>::column(i, lane));
        let mut put = |elements: Vec<u32>| words.extend(elements.chunks(2).map(|pair| pair[0] | pair[1] << 16));
        put((0..8).map(place_a).map(|(row, column)| element(row, column)).collect());
        put((0..8).map(place_a).map(|(row, column)| element(column, row)).collect());
        // One, its transpose, and a pair of each.
        for (transposed, first) in [(false, 0), (true, 0), (false, 0), (false, 8), (true, 0), (true, 8)] {
            let at = |(row, column): (usize, usize)| (row, column + first);
            let of = |(row, column)| if transposed { element(column, row) } else { element(row, column) };
            put((0..4).map(place_b).map(at).map(of).collect());
        }
    }
    words
}

fn check_loaders(module: &Module) {
    let elements: Vec<u16> = (0..256).collect();
    let wanted = loaded(&elements);
    let (input, mut on_host) = (aligned(&elements), vec![0u32; wanted.len()]);
    let out = on_host.as_mut_ptr();
    // SAFETY: the matrix is 16 x 16, and there are as many words as are put out.
    host::launch(1, 32, 0, || unsafe { matrix::loaders(input.as_ptr().cast(), out) }).expect("the host runs it");
    assert_eq!(on_host, wanted);
    let mut device = Device::default();
    let (input, out) = (device.buffer(&elements), device.uninit::<u32>(wanted.len()));
    let kernel = module.kernel("loaders").expect("the kernel is in the PTX");
    device.launch(&kernel, Shape::line(1, 32), &[input.into(), out.into()]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(device.read_written(&out).expect("all was written"), wanted);
}

fn load(ptx: &str) -> Module {
    Module::load(ptx).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn optimized_products_are_the_hosts() {
    let (_, built, _) = build(HintMode::Llvm, Profile::Release, ALL);
    let module = load(&built.text);
    check_products(&module);
    check_loaders(&module);
}

#[test]
fn products_that_are_not_optimized_are_the_hosts() {
    let (_, built, _) = build(HintMode::Llvm, Profile::Dev, ALL);
    let module = load(&built.text);
    check_products(&module);
    check_loaders(&module);
}

/// What a GPU does not have is refused where it is asked for, with what to do.
#[test]
fn an_older_gpu_is_refused_by_name() {
    let output = latch(&checkout(), &["build", "-p", "matrix", "--hints", "llvm", "--arch", "sm_70"]);
    let said = shown(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`mma` needs a GPU from sm_80 on: build with `--arch sm_80`"), "{said}");
}
