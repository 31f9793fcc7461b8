//! The promise: the Gated DeltaNet kernels, as compiled to PTX, compute the recurrence, and break no rule on the way.

use cargo_latch::build::{Arch, BuildArgs, Builder, HintMode, Profile, Route};
use cargo_latch::setup::Progress;
use device_std::math::{Bf16, F16};
use emulator::{Arg, Buffer, Device, LaunchError, Module, Report, Shape};
use gated_delta::cases::Case;
use gated_delta::plan::Kernel;
use gated_delta::problem::{Element, Outputs, Problem};
use latch_tests::{archs, checkout};

/// The PTX of the kernels.
fn module(hints: HintMode, route: Route, arch: &str) -> Module {
    let archs: Vec<Arch> = archs(&[arch]);
    let args = BuildArgs { hints, profile: Profile::Release, route, archs: archs.clone(), ..BuildArgs::default() };
    let builder = Builder::new(&checkout(), &args, &Progress::silent()).expect("set-up has been done");
    let found = builder.workspace.kernel_crates(&["gdn".to_owned()]).expect("the package is a kernel crate");
    let built = builder.build(&found[0], &archs[0], None).expect("the package builds");
    Module::load(&std::fs::read_to_string(&built.ptx).expect("the PTX is there")).expect("the emulator knows it")
}

/// A buffer of elements.
fn upload(device: &mut Device, element: Element, values: &[f32]) -> Arg {
    let bits = |to: fn(f32) -> u16| values.iter().map(|x| to(*x)).collect::<Vec<u16>>();
    match element {
        Element::F32 => device.buffer(values).into(),
        Element::F16 => device.buffer(&bits(|x| F16::from_f32(x).to_bits())).into(),
        Element::Bf16 => device.buffer(&bits(|x| Bf16::from_f32(x).to_bits())).into(),
    }
}

enum Output {
    Single(Buffer<f32>),
    Half(Buffer<u16>),
}

fn run(module: &Module, kernel: Kernel, element: Element, problem: &Problem) -> Result<(Outputs, Report), LaunchError> {
    let sizes = &problem.sizes;
    let plan = kernel.plan(sizes, element).expect("a problem that the kernels are for");
    let mut device = Device::default();
    let mut args = Vec::new();
    for values in [&problem.q, &problem.k, &problem.v] {
        args.push(upload(&mut device, element, values));
    }
    for values in [&problem.g, &problem.beta] {
        args.push(device.buffer(values).into());
    }
    args.push(problem.state.as_ref().map_or(Arg::pointer(0), |state| device.buffer(state).into()));
    let y = match element {
        Element::F32 => Output::Single(device.uninit(sizes.values())),
        _ => Output::Half(device.uninit(sizes.values())),
    };
    args.push(match &y {
        Output::Single(y) => (*y).into(),
        Output::Half(y) => (*y).into(),
    });
    let state = device.uninit::<f32>(sizes.states());
    args.push(state.into());
    args.push(device.buffer(&sizes.starts()).into());
    args.extend([sizes.heads, sizes.key_heads, sizes.dk, sizes.dv].map(Arg::from));
    let shape = Shape { grid: plan.grid, block: plan.block, shared_bytes: plan.shared_bytes };
    let report = device.launch(&module.kernel(&plan.entry)?, shape, &args)?;
    let y = match y {
        Output::Single(y) => device.read_written(&y)?,
        Output::Half(y) => {
            let bits = device.read_written(&y)?.into_iter();
            match element {
                Element::F16 => bits.map(|bits| F16::from_bits(bits).to_f32()).collect(),
                _ => bits.map(|bits| Bf16::from_bits(bits).to_f32()).collect(),
            }
        }
    };
    Ok((Outputs { y, state: device.read_written(&state)? }, report))
}

fn check(module: &Module, kernel: Kernel, element: Element, cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for case in cases {
        let case = case.rounded(element);
        match case.run(|problem| run(module, kernel, element, problem).map(|(outputs, _)| outputs)) {
            Ok(outputs) => wrong.extend(case.check(element, &outputs).err()),
            Err(error) => wrong.push(format!("{}: {error}", case.name)),
        }
    }
    assert!(wrong.is_empty(), "{kernel:?}:\n{}", wrong.join("\n"));
}

#[test]
fn all_cases() {
    let module = module(HintMode::Llvm, Route::Llc, "sm_90");
    for element in [Element::F32, Element::F16, Element::Bf16] {
        check(&module, Kernel::Recurrent, element, Case::all(64));
        for chunk in [16, 32, 64] {
            check(&module, Kernel::Chunk(chunk), element, Case::all(chunk));
        }
    }
}

#[test]
fn twins() {
    let ours = module(HintMode::Llvm, Route::Llc, "sm_90");
    let theirs = Module::load(&std::fs::read_to_string(std::env::var("TWIN").unwrap()).unwrap()).unwrap();
    let case = Case::all(64).into_iter().find(|case| case.name == "dk = dv = 128").unwrap();
    for kernel in [Kernel::Recurrent, Kernel::Chunk(64)] {
        let (a, x) = run(&ours, kernel, Element::F32, &case.problem).unwrap();
        let (b, y) = run(&theirs, kernel, Element::F32, &case.problem).unwrap();
        assert!(a == b);
        eprintln!("{kernel:?} ours\n{}\ntheirs\n{}", x.counts, y.counts);
    }
}
