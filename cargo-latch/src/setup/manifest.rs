//! What an artifact consisted of when it was made: every file's hash, size and path, a line each, in a file of its own.
//!
//! Hashing all of an artifact takes up to seconds, so what was found whole is remembered by a *state*: a hash of the
//! manifest and of every file's size and time. Whoever finds the state again has looked at each file's metadata only,
//! which takes milliseconds.
//!
//! Wrong where a file is changed and keeps its size and time, which no editor, copy or broken disk manages by chance.
//! Files that were added are not looked at. It is against damage: who may write the files may write the manifest too.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use super::error::{SetupError, at, at_walk};
use super::home::key_of;

/// The manifest's name in an artifact's folder.
const FILE: &str = ".manifest";
/// How much of a file is hashed at a time.
const PIECE: usize = 1 << 16;

/// The hash of all that can be read, in hexadecimal digits, as `sha256sum` prints it.
pub(crate) fn sha256(mut from: impl Read) -> io::Result<String> {
    let (mut hash, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hash.update(&piece[..read]),
        }
    }
}

/// The files of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manifest(Vec<Line>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    hash: String,
    size: u64,
    path: PathBuf,
}

impl Manifest {
    /// Of the files that are there now.
    pub(super) fn of(folder: &Path) -> Result<Self, SetupError> {
        let mut lines = Vec::new();
        for entry in WalkDir::new(folder).min_depth(1).sort_by_file_name() {
            let entry = entry.map_err(at_walk)?;
            if !entry.file_type().is_dir() && !is_own(entry.path(), folder) {
                lines.push(Line::of(folder, entry.path()).map_err(at("read", entry.path()))?);
            }
        }
        Ok(Self(lines))
    }

    /// Whether there is one, whatever it says.
    pub(super) fn exists(folder: &Path) -> bool {
        file_in(folder).exists()
    }

    /// The one that was written when the artifact was made; none where there is none that can be read.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(file_in(folder)).ok()?;
        text.lines().map(Line::parse).collect::<Option<_>>().map(Self)
    }

    /// Writes it into the artifact's folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), SetupError> {
        let file = file_in(folder);
        let lines = self.0.iter().map(|line| format!("{} {} {}\n", line.hash, line.size, line.path.display()));
        fs::write(&file, lines.collect::<String>()).map_err(at("write", &file))
    }

    /// What tells this state of the files from any other, without reading them; none where one is not there.
    pub(super) fn state(&self, folder: &Path) -> Option<String> {
        let mut parts = Vec::new();
        for line in &self.0 {
            let found = folder.join(&line.path).symlink_metadata().ok()?;
            let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            let path = line.path.display();
            parts.push(format!("{} {} {path} {} {}", line.hash, line.size, found.len(), changed.as_nanos()));
        }
        Some(key_of(parts))
    }

    /// The first file that is not as it was; an unreadable one is not.
    pub(super) fn damaged(&self, folder: &Path) -> Option<PathBuf> {
        let is_same = |line: &&Line| Line::of(folder, &folder.join(&line.path)).is_ok_and(|found| found == **line);
        self.0.iter().find(|line| !is_same(line)).map(|line| line.path.clone())
    }
}

impl Line {
    /// Of a link, its target is what is hashed.
    fn of(folder: &Path, file: &Path) -> io::Result<Self> {
        let found = file.symlink_metadata()?;
        let hash = if found.is_symlink() {
            sha256(fs::read_link(file)?.as_os_str().as_encoded_bytes())?
        } else {
            sha256(File::open(file)?)?
        };
        Ok(Self { hash, size: found.len(), path: file.strip_prefix(folder).unwrap_or(file).to_owned() })
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(3, ' ');
        Some(Self { hash: words.next()?.to_owned(), size: words.next()?.parse().ok()?, path: words.next()?.into() })
    }
}

/// Where an artifact has its manifest.
pub(super) fn file_in(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// The home's own files at the top of an artifact are no part of it.
fn is_own(file: &Path, folder: &Path) -> bool {
    file.parent() == Some(folder) && [FILE, super::home::STAMP].iter().any(|name| file.ends_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_sha256sum_does() {
        assert_eq!(
            sha256(b"abc".as_slice()).expect("memory can be read"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        fs::create_dir(folder.path().join("bin")).expect("a folder can be made");
        fs::write(folder.path().join("bin/a tool"), "tool").expect("a file can be written");
        let manifest = Manifest::of(folder.path()).expect("the folder can be read");
        manifest.write(folder.path()).expect("the folder can be written");
        assert_eq!(Manifest::read(folder.path()), Some(manifest.clone()));
        assert_eq!(manifest, Manifest::of(folder.path()).expect("the folder can be read"), "it is no part of itself");
    }
}
