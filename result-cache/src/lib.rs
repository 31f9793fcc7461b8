//! Results of slow, repeatable steps, kept in a folder by the hash of all that they depend on.
//!
//! A step that always makes the same bytes of the same input asks for its [`Key`] before it runs and hands in what it
//! made afterwards. The folder is [`FOLDER`], or a place below the user's cache folder that the command chooses. It may
//! be deleted at any time, restored from a CI job's cache, shared by machines, or mounted read-only: then results are
//! found, and none is added.
//!
//! - **Whole or not there.** An entry is written beside its place and renamed. It starts with the hash of its content,
//!   so a damaged one is no hit.
//! - **Two runs at once** at worst make the same entry twice.
//! - **Bounded.** When the folder has grown past its limit, entries that nobody has asked for longest go first.
//!
//! When it is wrong: a step whose key leaves out something that it reads gets an old result. So a key names the program
//! by its content and not by its version alone.

mod key;

pub use key::{Key, KeyBuilder};

use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The environment variable that names the folder. Empty, nothing is kept.
pub const FOLDER: &str = "LATCH_CACHE";
/// How large the folder may grow.
pub const LIMIT: u64 = 2 << 30;

/// To be raised when the form of entries changes.
const FORM: &str = "1";
/// The length of the hash that an entry starts with.
const DIGEST: usize = 32;
/// How often a folder is looked through for entries to remove.
const BETWEEN_SWEEPS: Duration = Duration::from_secs(600);
/// An entry's time is renewed by a hit only when it is older than this: a hit is no write.
const RENEWED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// The file whose time says when the folder was last looked through.
const SWEPT: &str = "swept";

/// A folder of results, or none.
#[derive(Clone, Debug)]
pub struct Cache {
    root: Option<PathBuf>,
    limit: u64,
}

impl Cache {
    /// A cache in a folder, which is created with the first entry.
    pub fn at(root: impl Into<PathBuf>, limit: u64) -> Cache {
        Cache { root: Some(root.into().join(FORM)), limit }
    }

    /// A cache that keeps nothing.
    pub fn none() -> Cache {
        Cache { root: None, limit: 0 }
    }

    /// The cache in the folder that [`FOLDER`] names; without the variable, one that keeps nothing.
    pub fn of_environment() -> Cache {
        folder(|| None).map_or_else(Cache::none, |folder| Cache::at(folder, LIMIT))
    }

    /// What was kept under a key.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        let mut entry = fs::read(&path).ok()?;
        if entry.len() < DIGEST || Sha256::digest(&entry[DIGEST..])[..] != entry[..DIGEST] {
            tracing::warn!("{} is damaged, and is made again", path.display());
            return None;
        }
        renew(&path);
        Some(entry.split_off(DIGEST))
    }

    /// Keeps a result. Not being able to costs time, not correctness.
    pub fn put(&self, key: &Key, result: &[u8]) {
        let (Some(path), Some(root)) = (self.path(key), &self.root) else { return };
        if let Err(error) = write(&path, result).and_then(|()| self.sweep_if_due(root)) {
            tracing::debug!("{} is not kept: {error}", path.display());
        }
    }

    /// What was kept under a key, or else what `make` makes, which is kept then.
    pub fn get_or<E>(&self, key: &Key, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        if let Some(kept) = self.get(key) {
            return Ok(kept);
        }
        let made = make()?;
        self.put(key, &made);
        Ok(made)
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        let name = key.to_string();
        Some(self.root.as_ref()?.join(&name[..2]).join(&name[2..]))
    }

    fn sweep_if_due(&self, root: &Path) -> io::Result<()> {
        let swept = root.join(SWEPT);
        let is_due =
            fs::metadata(&swept).and_then(|file| file.modified()).map_or(true, |time| age(time) > BETWEEN_SWEEPS);
        if is_due {
            File::create(&swept)?;
            self.sweep(root);
        }
        Ok(())
    }

    /// Removes what was asked for longest ago, until a fifth of the room is free again.
    fn sweep(&self, root: &Path) {
        let mut entries = entries(root);
        let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
        if total <= self.limit {
            return;
        }
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            if total <= self.limit / 5 * 4 {
                break;
            }
            // Another run may have removed it.
            let _ = fs::remove_file(&entry.path);
            total -= entry.size;
        }
    }
}

/// The folder that [`FOLDER`] names, or else `otherwise`; none where the variable is empty.
pub fn folder(otherwise: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    folder_named(std::env::var_os(FOLDER), otherwise)
}

