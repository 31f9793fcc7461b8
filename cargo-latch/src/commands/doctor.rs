//! `cargo latch doctor`: prints what is here, what is missing and how to get it.

use std::process::ExitCode;

use crate::checkout;
use crate::commands::print_line;
use crate::doctor::{Surroundings, examine};
use crate::setup::{self, Home, Machine};

/// Show what is here, what is missing, and how to get it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// Exit code 0 if a kernel can be built, 1 otherwise.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (home, machine) = (Home::of_user()?, Machine::this());
    let (latch_link, sources) = (setup::latch_link(), checkout::folder().ok());
    let report = examine(&Surroundings { home: &home, machine: &machine, latch_link, sources });
    if args.json {
        print_line(serde_json::to_string_pretty(&report)?)?;
    } else {
        print_line(&report)?;
    }
    Ok(if report.can_build { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
