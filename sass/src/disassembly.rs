//! nvdisasm's text, read.
//!
//! Why the text and not `--emit-json`: the JSON of release 13.5 has neither the functions inside a kernel's section,
//! nor the targets of indirect jumps, nor source lines; the text (`-c`, with `-gi` for lines) has all three.
//!
//! ```text
//!         .target sm_90
//!         .section        .text.k,"ax",@progbits
//!         .type           k,@function
//!         .other          k,@"STO_CUDA_ENTRY STV_DEFAULT"
//! k:
//!         //## File "a.rs", line 4 inlined at "b.rs", line 6
//!         //## File "b.rs", line 6
//!         /*0010*/                   CALL.REL.NOINC `($k$f) ;
//!         …
//!         .type           $k$f,@function
//! $k$f:
//! ```
//!
//! A kernel's section holds the kernel first, then a copy of each device function that it can call (`$kernel$function`)
//! and ptxas's own helpers (`$__internal_0_$__cuda_sm20_div_u64`), called alike. In code for debugging, each of them
//! has a section of its own instead, and its plain name. `.type … @function` tells a function's label from a jump's.
//!
//! A source line holds from its record to the next one; it ends at a function's label, because a helper has no records
//! and would inherit the line of whatever happens to stand before it. Records of the file `.nv_debug_ptx_txt`, which
//! `-gp` prints, are lines of the PTX text instead.
//!
//! Directives that say nothing about control flow are passed over. Anything else that is not in this form is an error
//! that names the line: a count from misread text would be worse than none.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::instruction::Unlinked;
use crate::{Callee, Flow, Frame, Instruction, Place, Predicate, Source};

/// All code of a cubin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// What it is for, such as `sm_120a`.
    pub arch: String,
    /// One for each kernel; in code for debugging, one for each function.
    pub sections: Vec<Section>,
}

/// A section of code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// Such as `.text.kernel`.
    pub name: String,
    /// Its functions, by address.
    pub symbols: Vec<Symbol>,
    /// Every label with its address, by address; those at the end of the section too.
    pub labels: Vec<(u64, String)>,
    /// Its instructions, by address.
    pub instructions: Vec<Instruction>,
}

/// A function's symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// As in the cubin.
    pub name: String,
    /// Its first instruction.
    pub address: u64,
    /// What it is.
    pub kind: SymbolKind,
}

/// Who wrote a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymbolKind {
    /// The user; launched from the host.
    Kernel,
    /// The user; called by kernels.
    Device,
    /// ptxas: division, remainder, reciprocal, square root, bit fields.
    Arithmetic,
    /// ptxas, for anything else: warp collectives in divergent code, tensor memory.
    Support,
}

/// nvdisasm's text is not in the form known here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot read nvdisasm's output, line {line} (`{text}`): {what}")]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// What is wrong with it.
    pub what: String,
}

impl Module {
    /// Reads what `nvdisasm -c` prints, with or without `-g`, `-gi` or `-gp`.
    pub fn parse(text: &str) -> Result<Module, ParseError> {
        let mut parser = Parser::default();
        let mut last = 0;
        for (at, line) in text.lines().enumerate() {
            last = at + 1;
            parser.line(last, line.trim()).map_err(|fault| error(text, fault))?;
        }
        parser.close_section().map_err(|fault| error(text, fault))?;
        let Some(arch) = parser.arch else {
            return Err(error(text, Fault { line: last, what: "the text ends without a `.target`".to_owned() }));
        };
        Ok(Module { arch, sections: parser.sections })
    }
}

impl Section {
    /// The position of the instruction at `address`.
    pub fn index_of(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, |instruction| instruction.address).ok()
    }
}

impl Symbol {
    fn new(is_kernel: bool, name: String, address: u64) -> Symbol {
        let kind = match helper_name(&name) {
            _ if is_kernel => SymbolKind::Kernel,
            None => SymbolKind::Device,
            Some(helper) if is_arithmetic(helper) => SymbolKind::Arithmetic,
            Some(_) => SymbolKind::Support,
        };
        Symbol { name, address, kind }
    }

    /// The name without what ptxas put before it: `f` of `$kernel$f`.
    pub fn short_name(&self, kernel: &str) -> &str {
        let own = || self.name.strip_prefix('$')?.strip_prefix(kernel)?.strip_prefix('$');
        helper_name(&self.name).or_else(own).unwrap_or(&self.name)
    }
}

