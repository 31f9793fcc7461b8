//! `cargo latch run`: a kernel's PTX on the CPU, with its result, its faults and what it costs.
//!
//! Kernels are built with source lines, which change no instruction, so that a fault and `--by-line` can name them.
//! What became of loop hints is not said here: that is the audit's. With `--ptx` nothing is built or set up.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use emulator::{Command, CommandError, Config, Counts, LaunchError, LineKey, Module, Report, Shape, parse_dims};

use crate::build::{BuildArgs, Builder, Wanted};
use crate::commands::print_line;
use crate::setup::Progress;
use crate::target::Target;

/// Run a kernel's PTX on the CPU; exit code 1 where the kernel breaks a rule
#[derive(Debug, clap::Args)]
#[command(after_help = ARGUMENTS)]
pub struct Args {
    /// The kernel; with --ptx it may be left out where the file has one only
    #[arg(required_unless_present = "ptx")]
    kernel: Option<String>,

    /// Blocks: X, or X,Y, or X,Y,Z
    #[arg(long, value_name = "BLOCKS", value_parser = parse_dims)]
    grid: [u32; 3],

    /// Threads of a block: X, or X,Y, or X,Y,Z
    #[arg(long, value_name = "THREADS", value_parser = parse_dims)]
    block: [u32; 3],

    /// Bytes of dynamic shared memory of a block
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: u32,

    /// An argument of the kernel, once for each of its parameters
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    args: Vec<String>,

    /// Print the counts of every source line too
    #[arg(long)]
    by_line: bool,

    /// Print the counts as JSON
    #[arg(long, conflicts_with = "by_line")]
    json: bool,

    /// Check nothing but bounds and alignment
    #[arg(long)]
    no_checks: bool,

    /// Let a barrier go on without threads that have exited, as GPUs do
    #[arg(long)]
    exited_threads_pass_barriers: bool,

    /// Report member masks that name lanes of a partial last warp that have no thread
    #[arg(long)]
    strict_masks: bool,

    /// The instructions that a warp may execute
    #[arg(long, value_name = "N")]
    step_limit: Option<u64>,

    /// Run this PTX and build nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = BUILD_OPTIONS)]
    ptx: Option<PathBuf>,

    #[command(flatten)]
    build: BuildArgs,
}

/// What a command line may say of builds.
const BUILD_OPTIONS: [&str; 8] =
    ["packages", "target", "archs", "hints", "profile", "route", "fp_contract", "features"];

const ARGUMENTS: &str = "\
Arguments of the kernel:
  7, -1.5             a number of the parameter's type
  u32:7               a number of the type named
  x.npy               a buffer with the array's content
  x.npy:y.npy         the same, written to y.npy after the launch
  f32[64,16]          a buffer that nothing wrote
  f32[64,16]=0        a buffer of that value
  f32[64,16]:y.npy    either, written to y.npy after the launch
A slice has two parameters: its buffer and its length.";

/// A kernel's PTX, and where paths in its line table start.
struct Text {
    ptx: String,
    file: PathBuf,
    root: PathBuf,
}

/// Exit code 1 if the kernel broke a rule.
pub fn run(args: &Args) -> Result<ExitCode> {
    let text = match &args.ptx {
        Some(file) => Text::read(file, Path::new(""))?,
        None => build(args)?,
    };
    match command(args).run(&text.ptx) {
        Ok(report) => print(args, &text, &report).map(|()| ExitCode::SUCCESS),
        Err(CommandError::Launch(LaunchError::Fault(mut fault))) => {
            if let Some((file, ..)) = &mut fault.source {
                *file = shortened(file, &text.root);
            }
            eprintln!("error: {fault}");
            Ok(ExitCode::FAILURE)
        }
        Err(error) => Err(explained(error, &text)),
    }
}

impl Text {
    fn read(file: &Path, root: &Path) -> Result<Text> {
        let ptx = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(Text { ptx, file: file.to_owned(), root: root.to_owned() })
    }
}