fn folder_named(named: Option<OsString>, otherwise: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    match named {
        Some(named) if named.is_empty() => None,
        // Programs are run from other folders, so a relative path would lose its meaning.
        Some(named) => std::path::absolute(named).ok(),
        None => otherwise(),
    }
}

struct Entry {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

fn entries(root: &Path) -> Vec<Entry> {
    let files = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let groups = files(root).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let entry = |file: fs::DirEntry| {
        let about = file.metadata().ok()?;
        Some(Entry { path: file.path(), size: about.len(), used: about.modified().ok()? })
    };
    groups.flat_map(|group| files(&group.path()).collect::<Vec<_>>()).filter_map(entry).collect()
}

fn write(path: &Path, result: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".new-").permissions(readable()).tempfile_in(folder)?;
    file.write_all(&Sha256::digest(result))?;
    file.write_all(result)?;
    file.persist(path)?;
    Ok(())
}

/// A temporary file is its owner's alone; an entry is for everybody who shares the folder.
fn readable() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

fn renew(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    let is_old = file.metadata().and_then(|about| about.modified()).is_ok_and(|time| age(time) > RENEWED_AFTER);
    if is_old {
        // On a read-only folder entries keep their times, and nothing is removed either.
        let _ = file.set_modified(SystemTime::now());
    }
}

fn age(time: SystemTime) -> Duration {
    SystemTime::now().duration_since(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::of("test").with(name).finish()
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        entries(&folder.join(FORM)).into_iter().map(|entry| entry.path).collect()
    }

    #[test]
    fn a_result_is_found_again_under_its_key_alone() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let cache = Cache::at(folder.path(), LIMIT);
        assert_eq!(cache.get(&key("a")), None);
        cache.put(&key("a"), b"made");
        assert_eq!(cache.get(&key("a")).as_deref(), Some(&b"made"[..]));
        assert_eq!(cache.get(&key("b")), None);
        let never = || -> Result<Vec<u8>, ()> { panic!("it is there") };
        assert_eq!(cache.get_or(&key("a"), never), Ok(b"made".to_vec()));
    }

    #[test]
    fn a_damaged_entry_is_made_again() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let cache = Cache::at(folder.path(), LIMIT);
        for damage in [&b"short"[..], &[0; 50]] {
            cache.put(&key("a"), b"made");
            fs::write(&files(folder.path())[0], damage).expect("written");
            assert_eq!(cache.get(&key("a")), None);
            assert_eq!(cache.get_or(&key("a"), || Ok::<_, ()>(b"again".to_vec())), Ok(b"again".to_vec()));
        }
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let cache = Cache::at(folder.path(), 300);
        for (name, days) in [("old", 3), ("older", 4), ("new", 0)] {
            cache.put(&key(name), &[0; 100]);
            let file = File::open(cache.path(&key(name)).expect("a path")).expect("it is there");
            file.set_modified(SystemTime::now() - Duration::from_secs(days * 86_400)).expect("the time is set");
        }
        cache.sweep(&folder.path().join(FORM));
        let is_there = |name| cache.get(&key(name)).is_some();
        assert_eq!([is_there("older"), is_there("old"), is_there("new")], [false, false, true]);
    }

    #[test]
    fn a_hit_makes_an_old_entry_young() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let cache = Cache::at(folder.path(), LIMIT);
        cache.put(&key("a"), b"made");
        let file = File::open(&files(folder.path())[0]).expect("it is there");
        file.set_modified(SystemTime::now() - 3 * RENEWED_AFTER).expect("the time is set");
        cache.get(&key("a")).expect("a hit");
        assert!(age(file.metadata().and_then(|about| about.modified()).expect("a time")) < RENEWED_AFTER);
    }

    #[test]
    fn a_folder_that_cannot_be_written_only_costs_time() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("file");
        fs::write(&file, "no folder").expect("written");
        for cache in [Cache::at(&file, LIMIT), Cache::none()] {
            assert_eq!(cache.get_or(&key("a"), || Ok::<_, ()>(b"made".to_vec())), Ok(b"made".to_vec()));
            assert_eq!(cache.get(&key("a")), None);
        }
    }

    #[test]
    fn the_variable_names_the_folder_or_switches_it_off() {
        let usual = || Some(PathBuf::from("/usual"));
        assert_eq!(folder_named(None, usual), usual());
        assert_eq!(folder_named(Some("".into()), usual), None);
        assert_eq!(folder_named(Some("/shared".into()), usual), Some("/shared".into()));
    }
}
