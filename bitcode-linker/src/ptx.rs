//! The `.pragma "nounroll"` directives of a PTX text: what must be so for ptxas to follow them, and which function
//! holds how many.

use std::collections::HashMap;

const PRAGMA: &str = ".pragma \"nounroll\"";

/// Takes labels from between a pragma and the code: they go before the label that the pragma follows.
///
/// With debug information LLVM prints such labels, for the ends of scopes. ptxas forgets a pragma when one comes
/// between it and the code, and also when one comes between the loop's label and it; then a loop would be unrolled for
/// no other reason than that its lines are known.
pub fn settle_pragmas(ptx: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    // Where the labels before the last pragma begin, as long as nothing but labels has followed it.
    let mut start = None;
    for line in ptx.split_inclusive('\n') {
        match start {
            Some(at) if is_label(line) => {
                lines.insert(at, line);
                start = Some(at + 1);
                continue;
            }
            _ => start = None,
        }
        if line.trim_start().starts_with(PRAGMA) {
            start = Some(lines.iter().rposition(|line| !is_label(line)).map_or(0, |last| last + 1));
        }
        lines.push(line);
    }
    lines.concat()
}

fn is_label(line: &str) -> bool {
    line.starts_with('$') && line.contains(':')
}

/// Turns a conditional jump over an unconditional one round, so that the second jump is the conditional one.
///
/// libNVVM ends loops in `@%p bra OUT; bra.uni LOOP; OUT:`, and ptxas does not follow the pragma of such a loop. It
/// does where the same is written `@!%p bra LOOP; OUT:`.
pub fn settle_jumps(ptx: &str) -> String {
    let lines: Vec<&str> = ptx.split_inclusive('\n').collect();
    let mut settled = String::with_capacity(ptx.len());
    let mut at = 0;
    while at < lines.len() {
        match turned(&lines[at..]) {
            Some(jump) => {
                settled.push_str(&jump);
                at += 2;
            }
            None => {
                settled.push_str(lines[at]);
                at += 1;
            }
        }
    }
    settled
}

/// The one jump for the two that the lines start with, if the first leads to right behind the second.
fn turned(lines: &[&str]) -> Option<String> {
    let (condition, out) = lines.first()?.trim().strip_prefix('@')?.split_once(char::is_whitespace)?;
    let out = out.strip_prefix("bra")?.trim().strip_suffix(';')?;
    let back = lines.get(1)?.trim().strip_prefix("bra.uni")?.trim().strip_suffix(';')?;
    let mut labels = lines[2..].iter().take_while(|line| is_label(line));
    let is_next = labels.any(|label| label.split(':').next() == Some(out));
    let turned = condition.strip_prefix('!').map_or_else(|| format!("!{condition}"), str::to_owned);
    is_next.then(|| format!("\t@{turned} bra \t{back};\n"))
}

/// The count by symbol, for functions that have any.
pub fn pragmas(ptx: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let mut current = None;
    for line in ptx.lines() {
        if let Some(name) = function_name(line) {
            current = Some(name);
        } else if let Some(name) = current.filter(|_| line.trim_start().starts_with(PRAGMA)) {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    counts
}

/// LLVM starts a function with one line: linkage, `.entry` or `.func`, perhaps a return parameter, and the name.
pub fn function_name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(".entry ").or_else(|| line.split_once(".func "))?;
    let rest = rest.trim_start();
    // `(.param .b32 func_retval0) name(`
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim_start() } else { rest };
    let end = rest.find(|character: char| !(character.is_alphanumeric() || "_$%".contains(character)));
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pragma_stands_between_the_loops_label_and_the_code() {
        let ptx = "\tret;\n$L__BB0_1:\n\t.pragma \"nounroll\";\n$L__tmp1:\n$L__tmp2: // why\n\t.loc 1 2 3\n$L__tmp3:\n";
        let settled =
            "\tret;\n$L__tmp1:\n$L__tmp2: // why\n$L__BB0_1:\n\t.pragma \"nounroll\";\n\t.loc 1 2 3\n$L__tmp3:\n";
        assert_eq!(settle_pragmas(ptx), settled);
        assert_eq!(settle_pragmas(settled), settled);
        for whole in ["", "\t.pragma \"nounroll\";", "$L__tmp1:\n\t.loc 1 2 3\n$L__tmp2:\n"] {
            assert_eq!(settle_pragmas(whole), whole);
        }
        assert_eq!(settle_pragmas("\t.pragma \"nounroll\";\n$L__tmp1:\n"), "$L__tmp1:\n\t.pragma \"nounroll\";\n");
    }

    #[test]
    fn the_jump_back_is_the_conditional_one() {
        let turned = |condition: &str, rest: &str| {
            settle_jumps(&format!("\t@{condition} bra \t$L__BB0_3;\n\tbra.uni \t$L__BB0_1;\n{rest}"))
        };
        assert_eq!(turned("%p1", "$L__BB0_3:\n\tret;\n"), "\t@!%p1 bra \t$L__BB0_1;\n$L__BB0_3:\n\tret;\n");
        assert_eq!(turned("!%p1", "$L__tmp1:\n$L__BB0_3:\n"), "\t@%p1 bra \t$L__BB0_1;\n$L__tmp1:\n$L__BB0_3:\n");
        for rest in ["$L__BB0_4:\n", "\tret;\n$L__BB0_3:\n", ""] {
            let same = "\t@%p1 bra \t$L__BB0_3;\n\tbra.uni \t$L__BB0_1;\n";
            assert_eq!(turned("%p1", rest), format!("{same}{rest}"));
        }
        for whole in ["\t@%p1 bra \t$L__BB0_1;\n$L__BB0_2:\n", "\tbra.uni \t$L__BB0_1;\n", "\t@%p1 ret;\n\tret;\n"] {
            assert_eq!(settle_jumps(whole), whole);
        }
    }

    #[test]
    fn pragmas_are_counted_by_function() {
        let ptx = "\
.func  (.param .b32 func_retval0) _ZN4sum4E(
	.param .b64 _ZN4sum4E_param_0
)
{
$L__BB0_1:
	.pragma \"nounroll\";
}
.visible .entry taps(
{
$L__BB1_1: 
	.pragma \"nounroll\";
	// .pragma \"nounroll\" in a comment
$L__BB1_2: 
	.pragma \"nounroll\";
}
.extern .func declared
(
.visible .entry none(
";
        let counts = pragmas(ptx);
        assert_eq!(counts.get("_ZN4sum4E"), Some(&1));
        assert_eq!(counts.get("taps"), Some(&2));
        assert_eq!(counts.len(), 2);
    }
}
