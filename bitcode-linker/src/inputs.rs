//! From file names to bitcode: plain objects, and the members of rlibs.
//!
//! An rlib is an `ar` archive; besides objects it holds the crate's metadata, which is not even read (40 of the core
//! library's 41 MB). Everything else must be bitcode of the LLVM that is linked here, or an ELF object with its bitcode
//! in a section of its own: rustc writes machine code for `#![no_builtins]` crates (the compiler's own builtins) where
//! an object can be that, as on AMD's target.

use crate::{Error, identification};
use object::read::ReadCache;
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSection as _};
use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::path::Path;

/// The LLVM release series whose bitcode is accepted: that of the compiler that built this, whose libLLVM is linked.
pub const LLVM_MAJOR: u32 = match u32::from_str_radix(env!("LATCH_LLVM_MAJOR"), 10) {
    Ok(major) => major,
    Err(_) => panic!("LLVM's version is a number"),
};
const METADATA: &[u8] = b"lib.rmeta";
const ARCHIVE_MAGIC: &[u8] = b"!<arch>\n";
const ELF_MAGIC: &[u8] = b"\x7fELF";
/// Where rustc puts bitcode beside machine code.
const BITCODE_SECTION: &str = ".llvmbc";

/// One object's bitcode, and the name to call it by in messages.
#[derive(Debug)]
pub struct Object {
    /// The file, with the member in parentheses.
    pub name: String,
    /// The bitcode.
    pub bitcode: Vec<u8>,
    /// Does it come from an archive? Then it is linked only where something needs it.
    pub is_member: bool,
}

/// The objects of one input file.
pub fn read(path: &Path) -> Result<Vec<Object>, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let start = read_start(&mut file).map_err(failed)?;
    let mut objects = if start == ARCHIVE_MAGIC {
        members(path, &ReadCache::new(file))?
    } else {
        let mut bitcode = start;
        file.read_to_end(&mut bitcode).map_err(failed)?;
        vec![Object { name: path.display().to_string(), bitcode, is_member: false }]
    };
    objects.iter_mut().for_each(unwrap_elf);
    objects.iter().try_for_each(check)?;
    Ok(objects)
}

/// As many bytes as an archive's magic has, or fewer at the end of the file.
fn read_start(file: &mut File) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.by_ref().take(ARCHIVE_MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start)
}

fn members(path: &Path, data: &ReadCache<File>) -> Result<Vec<Object>, Error> {
    let damaged = |error: object::Error| Error::Archive { path: path.to_owned(), message: error.to_string() };
    let archive = ArchiveFile::parse(data).map_err(damaged)?;
    let mut objects = Vec::new();
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        if member.name() != METADATA {
            let name = format!("{}({})", path.display(), String::from_utf8_lossy(member.name()));
            let bitcode = member.data(data).map_err(damaged)?.to_vec();
            objects.push(Object { name, bitcode, is_member: true });
        }
    }
    Ok(objects)
}

/// Takes the bitcode out of an ELF object that has some. Of any other, [`check`] says what is wrong.
fn unwrap_elf(object: &mut Object) {
    if !object.bitcode.starts_with(ELF_MAGIC) {
        return;
    }
    let elf = object::File::parse(&*object.bitcode).ok();
    let bitcode = elf.and_then(|elf| Some(elf.section_by_name(BITCODE_SECTION)?.data().ok()?.to_vec()));
    object.bitcode = bitcode.unwrap_or_else(|| mem::take(&mut object.bitcode));
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
