//! `cargo latch new`: a kernel crate to start from.
//!
//! The crate's texts are in the folder `template`. They are written into a folder of another name, which gets its own
//! when it is whole. device-std is taken from the checkout that the command was built from, and so, where it says so,
//! is the compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use crate::checkout;
use crate::commands::print_line;

/// The files of a new crate, with `{name}` and `{device-std}` to fill in.
const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("../template/Cargo.toml.in")),
    ("src/lib.rs", include_str!("../template/src/lib.rs.in")),
    ("latch.toml", include_str!("../template/latch.toml.in")),
    (".gitignore", "/target\n"),
];

/// The toolchain of the checkout, for commands of cargo's own in the new folder.
const TOOLCHAIN: &str = "rust-toolchain.toml";

/// Make a kernel crate to start from
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to make; its last part is the crate's name
    path: PathBuf,
    /// The crate's name, if another
    #[arg(long)]
    name: Option<String>,
}

/// Exit code 0 if the crate was made.
pub fn run(args: &Args) -> Result<ExitCode> {
    let path = std::path::absolute(&args.path).with_context(|| format!("cannot find {}", args.path.display()))?;
    let of_folder = || path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = args.name.clone().or_else(of_folder).unwrap_or_default();
    check_name(&name)?;
    ensure!(!path.exists(), "{} is there already: name a folder that is not", path.display());
    make(&path, &name, &checkout::folder()?)?;
    print_line(format!(
        "made the kernel crate `{name}` in {}\n\n\
         cargo latch build    # PTX for each --arch\n\
         cargo latch audit    # what became of every loop hint\n\
         cargo test           # the kernels on the CPU",
        args.path.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// What cargo and rustc take as the name of a library.
fn check_name(name: &str) -> Result<()> {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic());
    if starts && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_') {
        return Ok(());
    }
    bail!("`{name}` is no name for a crate: take letters, digits, `-` and `_`, a letter first, or give one with --name")
}

/// Writes all files, or none.
fn make(path: &Path, name: &str, checkout: &Path) -> Result<()> {
    let parent = path.parent().context("a crate cannot be the root of a file system")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    let partial = tempfile::Builder::new()
        .prefix(&format!(".{name}-"))
        .tempdir_in(parent)
        .with_context(|| format!("cannot write into {}", parent.display()))?;
    // TOML takes the strings of JSON, whatever is in the path.
    let library = serde_json::to_string(&checkout.join("device-std"))?;
    for (file, text) in FILES {
        let text = text.replace("{name}", name).replace("{device-std}", &library);
        write(&partial.path().join(file), &text)?;
    }
    let toolchain = checkout.join(TOOLCHAIN);
    let text = fs::read_to_string(&toolchain).with_context(|| format!("cannot read {}", toolchain.display()))?;
    write(&partial.path().join(TOOLCHAIN), &text)?;
    fs::rename(partial.keep(), path).with_context(|| format!("cannot make {}", path.display()))
}

fn write(file: &Path, text: &str) -> Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
