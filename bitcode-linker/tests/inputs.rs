//! The promise: what is no bitcode of this compiler is refused by name, and takes nobody down.

mod common;

use common::{KERNEL, Scene, archive, bitcode, stderr};
use std::fs;

#[test]
fn a_file_that_is_not_there() {
    let scene = Scene::new();
    let args = scene.args(&["missing.o"]);
    let error = bitcode_linker::link(&args).unwrap_err().to_string();
    assert!(error.starts_with("cannot read missing.o: No such file"), "{error}");
}

#[test]
fn a_folder() {
    let scene = Scene::new();
    fs::create_dir(scene.path("folder")).unwrap();
    let folder = scene.path("folder");
    let error = bitcode_linker::link(&scene.args(&[folder.to_str().unwrap()])).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot read {}: Is a directory", folder.display())), "{error}");
}

#[test]
fn files_that_are_no_bitcode() {
    let elf = [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 60]].concat();
    let wrapped_nothing = [0x0b17_c0deu32.to_le_bytes(), [0; 4], [20, 0, 0, 0], [200, 0, 0, 0]].concat();
    for data in [b"".as_slice(), b"B", b"BC\xc0\xde", b"; ModuleID", b"!<arc", b"!<thin>\n", &elf, &wrapped_nothing] {
        let scene = Scene::new().input("a.o", data);
        let message =
            format!("{} is no LLVM bitcode: build device crates with `cargo latch build`", scene.path("a.o").display());
        assert_eq!(scene.refused(&[]), message);
    }
}

#[test]
fn bitcode_in_a_wrapper_is_read() {
    let bitcode = bitcode(KERNEL);
    let header = [0x0b17_c0de, 0, 20, bitcode.len() as u32, 7].map(u32::to_le_bytes).concat();
    assert!(Scene::new().input("a.o", &[header, bitcode].concat()).link(&[]).is_ok());
}

#[test]
fn an_rlib_is_its_objects_and_its_metadata() {
    let members = archive(&[("lib.rmeta", b"rust"), ("k.rcgu.o", &bitcode(KERNEL))]);
    let ptx = Scene::new().input("libk.rlib", &members).link(&[]).unwrap();
    assert!(ptx.contains(".visible .entry k("));
}

#[test]
fn members_that_are_no_bitcode_are_named() {
    let members = archive(&[("k.rcgu.o", &bitcode(KERNEL)), ("native.o", b"\x7fELF")]);
    let scene = Scene::new().input("libk.rlib", &members);
    let message = scene.refused(&[]);
    assert!(
        message.starts_with(&format!("{}(native.o) is no LLVM bitcode", scene.path("libk.rlib").display())),
        "{message}"
    );
}

#[test]
fn archives_without_objects_hold_no_kernel() {
    for members in [archive(&[]), archive(&[("lib.rmeta", b"rust")])] {
        let message = Scene::new().input("liba.rlib", &members).refused(&[]);
        assert_eq!(message, "no object among the inputs holds a kernel: mark one with `#[kernel]`");
    }
}

#[test]
fn a_damaged_archive_is_named_wherever_it_ends() {
    let whole = archive(&[("a.o", &bitcode("")), ("k.o", &bitcode(KERNEL))]);
    for end in (8..whole.len() - 1).step_by(7) {
        let scene = Scene::new().input("libk.rlib", &whole[..end]);
        let message = scene.refused(&[]);
        let name = scene.path("libk.rlib").display().to_string();
        // Where it ends between two members, it is an archive with fewer of them.
        let is_clear =
            message.starts_with(&format!("{name} is a damaged archive: ")) || message.contains("holds a kernel");
        assert!(is_clear, "cut at {end}: {message}");
    }
    let garbled = [b"!<arch>\n".as_slice(), &[b'x'; 200]].concat();
    let message = Scene::new().input("libk.rlib", &garbled).refused(&[]);
    assert!(message.contains("is a damaged archive"), "{message}");
}

