//! A kernel's PTX, cut down to what it computes.
//!
//! Left out are declarations, parameters that are addresses, and the arithmetic of addresses in global memory: what is
//! only used there. Such an address shows as `_` with its offset. Registers are numbered by first appearance, by kind.
//!
//! It goes by text, and knows the instructions that have no result by their names: one that is missing in [`NO_RESULT`]
//! would have its first operand taken for one, and so be left out, if that operand is used nowhere else.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::renumber;

/// Instructions that are there for what they do.
const NO_RESULT: [&str; 9] = ["st.", "bra", "ret", "bar", "fence", "membar", "red.", "call", "trap"];
/// Instructions that do something besides having a result.
const DOING: [&str; 9] =
    ["atom.", "shfl.", "vote.", "match.", "redux.", "activemask", "ld.acquire", "ld.relaxed", "ld.volatile"];

/// What a kernel, from its `.entry` to its last brace, computes.
pub fn computation(kernel: &str) -> String {
    let (head, body) = kernel.split_once("\n{").unwrap_or(("", kernel));
    let name = head.split_once(".entry ").and_then(|(_, rest)| rest.split_once('(')).map_or("", |(name, _)| name);
    let body = body.replace(&format!("{name}_param_"), "param_");
    let lines: Vec<Line<'_>> = body.lines().filter_map(Line::of).collect();
    let wanted = wanted(&lines);
    let mut text = String::new();
    for line in lines.iter().filter(|line| line.is_kept(&wanted)) {
        let _ = writeln!(text, "{}", line.shown());
    }
    let text = ["%rd", "%rs", "%r", "%p"].into_iter().fold(text, |text, kind| numbered(&text, kind));
    let text = renumber(&text, "latch_shared_", "shared_", |character| character.is_ascii_digit());
    renumber(&text, "$L__BB", "L", |character| character.is_ascii_digit() || character == '_')
}

/// One instruction or label.
#[derive(Debug)]
struct Line<'a> {
    /// The guard, with its blank.
    guard: &'a str,
    opcode: &'a str,
    operands: &'a str,
}

impl<'a> Line<'a> {
    /// Reads a line; none where it is no instruction and no label.
    fn of(line: &'a str) -> Option<Line<'a>> {
        let text = line.trim().trim_end_matches(';');
        // A part that is not wanted goes to a register of its own, in a scope of its own.
        let text = text.strip_prefix("{ .reg .b32 tmp; ").map_or(text, |text| text.trim_end_matches("; }"));
        let is_none = text.is_empty() || text.starts_with(['.', '{', '}', '/']);
        if is_none && !text.starts_with(".pragma") {
            return None;
        }
        let (guard, rest) = match text.split_once(char::is_whitespace) {
            Some((guard, rest)) if guard.starts_with('@') => (guard, rest.trim_start()),
            _ => ("", text),
        };
        let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        Some(Line { guard, opcode, operands: operands.trim() })
    }

    fn starts_with(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.opcode.starts_with(name))
    }

    /// The registers that the instruction sets, and its other operands.
    fn halves(&self) -> (BTreeSet<&'a str>, &'a str) {
        if self.starts_with(&NO_RESULT) || self.opcode.ends_with(':') {
            return (BTreeSet::new(), self.operands);
        }
        let end = match self.operands.find('}') {
            Some(brace) if self.operands.starts_with('{') => brace,
            _ => self.operands.find(',').unwrap_or(self.operands.len()),
        };
        let (result, sources) = self.operands.split_at(end);
        (registers(result).collect(), sources)
    }

    /// Is the memory that it accesses global, so that nothing is said of the address?
    fn is_global(&self) -> bool {
        self.opcode.contains(".global")
    }

    /// The registers whose values the instruction needs.
    fn needs(&self) -> BTreeSet<&'a str> {
        let (_, sources) = self.halves();
        let sources = if self.is_global() { without_address(sources) } else { [sources, ""] };
        sources.into_iter().flat_map(registers).chain(registers(self.guard)).collect()
    }

    fn is_kept(&self, wanted: &BTreeSet<&str>) -> bool {
        let does = self.starts_with(&NO_RESULT) || self.starts_with(&DOING);
        does || self.opcode.ends_with(':')
            || self.opcode == ".pragma"
            || self.halves().0.iter().any(|result| wanted.contains(result))
    }

    fn shown(&self) -> String {
        if self.opcode.ends_with(':') {
            return self.opcode.to_owned();
        }
        let operands =
            match self.operands.split_once('[').and_then(|(front, rest)| Some((front, rest.split_once(']')?))) {
                Some((front, (address, rest))) if self.is_global() => {
                    let offset = address.find(['+', '-']).map_or("", |at| &address[at..]);
                    format!("{front}[_{offset}]{rest}")
                }
                _ => self.operands.to_owned(),
            };
        format!("  {} {} {operands}", self.guard, self.opcode).replace("   ", "  ").trim_end().to_owned()
    }
}

