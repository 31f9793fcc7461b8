//! The linker of device crates: bitcode in, PTX or AMD's assembly out, with every loop hint resolved on the way.
//!
//! ```text
//! objects, rlibs ─ inputs ─ merge ─ internalize, delete unused ─ resolve hints ─ optimize once ─┬─ text          route llc
//!                                                                                              └─ libNVVM, PTX  route nvvm
//! ```
//!
//! Device crates are compiled without any LLVM pass, because a second run of the optimizer would unroll again what the
//! first has left. Here they become one module, hints are resolved on it (by `nounroll-metadata`), and LLVM's optimizer
//! runs for the first and only time. What hints ask for, it does on both routes; what else there is to unroll is left to libNVVM
//! where that comes next ([`nvvm`]).

mod archive;
mod args;
mod calls;
mod contraction;
mod convergence;
mod error;
mod family;
mod identification;
mod inputs;
mod kept;
mod merge;
mod numbers;
mod nvvm;
mod output;
mod ptx;
mod report;
mod scopes;
mod session;
mod shared;
mod symbols;
mod target;
mod why;

pub use args::{Args, Contraction, OptLevel};
pub use error::Error;
pub use session::end_in_one_sentence;

use family::Family;
use hint_record::{LinkReport, Route};
use inkwell::module::Module;
use kept::Kept;
use nounroll_metadata::SurvivingLoop;
use report::BeforeOptimization;
use serde::{Deserialize, Serialize};
use session::Session;
use std::fs;
use std::path::Path;
use target::{Gpu, Unrolling};
use why::Reasons;

/// Does what the command line asks for.
pub fn link(args: &Args) -> Result<(), Error> {
    let gpu = Gpu::new(args)?;
    if args.object.is_some() && gpu.family == Family::Nvptx {
        return Err(Error::ObjectForNvidia { cpu: args.target_cpu.clone() });
    }
    let libnvvm = (args.route == Route::Nvvm).then(|| nvvm::Compiler::new(args)).transpose()?;
    let mut objects = Vec::new();
    for input in &args.inputs {
        objects.extend(inputs::read(input)?);
    }
    tracing::debug!("read");
    let kept = Kept::of(args, &objects);
    let made = match kept.as_ref().and_then(Kept::get) {
        Some(made) => made,
        None => {
            let made = make(args, &gpu, libnvvm.as_ref(), objects)?;
            kept.iter().for_each(|kept| kept.put(&made));
            made
        }
    };
    write(args, &made)
}

/// Links, and makes code of the result.
fn make(args: &Args, gpu: &Gpu, libnvvm: Option<&nvvm::Compiler>, objects: Vec<inputs::Object>) -> Result<Made, Error> {
    let session = Session::new();
    let module = merge::merge(&session, gpu, objects, &args.export_symbol)?;
    tracing::debug!("merged");
    merge::internalize(&module, &args.export_symbol)?;
    gpu.adopt(&module);
    gpu.delete_unused(&session, &module)?;
    tracing::debug!("unused deleted");
    verify(&module, "after linking")?;
    tracing::debug!("verified");
    keep(args, &module, "linked.ll")?;

    let outcomes = nounroll_metadata::resolve_hints(&module)?;
    let before = BeforeOptimization::of(&module, outcomes, args.optimize != OptLevel::None);
    shared::place(&module)?;
    scopes::place(&module)?;
    merge::check_defined(&module, gpu.family)?;
    convergence::mark(&module, gpu.family);
    keep(args, &module, "resolved.ll")?;

    tracing::debug!("resolved");
    match libnvvm {
        None => by_llvm(args, &session, gpu, &module, before),
        Some(libnvvm) => by_libnvvm(args, &session, gpu, libnvvm, &module, before),
    }
}

/// Writes all that the command line asks for, or nothing.
fn write(args: &Args, made: &Made) -> Result<(), Error> {
    let report = serde_json::to_vec_pretty(&made.report).expect("a report is plain data");
    let report_path = args.report_path();
    let outputs = [
        (Some(&args.output), Some(made.text.as_bytes())),
        (args.object.as_ref(), made.object.as_deref()),
        (report_path.as_ref(), Some(&*report)),
    ];
    let wanted = outputs.into_iter().filter_map(|(path, contents)| path.zip(contents));
    let staged = wanted.map(|(path, contents)| output::stage(path, contents)).collect::<Result<Vec<_>, _>>()?;
    staged.into_iter().try_for_each(output::Staged::commit)
}

/// What comes out of a link.
#[derive(Serialize, Deserialize)]
struct Made {
    /// PTX, or AMD's assembly.
    text: String,
    /// The same as an ELF object, where it was asked for.
    object: Option<Vec<u8>>,
    report: LinkReport,
}

