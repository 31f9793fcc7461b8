//! `./latch demo`: sets the machine up, builds the checkout's kernels, and prints what became of their hints.

use std::process::ExitCode;

use anyhow::Result;

use crate::audit::{Entry, table};
use crate::build::{Arch, BuildArgs, Builder, HintMode, Wanted};
use crate::checkout;
use crate::commands::audit;
use crate::commands::print_line;
use crate::setup::Progress;

/// Build this checkout's kernels and show their hints, followed to the machine code
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The GPUs to build for
    #[arg(long = "arch", value_name = "ARCH", value_delimiter = ',', default_value = "sm_80,sm_90,sm_120a")]
    archs: Vec<Arch>,
}

/// What the demonstration builds.
const PACKAGES: [&str; 1] = ["nounroll"];

/// Exit code 1 if a hint was dropped.
pub fn run(args: &Args) -> Result<ExitCode> {
    let build = BuildArgs {
        packages: PACKAGES.map(str::to_owned).to_vec(),
        archs: args.archs.clone(),
        // The plugin takes minutes where rustc-dev has to be built, and a demonstration does not wait for it.
        hints: HintMode::Llvm,
        ..BuildArgs::default()
    };
    let builder = Builder::new(&checkout::folder()?, &build, Wanted::default(), &Progress::on_stderr())?;
    let entries = audit::entries(&builder, &build)?;
    print_line(table::overview(&entries))?;
    Ok(if entries.iter().any(Entry::has_dropped) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
