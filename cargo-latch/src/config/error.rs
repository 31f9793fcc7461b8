//! What can be wrong with a `latch.toml`.

use std::io;
use std::path::PathBuf;

/// Why a `latch.toml` is of no use.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum ConfigError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}:{line}:{column}: {message}", path.display())]
    Parse { path: PathBuf, line: usize, column: usize, message: String },
    #[error("{}:{line}: no kernel matches `{glob}`; there are {known}", path.display())]
    NoKernel { path: PathBuf, line: usize, glob: String, known: String },
}
