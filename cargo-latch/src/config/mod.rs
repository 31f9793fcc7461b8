//! `latch.toml`, beside a kernel crate's `Cargo.toml`: how strict the audit and the build are, and what kernels may
//! cost.
//!
//! ```toml
//! [hints]
//! level = "deny"            # for hints that cannot be honoured: deny, warn or allow
//! deleted = "warn"          # and for one reason
//!
//! [[kernel]]
//! name = "taps_*"           # a glob
//! arch = "sm_90"            # only there; one or a list; everywhere if not given
//! loops = 1                 # exactly
//! registers = { max = 32 }  # or between min and max
//! ```
//!
//! Of several tables that fit a kernel all count, and where two name the same figure, the later one. A file that cannot
//! be read as this is one error with its line; nothing is ignored in silence.

mod budget;
mod error;
mod level;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::kernel_crate::KernelCrate;
pub use budget::{Budget, Figure, KernelTable, Limit};
pub use error::ConfigError;
pub use level::{HintLevels, HintTable};

/// The file's name.
pub const FILE_NAME: &str = "latch.toml";

/// What stands in a crate's `latch.toml`; nothing, where there is none.
#[derive(Debug, Clone, Default)]
pub struct LatchToml {
    /// The file.
    pub path: PathBuf,
    /// Its text, for messages.
    pub text: String,
    /// The levels of hints.
    pub hints: HintTable,
    /// The tables of kernels, in the file's order.
    pub kernels: Vec<KernelTable>,
}

/// The file's own shape.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    hints: HintTable,
    #[serde(default, rename = "kernel")]
    kernels: Vec<KernelTable>,
}

impl LatchToml {
    /// Reads a kernel crate's file, if it has one.
    pub fn of(kernels: &KernelCrate) -> Result<LatchToml, ConfigError> {
        LatchToml::in_folder(&kernels.folder)
    }

    /// Reads the file in a folder, if there is one.
    pub fn in_folder(folder: &Path) -> Result<LatchToml, ConfigError> {
        let path = folder.join(FILE_NAME);
        match std::fs::read_to_string(&path) {
            Ok(text) => LatchToml::parse(path, text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(LatchToml { path, ..LatchToml::default() })
            }
            Err(source) => Err(ConfigError::Read { path, source }),
        }
    }

    /// Reads a file's text.
    pub fn parse(path: PathBuf, text: String) -> Result<LatchToml, ConfigError> {
        let File { hints, kernels } = toml::from_str(&text).map_err(|error| {
            let (line, column) = place(&text, error.span().map_or(0, |span| span.start));
            ConfigError::Parse { path: path.clone(), line, column, message: error.message().replace('\n', " ") }
        })?;
        Ok(LatchToml { path, text, hints, kernels })
    }

    /// What a kernel may cost on an architecture. None where no table fits.
    pub fn budget(&self, kernel: &str, arch: &str) -> Option<Budget<'_>> {
        let fitting: Vec<&KernelTable> = self.kernels.iter().filter(|table| table.fits(kernel, arch)).collect();
        (!fitting.is_empty()).then(|| Budget::of(&fitting))
    }

    /// Every table for an architecture must fit one of the kernels that are built for it: a misspelt name would be a
    /// budget that is never broken.
    pub fn check_names(&self, kernels: &[String], arch: &str) -> Result<(), ConfigError> {
        let mut tables = self.kernels.iter().filter(|table| table.is_for(arch));
        let Some(idle) = tables.find(|table| !kernels.iter().any(|kernel| table.matches(kernel))) else {
            return Ok(());
        };
        Err(ConfigError::NoKernel {
            path: self.path.clone(),
            line: self.line(&idle.name),
            glob: idle.name.get_ref().as_str().to_owned(),
            known: kernels.join(", "),
        })
    }

    /// The line on which something stands.
    pub fn line<T>(&self, spanned: &Spanned<T>) -> usize {
        place(&self.text, spanned.span().start).0
    }
}

