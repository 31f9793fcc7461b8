//! `cargo latch doctor`: prints what is here, what is missing and how to get it.

use std::process::ExitCode;

/// Show what is here, what is missing, and how to get it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// Exit code 0 if a kernel can be built, 1 otherwise.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let _ = args.json;
    Ok(ExitCode::SUCCESS)
}
