//! Text that is not as nvdisasm writes it: an error that names the line, or figures, but never a panic.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use sass::{Counts, Extra, Module, Program};

const KERNEL: &str = "\
\t.target\tsm_90
\t.section\t.text.k,\"ax\",@progbits
        .type           k,@function
        .other          k,@\"STO_CUDA_ENTRY STV_DEFAULT\"
k:
.text.k:
        /*0000*/                   LDG.E R2, desc[UR4][R2.64] ;
.L_x_0:
        /*0010*/              @!P0 BRA `(.L_x_0) ;
        /*0020*/                   BRX R4 -0x30      (*\"BRANCH_TARGETS .L_x_0,.L_x_1\"*);
.L_x_1:
        /*0030*/                   EXIT ;
.L_x_2:
        /*0040*/                   BRA `(.L_x_2);
        /*0050*/                   NOP;
.L_x_3:
";

/// The line and the sentence of the error after replacing `from` by `to`.
fn error(from: &str, to: &str) -> (usize, String) {
    assert!(KERNEL.contains(from), "{from}");
    let error = Module::parse(&KERNEL.replacen(from, to, 1)).expect_err(to);
    assert!(error.to_string().starts_with(&format!("cannot read nvdisasm's output, line {} (`", error.line)));
    (error.line, error.what)
}

#[test]
fn the_text_is_right_to_begin_with() {
    let module = Module::parse(KERNEL).expect("a module");
    let program = Program::of(&module);
    assert_eq!(Counts::of(&program.kernels().next().expect("a kernel")).loops, 1);
}

#[test]
fn each_fault_is_told_with_its_line() {
    let faults = [
        ("/*0010*/", "/*001g*/", 9, "the address is not a hexadecimal number"),
        ("/*0010*/", "/*0000*/", 9, "the address is not above the one before"),
        ("EXIT ;", "EXIT", 12, "the instruction does not end with `;`"),
        ("EXIT ;", ";", 12, "`` is not an opcode"),
        ("EXIT ;", "exit ;", 12, "`exit` is not an opcode"),
        ("@!P0 BRA", "@!Q0 BRA", 9, "the predicate is not one"),
        ("@!P0 BRA `(.L_x_0) ;", "@!P0 ;", 9, "there is no opcode behind the predicate"),
        ("BRA `(.L_x_0) ;", "BRA ;", 9, "`BRA` names no place to go to"),
        ("BRA `(.L_x_0) ;", "BRA 0x18 ;", 9, "there is no instruction at its target 0x18"),
        ("BRA `(.L_x_0) ;", "BRA `(.L_x_3) ;", 9, "there is no instruction at its target 0x51"),
        ("BRA `(.L_x_0) ;", "BRA `(.L_x_9) ;", 9, "there is no label `.L_x_9` in this section"),
        (".L_x_0,.L_x_1", ".L_x_0,elsewhere", 10, "the branch target `elsewhere` is not in this section"),
        ("\"*);", ";", 10, "the note `(*\"` is not closed"),
        (".L_x_1:", ".L_x_0:", 11, "the label `.L_x_0` stands in this section twice"),
        (".L_x_1:", "//## File \"a.rs\"", 11, "the source line has no number"),
        (".L_x_1:", "//## File \"a.rs\", line x", 11, "the source line is not a number"),
        (".L_x_1:", "what is this", 11, "this is neither an instruction, a label nor a directive"),
        (".target", ".tarket", 16, "the text ends without a `.target`"),
        ("EXIT ;", "BSYNC ;", 12, "`BSYNC` names no barrier"),
    ];
    for (from, to, line, what) in faults {
        assert_eq!(error(from, to), (line, what.to_owned()), "{from} -> {to}");
    }
}

#[test]
fn text_of_another_kind_is_an_error() {
    assert_eq!(Module::parse("").expect_err("nothing").line, 0);
    assert!(Module::parse("ELF\u{1}\n\u{2}").is_err());
}