/// `__cuda_sm20_div_u64` of `$__internal_0_$__cuda_sm20_div_u64`. In code for debugging it stands alone.
fn helper_name(symbol: &str) -> Option<&str> {
    if symbol.starts_with("__cuda_sm") || symbol.starts_with("__cuda_reduxsync") {
        return Some(symbol);
    }
    let (number, name) = symbol.strip_prefix("$__internal_")?.split_once("_$")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
}

fn is_arithmetic(helper: &str) -> bool {
    ["_div_", "_rem_", "rcp_", "sqrt_", "_bfe_", "_bfi_"].iter().any(|part| helper.contains(part))
}

/// A fault, and the line it is on, which may have been read long ago: labels are looked up when a section ends.
struct Fault {
    line: usize,
    what: String,
}

fn error(text: &str, Fault { line, what }: Fault) -> ParseError {
    let text = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim().to_owned();
    ParseError { line, text, what }
}

#[derive(Default)]
struct Parser {
    arch: Option<String>,
    sections: Vec<Section>,
    open: Option<OpenSection>,
    sources: Sources,
}

/// A section of code being read.
#[derive(Default)]
struct OpenSection {
    name: String,
    /// Names declared as functions, and those declared as kernels.
    functions: HashSet<String>,
    kernels: HashSet<String>,
    labels: HashMap<String, u64>,
    /// Labels before an instruction that has not come yet.
    pending: Vec<String>,
    symbols: Vec<(String, u64)>,
    /// With the line each was on.
    code: Vec<(usize, Unlinked)>,
}

impl Parser {
    fn line(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        if let Some((name, flags)) = section_header(line) {
            self.close_section()?;
            if name.starts_with(".text.") && flags.contains('x') {
                self.open = Some(OpenSection { name: name.to_owned(), ..OpenSection::default() });
            }
            return Ok(());
        }
        if let Some(arch) = line.strip_prefix(".target") {
            self.arch = Some(arch.trim().to_owned());
        }
        self.line_of_code(number, line).map_err(|what| Fault { line: number, what })
    }

    fn line_of_code(&mut self, number: usize, line: &str) -> Result<(), String> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if let Some(record) = line.strip_prefix("//## File ") {
            return self.sources.record(record);
        }
        if line.is_empty() || line.starts_with("//") {
            return Ok(());
        }
        if let Some(label) = line.strip_suffix(':').filter(|label| !label.contains(char::is_whitespace)) {
            if open.functions.contains(label) {
                self.sources.forget();
            }
            return open.label(label);
        }
        if line.starts_with('.') {
            open.directive(line);
            return Ok(());
        }
        let (source, ptx_line) = (self.sources.current(), self.sources.ptx_line);
        let instruction = Unlinked { source, ptx_line, ..parse_instruction(line)? };
        open.instruction(number, instruction)
    }

    fn close_section(&mut self) -> Result<(), Fault> {
        self.sources.forget();
        let Some(open) = self.open.take() else { return Ok(()) };
        self.sections.push(open.finish()?);
        Ok(())
    }
}

/// The name and flags in `.section .text.k,"ax",@progbits`.
fn section_header(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix(".section")?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim().split_once(',').unwrap_or((rest.trim(), "")))
}

impl OpenSection {
    fn label(&mut self, label: &str) -> Result<(), String> {
        if self.labels.contains_key(label) || self.pending.iter().any(|pending| pending == label) {
            return Err(format!("the label `{label}` stands in this section twice"));
        }
        self.pending.push(label.to_owned());
        Ok(())
    }

    /// Takes note of what a symbol is.
    fn directive(&mut self, line: &str) {
        let Some((directive, rest)) = line.split_once(char::is_whitespace) else { return };
        let Some((name, value)) = rest.trim().rsplit_once(',') else { return };
        if directive == ".type" && value.trim() == "@function" {
            self.functions.insert(name.to_owned());
        }
        if directive == ".other" && value.contains("STO_CUDA_ENTRY") {
            self.kernels.insert(name.to_owned());
        }
    }

