//! Files written whole or not at all.

use crate::Error;
use std::io::Write;
use std::path::Path;

/// Writes `contents` beside its place and moves it there, so that no one ever sees half of it.
pub fn write_whole(path: &Path, contents: &[u8]) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".latch-").tempfile_in(folder).map_err(failed)?;
    file.write_all(contents).map_err(failed)?;
    allow_reading(file.as_file()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// A temporary file is its owner's alone; an output is everybody's to read.
#[cfg(unix)]
fn allow_reading(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}