#[test]
fn sections_without_code_are_passed_over() {
    let data = "\t.section\t.nv.constant0.k,\"a\",@progbits\n.nv.constant0.k:\n        /*0000*/ \t.byte\t0x01, 0x00\n\t.zero\t372\n";
    for text in [format!("{KERNEL}{data}"), KERNEL.replacen("\t.section", &format!("{data}\t.section"), 1)] {
        assert_eq!(Module::parse(&text), Module::parse(KERNEL));
    }
}

#[test]
fn an_indirect_jump_without_targets_is_taken_anywhere_and_reported() {
    let unknown = KERNEL.replace("(*\"BRANCH_TARGETS .L_x_0,.L_x_1\"*)", "");
    let module = Module::parse(&unknown).expect("a module");
    let program = Program::of(&module);
    let kernel = program.kernels().next().expect("a kernel");
    assert_eq!(Extra::of(&kernel).unresolved_jumps, 1);
    assert_eq!(kernel.instructions().len(), 4, "the exit is reached all the same, the padding is not");
}

fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| fs::read_to_string(path).expect("text")).collect()
}

/// One way to spoil a text.
#[derive(Clone, Debug)]
enum Damage {
    /// Leave a line out.
    Drop(prop::sample::Index),
    /// Say a line twice.
    Repeat(prop::sample::Index),
    /// Exchange two lines.
    Swap(prop::sample::Index, prop::sample::Index),
    /// End in the middle.
    Cut(prop::sample::Index),
    /// Put a character elsewhere.
    Poke(prop::sample::Index, char),
    /// Put a word of one line into another.
    Graft(prop::sample::Index, prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        index().prop_map(Damage::Drop),
        index().prop_map(Damage::Repeat),
        (index(), index()).prop_map(|(one, other)| Damage::Swap(one, other)),
        index().prop_map(Damage::Cut),
        (index(), prop_oneof![prop::char::range(' ', '~'), Just('\u{e9}'), Just('\n')])
            .prop_map(|(at, c)| Damage::Poke(at, c)),
        (index(), index()).prop_map(|(from, to)| Damage::Graft(from, to)),
    ]
}

fn apply(text: &str, damage: &Damage) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return String::new();
    }
    let count = lines.len();
    match damage {
        Damage::Drop(at) => drop(lines.remove(at.index(count))),
        Damage::Repeat(at) => lines.insert(at.index(count), lines[at.index(count)].clone()),
        Damage::Swap(one, other) => lines.swap(one.index(count), other.index(count)),
        Damage::Cut(at) => return text.chars().take(at.index(text.chars().count())).collect(),
        Damage::Poke(at, c) => {
            let at = at.index(text.chars().count());
            return text.chars().enumerate().map(|(place, old)| if place == at { *c } else { old }).collect();
        }
        Damage::Graft(from, to) => {
            let word = lines[from.index(count)].split_whitespace().last().unwrap_or_default().to_owned();
            let line = &mut lines[to.index(count)];
            *line = line.split_whitespace().next().map_or(word.clone(), |first| line.replacen(first, &word, 1));
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_text_never_panics(
        which in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let fixtures = fixtures();
        let text = damages.iter().fold(which.get(&fixtures).clone(), |text, damage| apply(&text, damage));
        match Module::parse(&text) {
            Err(error) => prop_assert!(error.line <= text.lines().count()),
            Ok(module) => {
                let program = Program::of(&module);
                for kernel in program.kernels() {
                    let counts = Counts::of(&kernel);
                    prop_assert!(counts.global_loads + counts.local_stores <= counts.instructions);
                    prop_assert_eq!(kernel.loops().len(), counts.loops);
                    prop_assert!(!kernel.sass().is_empty() && !kernel.cfg().is_empty() && !kernel.dot().is_empty());
                }
            }
        }
    }
}