    fn instruction(&mut self, line: usize, instruction: Unlinked) -> Result<(), String> {
        if self.code.last().is_some_and(|(_, last)| last.address >= instruction.address) {
            return Err("the address is not above the one before".to_owned());
        }
        self.place_labels(instruction.address, true);
        self.code.push((line, instruction));
        Ok(())
    }

    fn place_labels(&mut self, address: u64, is_code: bool) {
        for label in self.pending.drain(..) {
            if is_code && self.functions.contains(&label) {
                self.symbols.push((label.clone(), address));
            }
            self.labels.insert(label, address);
        }
    }

    fn finish(mut self) -> Result<Section, Fault> {
        // Labels behind the last instruction mark the end; nothing may jump there.
        let end = self.code.last().map_or(0, |(_, last)| last.address.saturating_add(1));
        self.place_labels(end, false);
        let addresses: HashSet<u64> = self.code.iter().map(|(_, instruction)| instruction.address).collect();
        let labels = &self.labels;
        let resolve = |label: &str| match labels.get(label) {
            Some(&address) => Ok(Place::Address(address)),
            None if label.starts_with(".L_") => Err(format!("there is no label `{label}` in this section")),
            None => Ok(Place::Symbol(label.to_owned())),
        };
        let link = |(line, unlinked): (usize, Unlinked)| {
            let instruction = unlinked.link(&resolve).and_then(|linked| check_targets(linked, &addresses));
            instruction.map_err(|what| Fault { line, what })
        };
        let instructions = self.code.into_iter().map(link).collect::<Result<Vec<_>, _>>()?;
        let is_kernel = |name: &str| self.kernels.contains(name);
        let mut symbols: Vec<Symbol> =
            self.symbols.into_iter().map(|(name, address)| Symbol::new(is_kernel(&name), name, address)).collect();
        add_nameless_functions(&mut symbols, &instructions);
        symbols.sort_by_key(|symbol| symbol.address);
        let mut labels: Vec<(u64, String)> = self.labels.into_iter().map(|(label, address)| (address, label)).collect();
        labels.sort();
        Ok(Section { name: self.name, symbols, labels, instructions })
    }
}

/// What is called and returns is a function, with a symbol or without. A jump that is written as a call may lead to a
/// return, too, that of the function around it; but a call is told where to come back to.
fn add_nameless_functions(symbols: &mut Vec<Symbol>, instructions: &[Instruction]) {
    let mut known: HashSet<u64> = symbols.iter().map(|symbol| symbol.address).collect();
    for (at, instruction) in instructions.iter().enumerate() {
        let Flow::Call { callee: Callee::Known(Place::Address(to)), .. } = instruction.flow else { continue };
        let is_new = !known.contains(&to) && knows_the_way_back(at, instructions);
        if is_new && reaches_return(to, instructions, &known) {
            known.insert(to);
            symbols.push(Symbol::new(false, format!("function_at_0x{to:x}"), to));
        }
    }
}

/// Is the address behind a call put into a register before it? ptxas does so right before, or a few instructions up.
fn knows_the_way_back(call: usize, instructions: &[Instruction]) -> bool {
    const FEW: usize = 128;
    let Some(next) = instructions.get(call + 1) else { return false };
    let way_back = format!("0x{:x}", next.address);
    let before = &instructions[call.saturating_sub(FEW)..call];
    before.iter().any(|instruction| instruction.operands.last() == Some(&way_back))
}

/// Can the code at an address return, without what other functions do?
fn reaches_return(start: u64, instructions: &[Instruction], functions: &HashSet<u64>) -> bool {
    let at = |address: u64| instructions.binary_search_by_key(&address, |instruction| instruction.address).ok();
    let mut pending: Vec<usize> = at(start).into_iter().collect();
    let mut seen: HashSet<usize> = HashSet::new();
    while let Some(index) = pending.pop() {
        let Some(instruction) = instructions.get(index) else { continue };
        if functions.contains(&instruction.address) || !seen.insert(index) {
            continue;
        }
        match &instruction.flow {
            Flow::Return { .. } => return true,
            Flow::Jump { to, conditional } => {
                pending.extend(if let Place::Address(to) = to { at(*to) } else { None });
                pending.extend(conditional.then_some(index + 1));
            }
            Flow::IndirectJump { to, conditional } => {
                pending.extend(to.iter().flatten().filter_map(|to| at(*to)));
                pending.extend(conditional.then_some(index + 1));
            }
            Flow::Exit { conditional } => pending.extend(conditional.then_some(index + 1)),
            Flow::Next | Flow::ArmBarrier { .. } | Flow::AwaitBarrier { .. } | Flow::Call { .. } => {
                pending.push(index + 1)
            }
        }
    }
    false
}

