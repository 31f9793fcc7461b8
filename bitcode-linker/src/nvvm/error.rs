//! What can go wrong on the route by libNVVM.

use std::path::PathBuf;

/// Why libNVVM made no PTX.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum Error {
    #[error(
        "`--route nvvm` needs libNVVM and none is named: give `--libnvvm` the libnvvm.so.4 of a CUDA toolkit (nvvm/lib64) \
         or of PyPI's wheel nvidia-nvvm, as `cargo latch` does, or take `--route llc`, which needs none"
    )]
    NotNamed,
    #[error(
        "cannot load libNVVM from {}: {reason}; `cargo latch setup` fetches it from PyPI (wheel nvidia-nvvm), and \
         `--route llc` needs none",
        path.display()
    )]
    Load { path: PathBuf, reason: String },
    #[error(
        "{} is no libNVVM that Latch can use: it has no function `{function}`; take that of CUDA {NEEDED} or newer",
        path.display()
    )]
    NoFunction { path: PathBuf, function: &'static str },
    #[error("libNVVM at {} does not know {arch}; `--route llc` may", path.display())]
    UnknownArch { path: PathBuf, arch: String },
    #[error(
        "libNVVM compiles for {cpu} only what LLVM {found} wrote, and Rust writes LLVM {own}: `--route nvvm` is for sm_100 \
         and later; take `--route llc` for {cpu}"
    )]
    OldDialect { cpu: String, found: u32, own: u32 },
    #[error(
        "libNVVM at {} reads LLVM {found} for {cpu}, and Rust writes LLVM {own}: take that of CUDA {NEEDED} or newer, or \
         `--route llc`",
        path.display()
    )]
    OldLibrary { path: PathBuf, cpu: String, found: u32, own: u32 },
    #[error("libNVVM {step}: {log}{}; `--route llc` may take it", adapted(changes))]
    Refused { step: &'static str, log: String, changes: Vec<String> },
    #[error("libNVVM failed in `{function}`: {reason}")]
    Call { function: &'static str, reason: String },
    #[error("LLVM's verifier refuses the module with its instructions numbered; this is a fault of Latch: {0}")]
    Numbers(String),
    #[error("libNVVM's PTX is no text: {0}")]
    NotText(#[from] std::string::FromUtf8Error),
}

/// The first CUDA whose libNVVM reads what Rust writes.
const NEEDED: &str = "13.5";

fn adapted(changes: &[String]) -> String {
    if changes.is_empty() { String::new() } else { format!(" (adapted for libNVVM: {})", changes.join("; ")) }
}
