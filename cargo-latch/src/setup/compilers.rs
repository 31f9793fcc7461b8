//! The compilers that kernels can be built with: a table of more than one row, of which the machine's is in use.
//!
//! The table is the file `compilers.txt`, which `./latch` reads too, before there is a command. Whatever differs from
//! compiler to compiler comes from the row in use ([`Toolchain::compiler`](super::toolchain::Toolchain::compiler)):
//! nothing else here knows a release by its number. A row is no promise that it works: that is for the tests to show,
//! run with that compiler.
//!
//! The command itself is built by any stable Rust from 1.88 on, and is no part of this.

use std::sync::LazyLock;

use crate::target::Target;

/// The table's text.
pub(super) const TABLE: &str = include_str!("compilers.txt");

/// A row: what has to be known of a compiler.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compiler {
    /// Its release, such as `1.96.0`.
    pub release: &'static str,
    /// The major version of the LLVM that it links.
    pub llvm: &'static str,
    /// What Debian's packages call that library.
    pub debian_llvm: &'static str,
    /// Whether it marks every function of a GPU target `convergent`.
    pub convergent: bool,
    /// Whether rustc-dev can be built from its sources.
    pub sources: bool,
    nvptx: Vec<&'static str>,
    nvptx_core: Vec<&'static str>,
    amdgcn: Vec<&'static str>,
    amdgcn_core: Vec<&'static str>,
    kernels: Vec<&'static str>,
}

static ROWS: LazyLock<Vec<Compiler>> = LazyLock::new(|| parse(TABLE));

/// All of them, the preferred one first.
pub fn all() -> &'static [Compiler] {
    &ROWS
}

/// The one that is set up where there is none.
pub fn preferred() -> &'static Compiler {
    // A test holds the table to having a row.
    &ROWS[0]
}

/// The row of a release.
pub fn of(release: &str) -> Option<&'static Compiler> {
    ROWS.iter().find(|compiler| compiler.release == release)
}

/// The releases, for a message: `1.96.0`, or `1.97.0 or 1.96.0`.
pub fn releases() -> String {
    all().iter().map(|compiler| compiler.release).collect::<Vec<_>>().join(" or ")
}

impl Compiler {
    /// How everything has to be compiled for a target, `core` included.
    pub fn device_flags(&self, target: Target) -> &[&'static str] {
        match target {
            Target::Nvptx => &self.nvptx,
            Target::Amdgcn => &self.amdgcn,
        }
    }

    /// How `core` has to be compiled for a target: as everything, and more.
    pub fn core_flags(&self, target: Target) -> impl Iterator<Item = &'static str> {
        let own = match target {
            Target::Nvptx => &self.nvptx_core,
            Target::Amdgcn => &self.amdgcn_core,
        };
        self.device_flags(target).iter().chain(own).copied()
    }

    /// How everything but `core` has to be compiled in addition.
    pub fn kernel_flags(&self) -> &[&'static str] {
        &self.kernels
    }

    /// Whether a file's name is that of the library of its LLVM, in rustup's toolchains or in Debian's packages.
    pub fn is_llvm(&self, file: &str) -> bool {
        let rustups = file.strip_prefix("libLLVM-").and_then(|rest| rest.strip_prefix(self.llvm));
        let is_rustups = rustups.is_some_and(|rest| rest.starts_with(['-', '.']) && rest.contains(".so"));
        is_rustups || file.starts_with(self.debian_llvm)
    }
}

fn parse(table: &'static str) -> Vec<Compiler> {
    let mut rows: Vec<Compiler> = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (Some(release), Some(fact)) = (words.next(), words.next()) else { continue };
        if rows.last().is_none_or(|row| row.release != release) {
            rows.push(Compiler { release, ..Compiler::default() });
        }
        let Some(row) = rows.last_mut() else { continue };
        let values: Vec<&str> = words.collect();
        let first = values.first().copied().unwrap_or_default();
        match fact {
            "llvm" => row.llvm = first,
            "debian-llvm" => row.debian_llvm = first,
            "convergent" => row.convergent = first == "yes",
            "sources" => row.sources = first == "yes",
            "nvptx" => row.nvptx = values,
            "nvptx-core" => row.nvptx_core = values,
            "amdgcn" => row.amdgcn = values,
            "amdgcn-core" => row.amdgcn_core = values,
            "kernels" => row.kernels = values,
            // `deb` is for the scripts; a test knows all facts.
            _ => {}
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: [&str; 10] = [
        "llvm",
        "debian-llvm",
        "convergent",
        "sources",
        "nvptx",
        "nvptx-core",
        "amdgcn",
        "amdgcn-core",
        "kernels",
        "deb",
    ];

    #[test]
    fn every_line_of_the_table_is_a_fact_and_every_row_is_whole() {
        for line in TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert!(words.len() > 2 && FACTS.contains(&words[1]), "{line}");
            if words[1] == "deb" {
                assert!(words.len() == 6 && words[5].len() == 64, "{line}");
            }
        }
        for row in all() {
            let texts = [row.llvm, row.debian_llvm];
            assert!(texts.iter().all(|text| !text.is_empty()), "{row:?}");
            assert!([&row.nvptx, &row.amdgcn, &row.kernels].iter().all(|flags| !flags.is_empty()), "{row:?}");
            assert_eq!(of(row.release), Some(row), "each release has one row");
        }
        assert!(preferred().convergent, "the compiler that is set up is one whose shuffles stay where they are");
    }

    #[test]
    fn another_row_is_another_compiler() {
        let rows =
            parse("2.0.0 llvm 30\n2.0.0 debian-llvm libLLVM.so.30.1\n2.0.0 convergent no\n\n# old\n1.9.0 llvm 9\n");
        assert_eq!(rows.iter().map(|row| row.release).collect::<Vec<_>>(), ["2.0.0", "1.9.0"]);
        assert_eq!((rows[0].llvm, rows[0].convergent, rows[1].llvm), ("30", false, "9"));
        assert!(rows[0].is_llvm("libLLVM-30-rust-2.0.0-stable.so") && rows[0].is_llvm("libLLVM.so.30.1"));
        assert!(!rows[0].is_llvm("libLLVM-3.so") && !rows[0].is_llvm("libLLVM.so.22.1"));
    }
}
