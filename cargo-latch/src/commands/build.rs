//! `cargo latch build`: PTX or assembly, and machine code where ptxas or lld is here.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::{Context, Result};
use sass::{AssembleOptions, Ptxas};

use crate::build::{Arch, BuildArgs, Builder, Built, HintsDenied};
use crate::commands::gate::{self, GateArgs};
use crate::commands::print_line;
use crate::config::LatchToml;
use crate::setup::{self, Progress};
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
    let progress = Progress::on_stderr();
    let mut builder = Builder::new(&folder, &args.build, &progress)?;
    builder.extras.lines = args.gate.lines;
    let mut lacking = BTreeSet::new();
    if builder.amd_sysroot.is_some() && args.emit.contains(&Output::Cubin) {
        let lld = setup::ensure_lld(&builder.tools, &progress);
        let lld = lld.map_err(|error| lacking.insert(format!("assembly only, no code object: {error}")));
        builder.extras.code_objects = lld.ok();
    }
    for kernels in builder.workspace.kernel_crates(&args.build.packages)? {
        let levels = LatchToml::of(&kernels)?.hints.levels(args.gate.level);
        builder.extras.plugin_levels = levels.for_plugin();
        let mut said = Vec::new();
        for arch in args.build.archs_for(&kernels) {
            let check =
                |told: &_, report: &_| gate::check_build(&builder, &kernels, (told, report), &levels, &mut said);
            let built = builder.build_checked(&kernels, arch, None, check)?;
            print_line(built.ptx.display())?;
            if args.emit.contains(&Output::Cubin) {
                lacking.extend(machine_code(&builder, &built, arch, args.gate.lines)?);
            }
        }
    }
    lacking.iter().for_each(|what| tracing::warn!("{what}"));
    Ok(())
}

/// Makes it, or says what is missing for that.
fn machine_code(builder: &Builder, built: &Built, arch: &Arch, line_info: bool) -> Result<Option<String>> {
    match (arch.target(), &builder.tools.cuda) {
        (Target::Amdgcn, _) => built.code_object.iter().try_for_each(|made| print_line(made.display()))?,
        (Target::Nvptx, Ok(cuda)) => {
            let options = AssembleOptions { line_info, ..AssembleOptions::default() };
            let cubin = Ptxas::new(&cuda.ptxas).assemble(&built.ptx, arch.name(), &options)?;
            let path = built.ptx.with_extension("cubin");
            cubin.write_to(&path)?;
            print_line(path.display())?;
        }
        (Target::Nvptx, Err(error)) => return Ok(Some(format!("PTX only, no cubin: {error}"))),
    }
    Ok(None)
}
