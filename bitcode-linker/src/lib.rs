//! The linker of device crates: bitcode in, PTX or AMD's assembly out, with every loop hint resolved on the way.
//!
//! ```text
//! objects, rlibs ─ inputs ─ one module ─ resolve hints ─ optimize once ─┬─ text          route llc
//!                                                                      └─ libNVVM, PTX  route nvvm
//! ```
//!
//! Device crates are compiled without any LLVM pass, because a second run of the optimizer would unroll again what the
//! first has left. Here they become one module, hints are resolved on it (by `nounroll-metadata`), and LLVM's optimizer
//! runs for the first and only time. What hints ask for, it does on both routes; what else there is to unroll is left
//! to libNVVM where that comes next ([`nvvm`]).
//!
//! A link is a list of named passes ([`pipeline`] has the list of every maker and route, [`passes`] the passes). After
//! each, the module is verified, written to a file and timed, as far as it is wanted, and optional ones can be skipped.

mod archive;
mod args;
mod calls;
mod error;
mod family;
mod identification;
mod inputs;
mod kept;
mod numbers;
mod nvvm;
mod output;
mod passes;
mod pipeline;
mod ptx;
mod report;
mod session;
mod symbols;
mod target;
mod timings;
mod why;

pub use args::{Args, Contraction, OptLevel};
pub use error::Error;
pub use session::end_in_one_sentence;
pub use timings::Timings;

use family::Family;
use hint_record::{LinkReport, Route};
use kept::Kept;
use pipeline::{Link, Pipeline};
use serde::{Deserialize, Serialize};
use session::Session;
use target::Gpu;

/// Does what the command line asks for.
pub fn link(args: &Args) -> Result<(), Error> {
    let gpu = Gpu::new(args)?;
    if args.object.is_some() && gpu.family == Family::Nvptx {
        return Err(Error::ObjectForNvidia { cpu: args.target_cpu.clone() });
    }
    let pipeline = Pipeline::new(passes::list(gpu.family, args.route), args, gpu.family)?;
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
            let made = make(&pipeline, args, &gpu, libnvvm.as_ref(), objects)?;
            kept.iter().for_each(|kept| kept.put(&made));
            made
        }
    };
    write(args, &made)
}

/// Links, and makes code of the result.
fn make(
    pipeline: &Pipeline<'_>,
    args: &Args,
    gpu: &Gpu,
    libnvvm: Option<&nvvm::Compiler>,
    objects: Vec<inputs::Object>,
) -> Result<Made, Error> {
    let session = Session::new();
    let mut link = Link::new(args, &session, gpu, libnvvm, objects);
    pipeline.run(&mut link)?;
    Ok(Made { text: link.text, object: link.object, report: link.report })
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
