//! Two cubins held against each other, byte for byte, as far as machine code goes.
//!
//! Machine code stands in the sections `.text.…`, one for each kernel. What lies beside it (symbols, notes, line
//! tables) may differ between two runs of ptxas that made the same code; a section that one of the two lacks differs.

use std::collections::BTreeMap;

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader};

/// A cubin that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the cubin is not an ELF file as ptxas writes it: {what}")]
pub struct ImageError {
    /// What is wrong.
    pub what: String,
}

impl From<object::Error> for ImageError {
    fn from(error: object::Error) -> ImageError {
        ImageError { what: error.to_string() }
    }
}

/// Compares the machine code of two ELF files: the names of the sections that differ, none where all are equal.
pub fn same_code(first: &[u8], second: &[u8]) -> Result<Vec<String>, ImageError> {
    let (first, second) = (code(first)?, code(second)?);
    let names = first.keys().chain(second.keys().filter(|&name| !first.contains_key(name)));
    Ok(names.filter(|&name| first.get(name) != second.get(name)).cloned().collect())
}

/// The bytes of every section of code. Section headers alone are read: ptxas aligns program headers as it likes.
fn code(image: &[u8]) -> Result<BTreeMap<String, &[u8]>, ImageError> {
    let header = FileHeader64::<Endianness>::parse(image)?;
    let endian = header.endian()?;
    let table = header.sections(endian, image)?;
    let mut sections = BTreeMap::new();
    for section in table.iter() {
        let name = String::from_utf8_lossy(table.section_name(endian, section)?).into_owned();
        if name.starts_with(".text.") {
            sections.insert(name, section.data(endian, image)?);
        }
    }
    Ok(sections)
}