/// Control must not go to where there is no instruction.
fn check_targets(instruction: Instruction, addresses: &HashSet<u64>) -> Result<Instruction, String> {
    let targets = match &instruction.flow {
        Flow::Jump { to: Place::Address(to), .. } => std::slice::from_ref(to),
        Flow::Call { callee: Callee::Known(Place::Address(to)), .. } => std::slice::from_ref(to),
        Flow::IndirectJump { to: Some(to), .. } => to.as_slice(),
        _ => &[],
    };
    match targets.iter().find(|to| !addresses.contains(to)) {
        Some(to) => Err(format!("there is no instruction at its target 0x{to:x}")),
        None => Ok(instruction),
    }
}

/// Reads `/*0230*/  @!P0 BRA P1, `(.L_x_42) ;`.
fn parse_instruction(line: &str) -> Result<Unlinked, String> {
    let (address, rest) = line
        .strip_prefix("/*")
        .and_then(|rest| rest.split_once("*/"))
        .ok_or("this is neither an instruction, a label nor a directive")?;
    let address = u64::from_str_radix(address, 16).map_err(|_| "the address is not a hexadecimal number")?;
    let (rest, table) = take_note(rest)?;
    let text = rest.trim().strip_suffix(';').ok_or("the instruction does not end with `;`")?.trim();
    let (predicate, text) = match text.strip_prefix('@') {
        None => (None, text),
        Some(guarded) => {
            let (predicate, rest) = guarded.split_once(' ').ok_or("there is no opcode behind the predicate")?;
            let predicate = Predicate::parse(predicate).ok_or("the predicate is not one")?;
            (Some(predicate), rest.trim())
        }
    };
    let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
    if !is_opcode(opcode) {
        return Err(format!("`{opcode}` is not an opcode"));
    }
    let (opcode, operands) = (opcode.to_owned(), split_operands(operands));
    Ok(Unlinked { address, predicate, opcode, operands, table, source: None, ptx_line: None })
}

/// Takes `(*"BRANCH_TARGETS .L_x_1,.L_x_2"*)` out of an instruction. Other notes are of no use here.
fn take_note(text: &str) -> Result<(String, Option<Vec<String>>), String> {
    let Some((before, rest)) = text.split_once("(*\"") else { return Ok((text.to_owned(), None)) };
    let (note, after) = rest.split_once("\"*)").ok_or("the note `(*\"` is not closed")?;
    let labels = note.strip_prefix("BRANCH_TARGETS ");
    let table = labels.map(|labels| labels.split(',').map(|label| label.trim().to_owned()).collect());
    Ok((format!("{before}{after}"), table))
}

/// `LDG.E.64`, `HGMMA.64x8x16.F32.BF16`.
fn is_opcode(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    text.starts_with(|first: char| first.is_ascii_uppercase()) && text.bytes().all(plain)
}

