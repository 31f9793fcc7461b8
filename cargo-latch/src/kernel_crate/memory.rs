//! What cargo said of a workspace, remembered as long as nothing that it depends on has changed.
//!
//! `cargo metadata` takes as long as a build with nothing to do. What it prints follows from the manifests of the
//! workspace and of packages given by a path, the lock file, cargo's configuration files and environment. All of these
//! are looked at again each time, by size and time: what has appeared or gone counts as a change. So do the folders
//! that may hold further members.
//!
//! When it is wrong: a file that changes within one tick of the file system's clock and keeps its size.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use cargo_metadata::Metadata;
use serde::{Deserialize, Serialize};

use crate::setup::Home;
use crate::setup::home::key_of;

/// A file's size and time in nanoseconds; none where there is no file.
type State = Option<(u64, u128)>;

#[derive(Serialize, Deserialize)]
struct Remembered {
    files: BTreeMap<PathBuf, State>,
    environment: Vec<(String, String)>,
    /// As cargo has printed it.
    metadata: String,
}

/// Where what is known of the workspace around a folder is kept.
pub struct Memory {
    file: PathBuf,
    folder: PathBuf,
}

impl Memory {
    /// For a folder and what cargo is asked.
    pub fn of(home: &Home, folder: &Path, question: &str) -> Memory {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let key = key_of([folder.as_os_str().as_encoded_bytes(), question.as_bytes()]);
        Memory { file: home.root().join("workspaces").join(key), folder }
    }

    /// What cargo would say.
    pub fn recall(&self) -> Option<Metadata> {
        let known: Remembered = serde_json::from_slice(&fs::read(&self.file).ok()?).ok()?;
        let is_same =
            known.environment == environment() && known.files.iter().all(|(file, state)| self::state(file) == *state);
        is_same.then(|| serde_json::from_str(&known.metadata).ok())?
    }

    /// Remembers what cargo has said. Not being able to costs time, not correctness.
    pub fn keep(&self, printed: &str, metadata: &Metadata) {
        let files = self.files(metadata).into_iter().map(|file| (file.clone(), state(&file))).collect();
        let known = Remembered { files, environment: environment(), metadata: printed.to_owned() };
        let write = || -> anyhow::Result<()> {
            fs::create_dir_all(self.file.parent().unwrap_or(Path::new(".")))?;
            crate::build::outputs::write_whole(&self.file, &serde_json::to_vec(&known)?)
        };
        if let Err(error) = write() {
            tracing::debug!(%error, "the workspace is not remembered");
        }
    }

    fn files(&self, metadata: &Metadata) -> Vec<PathBuf> {
        let root = metadata.workspace_root.as_std_path();
        let own = metadata.packages.iter().filter(|package| package.source.is_none());
        let manifests: Vec<PathBuf> = own.map(|package| package.manifest_path.clone().into_std_path_buf()).collect();
        // A member may appear beside one, or in a folder that the manifest's patterns name.
        let beside = manifests.iter().filter_map(|manifest| Some(manifest.parent()?.parent()?.to_owned()));
        let patterns =
            members(root).into_iter().map(|pattern| root.join(pattern.split('*').next().unwrap_or_default()));
        // Targets are found by their files.
        let sources = manifests.iter().filter_map(|manifest| manifest.parent()).flat_map(targets);
        let configuration = crate::build::configuration_files(&self.folder);
        let own_root = [root.join("Cargo.toml"), root.join("Cargo.lock")];
        let above = self.folder.ancestors().map(|folder| folder.join("Cargo.toml"));
        let mut files: Vec<PathBuf> =
            beside.chain(patterns).chain(sources).chain(configuration).chain(own_root).chain(above).collect();
        files.extend(manifests);
        files.sort();
        files.dedup();
        files
    }
}

/// Folders and files from which cargo infers a package's targets.
fn targets(package: &Path) -> Vec<PathBuf> {
    ["src", "src/lib.rs", "src/main.rs", "src/bin", "examples", "tests", "benches", "build.rs"]
        .map(|name| package.join(name))
        .to_vec()
}

fn members(root: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).ok().and_then(|text| text.parse::<toml::Table>().ok());
    let members = manifest.as_ref().and_then(|table| table.get("workspace")?.get("members")?.as_array());
    members.into_iter().flatten().filter_map(|member| member.as_str().map(str::to_owned)).collect()
}

/// A folder has the time at which an entry was last added or removed.
fn state(path: &Path) -> State {
    let about = fs::metadata(path).ok()?;
    Some((about.len(), about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos()))
}

fn environment() -> Vec<(String, String)> {
    let mut own: Vec<(String, String)> = env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| name.starts_with("CARGO") && !name.starts_with("CARGO_PKG_"))
        .collect();
    own.sort();
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = r#"{"packages": [], "workspace_members": [], "workspace_default_members": [], "resolve": null,
        "target_directory": "/t", "version": 1, "workspace_root": "ROOT", "metadata": null}"#;

    #[test]
    fn what_cargo_said_holds_until_something_changes() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let root = folder.path().join("w");
        fs::create_dir_all(root.join("kernels")).expect("made");
        fs::write(root.join("Cargo.toml"), "[workspace]\nmembers = [\"kernels/*\"]\n").expect("written");
        let memory = Memory::of(&Home::at(folder.path().join("home")), &root, "all");
        let printed = PRINTED.replace("ROOT", &root.to_string_lossy());
        let metadata: Metadata = serde_json::from_str(&printed).expect("metadata");
        let learn = || memory.keep(&printed, &metadata);
        assert!(memory.recall().is_none());
        learn();
        assert!(memory.recall().is_some());
        assert!(Memory::of(&Home::at(folder.path().join("home")), &root, "other").recall().is_none());
        fs::create_dir(root.join("kernels/new")).expect("made");
        assert!(memory.recall().is_none(), "a member may have appeared");
        learn();
        fs::write(root.join("Cargo.lock"), "").expect("written");
        assert!(memory.recall().is_none(), "a lock file has appeared");
        learn();
        fs::create_dir(root.join(".cargo")).expect("made");
        fs::write(root.join(".cargo/config.toml"), "[build]\ntarget-dir = \"elsewhere\"\n").expect("written");
        assert!(memory.recall().is_none(), "cargo is configured otherwise");
    }
}
