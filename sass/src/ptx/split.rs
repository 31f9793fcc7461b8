//! The compiler's debug information, taken out of the PTX.
//!
//! Built with source locations, PTX has `.loc` between its instructions, `.file`, labels that only debug sections speak
//! of, and those sections. The code is the same without; but the labels make ptxas lay out other machine code. So what
//! is shipped and assembled is the text without all of it, and the locations are kept here, by the line of that text.
//!
//! | goes | because |
//! |---|---|
//! | `.loc`, `.file` | they become the table |
//! | `$L__tmpN:`, `$L__func_beginN:`, `$L__func_endN:` | debug sections alone name them, and ptxas starts a block at each |
//! | `.section .debug_…`, with what is in it | its text is what names in `.loc` stand for |
//! | the empty line at the end of inline assembly that a `.loc` stands in | libNVVM adds it |
//! | `, debug` behind `.target` | it would keep ptxas from optimizing |
//!
//! What is left is, byte for byte, what the same compiler prints when it is asked for no debug information (LLVM's
//! printer and libNVVM's, which a test holds to this).
//!
//! **When it is wrong.** LLVM's printer leaves out columns and callers in its line tables for optimized code of some
//! targets: what `.loc` does not say is not known here. A caller is looked up among the locations before it in its
//! function; of two calls at one place, the later counts.

use std::collections::HashMap;
use std::sync::Arc;

/// PTX without debug information, and what that said.
#[derive(Clone, Default, Debug)]
pub struct SplitPtx {
    /// The text to ship and to assemble.
    pub code: String,
    /// What is in force on each line of `code`; position 0 is line 1.
    by_line: Vec<Option<Arc<Location>>>,
    files: HashMap<u32, String>,
    names: HashMap<String, String>,
}

/// What a `.loc` says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The number of the file: [`SplitPtx::file`] knows its name.
    pub file: u32,
    /// The line; 0 where the compiler knows none.
    pub line: u32,
    /// The column; 0 where the compiler knows none.
    pub column: u32,
    /// The label of the name of the inlined function: [`SplitPtx::name`] knows it.
    pub function: Option<String>,
    /// The call through which it was inlined.
    pub inlined_at: Option<Arc<Location>>,
}

impl SplitPtx {
    /// The location in force on a line of the code, counted from 1.
    pub fn location(&self, line: u32) -> Option<&Location> {
        let index = (line as usize).checked_sub(1)?;
        self.by_line.get(index)?.as_deref()
    }

    /// The name of a file, as the compiler wrote it.
    pub fn file(&self, number: u32) -> Option<&str> {
        self.files.get(&number).map(String::as_str)
    }

    /// The name of an inlined function, as the linker knows it.
    pub fn name(&self, label: &str) -> Option<&str> {
        self.names.get(label).map(String::as_str)
    }
}

impl Location {
    /// The place itself, then the calls through which it was inlined.
    pub fn frames(&self) -> impl Iterator<Item = &Location> {
        std::iter::successors(Some(self), |location| location.inlined_at.as_deref())
    }
}

/// Takes the debug information out of `text`. Text without any comes back as it is.
pub fn split(text: &str) -> SplitPtx {
    let mut splitter = Splitter::default();
    text.split_inclusive('\n').for_each(|line| splitter.line(line));
    splitter.finish()
}

type Place = (u32, u32, u32);

#[derive(Default)]
struct Splitter {
    result: SplitPtx,
    current: Option<Arc<Location>>,
    /// The latest location at each place of the function at hand.
    seen: HashMap<Place, Arc<Location>>,
    section: Option<Section>,
    inline_assembly: InlineAssembly,
}

/// Where the line at hand is.
#[derive(Default, PartialEq, Eq)]
enum InlineAssembly {
    #[default]
    Outside,
    Begun,
    /// With a `.loc` inside.
    Located,
}

/// A debug section being skipped.
#[derive(Default)]
struct Section {
    depth: u32,
    /// The string being read, by its label.
    string: Option<(String, Vec<u8>)>,
}

