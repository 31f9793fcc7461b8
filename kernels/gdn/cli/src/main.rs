//! `gated-delta`: the rule on arrays in files, and the check of the kernels on a GPU.
//!
//! Exit codes: 0; 1 where the check found something wrong; 2 for anything that failed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Parser, Subcommand};
use gated_delta_cli::check::{self, Beside, Report, Scope};
use gated_delta_cli::{prepared, run};
use launch::{Cudarc, Emulator, Error, Launcher};

/// Gated DeltaNet from the command line.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Check(CheckArgs),
    /// Print the architecture of the first GPU, or why there is none
    Gpu,
}

/// Hold every kernel to the oracle on the first GPU, and time them; without a GPU, say so
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
struct CheckArgs {
    /// The kernels' PTX, or a folder with it for several architectures
    #[arg(long, value_name = "FILE")]
    ptx: PathBuf,

    /// Seconds that it may take; what there is no time for is left out
    #[arg(long, value_name = "N", default_value_t = 420)]
    seconds: u64,

    /// Times of another implementation on this machine, as fla_times.py prints them
    #[arg(long, value_name = "FILE")]
    beside: Option<PathBuf>,

    /// Few cases and small sizes: only to see that it works
    #[arg(long)]
    small: bool,

    /// Run on the emulator, which has no clock: all cases, and small sizes for the rest
    #[arg(long)]
    emulator: bool,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Check(args) => check(&args),
        Command::Gpu => gpu(),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

fn check(args: &CheckArgs) -> Result<ExitCode> {
    let found = prepared::find(&args.ptx)?;
    let beside = args.beside.as_deref().map(Beside::read).transpose()?.unwrap_or_default();
    let time = Duration::from_secs(args.seconds);
    let scope = match (args.small, args.emulator) {
        (true, _) => Scope::small(time),
        (false, true) => Scope::all_cases(time),
        (false, false) => Scope::full(time),
    };
    if args.emulator {
        let target = found[0].target.clone();
        let report = report(found, scope, || Ok(Emulator::new(&target)?))?;
        return Ok(print(&report, &beside));
    }
    if let Err(why) = open_gpu()? {
        println!("no GPU, so nothing was checked: {why}");
        return Ok(ExitCode::SUCCESS);
    }
    let report = report(found, scope, || Ok(Cudarc::open(0)?))?;
    Ok(print(&report, &beside))
}

/// The first GPU, or why there is none.
fn open_gpu() -> Result<Result<Cudarc, Error>> {
    match Cudarc::open(0) {
        Ok(gpu) => Ok(Ok(gpu)),
        Err(none @ (Error::NoDriver { .. } | Error::NoDevice { .. })) => Ok(Err(none)),
        Err(error) => Err(error.into()),
    }
}

fn report<L: Launcher>(found: Vec<prepared::Ptx>, mut scope: Scope, open: impl Fn() -> Result<L>) -> Result<Report> {
    // A driver compiles the kernels when they are loaded.
    let start = Instant::now();
    let (kernels, ptx) = prepared::load(found, open)?;
    eprintln!("checking {}, which is for {}", ptx.path.display(), ptx.target);
    scope.time = scope.time.saturating_sub(start.elapsed());
    Ok(check::check(&kernels, &scope, &mut |doing| eprintln!("{doing}")))
}

fn print(report: &Report, beside: &Beside) -> ExitCode {
    print!("{}", report.text(beside));
    if report.wrongs().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints the first GPU's architecture; where there is none, why.
fn gpu() -> Result<ExitCode> {
    match open_gpu()? {
        Ok(gpu) => println!("{}", gpu.device().arch),
        Err(why) => eprintln!("no GPU: {why}"),
    }
    Ok(ExitCode::SUCCESS)
}
