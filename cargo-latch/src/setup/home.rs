//! The folder that Latch fills: `LATCH_HOME`, or `latch` in the user's cache folder.
//!
//! What it holds are *artifacts*: a folder `<name>-<key>` each, where the key is a hash of everything the content
//! depends on. An artifact is whole or not there: it is made in `<name>-<key>.partial`, gets its stamp, and is then
//! renamed. So a run that is interrupted leaves only a partial folder, which the next run throws away, and another key
//! is another folder. One lock file a name makes two runs at once wait for each other.
//!
//! Nothing is used that is not as it was made: an artifact is held to its `manifest` whenever it is looked for, which
//! costs a `stat` a file, and a hash of all of them only after one has another size or time. A damaged one counts as
//! not there, so that whoever needs it makes it again. One without a manifest is an older Latch's, and gets one then.
//!
//! A home that only looks ([`Home::looking`]) writes nothing, for `doctor`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use result_cache::Cache;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::error::{SetupError, at};
use super::manifest::{self, Manifest};
use super::process;
use super::progress::Progress;

/// The file that says that an artifact is whole; it holds the key in full.
pub(super) const STAMP: &str = ".complete";
const PARTIAL: &str = ".partial";
/// Hex digits of the key that go into the folder's name.
const SHOWN_DIGITS: usize = 12;

/// A hash of all that an artifact's content depends on, as hex.
pub fn key_of<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // The length keeps ["ab", "c"] apart from ["a", "bc"].
        hash.update((part.as_ref().len() as u64).to_le_bytes());
        hash.update(part.as_ref());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Something that is made once and kept.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// What it is, as in progress lines and folder names.
    pub name: &'static str,
    /// From [`key_of`].
    pub key: String,
    /// Files it must have, relative to its folder.
    pub needs: Vec<PathBuf>,
}

impl Artifact {
    fn folder_name(&self) -> String {
        format!("{}-{}", self.name, &self.key[..SHOWN_DIGITS.min(self.key.len())])
    }

    fn is_whole(&self, folder: &Path) -> bool {
        fs::read_to_string(folder.join(STAMP)).is_ok_and(|stamp| stamp == self.key) && self.lacking(folder).is_none()
    }

    fn lacking(&self, folder: &Path) -> Option<&PathBuf> {
        self.needs.iter().find(|file| !fs::metadata(folder.join(file)).is_ok_and(|found| found.len() > 0))
    }
}

/// The folder that Latch fills.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
    only_looks: bool,
}

/// How an artifact was found.
enum Found {
    Whole(PathBuf),
    /// It is there, but a file of it is not as it was made.
    Damaged(PathBuf),
    Absent,
}

/// Held while an artifact is made; the system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held for its drop")] File);

impl Home {
    /// `LATCH_HOME`, else `latch` in the user's cache folder.
    pub fn of_user() -> Result<Self, SetupError> {
        let root = match std::env::var_os("LATCH_HOME").filter(|value| !value.is_empty()) {
            Some(root) => PathBuf::from(root),
            None => dirs::cache_dir().ok_or(SetupError::NoHome)?.join("latch"),
        };
        // Programs are run from other folders, so a relative path would lose its meaning.
        Ok(Self::at(std::path::absolute(&root).map_err(at("find", &root))?))
    }

