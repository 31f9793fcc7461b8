//! `cargo latch run` in a command that was built without the emulator: says how to get one that has it.

use std::process::ExitCode;

use anyhow::{Result, bail};

/// Run a kernel's PTX on the CPU (not in this build of the command)
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _ignored: Vec<String>,
}

/// Always an error.
pub fn run(_: &Args) -> Result<ExitCode> {
    bail!("this command was built without the emulator: build it with `cargo build -p cargo-latch --features run`")
}