impl Splitter {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        let directive = |word: &str| text.strip_prefix(word).filter(|rest| rest.starts_with(char::is_whitespace));
        if self.section.is_some() {
            self.line_of_section(text);
        } else if directive(".section").is_some_and(|name| name.trim_start().starts_with(".debug_")) {
            self.section = Some(Section::default());
            self.line_of_section(text);
        } else if let Some(location) = directive(".loc") {
            self.location(location);
        } else if let Some(file) = directive(".file") {
            self.file(file);
        } else if !is_debug_label(text) {
            self.code(line, text);
        }
    }

    fn code(&mut self, line: &str, text: &str) {
        if text == "// begin inline asm" {
            self.inline_assembly = InlineAssembly::Begun;
        } else if text == "// end inline asm" {
            self.end_inline_assembly();
        }
        match text.strip_prefix(".target").and_then(|_| line.split_once(", debug")) {
            Some((before, after)) => self.result.code.extend([before, after]),
            None => self.result.code.push_str(line),
        }
        if line.starts_with('}') {
            self.current = None;
            self.seen.clear();
        }
        self.result.by_line.push(self.current.clone());
    }

    fn end_inline_assembly(&mut self) {
        let was = std::mem::take(&mut self.inline_assembly);
        if was == InlineAssembly::Located && self.result.code.ends_with("\n\n") {
            self.result.code.pop();
            self.result.by_line.pop();
        }
    }

    /// Reads `2 66 39, function_name $L__info_string1, inlined_at 2 163 18`.
    fn location(&mut self, text: &str) {
        if self.inline_assembly == InlineAssembly::Begun {
            self.inline_assembly = InlineAssembly::Located;
        }
        let text = text.split("//").next().unwrap_or_default();
        let mut parts = text.split(',').map(str::trim);
        let Some(place) = parts.next().and_then(place) else { return };
        let (mut function, mut inlined_at) = (None, None);
        for part in parts {
            match part.split_once(' ') {
                Some(("function_name", name)) => function = name.split_whitespace().next().map(str::to_owned),
                Some(("inlined_at", call)) => inlined_at = self::place(call).filter(|call| *call != place),
                _ => {}
            }
        }
        let inlined_at = inlined_at.map(|call| self.seen.get(&call).cloned().unwrap_or_else(|| at(call, None, None)));
        let location = at(place, function, inlined_at);
        self.seen.insert(place, location.clone());
        self.current = Some(location);
    }

    /// Reads `1 "/a/b.rs"`.
    fn file(&mut self, text: &str) {
        let Some((number, name)) = text.trim().split_once(char::is_whitespace) else { return };
        let Some(name) = name.trim().strip_prefix('"').and_then(|name| name.rsplit_once('"')) else { return };
        self.result.files.extend(number.parse().ok().map(|number: u32| (number, unescaped(name.0))));
    }

    fn line_of_section(&mut self, text: &str) {
        let Some(section) = &mut self.section else { return };
        if let Some(label) = text.strip_suffix(':') {
            section.string = Some((label.to_owned(), Vec::new()));
        } else if let (Some(bytes), Some((_, string))) = (text.strip_prefix(".b8"), &mut section.string) {
            string.extend(bytes.split(',').filter_map(|byte| byte.trim().parse::<u8>().ok()));
        }
        if let Some((label, bytes)) = section.string.take_if(|(_, bytes)| bytes.last() == Some(&0)) {
            let name = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
            self.result.names.insert(label, String::from_utf8_lossy(name).into_owned());
        }
        section.depth += text.matches('{').count() as u32;
        let closed = text.matches('}').count() as u32;
        section.depth = section.depth.saturating_sub(closed);
        if closed > 0 && section.depth == 0 {
            self.section = None;
        }
    }

    fn finish(self) -> SplitPtx {
        self.result
    }
}

fn at((file, line, column): Place, function: Option<String>, inlined_at: Option<Arc<Location>>) -> Arc<Location> {
    Arc::new(Location { file, line, column, function, inlined_at })
}

/// Three numbers; what may follow them says nothing of the place.
fn place(text: &str) -> Option<Place> {
    let mut numbers = text.split_whitespace().map(|word| word.parse::<u32>().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

/// `$L__tmp12:` and its like.
fn is_debug_label(text: &str) -> bool {
    let number = |stem: &str| text.strip_prefix(stem)?.strip_suffix(':');
    let stems = ["$L__tmp", "$L__func_begin", "$L__func_end", "$L__info_string"];
    stems.iter().find_map(|stem| number(stem)).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// The text that LLVM's escapes stand for: `\303\274` is `ü`.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let octal = behind.get(..3).filter(|digits| first == b'\\' && digits.iter().all(|d| (b'0'..=b'7').contains(d)));
        let (byte, used) = match (first, octal, behind.first()) {
            (_, Some(digits), _) => (digits.iter().fold(0u32, |sum, d| sum * 8 + u32::from(d - b'0')) as u8, 4),
            (b'\\', None, Some(&next)) => (next, 2),
            _ => (first, 1),
        };
        bytes.push(byte);
        rest = &rest[used..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_kept_by_the_line_of_the_code() {
        let text = "\
.target sm_80, debug
{
\t.loc\t1 80 3
$L__func_begin0:
\tadd;
\t.loc\t2 5 7, function_name $L__info_string0, inlined_at 1 80 3
$L__tmp0:
\tsub;
$L__BB0_1:
\t.loc\t3 1 1, function_name $L__info_string1, inlined_at 2 5 7 // c
\tmul;
}
\t.file\t1 \"/\\303\\274 \\\"a\\\".rs\"
\t.section\t.debug_str
\t{
$L__info_string0:
.b8 102
.b8 0
$L__info_string1:
.b8 103,104,0
\t}
\t.section\t.debug_macinfo\t{\t}
";
        let split = split(text);
        assert_eq!(split.code, ".target sm_80\n{\n\tadd;\n\tsub;\n$L__BB0_1:\n\tmul;\n}\n");
        assert_eq!(split.location(2), None);
        assert_eq!(split.location(3).map(|found| (found.file, found.line, found.column)), Some((1, 80, 3)));
        let lines: Vec<u32> = split.location(6).expect("a location").frames().map(|frame| frame.line).collect();
        assert_eq!(lines, [1, 5, 80]);
        assert_eq!(split.location(7), None, "no location goes beyond its function");
        assert_eq!(split.file(1), Some("/ü \"a\".rs"));
        let name = split.location(6).and_then(|found| split.name(found.function.as_deref()?));
        assert_eq!((name, split.name("$L__info_string0")), (Some("gh"), Some("f")));
    }

    #[test]
    fn the_empty_line_that_a_location_leaves_in_inline_assembly_goes() {
        let text = "// begin inline asm\n\t.loc 1 2 3\n\ta;\n\n// end inline asm\n\tb;\n";
        let split = split(text);
        assert_eq!(split.code, "// begin inline asm\n\ta;\n// end inline asm\n\tb;\n");
        assert_eq!(split.location(4).map(|found| found.line), Some(2));
        let plain = "// begin inline asm\n\ta;\n\n// end inline asm\n";
        assert_eq!(super::split(plain).code, plain);
    }

    #[test]
    fn text_without_debug_information_is_left_alone() {
        let text = "// .loc 1 2 3\n.target sm_80\n{\n\tadd; // $L__tmp1:\n$L__tmpx:\n$L__tmp:\n}\n";
        assert_eq!(split(text).code, text);
    }
}
