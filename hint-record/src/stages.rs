//! The files in which the linker keeps its module after every pass: `05-resolve-hints.ll` is what the fifth pass has
//! left.
//!
//! The linker writes them, by `--keep-intermediates`, and the command reads them. A pass has the same number in every
//! link of its list, so a missing number is a pass that this link did not run.

use std::io;
use std::path::Path;

/// The last pass before anything is optimized: hints are resolved, and everything is in its place.
pub const RESOLVED: &str = "mark-convergent";
/// The pass that optimizes.
pub const OPTIMIZED: &str = "optimize";

/// One such file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StageFile {
    /// The pass's number in its list, from 1.
    pub number: usize,
    /// The pass's name.
    pub pass: String,
}

impl StageFile {
    /// The file's name.
    pub fn name(&self) -> String {
        format!("{:02}-{}.ll", self.number, self.pass)
    }

    /// Reads a file's name back.
    pub fn parse(name: &str) -> Option<StageFile> {
        let (number, pass) = name.strip_suffix(".ll")?.split_once('-')?;
        let file = StageFile { number: number.parse().ok()?, pass: pass.to_owned() };
        (file.name() == name).then_some(file)
    }

    /// The files of a folder, in the order of their passes.
    pub fn in_folder(folder: &Path) -> io::Result<Vec<StageFile>> {
        let mut files = Vec::new();
        for entry in folder.read_dir()? {
            files.extend(entry?.file_name().to_str().and_then(StageFile::parse));
        }
        files.sort();
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let file = StageFile { number: 7, pass: "place-shared".to_owned() };
        assert_eq!(file.name(), "07-place-shared.ll");
        assert_eq!(StageFile::parse("07-place-shared.ll"), Some(file));
        for other in ["7-place-shared.ll", "resolved.ll", "07-place-shared.txt", "x-y.ll"] {
            assert_eq!(StageFile::parse(other), None, "{other}");
        }
    }
}