    /// A home in a given place; it is created when something is put there.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), only_looks: false }
    }

    /// The same home for somebody who only looks: nothing is written there, not even what would be remembered.
    pub fn looking(&self) -> Self {
        Self { only_looks: true, ..self.clone() }
    }

    /// Whether nothing may be written.
    pub(super) fn only_looks(&self) -> bool {
        self.only_looks
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where results of builds are kept ([`result_cache`]), for the programs that a build runs; none where nothing is
    /// to be kept.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        result_cache::folder(|| Some(self.root.join("cache")))
    }

    /// The same, for this program.
    pub fn cache(&self) -> Cache {
        self.cache_folder().map_or_else(Cache::none, |folder| Cache::at(folder, result_cache::LIMIT))
    }

    /// The hash of a program's content, remembered as long as the file's size and time stay the same.
    pub fn content_of(&self, program: &Path) -> Result<String, SetupError> {
        process::remembered(self, program, &["content"], || {
            let contents = fs::read(program).map_err(at("read", program))?;
            Ok(key_of([contents]))
        })
    }

    /// Where the artifact is or would be.
    pub fn folder(&self, artifact: &Artifact) -> PathBuf {
        self.root.join(artifact.folder_name())
    }

    /// The artifact's folder if it is there, whole, and as it was made.
    pub fn find(&self, artifact: &Artifact) -> Option<PathBuf> {
        match self.look(artifact) {
            Found::Whole(folder) => Some(folder),
            Found::Damaged(_) | Found::Absent => None,
        }
    }

    fn look(&self, artifact: &Artifact) -> Found {
        let folder = self.folder(artifact);
        if !artifact.is_whole(&folder) {
            return Found::Absent;
        }
        match Manifest::read(&folder) {
            Some(manifest) => self.damaged(&manifest, &folder).map_or(Found::Whole(folder), Found::Damaged),
            None if Manifest::exists(&folder) => Found::Damaged(manifest::file_in(&folder)),
            None => {
                self.adopt(&folder);
                Found::Whole(folder)
            }
        }
    }

    /// The file that is not as the manifest says. Found whole, the state that the files are in is remembered.
    fn damaged(&self, manifest: &Manifest, folder: &Path) -> Option<PathBuf> {
        let Some(state) = manifest.state(folder) else { return manifest.damaged(folder) };
        let whole = || manifest.damaged(folder).map_or(Ok(String::new()), Err);
        process::remembered_as(self, &state, whole).err().map(|file| folder.join(file))
    }

    /// Gives a manifest to what an older Latch made.
    fn adopt(&self, folder: &Path) {
        let written = |manifest: Manifest| manifest.write(folder);
        if !self.only_looks
            && let Err(error) = Manifest::of(folder).and_then(written)
        {
            // It was whole without one for its older maker too.
            tracing::debug!(%error, "no manifest could be written");
        }
    }

    /// The artifact's folder, made by `make` if it is not there. `make` gets an empty folder that is renamed
    /// afterwards, so it must not write that folder's path into files.
    pub fn ensure(
        &self,
        artifact: &Artifact,
        progress: &Progress,
        make: impl FnOnce(&Path) -> Result<(), SetupError>,
    ) -> Result<PathBuf, SetupError> {
        if let Some(folder) = self.find(artifact) {
            return Ok(folder);
        }
        let _lock = self.lock(artifact.name, progress)?;
        match self.look(artifact) {
            Found::Whole(made_by_another_run) => return Ok(made_by_another_run),
            Found::Damaged(file) => tracing::warn!("{} is not as it was made: making it again", file.display()),
            Found::Absent => {}
        }
        self.make_locked(artifact, make)
    }

    /// Folders of the same name with another key: left by another version, and nobody's but its.
    pub fn stale(&self, artifact: &Artifact) -> Vec<PathBuf> {
        let current = self.folder(artifact);
        let mut stale = self.named(artifact.name);
        stale.retain(|folder| *folder != current);
        stale
    }

    fn make_locked(
        &self,
        artifact: &Artifact,
        make: impl FnOnce(&Path) -> Result<(), SetupError>,
    ) -> Result<PathBuf, SetupError> {
        for left in self.named(artifact.name).iter().filter(|path| path.to_string_lossy().ends_with(PARTIAL)) {
            remove_folder(left)?;
        }
        let partial = self.root.join(artifact.folder_name() + PARTIAL);
        fs::create_dir_all(&partial).map_err(at("create", &partial))?;
        let made = make(&partial).and_then(|()| self.complete(artifact, &partial));
        if made.is_err() {
            // The error in hand is the one to report; what stays behind is thrown away by the next run.
            let _ = fs::remove_dir_all(&partial);
        }
        made
    }

    fn complete(&self, artifact: &Artifact, partial: &Path) -> Result<PathBuf, SetupError> {
        let folder = self.folder(artifact);
        if let Some(file) = artifact.lacking(partial) {
            return Err(SetupError::Incomplete { what: artifact.name.to_owned(), file: file.clone(), folder });
        }
        let manifest = Manifest::of(partial)?;
        manifest.write(partial)?;
        let stamp = partial.join(STAMP);
        fs::write(&stamp, &artifact.key).map_err(at("write", &stamp))?;
        remove_folder(&folder)?;
        fs::rename(partial, &folder).map_err(at("create", &folder))?;
        if let Some(state) = manifest.state(&folder) {
            process::remember(self, &state, "");
        }
        Ok(folder)
    }

    /// Waits until no other run makes something of this name.
    fn lock(&self, name: &str, progress: &Progress) -> Result<Lock, SetupError> {
        fs::create_dir_all(&self.root).map_err(at("create", &self.root))?;
        let path = self.root.join(format!("{name}.lock"));
        let file = File::create(&path).map_err(at("create", &path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {
                progress.step(name).message("waiting for another run that is making it");
                wait_for_lock(&file)
            }
            done => done.map_err(Into::into),
        }
        .map_err(at("lock", &path))?;
        Ok(Lock(file))
    }

    fn named(&self, name: &str) -> Vec<PathBuf> {
        let prefix = format!("{name}-");
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten().map(|entry| entry.path());
        entries
            .filter(|path| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&prefix)))
            .collect()
    }
}

/// Locks a file, after whoever has it locked now. (`File::lock` is of Rust 1.89, and the command builds on 1.88.)
pub(crate) fn wait_for_lock(file: &File) -> std::io::Result<()> {
    Ok(rustix::io::retry_on_intr(|| flock(file, FlockOperation::LockExclusive))?)
}

/// Removes a folder with all in it; fine if it is not there.
pub(crate) fn remove_folder(folder: &Path) -> Result<(), SetupError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(at("remove", folder)(error)),
        _ => Ok(()),
    }
}

/// Puts a file in a second place: a hard link where the file system can, else a copy.
pub(crate) fn link_or_copy(from: &Path, to: &Path) -> Result<(), SetupError> {
    if fs::hard_link(from, to).is_err() {
        fs::copy(from, to).map_err(at("copy", from))?;
    }
    Ok(())
}
