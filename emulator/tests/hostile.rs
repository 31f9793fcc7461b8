//! PTX that is cut, garbled or malicious gives an error, or loads and runs to an error; never a panic, never without
//! end.

use any_text::any_text;
use emulator::{LoadError, Module};
use proptest::prelude::*;

#[path = "../fuzz/any_text.rs"]
mod any_text;

const RUST: &str = include_str!("ptx/rust_o3.ptx");

#[test]
fn every_truncation_is_an_error_or_a_module() {
    for n in (0..RUST.len()).step_by(61) {
        if let Some(s) = RUST.get(..n) {
            let _ = Module::load(s);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn garbled_lines(edits in prop::collection::vec((0usize..1_000_000, 0usize..1_000_000, 0u8..4), 1..8)) {
        let mut lines: Vec<String> = RUST.lines().map(str::to_owned).collect();
        for (a, b, how) in edits {
            let (a, b) = (a % lines.len(), b % lines.len());
            match how {
                0 => { lines.remove(a); }
                1 => lines.swap(a, b),
                2 => { let l = lines[b].clone(); lines.insert(a, l); }
                _ => {
                    let cut = lines[a].len() / 2;
                    if lines[a].is_char_boundary(cut) { lines[a].truncate(cut); }
                }
            }
        }
        any_text(&lines.join("\n"));
    }

    #[test]
    fn garbled_words(edits in prop::collection::vec((0usize..1_000_000, 0usize..1_000_000), 1..6)) {
        // A word in the place of another: operands of wrong kinds, labels that are registers, unknown mnemonics.
        let mut words: Vec<&str> = RUST.split_inclusive([' ', '\t', '\n', ',', ';']).collect();
        for (a, b) in edits {
            let n = words.len();
            words[a % n] = words[b % n];
        }
        any_text(&words.concat());
    }

    #[test]
    fn arbitrary_text(s in "\\PC{0,200}") {
        let _ = Module::load(&s);
        let _ = Module::load(&format!(".version 8.0\n.visible .entry k() {{ {s} }}"));
    }
}

fn body(b: &str) -> Result<Module, LoadError> {
    Module::load(&format!(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{\n{b}\n}}"))
}

#[test]
fn huge_counts() {
    // Registers cost nothing until they are used.
    assert!(body(".reg .b64 %r<4294967295>; mov.u64 %r4294967294, 1;").is_ok());
    for b in [
        ".shared .b8 x[99999999999]; ret;",
        ".local .b8 x[99999999999]; ret;",
        ".local .b8 x[18446744073709551615][18446744073709551615]; ret;",
        ".global .b64 x[549755813887]; ret;",
        ".reg .b32 %r<99999999999>; ret;",
        ".local .align 3 .b8 x[4]; ret;",
        "bra nowhere;",
        "mov.u32 %nothing, 1;",
        "frobnicate.u32 1;",
    ] {
        assert!(body(b).is_err(), "{b}");
    }
    let regs: String = (0..300_000).map(|n| format!("mov.b32 %r{n}, 0;\n")).collect();
    assert!(matches!(body(&format!(".reg .b32 %r<300000>;\n{regs}")), Err(LoadError::TooLarge { .. })));
}

#[test]
fn deep_nesting() {
    let deep = |open: &str, close: &str, n: usize| format!("{}{}", open.repeat(n), close.repeat(n));
    assert!(body(&deep("{", "}", 100_000)).is_ok());
    assert!(body(&format!("mov.b32 %r1, {};", deep("{", "}", 100_000))).is_err());
    assert!(body(&format!("ld.b32 %r1, {};", deep("[", "]", 100_000))).is_err());
    assert!(body(&format!("call f, {};", deep("(", ")", 100_000))).is_err());
    let m = Module::load(&format!(".version 8.0\n.global .b32 x[] = {};", deep("{", "}", 100_000)));
    assert!(m.is_err());
    assert!(Module::load(&format!(".version 8.0\n.section .x {}", deep("{", "}", 100_000))).is_ok());
    // Loops in loops, as deep as the text is long.
    let n = 20_000;
    let open: String = (0..n).map(|k| format!("L{k}:\n")).collect();
    let close: String = (0..n).rev().map(|k| format!("@%p bra L{k};\n")).collect();
    assert!(body(&format!(".reg .pred %p;\n{open}{close}")).is_ok());
}

#[test]
fn an_unknown_instruction_is_named_with_its_line() {
    let e = body(".reg .b32 %r<3>;\ntex.2d.v4.f32.f32 %r1, %r2;").unwrap_err();
    assert_eq!(e, LoadError::UnknownInstruction { line: 6, name: "tex.2d.v4.f32.f32".into() });
    for form in [
        "add.rn.s32 %r1, %r1, %r1;",
        "ld.global.v3.b32 %r1, [%r1];",
        "setp.equ.s32 %r1, %r1, %r1;",
        "shfl.idx.b32 %r1, %r1, 0, 31;",
        "cvt.f32.s32 %r1, %r1;",
        "atom.add.b32 %r1, [%r1], 1;",
    ] {
        let e = body(&format!(".reg .b32 %r<3>;\n{form}")).unwrap_err();
        assert!(matches!(e, LoadError::UnknownInstruction { line: 6, .. }), "{form}: {e}");
    }
}

#[test]
fn operands_of_the_wrong_width_or_kind() {
    let regs = ".reg .b16 %h; .reg .b32 %r; .reg .b64 %d; .reg .pred %p;\n";
    for form in [
        "add.s32 %r, %d, 1;",
        "add.s32 %d, %r, 1;",
        "add.s32 %r, %r;",
        "add.s32 %r, %r, %p;",
        "mov.b32 %p, %r;",
        "selp.b32 %r, %r, %r, %r;",
        "ld.global.b64 %r, [%d];",
        "ld.global.b32 %r, [%h];",
        "st.global.b32 [%d], %h;",
        "cvt.u64.u32 %r, %r;",
        "mul.wide.u32 %r, %r, %r;",
        "@%r bra L; L:",
        "bra %r;",
        "bar.sync;",
        "mov.b64 {%r, %h}, %d;",
        "shfl.sync.idx.b32 %r|%r, %r, 0, 31, -1;",
    ] {
        assert!(body(&format!("{regs}{form}")).is_err(), "{form}");
    }
}
