//! `cargo latch audit`: every hint, followed from source to machine code.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::audit::{self, Entry, table};
use crate::build::{BuildArgs, Builder};
use crate::commands::print_line;
use crate::setup::Progress;

/// Follow every loop hint to the machine code; exit code 1 where one was not honoured
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    build: BuildArgs,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Exit code 1 if a hint was dropped.
pub fn run(args: &Args) -> Result<ExitCode> {
    let folder = std::env::current_dir().context("there is no current folder")?;
    let builder = Builder::new(&folder, &args.build, &Progress::on_stderr())?;
    let entries = entries(&builder, &args.build)?;
    if args.json {
        print_line(serde_json::to_string_pretty(&entries)?)?;
    } else {
        entries.iter().try_for_each(|entry| print_line(table::render(entry)))?;
    }
    let is_clean = !entries.iter().any(Entry::has_dropped);
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One entry per package and architecture, in the order asked.
pub fn entries(builder: &Builder, args: &BuildArgs) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for kernels in builder.workspace.kernel_crates(&args.packages)? {
        for arch in &args.archs {
            entries.push(audit::audit(builder, &kernels, arch)?);
        }
    }
    Ok(entries)
}
