//! `cargo latch inspect KERNEL --emit STAGE`: one kernel at one stage.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::build::{BuildArgs, Builder, Wanted};
use crate::commands::print_line;
use crate::inspect::{Stage, Stages};
use crate::setup::Progress;

/// Show one kernel at one stage between source and machine code
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kernel
    kernel: String,

    /// The stage
    #[arg(long, value_enum)]
    emit: Stage,

    /// With `--emit llvm`: after this pass of the linker
    #[arg(long, value_name = "PASS", conflicts_with = "diff")]
    after: Option<String>,

    /// With `--emit llvm`: what the linker's passes after FROM, up to TO, have changed
    #[arg(long, value_name = "FROM,TO", value_delimiter = ',', num_args = 1)]
    diff: Vec<String>,

    /// Leave one of the linker's passes out, to find the one that does harm
    #[arg(long, value_name = "PASS")]
    skip_pass: Vec<String>,

    /// Keep source lines down to the machine code; `hints` always does
    #[arg(long)]
    lines: bool,

    #[command(flatten)]
    build: BuildArgs,
}

impl Args {
    /// Passes are the linker's, and their result is LLVM IR.
    fn check(&self) -> Result<()> {
        if self.emit != Stage::Llvm && (self.after.is_some() || !self.diff.is_empty()) {
            bail!("`--after` and `--diff` show LLVM IR between two passes: give them with `--emit llvm`");
        }
        if !matches!(self.diff.len(), 0 | 2) {
            bail!("`--diff` takes two passes, as in `--diff resolve-hints,optimize`");
        }
        Ok(())
    }

    fn text(&self, stages: &Stages<'_>) -> Result<String> {
        match (&self.after, &self.diff[..]) {
            (_, [from, to]) => stages.difference(&self.kernel, from, to),
            (Some(pass), _) => stages.after(&self.kernel, pass),
            (None, _) => stages.text(&self.kernel, self.emit),
        }
    }
}

/// Looks for the kernel in the packages given, and prints its text for every architecture.
pub fn run(args: &Args) -> Result<ExitCode> {
    args.check()?;
    let folder = std::env::current_dir().context("there is no current folder")?;
    let wanted = Wanted { lines: args.lines || args.emit == Stage::Hints, ..Wanted::default() };
    let builder = Builder::new(&folder, &args.build, wanted, &Progress::on_stderr())?;
    let crates = builder.workspace.kernel_crates(&args.build.packages)?;
    let mut known = Vec::new();
    for kernels in &crates {
        let first = args.build.archs.first().context("no architecture is given")?;
        let build = |arch| Stages::build_without(&args.skip_pass, &builder, kernels, arch);
        let stages = build(first)?;
        if !stages.has_kernel(&args.kernel) {
            known.extend(stages.kernel_names().map(str::to_owned));
            continue;
        }
        print_line(args.text(&stages)?.trim_end())?;
        for arch in &args.build.archs[1..] {
            print_line(format_args!("\n{}", args.text(&build(arch)?)?.trim_end()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    bail!("there is no kernel `{}`; there are {}", args.kernel, known.join(", "))
}
