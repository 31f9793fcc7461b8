//! `cargo latch setup`: makes what a build needs. Every other command does so by itself; this one only does it ahead.

use std::process::ExitCode;

use crate::setup::{self, Progress};

/// Make what a build needs, ahead of the first build
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also make rustc-dev, which only the MIR plugin needs (minutes where it has to be built)
    #[arg(long)]
    rustc_dev: bool,
}

/// Sets up; an error where something a build cannot do without is out of reach.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let progress = Progress::on_stderr();
    let tools = setup::ensure_basic(&progress)?;
    if let Err(error) = &tools.cuda {
        tracing::warn!("kernels can be built to PTX only: {error}");
    }
    if args.rustc_dev {
        setup::ensure_rustc_dev(&progress)?;
    }
    Ok(ExitCode::SUCCESS)
}
