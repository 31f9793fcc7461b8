//! From file names to bitcode: plain objects, and the members of rlibs.
//!
//! An rlib is an `ar` archive; besides objects it holds the crate's metadata, which is skipped. Everything else must be
//! bitcode of the LLVM that is linked here.

use crate::{Error, identification};
use object::read::archive::ArchiveFile;
use std::fs;
use std::path::Path;

/// The LLVM release series whose bitcode is accepted.
pub const LLVM_MAJOR: u32 = 22;
const METADATA: &[u8] = b"lib.rmeta";

/// One object's bitcode, and the name to call it by in messages.
#[derive(Debug)]
pub struct Object {
    /// The file, with the member in parentheses.
    pub name: String,
    /// The bitcode.
    pub bitcode: Vec<u8>,
}

/// The objects of one input file.
pub fn read(path: &Path) -> Result<Vec<Object>, Error> {
    let data = fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let objects = if data.starts_with(b"!<arch>\n") {
        members(path, &data)?
    } else {
        vec![Object { name: path.display().to_string(), bitcode: data }]
    };
    objects.iter().try_for_each(check)?;
    Ok(objects)
}

fn members(path: &Path, data: &[u8]) -> Result<Vec<Object>, Error> {
    let damaged = |error: object::Error| Error::Archive { path: path.to_owned(), message: error.to_string() };
    let archive = ArchiveFile::parse(data).map_err(damaged)?;
    let mut objects = Vec::new();
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        if member.name() != METADATA {
            let name = format!("{}({})", path.display(), String::from_utf8_lossy(member.name()));
            objects.push(Object { name, bitcode: member.data(data).map_err(damaged)?.to_vec() });
        }
    }
    Ok(objects)
}

fn check(object: &Object) -> Result<(), Error> {
    let not_bitcode = || Error::NotBitcode { input: object.name.clone() };
    let producer = identification::producer(&object.bitcode).ok_or_else(not_bitcode)?;
    match identification::major(&producer) {
        Some(LLVM_MAJOR) => Ok(()),
        _ => Err(Error::WrongVersion {
            input: object.name.clone(),
            found: producer.trim_start_matches("LLVM").to_owned(),
            expected: LLVM_MAJOR,
        }),
    }
}
