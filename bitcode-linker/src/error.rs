//! Everything that can end a link, each in one sentence.

use std::io;
use std::path::PathBuf;

/// The compiler that this linker was built with, and whose LLVM it links.
const RUST: &str = env!("LATCH_RUST_RELEASE");

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum Error {
    #[error("{0}")]
    CommandLine(clap::Error),
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{input} is no LLVM bitcode: build device crates with `cargo latch build`")]
    NotBitcode { input: String },
    #[error(
        "{input} was written by LLVM {found}, and this linker reads LLVM {expected}: rebuild it with Rust {RUST} \
         (`cargo latch build` does)"
    )]
    WrongVersion { input: String, found: String, expected: u32 },
    #[error("{} is a damaged archive: {message}", path.display())]
    Archive { path: PathBuf, message: String },
    #[error("LLVM cannot read {input}: {message}")]
    Parse { input: String, message: String },
    #[error(
        "{input} was compiled for another target than this link's: `{found}` against `{own}`; build device crates for one \
         target with Rust {RUST}, as `cargo latch build` does"
    )]
    OtherTarget { input: String, found: String, own: String },
    #[error("LLVM cannot link {input} with the objects before it: {message}")]
    Merge { input: String, message: String },
    #[error("no object among the inputs holds a kernel: mark one with `#[kernel]`")]
    NoKernel,
    #[error("`{symbol}` is not defined by any object; it is used in `{user}`")]
    Undefined { symbol: String, user: String },
    #[error("LLVM has no target `{triple}`: Latch builds for nvptx64-nvidia-cuda and amdgcn-amd-amdhsa")]
    UnknownTarget { triple: String },
    #[error(
        "`{cpu}` is no GPU that this LLVM knows; `rustc --print target-cpus --target {triple}` lists those that it does"
    )]
    UnknownCpu { cpu: String, triple: &'static str },
    #[error("libNVVM makes code for NVIDIA's GPUs alone: take `--route llc` for {cpu}")]
    NvvmForAmd { cpu: String },
    #[error("`--object` is for AMD's GPUs: for {cpu} ptxas makes the machine code, of the PTX")]
    ObjectForNvidia { cpu: String },
    #[error(
        "a shared array in `{function}` has no constant size: build device crates with `-Cno-prepopulate-passes`, as \
         `cargo latch build` does"
    )]
    SharedArray { function: String },
    #[error(
        "an atomic operation in `{function}` does not follow the marker of its scope: build device crates with \
         `-Cno-prepopulate-passes`, as `cargo latch build` does"
    )]
    AtomicScope { function: String },
    #[error(transparent)]
    Hints(#[from] nounroll_metadata::Error),
    #[error("LLVM's pass pipeline `{pipeline}` failed: {message}")]
    Optimize { pipeline: String, message: String },
    #[error("LLVM's verifier refuses the module after the pass `{pass}`; this is a fault of Latch: {message}")]
    Invalid { pass: &'static str, message: String },
    #[error("LLVM's verifier refuses the module with its instructions numbered; this is a fault of Latch: {message}")]
    Numbered { message: String },
    #[error("this link has no pass `{name}` to skip; it has {passes}")]
    NoPass { name: String, passes: String },
    #[error("the pass `{pass}` cannot be skipped: {reason}")]
    Needed { pass: &'static str, reason: &'static str },
    #[error(
        "LLVM made a table of shared addresses, `{table}`, that `{function}` reads otherwise than by an index; this is a \
         fault of Latch"
    )]
    SharedTable { table: String, function: String },
    #[error("the static `{name}` starts with the address of shared memory, which is there only while a block runs")]
    SharedInitializer { name: String },
    #[error("LLVM cannot make code for {cpu}: {message}")]
    Codegen { cpu: String, message: String },
    #[error(transparent)]
    Nvvm(#[from] crate::nvvm::Error),
}