#[test]
fn truncated_bitcode_is_an_error_wherever_it_ends() {
    let whole = bitcode(common::HINTED);
    for end in (0..whole.len()).step_by(whole.len() / 60) {
        let scene = Scene::new().input("a.o", &whole[..end]);
        let output = scene.run(&["-O3"]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "cut at {end}: {:?} {message}", output.status);
        let name = scene.path("a.o").display().to_string();
        let is_clear = message.starts_with(&format!("latch-link: LLVM cannot read {name}: "))
            || message.starts_with(&format!("latch-link: {name} is no LLVM bitcode"));
        assert!(is_clear && message.lines().count() == 1, "cut at {end}: {message}");
        assert_eq!(scene.files(), ["a.o"]);
    }
}

#[test]
fn truncated_members_are_an_error_where_they_are_needed() {
    let whole = bitcode(common::HINTED);
    for end in (0..whole.len()).step_by(whole.len() / 40) {
        let scene = Scene::new().input("liba.rlib", &archive(&[("a.o", &whole[..end])]));
        let output = scene.run(&["-O3"]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "cut at {end}: {:?} {message}", output.status);
        assert!(message.contains("liba.rlib(a.o)") && message.lines().count() == 1, "cut at {end}: {message}");
        assert_eq!(scene.files(), ["liba.rlib"]);
    }
}

#[test]
fn bitcode_of_an_older_llvm_is_refused() {
    let scene = Scene::with(KERNEL).input("old.o", include_bytes!("data/llvm-15.bc"));
    let message = format!(
        "{} was written by LLVM 15.0.6, and this linker reads LLVM 22: rebuild it with Rust 1.96.0 (`cargo latch build` does)",
        scene.path("old.o").display()
    );
    assert_eq!(scene.refused(&[]), message);
}

/// The producer's name stands in the identification block, a character in six bits: `LLVM22` at the first bit after its
/// abbreviation. Its second 2 becomes a 3.
fn newer(mut bitcode: Vec<u8>) -> Vec<u8> {
    let code = |letter: u8| {
        let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
        letters.iter().position(|other| *other == letter).unwrap()
    };
    let bit = |data: &[u8], at: usize| usize::from(data[at / 8] >> (at % 8) & 1);
    let letter = |data: &[u8], at: usize| (0..6).map(|place| bit(data, at + place) << place).sum::<usize>();
    let spells = |at: &usize| b"LLVM22".iter().enumerate().all(|(n, it)| letter(&bitcode, at + 6 * n) == code(*it));
    let start = (0..512).find(spells).expect("the producer is LLVM 22");
    for place in 0..6 {
        let (at, wanted) = (start + 30 + place, (code(b'3') >> place & 1) as u8);
        bitcode[at / 8] = bitcode[at / 8] & !(1 << (at % 8)) | wanted << (at % 8);
    }
    bitcode
}

#[test]
fn bitcode_of_a_newer_llvm_is_refused() {
    for (name, data) in [
        ("new.o", newer(bitcode(KERNEL))),
        ("libnew.rlib", archive(&[("lib.rmeta", b""), ("new.o", &newer(bitcode(KERNEL)))])),
    ] {
        let scene = Scene::new().input(name, &data);
        let message = scene.refused(&[]);
        let member = if name.ends_with("rlib") { "(new.o)" } else { "" };
        let start = format!("{}{member} was written by LLVM 23.", scene.path(name).display());
        assert!(message.starts_with(&start) && message.contains("this linker reads LLVM 22"), "{message}");
    }
}

#[test]
fn random_damage_never_takes_the_linker_down() {
    let whole = bitcode(KERNEL);
    // LLVM's reader is not made for hostile files, so damage is tried where it reads first.
    for at in (0..whole.len().min(400)).step_by(9) {
        let mut data = whole.clone();
        data[at] ^= 0x55;
        let output = Scene::new().input("a.o", &data).run(&[]);
        assert!(output.status.code().is_some(), "byte {at}: {:?} {}", output.status, stderr(&output));
    }
}
