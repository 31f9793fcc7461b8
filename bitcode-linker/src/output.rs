//! Files written whole or not at all.
//!
//! What is written goes to a temporary file beside its place first ([`stage`]), and is moved there when everything else
//! has succeeded ([`Staged::commit`]). What is no file and no folder, such as `/dev/null`, is written to directly.

use crate::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// An output that is ready and not in its place yet.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    File(NamedTempFile),
    ForDevice(Vec<u8>),
}

/// Prepares an output.
pub fn stage(path: &Path, contents: &[u8]) -> Result<Staged, Error> {
    let content = prepare(path, contents).map_err(|source| Error::Write { path: path.to_owned(), source })?;
    Ok(Staged { path: path.to_owned(), content })
}

/// Writes an output that stands for itself.
pub fn write_whole(path: &Path, contents: &[u8]) -> Result<(), Error> {
    stage(path, contents)?.commit()
}

impl Staged {
    /// Puts the output in its place.
    pub fn commit(self) -> Result<(), Error> {
        let result = match self.content {
            Content::File(file) => file.persist(&self.path).map(drop).map_err(|error| error.error),
            Content::ForDevice(contents) => fs::write(&self.path, contents),
        };
        result.map_err(|source| Error::Write { path: self.path, source })
    }
}

fn prepare(path: &Path, contents: &[u8]) -> io::Result<Content> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => return Ok(Content::ForDevice(contents.to_vec())),
        _ => {}
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".latch-").tempfile_in(folder)?;
    file.write_all(contents)?;
    allow_reading(file.as_file())?;
    Ok(Content::File(file))
}

/// A temporary file is its owner's alone; an output is everybody's to read.
#[cfg(unix)]
fn allow_reading(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading(_: &fs::File) -> io::Result<()> {
    Ok(())
}
