//! The command line: what rustc passes to the linker of an `llbc` target, and a few options of our own.
//!
//! rustc passes object files and rlibs in link order, `--export-symbol` for every public symbol of a cdylib, `-L` for
//! libraries (which bitcode has none of), `--target`, `--target-cpu`, `--target-feature`, `-O…`, `--debug`, `--lto` and
//! `-o`. Long command lines arrive as `@file`. Our own options come through `-Clink-arg`. For AMD's target, which rustc
//! links in another way, `cargo latch` calls the linker itself, with the same options.

use crate::Error;
use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hint_record::Route;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Links device bitcode into PTX or AMD's assembly, with loop hints resolved.
#[derive(Parser, Clone, Debug)]
#[command(name = "latch-link", version)]
pub struct Args {
    /// Bitcode files and rlibs, in link order.
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,

    /// The file to write: PTX, or AMD's assembly.
    #[arg(short, long)]
    pub output: PathBuf,

    /// Where to write the machine code as an ELF object too, for AMD's GPUs.
    #[arg(long)]
    pub object: Option<PathBuf>,

    /// The target triple.
    #[arg(long, default_value = "nvptx64-nvidia-cuda")]
    pub target: String,

    /// The GPU, for example sm_90 or gfx1100.
    #[arg(long)]
    pub target_cpu: String,

    /// Target features, for example +ptx86.
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    pub target_feature: String,

    /// A symbol that stays visible. Kernels always do.
    #[arg(long)]
    pub export_symbol: Vec<String>,

    /// How far to optimize: 0, 1, 2, 3, s or z.
    #[arg(short = 'O', default_value = "0")]
    pub optimize: OptLevel,

    /// Who makes PTX of the resolved module.
    #[arg(long, default_value = Route::Llc.name(), value_parser = routes())]
    pub route: Route,

    /// The file libnvvm.so.4 of a CUDA toolkit, for `--route nvvm`.
    #[arg(long)]
    pub libnvvm: Option<PathBuf>,

    /// May a product and a sum be computed as one, without rounding in between?
    #[arg(long, default_value = "off")]
    pub fp_contract: Contraction,

    /// Where libraries lie. Accepted, and of no use: bitcode links no libraries.
    #[arg(short = 'L')]
    pub library_path: Vec<PathBuf>,

    /// Accepted: debug information is kept wherever the objects have it.
    #[arg(long)]
    pub debug: bool,

    /// Accepted: all objects are always linked into one module.
    #[arg(long)]
    pub lto: bool,

    /// Where to write the report on hints and kernels, as JSON.
    #[arg(long)]
    pub report: Option<PathBuf>,

    /// Write the report beside the output, as NAME.hints.json.
    #[arg(long, conflicts_with = "report")]
    pub report_beside_output: bool,

    /// What tells this linker and its LLVM from others, for the results that are kept. It stands in the command line
    /// also so that cargo links again when it changes.
    #[arg(long, hide = true)]
    pub identity: Option<String>,

    /// A folder for the module's text after every pass: NN-name.ll, in the order of the passes.
    #[arg(long)]
    pub keep_intermediates: Option<PathBuf>,

    /// Verify the module after every pass. Debug builds of this linker always do.
    #[arg(long)]
    pub verify_each: bool,

    /// Print how long every pass took.
    #[arg(long)]
    pub timings: bool,

    /// Leave a pass out, to find the one that does harm. Only some can be.
    #[arg(long, value_name = "PASS")]
    pub skip_pass: Vec<String>,
}

/// rustc's optimization levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum OptLevel {
    #[value(name = "0")]
    None,
    #[value(name = "1")]
    Less,
    #[value(name = "2")]
    More,
    #[value(name = "3")]
    Aggressive,
    #[value(name = "s")]
    Size,
    #[value(name = "z")]
    SizeMin,
}

/// The names of the routes, with what `--help` says of each.
fn routes() -> impl TypedValueParser<Value = Route> {
    let values = Route::ALL.map(|route| {
        PossibleValue::new(route.name()).help(match route {
            Route::Llc => "LLVM's own optimizer and code generation, in this process",
            Route::Nvvm => "NVIDIA's libNVVM",
        })
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Route>())
}

/// What happens to a product that is added to something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Contraction {
    /// It is rounded first, as the source says.
    Off,
    /// It may be fused with the sum.
    On,
}

impl Args {
    /// Where the report goes.
    pub fn report_path(&self) -> Option<PathBuf> {
        let beside = self.report_beside_output.then(|| self.output.with_extension("hints.json"));
        beside.or_else(|| self.report.clone())
    }

    /// Reads a command line, program name first. `@file` stands for the arguments in the file, one a line.
    pub fn read(command_line: impl IntoIterator<Item = OsString>) -> Result<Args, Error> {
        let mut expanded = Vec::new();
        for argument in command_line {
            match argument.to_str().and_then(|text| text.strip_prefix('@')) {
                Some(file) => expanded.extend(read_response_file(Path::new(file))?),
                None => expanded.push(argument),
            }
        }
        Args::try_parse_from(expanded).map_err(Error::CommandLine)
    }
}

/// rustc writes one argument a line and puts a backslash before blanks and backslashes.
fn read_response_file(path: &Path) -> Result<Vec<OsString>, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let unescape = |line: &str| {
        let mut escaped = false;
        let kept = line.chars().filter(|&character| {
            escaped = character == '\\' && !escaped;
            !escaped
        });
        OsString::from(kept.collect::<String>())
    };
    Ok(text.lines().filter(|line| !line.is_empty()).map(unescape).collect())
}
