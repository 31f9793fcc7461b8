//! The module after every pass, as files.

use crate::{Error, output};
use hint_record::stages::StageFile;
use inkwell::module::Module;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where they go.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder, and removes what an earlier link has left: a pass may have had another number then.
    pub fn new(path: &Path) -> Result<Folder, Error> {
        let failed = |source| Error::Write { path: path.to_owned(), source };
        fs::create_dir_all(path).and_then(|()| remove_old(path)).map_err(failed)?;
        Ok(Folder { path: path.to_owned() })
    }

    /// Writes the module as a pass has left it.
    pub fn keep(&self, number: usize, pass: &str, module: &Module<'_>) -> Result<(), Error> {
        let file = StageFile { number, pass: pass.to_owned() };
        output::write_whole(&self.path.join(file.name()), module.print_to_string().to_bytes())
    }
}

fn remove_old(folder: &Path) -> io::Result<()> {
    StageFile::in_folder(folder)?.iter().try_for_each(|file| fs::remove_file(folder.join(file.name())))
}
