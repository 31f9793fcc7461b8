//! `cargo latch build`: PTX or assembly, and machine code where ptxas or lld is here.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context, Result};
use hint_record::LinkReport;
use sass::AssembleOptions;

use crate::assembly::Assembler;
use crate::audit;
use crate::audit::judge::Evidence;
use crate::build::outputs::Outputs;
use crate::build::{BuildArgs, Builder, Built, HintsDenied, Profile, Unit, Wanted};
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

/// Prints the path of every file made. Exit code 1 where a hint was not honoured and the level is deny, or where ptxas
/// is missing.
pub fn run(args: &Args) -> Result<ExitCode> {
    make(args).map(|()| ExitCode::SUCCESS).or_else(|error| {
        let is_no = error.is::<HintsDenied>() || error.is::<NoPtxas>();
        if !is_no {
            return Err(error);
        }
        eprintln!("error: {error}");
        Ok(ExitCode::FAILURE)
    })
}

/// Machine code was asked for, and what makes it is missing.
#[derive(Debug, thiserror::Error)]
#[error("no cubin can be made: {why}; `--emit ptx` needs none")]
struct NoPtxas {
    why: String,
}

fn make(args: &Args) -> Result<()> {
    let folder = std::env::current_dir().context("there is no current folder")?;
    let wants_code = args.emit.contains(&Output::Cubin);
    let wanted = Wanted { lines: args.gate.lines, code_objects: wants_code };
    let builder = Builder::new(&folder, &args.build, wanted, &Progress::on_stderr())?;
    let crates = builder.workspace.kernel_crates(&args.build.packages)?;
    let units = args.build.units(&crates);
    let maker = Maker::of(&builder, wants_code && units.iter().any(|unit| unit.arch.target() == Target::Nvptx))?;
    let built = builder.build_all(&units)?;
    let work: Vec<(&Unit<'_>, Built)> = units.iter().zip(built).collect();
    let made = builder.jobs.run(&work, |(unit, built)| maker.make(&builder, unit, built));
    let made = made.into_iter().collect::<Result<Vec<_>>>()?;
    check(&builder, args, &units, &made)?;
    for (unit, made) in units.iter().zip(&made) {
        let place = builder.output_folder(unit.kernels, unit.arch);
        let files = made.outputs.publish(&place, maker.tools.clone())?;
        files.iter().try_for_each(|file| print_line(file.display()))?;
    }
    maker.remarks(&builder, &units).iter().for_each(|what| tracing::warn!("{what}"));
    Ok(())
}

/// Holds every build to the levels of its crate. Every message is told before the first refusal.
fn check(builder: &Builder, args: &Args, units: &[Unit<'_>], made: &[Made]) -> Result<()> {
    let mut said = Vec::new();
    let mut refused = None;
    for (unit, made) in units.iter().zip(made) {
        let levels = LatchToml::of(unit.kernels)?.hints.levels(args.gate.level);
        if let Err(error) = gate::check_build(builder, unit.kernels, &made.report, &levels, &mut said) {
            refused.get_or_insert(error);
        }
    }
    refused.map_or(Ok(()), Err)
}

/// What turns text into machine code, where it is wanted.
struct Maker {
    assembler: Option<Assembler>,
    /// What the manifests say of the tools.
    tools: BTreeMap<String, String>,
}

/// What one build comes to.
struct Made {
    /// With the last word on every hint, as far as machine code was made.
    report: LinkReport,
    outputs: Outputs,
}

impl Maker {
    fn of(builder: &Builder, wants_cubins: bool) -> Result<Maker> {
        let no_ptxas = |error: anyhow::Error| NoPtxas { why: format!("{error:#}") };
        let assembler = wants_cubins.then(|| Assembler::of(builder.tools()).map_err(no_ptxas)).transpose()?;
        let tools = assembler.iter().flat_map(Assembler::tools).collect();
        Ok(Maker { assembler, tools })
    }

    /// The files of one build, judged by the very machine code that is among them.
    fn make(&self, builder: &Builder, unit: &Unit<'_>, built: &Built) -> Result<Made> {
        let mut outputs = Outputs::default();
        let named = |extension: &str| format!("{}.{extension}", unit.kernels.library);
        let mut report = built.report.clone();
        if let Some(assembler) = self.assembler.as_ref().filter(|_| unit.arch.target() == Target::Nvptx) {
            let code = audit::machine_code(builder, assembler, unit.kernels, unit.arch, built)?;
            report = audit::judged(&report, if code.is_tied { Evidence::Seen(&code) } else { Evidence::NotNeeded });
            outputs.add(named("cubin"), self.cubin(assembler, builder, unit, built)?);
        }
        if let Some(code_object) = &built.code_object {
            outputs.add(named("hsaco"), code_object.as_slice());
        }
        let text = if builder.wanted().lines { built.with_lines() } else { built.code.clone() };
        outputs.add(named(unit.arch.target().extension()), text);
        let written = serde_json::to_vec_pretty(&report).context("the report cannot be written down")?;
        outputs.add_unlisted(named("hints.json"), written);
        Ok(Made { report, outputs })
    }

    /// The cubin to ship. With source lines its code is that without, byte for byte.
    fn cubin(&self, assembler: &Assembler, builder: &Builder, unit: &Unit<'_>, built: &Built) -> Result<Vec<u8>> {
        let options = AssembleOptions::default();
        let plain = assembler.cubin(&built.assembled(), unit.arch, &options)?.image;
        if !builder.wanted().lines || builder.profile() == Profile::Dev {
            return Ok(plain);
        }
        let options = AssembleOptions { line_info: true, ..options };
        let text = built.with_lines();
        let with_lines = assembler.cubin(&sass::one_statement_a_line(&text), unit.arch, &options)?.image;
        let differ = sass::same_code(&plain, &with_lines).context("ptxas's cubin cannot be read")?;
        if differ.is_empty() {
            return Ok(with_lines);
        }
        tracing::warn!("source lines would change {}, so the cubin has none", differ.join(", "));
        Ok(plain)
    }

    /// What its user should know of what was made.
    fn remarks(&self, builder: &Builder, units: &[Unit<'_>]) -> Vec<String> {
        let has_ptx_only = self.assembler.is_none() && units.iter().any(|unit| unit.arch.target() == Target::Nvptx);
        let only = "PTX only: the driver compiles it anew, and nobody has seen what becomes of the hints then";
        let no_code_object = match &builder.installed.lld {
            Some(Err(error)) => Some(format!("assembly only, no code object: {error}")),
            _ => None,
        };
        has_ptx_only.then(|| only.to_owned()).into_iter().chain(no_code_object).collect()
    }
}
