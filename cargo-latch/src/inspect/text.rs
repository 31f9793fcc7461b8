//! One function out of the text of a whole module.
//!
//! The printers of MIR, LLVM IR and PTX start a function at the left margin and end it with a `}` there.

use std::collections::BTreeSet;

/// A function of rustc's MIR dump, by its name without path.
pub fn mir_function(mir: &str, name: &str) -> Option<String> {
    let is_start = |line: &str| {
        let path = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next());
        path.is_some_and(|path| path.rsplit("::").next() == Some(name))
    };
    block(mir, is_start)
}

/// A function of an LLVM module, with the metadata that its branches name.
pub fn llvm_function(module: &str, symbol: &str) -> Option<String> {
    let is_start = |line: &str| {
        line.starts_with("define ")
            && [format!("@{symbol}("), format!("@\"{symbol}\"(")].iter().any(|name| line.contains(&**name))
    };
    let function = block(module, is_start)?;
    let metadata = loop_metadata(module, &function);
    Some(if metadata.is_empty() { function } else { format!("{function}\n{metadata}") })
}

/// A function of a PTX module.
pub fn ptx_function(ptx: &str, symbol: &str) -> Option<String> {
    let is_start = |line: &str| {
        let mut words = line.split(|character: char| character.is_whitespace() || "()".contains(character));
        let has_directive = line.contains(".entry ") || line.contains(".func ");
        has_directive && line.starts_with('.') && words.any(|word| word == symbol)
    };
    block(ptx, is_start)
}

/// A function of AMD's assembly: its instructions and labels, without the compiler's comments.
pub fn amd_function(assembly: &str, symbol: &str) -> Option<String> {
    let label = format!("{symbol}:");
    let mut lines = assembly.lines().skip_while(|line| without_comment(line) != label).peekable();
    lines.peek()?;
    // The description of a kernel follows in a section of its own; a function that is none goes up to its end's label.
    let own = lines.take_while(|line| !line.starts_with(".Lfunc_end") && !line.trim_start().starts_with(".section"));
    let own = own.map(without_comment).filter(|line| !line.is_empty());
    Some(own.map(|line| format!("{line}\n")).collect())
}

fn without_comment(line: &str) -> &str {
    line.split(';').next().unwrap_or_default().trim_end()
}

fn block(text: &str, is_start: impl Fn(&str) -> bool) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| is_start(line))?;
    let length = lines[start..].iter().position(|line| *line == "}")?;
    let mut function = lines[start..=start + length].join("\n");
    function.push('\n');
    Some(function)
}

/// The definitions of the loop IDs of `function`, and of what they hold, in the module's order.
fn loop_metadata(module: &str, function: &str) -> String {
    let ids = function.lines().filter_map(|line| line.split_once("!llvm.loop ")).flat_map(|(_, rest)| numbers(rest));
    let mut wanted: BTreeSet<u64> = ids.collect();
    let definitions: Vec<(u64, &str)> = module.lines().filter_map(definition).collect();
    loop {
        let held = definitions.iter().filter(|(id, _)| wanted.contains(id));
        let more: BTreeSet<u64> = held.flat_map(|(_, line)| numbers(line)).collect();
        let before = wanted.len();
        wanted.extend(more);
        if wanted.len() == before {
            break;
        }
    }
    let lines = definitions.iter().filter(|(id, _)| wanted.contains(id));
    lines.map(|(_, line)| format!("{line}\n")).collect()
}

/// `!12 = …`
fn definition(line: &str) -> Option<(u64, &str)> {
    let id = line.strip_prefix('!')?.split_once(" = ")?.0.parse().ok()?;
    Some((id, line))
}

/// Every `!12` in a line, but for those inside strings.
fn numbers(line: &str) -> Vec<u64> {
    let outside_strings: String = line.split('"').step_by(2).collect();
    let after_marks = outside_strings.split('!').skip(1);
    let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    after_marks.filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_cut_out_of_each_kind_of_text() {
        let mir = "fn other::taps() -> () {\n    bb0: {\n    }\n}\n\nfn taps::taps2(_1: u8) -> () {\n    1\n}\n";
        assert_eq!(mir_function(mir, "taps2").as_deref(), Some("fn taps::taps2(_1: u8) -> () {\n    1\n}\n"));
        assert_eq!(mir_function(mir, "tap"), None);
        let ptx = ".visible .entry taps2(\n)\n{\n}\n.visible .entry taps(\n\t.param\n)\n{\n\tret;\n}\n";
        assert_eq!(ptx_function(ptx, "taps").as_deref(), Some(".visible .entry taps(\n\t.param\n)\n{\n\tret;\n}\n"));
        let func = ".func  (.param .b32 func_retval0) sum4(\n)\n{\n}\n";
        assert_eq!(ptx_function(func, "sum4").as_deref(), Some(func));
    }

    #[test]
    fn a_kernel_of_amd_ends_before_its_description() {
        let assembly = "\t.type\ttaps,@function\ntaps:                    ; @taps\n; %bb.0:\n\ts_load_b64 s[0:1], s[0:1], 0x0\n\
                        .LBB0_1:                 ; =>This Loop\n\ts_endpgm\n\t.section\t.rodata,\"a\",@progbits\n\t\
                        .amdhsa_kernel taps\n.Lfunc_end0:\nsum4:\n\ts_setpc_b64 s[30:31]\n.Lfunc_end1:\n";
        let expected = "taps:\n\ts_load_b64 s[0:1], s[0:1], 0x0\n.LBB0_1:\n\ts_endpgm\n";
        assert_eq!(amd_function(assembly, "taps").as_deref(), Some(expected));
        assert_eq!(amd_function(assembly, "sum4").as_deref(), Some("sum4:\n\ts_setpc_b64 s[30:31]\n"));
        assert_eq!(amd_function(assembly, "tap"), None);
    }

    #[test]
    fn loop_metadata_comes_with_an_llvm_function() {
        let module = "define void @a() {\n  br label %b, !llvm.loop !3\n}\n\ndefine void @b() {\n  ret void\n}\n\n\
                      !1 = !{}\n!3 = distinct !{!3, !4}\n!4 = !{!\"latch.site\", !\"x!9\"}\n!9 = !{i32 1}\n";
        let expected = "define void @a() {\n  br label %b, !llvm.loop !3\n}\n\n!3 = distinct !{!3, !4}\n!4 = !{!\"latch.site\", !\"x!9\"}\n";
        assert_eq!(llvm_function(module, "a").as_deref(), Some(expected));
        assert_eq!(llvm_function(module, "b").as_deref(), Some("define void @b() {\n  ret void\n}\n"));
    }
}
