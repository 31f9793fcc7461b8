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
