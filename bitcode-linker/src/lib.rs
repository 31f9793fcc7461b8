//! The linker of device crates: bitcode in, PTX out, with every loop hint resolved on the way.
//!
//! ```text
//! objects, rlibs ─ inputs ─ merge ─ internalize, delete unused ─ resolve hints ─┬─ optimize once ─ PTX   route llc
//!                                                                               └─ libNVVM ─────── PTX   route nvvm
//! ```
//!
//! Device crates are compiled without any LLVM pass, because a second run of the optimizer would unroll again what the
//! first has left. Here they become one module, hints are resolved on it (by `nounroll-metadata`), and the optimizer
//! runs for the first and only time: in this process, by the LLVM that wrote the bitcode, or in libNVVM ([`nvvm`]).

mod archive;
mod args;
mod calls;
mod contraction;
mod convergence;
mod error;
mod identification;
mod inputs;
mod merge;
mod nvvm;
mod output;
mod ptx;
mod report;
mod session;
mod shared;
mod target;

pub use args::{Args, Contraction, OptLevel, Route};
pub use error::Error;
pub use session::end_in_one_sentence;

use codegen_pass::report::LinkReport;
use inkwell::module::Module;
use report::BeforeOptimization;
use session::Session;
use std::fs;
use std::path::Path;
use target::Gpu;

/// Does what the command line asks for.
pub fn link(args: &Args) -> Result<(), Error> {
    let gpu = Gpu::new(args)?;
    let libnvvm = (args.route == Route::Nvvm).then(|| nvvm::Compiler::new(args)).transpose()?;
    let mut objects = Vec::new();
    for input in &args.inputs {
        objects.extend(inputs::read(input)?);
    }
    tracing::debug!("read");
    let session = Session::new();
    let module = merge::merge(&session, &gpu, objects, &args.export_symbol)?;
    tracing::debug!("merged");
    merge::internalize(&module, &args.export_symbol)?;
    gpu.adopt(&module);
    gpu.delete_unused(&session, &module)?;
    tracing::debug!("unused deleted");
    verify(&module, "after linking")?;
    tracing::debug!("verified");
    keep(args, &module, "linked.ll")?;

    let outcomes = nounroll_metadata::resolve_hints(&module)?;
    let before = report::BeforeOptimization::of(&module, outcomes);
    shared::place(&module)?;
    merge::check_defined(&module)?;
    convergence::mark(&module);
    keep(args, &module, "resolved.ll")?;

    tracing::debug!("resolved");
    let (ptx, report) = match &libnvvm {
        None => by_llvm(args, &session, &gpu, &module, before)?,
        Some(libnvvm) => by_libnvvm(args, &session, &gpu, libnvvm, &module, before)?,
    };
    let mut outputs = vec![output::stage(&args.output, ptx.as_bytes())?];
    if let Some(path) = &args.report {
        let text = serde_json::to_vec_pretty(&report).expect("a report is plain data");
        outputs.push(output::stage(path, &text)?);
    }
    outputs.into_iter().try_for_each(output::Staged::commit)
}

/// PTX by LLVM's own optimizer and code generation.
fn by_llvm(
    args: &Args,
    session: &Session,
    gpu: &Gpu,
    module: &Module<'_>,
    before: BeforeOptimization,
) -> Result<(String, LinkReport), Error> {
    if args.fp_contract == Contraction::On {
        contraction::allow(module);
    }
    gpu.optimize(session, module)?;
    tracing::debug!("optimized");
    verify(module, "after optimization")?;
    keep(args, module, "optimized.ll")?;
    let left = nounroll_metadata::surviving_loops(module);
    // Making code changes the module, so what it shows is read first.
    let ptx = print(session, gpu, module)?;
    let report = before.finish(module, &left, &ptx);
    Ok((ptx, report))
}

/// PTX by libNVVM. What it does to the module is read from the PTX; where that does not tell, the report goes by what LLVM's
/// own optimizer leaves of the module.
fn by_libnvvm(
    args: &Args,
    session: &Session,
    gpu: &Gpu,
    libnvvm: &nvvm::Compiler,
    module: &Module<'_>,
    before: BeforeOptimization,
) -> Result<(String, LinkReport), Error> {
    let adapted = module.clone();
    let changes = libnvvm.adapt(&adapted)?;
    verify(&adapted, "after it was adapted for libNVVM")?;
    keep(args, &adapted, "adapted.ll")?;
    let ptx = ptx::settle_pragmas(&libnvvm.ptx(&adapted, &changes)?);
    tracing::debug!("compiled by libNVVM");
    let left = match libnvvm.loops_left(module, &ptx)? {
        Some(left) => left,
        None => {
            tracing::warn!(
                "libNVVM's PTX does not tell its loops: the report has those that LLVM's own optimizer leaves"
            );
            gpu.optimize(session, module)?;
            nounroll_metadata::surviving_loops(module)
        }
    };
    let report = before.finish(module, &left, &ptx);
    Ok((ptx, report))
}

fn print(session: &Session, gpu: &Gpu, module: &Module<'_>) -> Result<String, Error> {
    nounroll_metadata::prepare_for_printing(module);
    nounroll_metadata::place_latches(module);
    let ptx = ptx::settle_pragmas(&gpu.ptx(session, module)?);
    tracing::debug!("printed");
    Ok(ptx)
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
