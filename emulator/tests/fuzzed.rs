//! A short run of what the fuzz target does without end: compiled modules garbled by bytes and words, always the same
//! ones.
//!
//! Each case is a module, or a piece of one that begins with its header, changed in a few places. That none panics is
//! the test; a case without end would show as a test that does not end, and the launches have a limit of steps.

use std::fs;
use std::path::Path;

#[path = "../fuzz/any_text.rs"]
mod any_text;

/// Cases for each module.
const CASES: usize = 1500;

/// Words that break what counts, nests or ends.
const WORDS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "|",
    "!",
    "@",
    "-",
    "\"",
    "/*",
    "*/",
    "//",
    "%",
    "$",
    "\\",
    "0x",
    "0f",
    "0d",
    "1",
    "-1",
    "0",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
    ".reg",
    ".param",
    ".shared",
    ".local",
    ".b8",
    ".b128",
    ".pred",
    ".align 3",
    ".extern",
    ".entry",
    ".func",
    ".loc",
    ".file",
    ".section",
    ".pragma",
    ".branchtargets",
    ".callprototype",
    ".noreturn",
    "ret;",
    "bra",
    "call",
    "ld",
    "st",
    "mov.b64",
    "%r1",
    "%rd1",
    "%p1",
    "%tid.x",
    "WARP_SZ",
    "_",
    "\0",
    "é",
];

/// Reproducible numbers (Steele, Lea and Flood's splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % n.max(1) as u64) as usize
    }

    /// A place between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn span(&mut self, text: &str, longest: usize) -> (usize, usize) {
        let from = self.place(text);
        let mut to = (from + self.below(longest)).min(text.len());
        while !text.is_char_boundary(to) {
            to -= 1;
        }
        (from, to)
    }
}

/// The modules of the tests, by name.
fn modules() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx");
    let mut files: Vec<_> = fs::read_dir(folder).expect("it is there").map(|e| e.expect("readable").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "ptx"));
    files.sort();
    files.iter().map(|f| fs::read_to_string(f).expect("text")).collect()
}

/// The header and one function or more of a module, so that most cases are small.
fn piece(module: &str, random: &mut Random) -> String {
    let starts: Vec<usize> = module.match_indices("\n}").map(|(at, _)| at + 2).collect();
    let header = module.find(".address_size 64").map_or(0, |at| at + 16);
    let from = random.below(starts.len());
    let to = (from + 1 + random.below(2)).min(starts.len().saturating_sub(1));
    match (starts.get(from), starts.get(to)) {
        (Some(&a), Some(&b)) if a >= header && a < b => format!("{}{}", &module[..header], &module[a..b]),
        _ => module.to_owned(),
    }
}

/// The word at a place, as a range.
fn word(text: &str, at: usize) -> (usize, usize) {
    let outside = |c: char| !(c.is_ascii_alphanumeric() || "._%$".contains(c));
    let from = text[..at].rfind(outside).map_or(0, |k| k + 1);
    let to = text[at..].find(outside).map_or(text.len(), |k| at + k);
    (from.min(to), to)
}

/// Puts a word in the place of one of its kind: a register, a number, a mnemonic. Much of what comes out still loads.
fn swap_words(text: &mut String, random: &mut Random) {
    let (from, to) = {
        let at = random.place(text);
        word(text, at)
    };
    let kind = |w: &str| w.chars().take(2).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>();
    for _ in 0..64 {
        let (a, b) = {
            let at = random.place(text);
            word(text, at)
        };
        if a < b && text[a..b] != text[from..to] && kind(&text[a..b]) == kind(&text[from..to]) {
            let other = text[a..b].to_owned();
            text.replace_range(from..to, &other);
            return;
        }
    }
}

fn garble(text: &mut String, other: &str, random: &mut Random) {
    match random.below(7) {
        0 => {
            let (from, to) = random.span(text, 8);
            text.replace_range(from..to, "");
        }
        1 => {
            let at = random.place(text);
            text.insert_str(at, WORDS[random.below(WORDS.len())]);
        }
        2 => {
            let (from, to) = random.span(text, 6);
            text.replace_range(from..to, WORDS[random.below(WORDS.len())]);
        }
        3 => {
            let (from, to) = random.span(text, 200);
            let part = text[from..to].to_owned();
            let at = random.place(text);
            text.insert_str(at, &part);
        }
        4 => {
            let (from, to) = random.span(other, 200);
            let at = random.place(text);
            text.insert_str(at, &other[from..to]);
        }
        5 => {
            let at = random.place(text);
            text.truncate(at);
        }
        _ => {
            let (from, to) = random.span(text, 2);
            let c = char::from(random.below(128) as u8);
            text.replace_range(from..to, c.encode_utf8(&mut [0; 4]));
        }
    }
}

#[test]
fn garbled_modules_load_or_give_an_error_and_what_loads_ends() {
    let modules = modules();
    assert!(modules.len() >= 4, "the modules of the tests are there");
    let mut random = Random(2026);
    let mut loaded = 0;
    for module in &modules {
        assert!(any_text::any_text(module), "a module loads as it is");
        for _ in 0..CASES {
            let mut text = piece(module, &mut random);
            let other = &modules[random.below(modules.len())];
            let gently = random.below(2) == 0;
            for _ in 0..1 + random.below(4) {
                if gently {
                    swap_words(&mut text, &mut random);
                } else {
                    garble(&mut text, other, &mut random);
                }
            }
            loaded += usize::from(any_text::any_text(&text));
        }
    }
    // Both sides are tried: the parser's errors, and what the changes leave fit to run.
    let all = CASES * modules.len();
    assert!(all / 20 < loaded && loaded < all / 2, "{loaded} of {all} load");
}
