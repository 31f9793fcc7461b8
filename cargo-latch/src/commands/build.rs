//! `cargo latch build`: PTX, and machine code where ptxas is here.

use std::process::ExitCode;

use anyhow::{Context, Result};
use sass::{AssembleOptions, Ptxas};

use crate::build::{BuildArgs, Builder};
use crate::commands::print_line;
use crate::setup::Progress;

/// Build kernel crates to PTX, and to cubins where ptxas is here
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    build: BuildArgs,

    /// What to make
    #[arg(long, value_enum, value_delimiter = ',', default_value = "ptx,cubin")]
    emit: Vec<Output>,
}

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// PTX; always made
    Ptx,
    /// Machine code
    Cubin,
}

/// Prints the path of every file made.
pub fn run(args: &Args) -> Result<ExitCode> {
    let folder = std::env::current_dir().context("there is no current folder")?;
    let builder = Builder::new(&folder, &args.build, &Progress::on_stderr())?;
    for kernels in builder.workspace.kernel_crates(&args.build.packages)? {
        for arch in &args.build.archs {
            let built = builder.build(&kernels, arch, None)?;
            print_line(built.ptx.display())?;
            if !args.emit.contains(&Output::Cubin) {
                continue;
            }
            match &builder.tools.cuda {
                Ok(cuda) => {
                    let options = AssembleOptions::default();
                    let cubin = Ptxas::new(&cuda.ptxas).assemble(&built.ptx, arch.name(), &options)?;
                    let path = built.ptx.with_extension("cubin");
                    cubin.write_to(&path)?;
                    print_line(path.display())?;
                }
                Err(error) => tracing::warn!("PTX only, no cubin: {error}"),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
