//! What can go wrong while setting up. Each message says what was wanted, where, and what to do about it.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// A step of the set-up that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// There is no folder to keep anything in.
    #[error("there is no cache folder for this user (no HOME): set LATCH_HOME to a folder that Latch may fill")]
    NoHome,
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The verb, as in "cannot *read* …".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A program is not here, or cannot be started.
    #[error("cannot {purpose}: cannot start {program}: {source}")]
    Start {
        /// What it was wanted for.
        purpose: String,
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// A program ran and reported failure.
    #[error("cannot {purpose}: `{command}` failed ({status}){}", after_colon(tail))]
    Failed {
        /// What it was wanted for.
        purpose: String,
        /// The command line.
        command: String,
        /// Its exit status.
        status: String,
        /// The end of what it printed.
        tail: String,
    },
    /// Something that has to be there first is not.
    #[error("{what} is missing ({tried}): {remedy}")]
    Missing {
        /// The thing.
        what: String,
        /// Where it was looked for, or how it was tried to get.
        tried: String,
        /// How to get it.
        remedy: String,
    },
    /// What was fetched is not what is pinned.
    #[error("{what} is not to be trusted: its SHA-256 is {found}, and {expected}; nothing of it was used: {remedy}")]
    Untrusted {
        /// The file.
        what: String,
        /// The hash that it has.
        found: String,
        /// What it should be, as a clause.
        expected: String,
        /// What to do about it.
        remedy: String,
    },
    /// A step ended well, but not all that it should make is there.
    #[error("{what} is incomplete: {} was not made; remove {} and run again", file.display(), folder.display())]
    Incomplete {
        /// The step's name.
        what: String,
        /// The file that should be there.
        file: PathBuf,
        /// Where it should be.
        folder: PathBuf,
    },
}

/// Makes an I/O error say which file it is about: `fs::read(p).map_err(at("read", p))`.
pub(crate) fn at(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> SetupError {
    move |source| SetupError::Io { action, path: path.as_ref().to_path_buf(), source }
}

/// The same for a walk through folders.
pub(crate) fn at_walk(error: walkdir::Error) -> SetupError {
    let path = error.path().unwrap_or(Path::new("a folder")).to_owned();
    let source = error.into_io_error().unwrap_or_else(|| io::Error::other("a link leads back to where it stands"));
    SetupError::Io { action: "read", path, source }
}

pub(crate) fn missing(what: impl Display, tried: impl Display, remedy: impl Display) -> SetupError {
    SetupError::Missing { what: what.to_string(), tried: tried.to_string(), remedy: remedy.to_string() }
}

fn after_colon(tail: &str) -> String {
    if tail.is_empty() { String::new() } else { format!(":\n{tail}") }
}