/// Builds the packages given up to the first that has the kernel.
fn build(args: &Args) -> Result<Text> {
    let [arch] = args.build.archs.as_slice() else { bail!("one architecture is run at a time: give --arch one name") };
    if arch.target() == Target::Amdgcn {
        bail!("the emulator runs PTX, and {arch} has none: give --arch one of NVIDIA's, such as sm_90");
    }
    let wanted = args.kernel.as_deref().unwrap_or_default();
    let folder = std::env::current_dir().context("there is no current folder")?;
    let with_lines = Wanted { lines: true, ..Wanted::default() };
    let builder = Builder::new(&folder, &args.build, with_lines, &Progress::on_stderr())?;
    let mut known = Vec::new();
    for kernels in builder.workspace.kernel_crates(&args.build.packages)? {
        let built = builder.build(&kernels, arch, None)?;
        if built.report.kernels.iter().any(|kernel| kernel.name == wanted) {
            let file = PathBuf::from(format!("the PTX of `{}`", kernels.name));
            return Ok(Text { ptx: built.text, file, root: builder.workspace.root().to_owned() });
        }
        known.extend(built.report.kernels.into_iter().map(|kernel| kernel.name));
    }
    bail!("there is no kernel `{wanted}`; there are {}", known.join(", "))
}

fn command(args: &Args) -> Command {
    let mut config = Config::default();
    config.uninitialized = !args.no_checks;
    config.races = !args.no_checks;
    config.exited_threads_pass_barriers = args.exited_threads_pass_barriers;
    config.masks_may_name_no_thread = !args.strict_masks;
    config.step_limit = args.step_limit.unwrap_or(config.step_limit);
    let shape = Shape { grid: args.grid, block: args.block, shared_bytes: args.shared };
    Command { kernel: args.kernel.clone().unwrap_or_default(), shape, args: args.args.clone(), config }
}

/// An error with what its reader needs beside it.
fn explained(error: CommandError, text: &Text) -> anyhow::Error {
    match &error {
        CommandError::Load(_) => anyhow::Error::new(error).context(format!("cannot run {}", text.file.display())),
        CommandError::Launch(LaunchError::ArgumentCount { kernel, .. }) => match parameters(&text.ptx, kernel) {
            Some(parameters) => anyhow::anyhow!("{error}; its parameters are {parameters}"),
            None => error.into(),
        },
        _ => error.into(),
    }
}

/// The kernel's parameters as PTX declares them; `None` where it has none.
fn parameters(ptx: &str, kernel: &str) -> Option<String> {
    let parameters = Module::load(ptx).ok()?.kernel(kernel).ok()?.parameters();
    (!parameters.is_empty()).then(|| parameters.join(", "))
}

fn print(args: &Args, text: &Text, report: &Report) -> Result<()> {
    if args.json {
        return print_line(serde_json::to_string_pretty(&report.counts)?);
    }
    print_line(&report.counts)?;
    if report.shared_bytes > 0 {
        print_line(format_args!("shared memory: {} bytes a block", report.shared_bytes))?;
    }
    if args.by_line {
        print_line(format_args!("\n{}", by_line(&report.counts, &text.root)))?;
    }
    Ok(())
}

/// A row for every line that ran.
fn by_line(counts: &Counts, root: &Path) -> String {
    let mut rows = vec![
        "  warp instr.  thread instr.         flops  global bytes     sectors   conflicts   divergent  line".to_owned(),
    ];
    rows.extend(counts.lines.iter().map(|(key, line)| {
        format!(
            "{:>13} {:>14} {:>13} {:>13} {:>11} {:>11} {:>11}  {}",
            line.warp_instructions,
            line.thread_instructions,
            line.flops,
            line.global_bytes,
            line.global_sectors,
            line.bank_conflicts,
            line.divergent_branches,
            place(key, root)
        )
    }));
    rows.join("\n")
}

/// A line as people look for it.
fn place(key: &LineKey, root: &Path) -> String {
    if key.file.is_empty() {
        return format!("PTX line {}", key.line);
    }
    format!("{}:{}", shortened(&key.file, root), key.line)
}

/// A path from the workspace's folder on, if it lies there.
fn shortened(file: &str, root: &Path) -> String {
    Path::new(file).strip_prefix(root).unwrap_or(Path::new(file)).display().to_string()
}