/// Line and column, from 1, of a byte.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hint_record::{Level, ReasonKind};

    fn parsed(text: &str) -> Result<LatchToml, ConfigError> {
        LatchToml::parse(PathBuf::from("kernels/latch.toml"), text.to_owned())
    }

    fn refused(text: &str) -> String {
        parsed(text).expect_err("the file is wrong").to_string()
    }

    #[test]
    fn every_key_is_read() {
        let text = "[hints]\nlevel = \"warn\"\nnever-repeats = \"deny\"\nnot-compiled = \"warn\"\n\n[[kernel]]\nname = \"a*\"\n\
                    loops = 1\nglobal_loads = { max = 2 }\nregisters = { min = 3, max = 4 }\nspill_bytes = 0\n\
                    local_loads = 0\nlocal_stores = 0\nstack_bytes = 0\ncalls = { min = 1 }\nhelper_calls = 0\n";
        let config = parsed(text).expect("the file is right");
        let levels = config.hints.levels(None);
        assert_eq!(levels.of(ReasonKind::Deleted), Level::Warn);
        assert_eq!(levels.of(ReasonKind::NeverRepeats), Level::Deny);
        let budget = config.budget("ab", "sm_90").expect("the table fits");
        let limits = budget.limits().map(|(figure, limit)| (figure, *limit.get_ref())).collect::<Vec<_>>();
        let limit = |min, max| Limit { min, max };
        let expected = [
            (Figure::Loops, limit(Some(1), Some(1))),
            (Figure::GlobalLoads, limit(None, Some(2))),
            (Figure::Registers, limit(Some(3), Some(4))),
            (Figure::SpillBytes, limit(Some(0), Some(0))),
            (Figure::LocalLoads, limit(Some(0), Some(0))),
            (Figure::LocalStores, limit(Some(0), Some(0))),
            (Figure::StackBytes, limit(Some(0), Some(0))),
            (Figure::Calls, limit(Some(1), None)),
            (Figure::HelperCalls, limit(Some(0), Some(0))),
        ];
        assert_eq!(limits, expected);
        assert!(config.budget("b", "sm_90").is_none());
    }

    #[test]
    fn a_later_table_wins_figure_by_figure_and_an_arch_narrows_it() {
        let text = "[[kernel]]\nname = \"*\"\nloops = 1\ncalls = 0\n\n[[kernel]]\nname = \"a\"\narch = [\"sm_80\", \"sm_90\"]\nloops = 2\n\n\
                    [[kernel]]\nname = \"a\"\narch = \"sm_120a\"\nloops = 3\n";
        let config = parsed(text).expect("the file is right");
        let loops = |kernel: &str, arch: &str| {
            let budget = config.budget(kernel, arch).expect("a table fits");
            let limits: Vec<_> = budget.limits().map(|(figure, limit)| (figure, limit.get_ref().max)).collect();
            assert_eq!(limits.len(), 2);
            limits[0].1
        };
        assert_eq!(loops("a", "sm_80"), Some(2));
        assert_eq!(loops("a", "sm_90"), Some(2));
        assert_eq!(loops("a", "sm_120a"), Some(3));
        assert_eq!(loops("a", "sm_100"), Some(1));
        assert_eq!(loops("b", "sm_90"), Some(1));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let messages = [
            "[hint]\n",
            "[hints]\nlevle = \"deny\"\n",
            "[hints]\nlevel = \"forbid\"\n",
            "[[kernel]]\nname = \"a\"\nloop = 1\n",
            "[[kernel]]\nloops = 1\n",
            "[[kernel]]\nname = \"a\"\nloops = -1\n",
            "[[kernel]]\nname = \"a\"\nloops = \"one\"\n",
            "[[kernel]]\nname = \"a\"\nloops = { most = 1 }\n",
            "[[kernel]]\nname = \"a\"\nloops = {}\n",
            "[[kernel]]\nname = \"a\"\nloops = { min = 2, max = 1 }\n",
            "[[kernel]]\nname = \"a[\"\n",
            "[[kernel]]\nname = \"a\"\narch = \"90\"\n",
            "[[kernel]]\nname = \"a\"\narch = []\n",
            "[kernel]\nname = \"a\"\n",
            "[hints\n",
        ];
        insta::assert_snapshot!(messages.map(refused).join("\n"));
    }

    #[test]
    fn a_table_that_fits_no_kernel_is_an_error() {
        let config = parsed("[[kernel]]\nname = \"a\"\n\n[[kernel]]\nname = \"ta?\"\n").expect("the file is right");
        assert!(config.check_names(&["a".to_owned(), "tab".to_owned()], "sm_80").is_ok());
        let error = config.check_names(&["a".to_owned(), "taps".to_owned()], "sm_80").expect_err("one table fits none");
        assert_eq!(error.to_string(), "kernels/latch.toml:5: no kernel matches `ta?`; there are a, taps");
    }

    #[test]
    fn a_table_for_other_architectures_need_not_fit_a_kernel() {
        let config = parsed("[[kernel]]\nname = \"b\"\narch = \"sm_90a\"\n").expect("the file is right");
        assert!(config.check_names(&["a".to_owned()], "sm_90").is_ok());
        assert!(config.check_names(&["a".to_owned()], "sm_90a").is_err());
    }

    #[test]
    fn without_a_file_everything_has_its_default() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let config = LatchToml::in_folder(folder.path()).expect("no file is no error");
        assert_eq!(config.hints.levels(None).of(ReasonKind::Deleted), Level::Deny);
        assert!(config.kernels.is_empty());
        std::fs::create_dir(folder.path().join(FILE_NAME)).expect("made");
        let error = LatchToml::in_folder(folder.path()).expect_err("a folder is no file").to_string();
        assert!(error.starts_with("cannot read ") && error.contains("latch.toml: "), "{error}");
    }
}