/// Splits at commas outside brackets.
fn split_operands(text: &str) -> Vec<String> {
    let mut depth = 0i32;
    let parts = text.split(|character: char| {
        match character {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// What nvdisasm calls the PTX text.
const PTX_TEXT: &str = ".nv_debug_ptx_txt";

/// The source line of the instructions to come.
#[derive(Default)]
struct Sources {
    /// Each file name is kept once.
    files: HashSet<Arc<str>>,
    frames: Vec<Frame>,
    /// The caller that the last record spoke of, until the record of that caller comes.
    inlined_at: Option<Frame>,
    current: Option<Source>,
    /// The line of the PTX text, which is no source.
    ptx_line: Option<u32>,
}

impl Sources {
    /// Reads `"a.rs", line 4 inlined at "b.rs", line 6`.
    fn record(&mut self, record: &str) -> Result<(), String> {
        let (place, caller) = match record.split_once(" inlined at ") {
            Some((place, caller)) => (place, Some(self.frame(caller)?)),
            None => (record, None),
        };
        let frame = self.frame(place)?;
        if &*frame.file == PTX_TEXT {
            self.ptx_line = Some(frame.line);
            return Ok(());
        }
        if self.inlined_at.take().is_none_or(|expected| expected != frame) {
            self.frames.clear();
        }
        self.frames.push(frame);
        self.inlined_at = caller;
        self.current = None;
        Ok(())
    }

    fn frame(&mut self, place: &str) -> Result<Frame, String> {
        let (file, line) = place.trim().rsplit_once(", line ").ok_or("the source line has no number")?;
        let line = line.trim().parse().map_err(|_| "the source line is not a number")?;
        let file = file.trim_matches('"');
        let file = self.files.get(file).cloned().unwrap_or_else(|| Arc::from(file));
        self.files.insert(file.clone());
        Ok(Frame { file, line })
    }

    fn current(&mut self) -> Option<Source> {
        if self.current.is_none() && !self.frames.is_empty() {
            self.frames.extend(self.inlined_at.take());
            self.current = Some(Source(self.frames.as_slice().into()));
        }
        self.current.clone()
    }

    fn forget(&mut self) {
        self.frames.clear();
        self.inlined_at = None;
        self.current = None;
        self.ptx_line = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_known_by_its_name() {
        let kind = |name: &str| Symbol::new(false, name.to_owned(), 0).kind;
        let helper = |name: &str| kind(&format!("$__internal_12_$__cuda_{name}"));
        for name in ["sm20_div_u64", "sm3x_div_rn_noftz_f32_slowpath", "sm20_rem_s64", "sm20_dblrcp_rn_slowpath_v3"] {
            assert_eq!(helper(name), SymbolKind::Arithmetic, "{name}");
            assert_eq!(kind(&format!("__cuda_{name}")), SymbolKind::Arithmetic, "{name}, for debugging");
        }
        for name in ["sm20_rcp_rn_f32_slowpath", "sm20_sqrt_rn_f32_slowpath", "sm20_drsqrt_f64_slowpath_v2"] {
            assert_eq!(helper(name), SymbolKind::Arithmetic, "{name}");
        }
        for name in ["sm70_warpsync", "sm70_shflsync_bfly_p", "reduxsync_s32_add", "sm10x_tcgen05_alloc_one_sm"] {
            assert_eq!(helper(name), SymbolKind::Support, "{name}");
        }
        for name in ["f", "$k$f", "$k$__cuda_sm20_div_u64", "$__internal_x_$f", "$__internal_3"] {
            assert_eq!(kind(name), SymbolKind::Device, "{name}");
        }
        assert_eq!(Symbol::new(true, "$__internal_0_$__cuda_sm20_div_u64".to_owned(), 0).kind, SymbolKind::Kernel);
    }

    /// The source line after some records.
    fn source(records: &[&str]) -> String {
        let mut sources = Sources::default();
        records.iter().for_each(|record| sources.record(record).expect("a record"));
        sources.current().expect("a source line").to_string()
    }

    #[test]
    fn records_that_continue_each_other_are_one_source_line() {
        let (inner, outer) = (r#""a.rs", line 4 inlined at "b.rs", line 6"#, r#""b.rs", line 6"#);
        assert_eq!(source(&[inner, outer]), "a.rs:4, inlined at b.rs:6");
        assert_eq!(source(&[inner]), "a.rs:4, inlined at b.rs:6", "the caller's own record may be missing");
        assert_eq!(source(&[inner, r#""b.rs", line 7"#]), "b.rs:7", "another caller begins a new line");
        assert_eq!(source(&[outer, r#""b.rs", line 6"#]), "b.rs:6");
        assert_eq!(source(&[outer, inner]), "a.rs:4, inlined at b.rs:6");
        assert_eq!(source(&[r#""odd, line 3.rs", line 9"#]), "odd, line 3.rs:9");
    }

    #[test]
    fn operands_are_split_outside_brackets() {
        assert_eq!(
            split_operands("R2, desc[UR4][R2.64+0x4], c[0x0][0x160]"),
            ["R2", "desc[UR4][R2.64+0x4]", "c[0x0][0x160]"]
        );
        assert_eq!(split_operands("P0, `(f(a, b))"), ["P0", "`(f(a, b))"]);
        assert_eq!(split_operands(""), [""; 0]);
    }
}
