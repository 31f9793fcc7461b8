//! Sources of ours that are built on a user's machine, as parts of a key: whoever changes one gets another artifact.

use std::fs;
use std::path::Path;

use walkdir::WalkDir;

use super::error::{SetupError, at, at_walk};

/// Path and content of each file, of files and folders given relative to `root`, in an order that is always the same.
pub(crate) fn parts(root: &Path, sources: &[&str]) -> Result<Vec<Vec<u8>>, SetupError> {
    let mut parts = Vec::new();
    for source in sources.iter().map(|source| root.join(source)) {
        for entry in WalkDir::new(source).sort_by_file_name() {
            let entry = entry.map_err(at_walk)?;
            if entry.file_type().is_file() {
                let file = entry.path();
                parts.push(file.strip_prefix(root).unwrap_or(file).as_os_str().as_encoded_bytes().to_owned());
                parts.push(fs::read(file).map_err(at("read", file))?);
            }
        }
    }
    Ok(parts)
}