/// Code by LLVM's own optimizer and code generation.
fn by_llvm(
    args: &Args,
    session: &Session,
    gpu: &Gpu,
    module: &Module<'_>,
    before: BeforeOptimization,
) -> Result<Made, Error> {
    if args.fp_contract == Contraction::On {
        contraction::allow(module);
    }
    let untouched = before.has_loops().then(|| module.clone());
    gpu.optimize(session, module, Unrolling::Any)?;
    tracing::debug!("optimized");
    verify(module, "after optimization")?;
    keep(args, module, "optimized.ll")?;
    let left = nounroll_metadata::surviving_loops(module);
    let reasons = reasons(args, session, gpu, &before, &left, untouched.as_ref(), Unrolling::Any)?;
    // Making code changes the module, so what it shows is read first.
    let untold = (gpu.family == Family::Nvptx && args.optimize != OptLevel::None).then(|| module.clone());
    prepare(gpu, module);
    let object = args.object.as_ref().map(|_| gpu.object(session, &module.clone())).transpose()?;
    let text = gpu.text(session, module)?;
    let text = if gpu.family == Family::Nvptx { ptx::settle_pragmas(&text) } else { text };
    tracing::debug!("printed");
    let in_ptx = match &untold {
        Some(module) if before.has_loops() => loops_in_ptx(session, gpu, module, &text)?,
        Some(_) => Some(Vec::new()),
        None => None,
    };
    tracing::debug!("loops found in the PTX");
    let report = before.finish(module, &left, in_ptx.as_deref(), &reasons, &text);
    Ok(Made { text, object, report })
}

/// Which loops of the PTX are made of which hint's: the module is printed once more, with numbers for lines.
fn loops_in_ptx(
    session: &Session,
    gpu: &Gpu,
    module: &Module<'_>,
    ptx: &str,
) -> Result<Option<Vec<SurvivingLoop>>, Error> {
    let numbers = numbers::number(module);
    prepare(gpu, module);
    let numbered = ptx::settle_pragmas(&gpu.text(session, module)?);
    Ok(nvvm::loops_left(&numbers, &numbered, ptx))
}

/// PTX by libNVVM, of a module in which LLVM has unrolled what hints want unrolled. What libNVVM does to it is read from the PTX;
/// where that does not tell, the report goes by what LLVM's own optimizer has left.
fn by_libnvvm(
    args: &Args,
    session: &Session,
    gpu: &Gpu,
    libnvvm: &nvvm::Compiler,
    module: &Module<'_>,
    before: BeforeOptimization,
) -> Result<Made, Error> {
    let untouched = before.has_loops().then(|| module.clone());
    if args.optimize != OptLevel::None {
        gpu.optimize(session, module, Unrolling::Hinted)?;
        verify(module, "after optimization")?;
        keep(args, module, "optimized.ll")?;
    }
    let adapted = module.clone();
    let changes = libnvvm.adapt(&adapted)?;
    verify(&adapted, "after it was adapted for libNVVM")?;
    keep(args, &adapted, "adapted.ll")?;
    let text = libnvvm.ptx(&adapted, &changes)?;
    tracing::debug!("compiled by libNVVM");
    let in_ptx = libnvvm.loops_left(module, &text)?;
    let left = match in_ptx.clone() {
        Some(left) => left,
        None => {
            tracing::warn!(
                "libNVVM's PTX does not tell its loops: the report has those that LLVM's optimizer has left"
            );
            nounroll_metadata::surviving_loops(module)
        }
    };
    let reasons = reasons(args, session, gpu, &before, &left, untouched.as_ref(), Unrolling::Hinted)?;
    let report = before.finish(module, &left, in_ptx.as_deref(), &reasons, &text);
    Ok(Made { text, object: None, report })
}

/// Why LLVM has not done as hints ask, where that is so. `untouched` is the module before optimization.
fn reasons(
    args: &Args,
    session: &Session,
    gpu: &Gpu,
    before: &BeforeOptimization,
    left: &[SurvivingLoop],
    untouched: Option<&Module<'_>>,
    unrolling: Unrolling,
) -> Result<Reasons, Error> {
    match untouched {
        Some(module) if args.optimize != OptLevel::None && before.is_open(left) => {
            Reasons::of(session, gpu, module, unrolling)
        }
        _ => Ok(Reasons::default()),
    }
}

/// Makes an optimized module ready for code generation.
fn prepare(gpu: &Gpu, module: &Module<'_>) {
    // What keeps pragmas in place would only be in the way of AMD's code, which has none.
    if gpu.family == Family::Nvptx {
        nounroll_metadata::prepare_for_printing(module);
    }
    nounroll_metadata::place_latches(module);
}

fn verify(module: &Module<'_>, stage: &'static str) -> Result<(), Error> {
    module.verify().map_err(|message| Error::Invalid { stage, message: message.to_string() })
}

fn keep(args: &Args, module: &Module<'_>, name: &str) -> Result<(), Error> {
    let Some(folder) = &args.keep_intermediates else { return Ok(()) };
    let failed = |path: &Path, source| Error::Write { path: path.to_owned(), source };
    fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    output::write_whole(&folder.join(name), module.print_to_string().to_bytes())
}
