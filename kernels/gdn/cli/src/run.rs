//! `gated-delta run`: the rule on arrays in NumPy's files, on the emulator or a GPU.

use std::path::PathBuf;

use anyhow::Result;
use device_std::math::{Bf16, F16};
use gated_delta::plan::Kernel;
use gated_delta::problem::Format;
use gated_delta::{Element, Inputs, Kernels, Tensor};
use launch::{Cudarc, Emulator, Launcher};

use crate::arrays::{Loaded, Stored, indices, write};
use crate::prepared;

/// Compute the gated delta rule on arrays in .npy files
#[derive(Debug, clap::Args)]
#[command(after_help = ARRAYS)]
pub struct Args {
    /// The kernels' PTX, or a folder with it for several architectures
    #[arg(long, value_name = "FILE")]
    pub ptx: PathBuf,

    /// What to run on
    #[arg(long, value_enum, default_value = "emulator")]
    pub on: On,

    /// The kernel; the one that suits the sizes and the device best if it is left out
    #[arg(long, value_enum)]
    pub kernel: Option<Choice>,

    /// Queries
    #[arg(long, value_name = "FILE")]
    pub q: PathBuf,

    /// Keys
    #[arg(long, value_name = "FILE")]
    pub k: PathBuf,

    /// Values
    #[arg(long, value_name = "FILE")]
    pub v: PathBuf,

    /// Gates: the factors themselves, not their logarithms
    #[arg(long, value_name = "FILE")]
    pub g: PathBuf,

    /// How much of the old value is replaced
    #[arg(long, value_name = "FILE")]
    pub beta: PathBuf,

    /// States before the first tokens; zeros if there are none
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// The first token of each sequence, and the end of the last; one sequence if it is left out
    #[arg(long, value_name = "FILE")]
    pub starts: Option<PathBuf>,

    /// Where the outputs go
    #[arg(long, value_name = "FILE")]
    pub out_y: PathBuf,

    /// Where the states after the last tokens go
    #[arg(long, value_name = "FILE")]
    pub out_state: Option<PathBuf>,
}

const ARRAYS: &str = "\
Arrays:
  q, k            [tokens, key_heads, dk]           float32, float16, or uint16 for the bits of bfloat16
  v, y            [tokens, heads, dv]               as q
  g, beta         [tokens, heads]                   float32
  states          [sequences, heads, dv, dk]        float32
  starts          [sequences + 1]                   int32, int64 or uint32";

/// What kernels run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum On {
    /// The CPU, every access checked
    Emulator,
    /// The first GPU
    Gpu,
}

/// A kernel by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs)]
pub enum Choice {
    Recurrent,
    Chunk16,
    Chunk32,
    Chunk64,
    Mma,
}

impl Choice {
    fn kernel(self) -> Kernel {
        match self {
            Choice::Recurrent => Kernel::Recurrent,
            Choice::Chunk16 => Kernel::Chunk(16),
            Choice::Chunk32 => Kernel::Chunk(32),
            Choice::Chunk64 => Kernel::Chunk(64),
            Choice::Mma => Kernel::Mma,
        }
    }
}

/// Reads the arrays, computes, and writes the outputs.
pub fn run(args: &Args) -> Result<()> {
    let found = prepared::find(&args.ptx)?;
    match args.on {
        On::Emulator => {
            let target = found[0].target.clone();
            let (kernels, _) = prepared::load(found, || Ok(Emulator::new(&target)?))?;
            compute(&kernels, args)
        }
        On::Gpu => {
            let (kernels, _) = prepared::load(found, || Ok(Cudarc::open(0)?))?;
            compute(&kernels, args)
        }
    }
}

fn compute<L: Launcher>(kernels: &Kernels<L>, args: &Args) -> Result<()> {
    let q = Loaded::read(&args.q)?;
    match q.format()? {
        Format::F32 => compute_of::<L, f32>(kernels, args, &q),
        Format::F16 => compute_of::<L, F16>(kernels, args, &q),
        Format::Bf16 => compute_of::<L, Bf16>(kernels, args, &q),
    }
}

fn compute_of<L: Launcher, T: Element + Stored>(kernels: &Kernels<L>, args: &Args, q: &Loaded<3>) -> Result<()> {
    let [k, v] = [Loaded::<3>::read(&args.k)?, Loaded::<3>::read(&args.v)?];
    let [g, beta] = [Loaded::<2>::read(&args.g)?, Loaded::<2>::read(&args.beta)?];
    let state = args.state.as_deref().map(Loaded::<4>::read).transpose()?;
    let ([q_values, k_values, v_values], [g_values, beta_values]) =
        ([q.values::<T>()?, k.values()?, v.values()?], [g.values()?, beta.values()?]);
    let state_values = state.as_ref().map(Loaded::values::<f32>).transpose()?;
    let ([tokens, _, dk], [_, heads, dv]) = (q.shape, v.shape);
    let starts = match &args.starts {
        Some(path) => indices(path)?,
        None => vec![0, u32::try_from(tokens)?],
    };
    let inputs = Inputs {
        q: Tensor::dense(&q_values, q.shape),
        k: Tensor::dense(&k_values, k.shape),
        v: Tensor::dense(&v_values, v.shape),
        g: Tensor::dense(&g_values, g.shape),
        beta: Tensor::dense(&beta_values, beta.shape),
        state: state.as_ref().zip(state_values.as_ref()).map(|(state, values)| Tensor::dense(values, state.shape)),
        starts: &starts,
    };
    let call = kernels.prepare(&inputs)?;
    let outputs = call.run(args.kernel.map_or_else(|| call.choose(), Choice::kernel))?;
    if let Some(path) = &args.out_state {
        write(path, &outputs.state, &[starts.len() - 1, heads, dv, dk])?;
    }
    write(&args.out_y, &outputs.y, &[tokens, heads, dv])
}
