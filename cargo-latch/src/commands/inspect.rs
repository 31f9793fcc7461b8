//! `cargo latch inspect KERNEL --emit STAGE`: one kernel at one stage.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::build::{BuildArgs, Builder, Wanted};
use crate::commands::print_line;
use crate::inspect::{Stage, Stages};
use crate::setup::Progress;

/// Show one kernel at one stage between source and machine code
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kernel
    kernel: String,

    /// The stage
    #[arg(long, value_enum)]
    emit: Stage,

    /// Keep source lines down to the machine code; `hints` always does
    #[arg(long)]
    lines: bool,

    #[command(flatten)]
    build: BuildArgs,
}

/// Looks for the kernel in the packages given, and prints its text for every architecture.
pub fn run(args: &Args) -> Result<ExitCode> {
    let folder = std::env::current_dir().context("there is no current folder")?;
    let wanted = Wanted { lines: args.lines || args.emit == Stage::Hints, ..Wanted::default() };
    let builder = Builder::new(&folder, &args.build, wanted, &Progress::on_stderr())?;
    let crates = builder.workspace.kernel_crates(&args.build.packages)?;
    let mut known = Vec::new();
    for kernels in &crates {
        let first = args.build.archs.first().context("no architecture is given")?;
        let stages = Stages::build(&builder, kernels, first)?;
        if !stages.has_kernel(&args.kernel) {
            known.extend(stages.kernel_names().map(str::to_owned));
            continue;
        }
        print_line(stages.text(&args.kernel, args.emit)?.trim_end())?;
        for arch in &args.build.archs[1..] {
            print_line(format_args!(
                "\n{}",
                Stages::build(&builder, kernels, arch)?.text(&args.kernel, args.emit)?.trim_end()
            ))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    bail!("there is no kernel `{}`; there are {}", args.kernel, known.join(", "))
}