/// The registers that anything but an address needs, directly or through others.
fn wanted<'a>(lines: &[Line<'a>]) -> BTreeSet<&'a str> {
    let mut wanted = BTreeSet::new();
    loop {
        let kept = lines.iter().filter(|line| line.is_kept(&wanted));
        let more: BTreeSet<&str> = kept.flat_map(Line::needs).collect();
        if more.is_subset(&wanted) {
            return wanted;
        }
        wanted.extend(more);
    }
}

/// What stands before and after an address in brackets.
fn without_address(operands: &str) -> [&str; 2] {
    let Some((before, rest)) = operands.split_once('[') else { return [operands, ""] };
    [before, rest.split_once(']').map_or("", |(_, after)| after)]
}

/// The registers named in some operands; special ones, such as `%tid.x`, are none.
fn registers(operands: &str) -> impl Iterator<Item = &str> {
    let names = operands.split(|character: char| !(character.is_ascii_alphanumeric() || "%._".contains(character)));
    names.filter(|name| name.starts_with('%') && name.ends_with(|character: char| character.is_ascii_digit()))
}

/// Numbers the registers of a kind by first appearance.
fn numbered(text: &str, kind: &str) -> String {
    renumber(text, kind, &format!("{kind}."), |character| character.is_ascii_digit()).replace(&format!("{kind}."), kind)
}

#[cfg(test)]
mod tests {
    use super::computation;

    const KERNEL: &str = "\
.visible .entry shift(
\t.param .u64 .ptr .align 1 shift_param_0,
\t.param .u32 shift_param_1
)
{
\t.reg .pred \t%p<2>;
\t.reg .b32 \t%r<4>;

\tld.param.b64 \t%rd1, [shift_param_0];
\tcvta.to.global.u64 \t%rd2, %rd1;
\tld.param.b32 \t%r7, [shift_param_1];
\tmov.u32 \t%r1, %tid.x;
\tmul.wide.u32 \t%rd5, %r1, 4;
\tadd.s64 \t%rd6, %rd2, %rd5;
\tld.global.v2.b32 \t{%r2, %r3}, [%rd6+8];
\tld.global.b32 \t%r9, [%rd6];
\tsetp.lt.u32 \t%p1, %r7, 8;
\t{ .reg .b32 tmp; mov.b64 {tmp, %r11}, %rd9; }
\t{ .reg .b32 tmp; mov.b64 {tmp, %r3}, %rd9; }
\t// begin inline asm
\tatom.relaxed.cta.global.add.u32 %r8, [%rd6], %r2;
\t// end inline asm
\t@%p1 bra \t$L__BB3_2;
\tshl.b32 \t%r4, %r3, %r7;
\tst.global.b32 \t[%rd6], %r4;
\tst.shared.b32 \t[%rd6+4], %r4;
$L__BB3_2:
\tret;
}";

    #[test]
    fn what_only_addresses_of_global_memory_need_is_left_out() {
        let unshared = KERNEL.replace("\tst.shared.b32 \t[%rd6+4], %r4;\n", "");
        let expected = "  ld.param.b32 %r0, [param_1]
  ld.global.v2.b32 {%r1, %r2}, [_+8]
  setp.lt.u32 %p0, %r0, 8
  mov.b64 {tmp, %r2}, %rd0
  atom.relaxed.cta.global.add.u32 %r3, [_], %r1
  @%p0 bra L0
  shl.b32 %r4, %r2, %r0
  st.global.b32 [_], %r4
L0:
  ret
";
        assert_eq!(computation(&unshared), expected);
    }

    #[test]
    fn addresses_of_other_memory_stay() {
        let text = computation(KERNEL);
        assert!(text.contains("st.shared.b32 [%rd0+4], %r5") || text.contains("add.s64 %rd"), "{text}");
        assert!(text.contains("mul.wide.u32") && text.contains("%tid.x"), "{text}");
    }
}
