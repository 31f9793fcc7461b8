//! `./latch test`: sets the machine up, the compiler's own crates included, and runs every test of the checkout.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::setup::{self, Progress};
use crate::{checkout, plugin};

/// Set everything up and run all of this checkout's tests
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Arguments for `cargo test`, such as the name of a test
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Exit code 1 if a test failed.
pub fn run(args: &Args) -> Result<ExitCode> {
    let folder = checkout::folder()?;
    let progress = Progress::on_stderr();
    let tools = setup::ensure_basic(&progress)?;
    if let Err(error) = tools.cuda {
        return Err(error).context("the tests look at machine code");
    }
    let compiler = setup::ensure_rustc_dev(&progress)?;
    plugin::ensure(&compiler, &tools.toolchain, &tools.home, &progress)?;

    let mut workspace = tools.toolchain.cargo();
    workspace.current_dir(&folder).args(["test", "--workspace"]).args(&args.arguments);
    // The macros' errors are those that a user's stable compiler gives, which says less of unstable features.
    workspace.env_remove("RUSTC_BOOTSTRAP");
    let plugin = plugin::test_command(&compiler, &tools.toolchain, &tools.sysroot)?;
    let cust = cust_check(tools.toolchain.cargo(), &folder);
    // With arguments, one test of the workspace is wanted.
    let is_passed = passes(workspace)? && (!args.arguments.is_empty() || passes(plugin)? && passes(cust)?);
    Ok(if is_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The launcher for Rust-CUDA's users can be built only where CUDA is installed. Where `cust` believes that it is
/// documented, it looks for no installation, which is enough to check types. The other launchers are built and tested
/// with the workspace.
fn cust_check(mut cargo: Command, folder: &Path) -> Command {
    cargo
        .current_dir(folder)
        .args(["check", "-p", "launch", "--features", "cust", "--lib", "--test", "cust"])
        .env("DOCS_RS", "1");
    cargo
}

fn passes(mut cargo: Command) -> Result<bool> {
    Ok(cargo.status().context("cannot run cargo")?.success())
}
