//! PTX with debug information, and what the same compiler prints without.
//!
//! `tests/data/split` holds pairs: `x.ptx` by `cargo latch build`, `x.lines.ptx` by `cargo latch build --lines`, of
//! the kernels in `kernels/nounroll`, by LLVM's printer and by libNVVM.

mod common;

use std::fs;

use sass::{PtxModule, SplitPtx, one_statement_a_line, split};

fn pair(name: &str) -> (String, SplitPtx) {
    let read = |file: String| fs::read_to_string(common::data("split").join(file)).expect("the file");
    (read(format!("{name}.ptx")), split(&read(format!("{name}.lines.ptx"))))
}

#[test]
fn the_code_is_what_the_compiler_prints_without_debug_information() {
    for entry in fs::read_dir(common::data("split")).expect("the folder") {
        let file = entry.expect("an entry").file_name().into_string().expect("a name");
        if let Some(name) = file.strip_suffix(".lines.ptx") {
            let (plain, split) = pair(name);
            let differs = plain.lines().zip(split.code.lines()).position(|(plain, split)| plain != split);
            assert_eq!(differs, None, "{name}: the first line that differs, from 0");
            assert_eq!(plain, split.code, "{name}");
        }
    }
}

#[test]
fn one_instruction_a_line_and_no_debug_information_can_be_had_in_either_order() {
    for name in ["nounroll-llc", "nounroll-nvvm"] {
        let text = fs::read_to_string(common::data("split").join(format!("{name}.lines.ptx"))).expect("the file");
        let split_first = split(&text).code;
        assert_eq!(one_statement_a_line(&split_first), split(&one_statement_a_line(&text)).code, "{name}");
    }
}

/// The source line of a loop's branch back, by both compilers; libNVVM keeps the calls through which code was inlined.
#[test]
fn statements_have_the_locations_that_were_in_force() {
    for (name, calls) in [("nounroll-llc", false), ("nounroll-nvvm", true)] {
        let (_, split) = pair(name);
        let ptx = PtxModule::parse(&split.code).expect("PTX");
        let kernel = ptx.function("taps_rolled").expect("the kernel");
        let [only] = kernel.loops().collect::<Vec<_>>()[..] else { panic!("{name}: one loop") };
        let locations: Vec<_> = only.lines().filter_map(|line| split.location(line)).collect();
        assert_eq!(locations.len(), only.lines().count(), "{name}: every statement has one");
        let file = |location: &sass::Location| split.file(location.file).expect("a file").to_owned();
        let own = locations.iter().flat_map(|location| location.frames()).filter(|f| file(f).ends_with("/taps.rs"));
        assert!(own.map(|frame| frame.line).any(|line| line == 29), "{name}: `while` stands on line 29");
        let locations = kernel.statements.iter().filter_map(|statement| split.location(statement.line));
        let locations: Vec<_> = locations.collect();
        let inlined = locations.iter().filter(|location| location.inlined_at.is_some()).count();
        assert_eq!(inlined > 0, calls, "{name}");
        let names = locations.iter().filter_map(|location| split.name(location.function.as_deref()?));
        assert_eq!(names.count(), inlined, "{name}: each inlined function has a name");
    }
}
