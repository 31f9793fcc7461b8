//! The promise: whatever loops a kernel is made of, every hint has a record, every module passes LLVM's verifier and
//! ptxas, and no pragma goes without its loop.
//!
//! 200 kernels with random nests are written into a crate of their own and built once in each mode. The seeds are
//! fixed: a kernel's name says which one made it.

use std::fmt::Write;
use std::fs;

use cargo_latch::audit::Entry;
use cargo_latch::build::{HintMode, Profile};
use hint_record::{Reason, Status};
use latch_tests::{audits, builder, checkout};

const SEEDS: u64 = 200;

/// A small generator of numbers (SplitMix64), so that a seed means the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Writes one kernel.
struct Generator {
    random: Random,
    text: String,
    hints: usize,
    loops: usize,
}

impl Generator {
    fn kernel(seed: u64) -> Generator {
        let mut generator = Generator { random: Random(seed), text: String::new(), hints: 0, loops: 0 };
        let head = "#[kernel]\npub unsafe fn";
        let _ = write!(
            generator.text,
            "{head} seed_{seed}(x: *const f32, y: *mut f32, n: u32) {{\n    let mut s = 0.0f32;\n"
        );
        for _ in 0..=generator.random.below(2) {
            generator.nest(1, &mut Vec::new());
        }
        generator.text.push_str("    *y.add(thread::global_x() as usize) = s;\n}\n\n");
        generator
    }

    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(depth));
    }

    fn nest(&mut self, depth: usize, around: &mut Vec<String>) {
        let index = format!("i{}", self.loops);
        let label = format!("'l{}", self.loops);
        self.loops += 1;
        let hint = self.random.pick(&["", "#[nounroll]", "#[nounroll]", "#[unroll]", "#[unroll(2)]", "#[unroll(4)]"]);
        if !hint.is_empty() {
            self.line(depth, hint);
            self.hints += 1;
        }
        let inner_bound = around.last().map_or("3u32".to_owned(), |outer| format!("({outer} & 3)"));
        let bounds = ["4u32", "3u32", "7u32", "n", &inner_bound];
        let bound = self.random.pick(&bounds);
        let header = match self.random.below(5) {
            0 => format!("{label}: for {index} in (0..{bound}).step_by(2) {{"),
            1 => format!("{label}: for {index} in (0..{bound}).rev() {{"),
            // Not with a bound that may be 0: LLVM keeps such a loop of one step, and ptxas sees that it never repeats.
            2 if bound != inner_bound => format!("{label}: for {index} in 0..={bound} {{"),
            _ => format!("{label}: for {index} in 0..{bound} {{"),
        };
        self.line(depth, &header);
        around.push(index.clone());
        self.body(depth + 1, around, &label);
        around.pop();
        self.line(depth, "}");
    }

    fn body(&mut self, depth: usize, around: &mut Vec<String>, label: &str) {
        let place = around.iter().enumerate().map(|(at, index)| format!("{index} * {}", 7 * at + 1));
        let place = place.collect::<Vec<_>>().join(" + ");
        self.line(depth, &format!("let v = *x.add(({place}) as usize);"));
        match self.random.below(6) {
            0 => self.line(depth, "if v < 0.0 { continue; }"),
            1 => self.line(depth, "if v > 9.0 { break; }"),
            2 => self.line(depth, &format!("if v < -1.0 {{ continue {label}; }}")),
            3 => self.line(depth, "if v < 0.5 { s -= v; continue; }"),
            _ => {}
        }
        self.line(depth, "s = 0.5 * s + v;");
        if depth < 4 {
            for _ in 0..self.random.below(if depth == 2 { 3 } else { 2 }) {
                self.nest(depth, around);
            }
        }
    }
}

fn crate_of_nests(folder: &std::path::Path) -> usize {
    let manifest = format!(
        "[package]\nname = \"nests\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n\
         [dependencies]\ndevice-std = {{ path = {:?} }}\n[workspace]\n",
        checkout().join("device-std")
    );
    let mut source = "#![no_std]\n#![feature(abi_gpu_kernel)]\n#![allow(unused, unsafe_op_in_unsafe_fn)]\n\
                      use device_std::{kernel, thread};\n\n"
        .to_owned();
    let mut hints = 0;
    for seed in 0..SEEDS {
        let kernel = Generator::kernel(seed);
        source.push_str(&kernel.text);
        hints += kernel.hints;
    }
    fs::create_dir(folder.join("src")).expect("made");
    fs::write(folder.join("Cargo.toml"), manifest).expect("written");
    fs::write(folder.join("src/lib.rs"), source).expect("written");
    hints
}

fn check(entry: &Entry, hints: usize) {
    assert_eq!(entry.hints.len(), hints, "every hint has a record");
    for hint in &entry.hints {
        let place = format!("line {}: {hint:?}", hint.line);
        assert_eq!(hint.status == Status::Honoured, hint.why.is_none(), "{place}");
        assert_ne!(hint.status, Status::NotCompiled, "{place}");
        assert_ne!(hint.why.reason(), Some(Reason::Unsaid), "{place}");
    }
    assert_eq!(entry.kernels.len() as u64, SEEDS);
    for kernel in &entry.kernels {
        let sass = kernel.sass.expect("NVIDIA's tools are here");
        assert!(sass.loops >= kernel.pragmas, "{}: {} pragmas, {} loops", kernel.name, kernel.pragmas, sass.loops);
    }
}

#[test]
fn every_hint_of_200_random_nests_is_accounted_for_in_both_modes() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let hints = crate_of_nests(folder.path());
    assert!(hints > 200, "{hints} hints are enough to say something");
    let [llvm, mir] = [HintMode::Llvm, HintMode::Mir].map(|mode| {
        let entry = audits(&builder(folder.path(), mode, Profile::Release), "nests", &["sm_90"]).remove(0);
        check(&entry, hints);
        entry
    });
    for (llvm, mir) in llvm.hints.iter().zip(&mir.hints) {
        assert_eq!((llvm.line, llvm.status, &llvm.why), (mir.line, mir.status, &mir.why));
    }
}
