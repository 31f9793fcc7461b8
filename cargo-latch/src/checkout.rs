//! The checkout of Latch that this command was built from: what `demo` and `test` work on, and where the plugin's
//! sources are.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// The checkout's folder, if it is still there.
pub fn folder() -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/"));
    if !folder.join("codegen-pass/backend/Cargo.toml").is_file() {
        bail!(
            "the checkout of Latch that this command was built from is no longer at {}: build it again",
            folder.display()
        );
    }
    Ok(folder.to_owned())
}
