//! `cargo latch build`: PTX or assembly, and machine code where ptxas or lld is here.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use anyhow::{Context, Result};
use sass::AssembleOptions;

use crate::assembly::Assembler;
use crate::build::outputs::Outputs;
use crate::build::{BuildArgs, Builder, Built, HintsDenied, Unit, Wanted};
use crate::commands::gate::{self, GateArgs};
use crate::commands::print_line;
use crate::config::LatchToml;
use crate::setup::Progress;
use crate::target::Target;

/// Build kernel crates to PTX and cubins, or for AMD's GPUs to assembly and code objects
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    build: BuildArgs,

    #[command(flatten)]
    gate: GateArgs,

    /// What to make
    #[arg(long, value_enum, value_delimiter = ',', default_value = "ptx,cubin")]
    emit: Vec<Output>,
}

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// PTX, or AMD's assembly; always made
    #[value(alias = "asm")]
    Ptx,
    /// Machine code: a cubin, or AMD's code object
    #[value(alias = "hsaco")]
    Cubin,
}

/// Prints the path of every file made. Exit code 1 where a hint was not honoured and the level is deny.
pub fn run(args: &Args) -> Result<ExitCode> {
    make(args).map(|()| ExitCode::SUCCESS).or_else(|error| {
        let denied = error.downcast::<HintsDenied>()?;
        eprintln!("error: {denied}");
        Ok(ExitCode::FAILURE)
    })
}

fn make(args: &Args) -> Result<()> {
    let folder = std::env::current_dir().context("there is no current folder")?;
    let wants_code = args.emit.contains(&Output::Cubin);
    let wanted = Wanted { lines: args.gate.lines, code_objects: wants_code };
    let builder = Builder::new(&folder, &args.build, wanted, &Progress::on_stderr())?;
    let crates = builder.workspace.kernel_crates(&args.build.packages)?;
    let units = args.build.units(&crates);
    let built = builder.build_all(&units)?;
    check(&builder, args, &units, &built)?;
    let maker = if wants_code { Maker::of(&builder) } else { Maker::default() };
    let work: Vec<(&Unit<'_>, Built)> = units.iter().zip(built).collect();
    let outputs = builder.jobs.run(&work, |(unit, built)| maker.outputs(&builder, unit, built));
    for (unit, outputs) in units.iter().zip(outputs) {
        let place = builder.output_folder(unit.kernels, unit.arch);
        outputs?.publish(&place, maker.tools.clone())?.iter().try_for_each(|file| print_line(file.display()))?;
    }
    maker.lacking.iter().for_each(|what| tracing::warn!("{what}"));
    Ok(())
}

/// Holds every build to the levels of its crate. Every message is told before the first refusal.
fn check(builder: &Builder, args: &Args, units: &[Unit<'_>], built: &[Built]) -> Result<()> {
    let mut said = Vec::new();
    let mut refused = None;
    for (unit, built) in units.iter().zip(built) {
        let levels = LatchToml::of(unit.kernels)?.hints.levels(args.gate.level);
        if let Err(error) = gate::check_build(builder, unit.kernels, built, &levels, &mut said) {
            refused.get_or_insert(error);
        }
    }
    refused.map_or(Ok(()), Err)
}

/// What turns text into machine code, as far as it is here and wanted.
#[derive(Default)]
struct Maker {
    assembler: Option<Assembler>,
    /// What the manifests say of the tools.
    tools: BTreeMap<String, String>,
    lacking: BTreeSet<String>,
}

impl Maker {
    fn of(builder: &Builder) -> Maker {
        let mut lacking = BTreeSet::new();
        let assembler = Assembler::of(builder.tools()).map_err(|error| format!("PTX only, no cubin: {error}"));
        if let Some(Err(error)) = &builder.installed.lld {
            lacking.insert(format!("assembly only, no code object: {error}"));
        }
        let assembler = assembler.map_err(|error| lacking.insert(error)).ok();
        let tools = assembler.iter().flat_map(Assembler::tools).collect();
        Maker { assembler, tools, lacking }
    }

    /// The files of one build.
    fn outputs(&self, builder: &Builder, unit: &Unit<'_>, built: &Built) -> Result<Outputs> {
        let mut outputs = Outputs::default();
        let named = |extension: &str| format!("{}.{extension}", unit.kernels.library);
        outputs.add(named(unit.arch.target().extension()), built.text.as_str());
        if let Some(code_object) = &built.code_object {
            outputs.add(named("hsaco"), code_object.as_slice());
        }
        if let Some(assembler) = self.assembler.as_ref().filter(|_| unit.arch.target() == Target::Nvptx) {
            let options = AssembleOptions { line_info: builder.wanted().lines, ..AssembleOptions::default() };
            outputs.add(named("cubin"), assembler.cubin(&built.text, unit.arch, &options)?.image);
        }
        let report = serde_json::to_vec_pretty(&built.report).context("the report cannot be written down")?;
        outputs.add_unlisted(named("hints.json"), report);
        Ok(outputs)
    }
}
