//! What a build leaves for its user: a folder of files that belong together, all of one build or all of another.
//!
//! The files are written to a new folder beside their place and put there by one exchange of names, which the file
//! system does as a whole. Whatever fails or is killed before leaves the old files, and what follows only clears away.
//! The manifest says of every file what it holds, and by which tools it was made.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::setup::home::key_of;

/// The file that describes the others.
pub const MANIFEST: &str = "manifest.json";

/// The files of one build, by name.
#[derive(Debug, Default)]
pub struct Outputs {
    /// Each with whether its user is told of it.
    files: BTreeMap<String, (Vec<u8>, bool)>,
}

/// What stands in the manifest.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Manifest {
    /// The SHA-256 of every file, in hexadecimal digits.
    pub files: BTreeMap<String, String>,
    /// What made them, by name: a version, or a hash.
    pub tools: BTreeMap<String, String>,
}

impl Outputs {
    /// Adds a file.
    pub fn add(&mut self, name: String, contents: impl Into<Vec<u8>>) {
        self.files.insert(name, (contents.into(), true));
    }

    /// Adds a file that programs read.
    pub fn add_unlisted(&mut self, name: String, contents: impl Into<Vec<u8>>) {
        self.files.insert(name, (contents.into(), false));
    }

    /// Puts the files into `folder`, instead of all that is there. Where the same files lie there already, nothing is
    /// written. Returns the files that the user is told of, the one that is made of another after it.
    pub fn publish(&self, folder: &Path, tools: BTreeMap<String, String>) -> Result<Vec<PathBuf>> {
        let files = self.files.iter().map(|(name, (contents, _))| (name.clone(), key_of([contents])));
        let manifest = Manifest { files: files.collect(), tools };
        if !is_published(folder, &manifest) {
            self.replace(folder, &manifest).with_context(|| format!("cannot write {}", folder.display()))?;
        }
        // `NAME.ptx` before `NAME.cubin`, and `NAME.s` before `NAME.hsaco`: backwards by name.
        let told = self.files.iter().rev().filter(|(_, (_, is_told))| *is_told);
        Ok(told.map(|(name, _)| folder.join(name)).collect())
    }

    fn replace(&self, folder: &Path, manifest: &Manifest) -> io::Result<()> {
        let parent = folder.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent)?;
        let fresh = tempfile::Builder::new().prefix(".new-").permissions(mode(0o777)).tempdir_in(parent)?;
        for (name, (contents, _)) in &self.files {
            write(&fresh.path().join(name), contents)?;
        }
        write(&fresh.path().join(MANIFEST), &serde_json::to_vec_pretty(manifest)?)?;
        fs::create_dir_all(folder)?;
        // What stood there comes to lie where `fresh` was, and goes with it.
        exchange(fresh.path(), folder)
    }
}

/// Do the files that a manifest speaks of lie there, and no others that it does not?
fn is_published(folder: &Path, manifest: &Manifest) -> bool {
    let Ok(text) = fs::read(folder.join(MANIFEST)) else { return false };
    let same = serde_json::from_slice::<Manifest>(&text).is_ok_and(|there| there == *manifest);
    same && manifest
        .files
        .iter()
        .all(|(name, hash)| fs::read(folder.join(name)).is_ok_and(|contents| key_of([contents]) == *hash))
}

/// Exchanges two folders. Where the file system cannot, one is moved away first.
fn exchange(fresh: &Path, folder: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, fresh, CWD, folder, RenameFlags::EXCHANGE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            let aside: PathBuf = fresh.with_extension("old");
            fs::rename(folder, &aside)?;
            fs::rename(fresh, folder)?;
            fs::rename(aside, fresh)
        }
        done => Ok(done?),
    }
}

fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(contents)
}

fn mode(mode: u32) -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(mode)
}

/// Writes a file whole or not at all, readable as the user's umask says.
pub fn write_whole(path: &Path, contents: &[u8]) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().permissions(mode(0o666)).tempfile_in(folder).with_context(failed)?;
    file.write_all(contents).with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(files: &[(&str, &str)]) -> Outputs {
        let mut outputs = Outputs::default();
        files.iter().for_each(|(name, contents)| outputs.add((*name).to_owned(), *contents));
        outputs
    }

    fn names(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder).expect("the folder is there").flatten();
        let mut names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_files_of_two_builds_never_lie_together() {
        let parent = tempfile::tempdir().expect("a folder can be made");
        let folder = parent.path().join("a/release");
        outputs(&[("a.ptx", "old"), ("a.cubin", "old")]).publish(&folder, BTreeMap::new()).expect("published");
        outputs(&[("a.ptx", "new")]).publish(&folder, BTreeMap::new()).expect("published");
        assert_eq!(names(&folder), ["a.ptx", MANIFEST]);
        assert_eq!(fs::read_to_string(folder.join("a.ptx")).expect("it is there"), "new");
        assert_eq!(names(&parent.path().join("a")), ["release"], "nothing is left beside it");
    }

    #[test]
    fn the_same_files_are_not_written_again() {
        let parent = tempfile::tempdir().expect("a folder can be made");
        let folder = parent.path().join("release");
        let publish = || outputs(&[("a.ptx", "text")]).publish(&folder, BTreeMap::new()).expect("published");
        let written = || fs::metadata(folder.join("a.ptx")).and_then(|file| file.modified()).expect("it is there");
        publish();
        let first = written();
        publish();
        assert_eq!(written(), first);
        fs::write(folder.join("a.ptx"), "somebody else's").expect("written");
        publish();
        assert_eq!(fs::read_to_string(folder.join("a.ptx")).expect("it is there"), "text");
    }
}
