//! Everything that can go wrong here, each in one sentence.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use crate::{ImageError, Message, ParseError, PtxError};

/// Why there is no cubin, no disassembly or no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is not there, or not a program.
    #[error("cannot run {tool} at `{}` ({source}): `cargo latch doctor` tells how to get it", .path.display())]
    Launch {
        /// Which program.
        tool: &'static str,
        /// Where it was looked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The PTX file cannot be read.
    #[error("cannot read the PTX file `{}`: {source}", .path.display())]
    ReadPtx {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be written; nothing is left of it.
    #[error("cannot write `{}`: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not the name of a GPU architecture at all.
    #[error("`{arch}` is not a GPU architecture: write it like sm_90 or sm_120a")]
    BadArch {
        /// What was asked for.
        arch: String,
    },
    /// A name of the right form that this ptxas does not know.
    #[error("ptxas {version} does not know the architecture `{arch}`: it assembles for {}", .known.join(", "))]
    UnknownArch {
        /// What was asked for.
        arch: String,
        /// The release of ptxas.
        version: String,
        /// What it knows, without the `a` and `f` variants.
        known: Vec<String>,
    },
    /// The PTX was written for a GPU that the asked one cannot stand in for.
    #[error("PTX for `{target}` cannot be assembled for `{arch}` ({said}): build the PTX for `{arch}` or an older one")]
    WrongTarget {
        /// The PTX's `.target`.
        target: String,
        /// What was asked for.
        arch: String,
        /// What ptxas said.
        said: String,
    },
    /// ptxas found the PTX faulty.
    #[error("ptxas refused {ptx} for {arch}: {}", summary(.messages))]
    Refused {
        /// The PTX file, or that it was text.
        ptx: String,
        /// What it was to be assembled for.
        arch: String,
        /// Everything that ptxas said, with the PTX's lines.
        messages: Vec<Message>,
    },
    /// nvdisasm found the cubin faulty.
    #[error("nvdisasm refused the cubin for {arch}: {}", summary(.messages))]
    NotDisassembled {
        /// What the cubin is for.
        arch: String,
        /// Everything that nvdisasm said.
        messages: Vec<Message>,
    },
    /// The program broke down, or succeeded without an output.
    #[error("{tool} ended with {status} and this last line: {last_line}")]
    Broken {
        /// Which program.
        tool: &'static str,
        /// How it ended.
        status: ExitStatus,
        /// The end of what it printed.
        last_line: String,
    },
    /// nvdisasm's text is not in the form known here.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The PTX is not in the form known here.
    #[error(transparent)]
    Ptx(#[from] PtxError),
    /// The cubin is not an ELF file as known here.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A witness is assembled from the code alone.
    #[error("the PTX has source locations of its own (line {line}): split it before a witness is assembled")]
    HasLocations {
        /// The first line with one.
        line: usize,
    },
    /// Line information changed the machine code, so that the witness says nothing about what is shipped.
    #[error("assembled with line information, ptxas writes other code for {arch}: {} differ", .sections.join(", "))]
    WitnessDiffers {
        /// What it was assembled for.
        arch: String,
        /// The sections that differ.
        sections: Vec<String>,
    },
    /// The cubin holds a kernel of which ptxas gave no figures.
    #[error("ptxas reported no registers for the kernel `{kernel}`: this release of ptxas is not understood")]
    NoFigures {
        /// The kernel.
        kernel: String,
    },
}

/// The first real error, and how many more there are.
fn summary(messages: &[Message]) -> String {
    // ptxas closes with "aborted due to errors", which says nothing.
    let faults: Vec<&Message> = messages.iter().filter(|m| m.severity >= crate::Severity::Error).collect();
    let told: Vec<&&Message> = faults.iter().filter(|m| !m.text.starts_with("Ptx assembly aborted")).collect();
    match (told.as_slice(), faults.as_slice()) {
        ([], []) => "it did not say why".to_owned(),
        ([], [first, ..]) => first.to_string(),
        ([only], _) => only.to_string(),
        ([first, rest @ ..], _) => format!("{first}, and {} more", rest.len()),
    }
}
