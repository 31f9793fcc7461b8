//! The command line: one variant of [`Command`] and one file per command.
//!
//! A command returns its own exit code: 0, or 1 where its answer is "no" (a hint dropped, a tool missing). Every error
//! ends here, is printed as one line of causes, and gives exit code 2.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

pub mod audit;
pub mod build;
pub mod demo;
pub mod doctor;
pub mod gate;
pub mod inspect;
pub mod new;
#[cfg_attr(not(feature = "run"), path = "without_run.rs")]
pub mod run;
pub mod setup;
pub mod test;

/// Exit code for anything that failed, as opposed to an answer of "no".
const FAILED: u8 = 2;

/// Loop hints that survive from a Rust attribute to the machine code.
#[derive(Debug, Parser)]
#[command(name = "cargo-latch", bin_name = "cargo latch", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(new::Args),
    Build(build::Args),
    Inspect(inspect::Args),
    Run(run::Args),
    Audit(audit::Args),
    Doctor(doctor::Args),
    Demo(demo::Args),
    Test(test::Args),
    #[command(hide = true)]
    Setup(setup::Args),
}

impl Command {
    fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::New(args) => new::run(&args),
            Self::Build(args) => build::run(&args),
            Self::Inspect(args) => inspect::run(&args),
            Self::Run(args) => run::run(&args),
            Self::Audit(args) => audit::run(&args),
            Self::Demo(args) => demo::run(&args),
            Self::Test(args) => test::run(&args),
            Self::Doctor(args) => doctor::run(&args),
            Self::Setup(args) => setup::run(&args),
        }
    }
}

/// Parses the arguments (the program's name first), runs the command, and turns its outcome into an exit code.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let cli = Cli::parse_from(without_cargo_name(args));
    log_to_stderr();
    cli.command.run().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(FAILED)
    })
}

/// Prints a line, or several, to standard output. A reader that has closed it (`| head`) wants no more, which is no
/// failure.
pub(crate) fn print_line(text: impl std::fmt::Display) -> anyhow::Result<()> {
    use std::io::{ErrorKind, Write};
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot print"),
        _ => Ok(()),
    }
}

/// Drops the `latch` that cargo puts in front of the arguments when it calls `cargo-latch` for `cargo latch`.
fn without_cargo_name(args: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    args.enumerate().filter(|(index, arg)| *index != 1 || arg != "latch").map(|(_, arg)| arg)
}

/// Shows warnings by default; `RUST_LOG` asks for more.
fn log_to_stderr() {
    let asked = std::env::var("RUST_LOG").ok().and_then(|asked| asked.parse().ok());
    let filter = asked.unwrap_or_else(|| Targets::new().with_default(tracing::Level::WARN));
    let lines = tracing_subscriber::fmt::layer().without_time().with_target(false).with_ansi(false);
    tracing_subscriber::registry().with(lines.with_writer(std::io::stderr).with_filter(filter)).init();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(without_cargo_name(args.iter().map(OsString::from)))
    }

    #[test]
    fn works_as_a_cargo_subcommand_and_alone() {
        assert!(parsed(&["cargo-latch", "latch", "doctor"]).is_ok());
        assert!(parsed(&["cargo-latch", "doctor"]).is_ok());
        assert!(parsed(&["cargo-latch", "doctor", "latch"]).is_err(), "only the first argument is cargo's");
    }

    #[test]
    fn arguments_are_well_formed() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
