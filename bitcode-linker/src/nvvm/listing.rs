//! PTX as LLVM and libNVVM print it, read as far as its loops and its lines go.
//!
//! A body is split at labels and behind branches. Inline assembly is one statement, whatever it holds: it cannot branch
//! to labels outside. A call may stand on several lines, of which none looks like anything else that is read here.

use crate::ptx::function_name;
use codegen_pass::{Block, ControlFlow};
use std::collections::{HashMap, HashSet};

/// A place in numbered code: the number, and that of the call through which it was inlined, if it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The instruction's number.
    pub number: u32,
    /// The call's.
    pub inlined_at: Option<u32>,
}

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Where it is from, as far as that is known.
    pub place: Option<Place>,
    /// What it does.
    pub kind: Kind,
}

/// What an instruction does, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It jumps, on a condition or always.
    Jump,
    /// It reaches memory or computes with floats, which no loop does to count or to find addresses.
    Work,
    /// All else.
    Other,
}

/// A function with a body.
#[derive(Default)]
pub struct Function {
    /// The symbol.
    pub name: String,
    blocks: Vec<ListedBlock>,
    labels: HashMap<String, Block>,
    /// Every place that the text names, in its order: those of calls come before what is inlined at them.
    pub places: Vec<Place>,
}

#[derive(Default)]
struct ListedBlock {
    /// The label that branches name; temporary labels do not count.
    label: String,
    statements: Vec<Statement>,
    targets: Vec<String>,
    falls_through: bool,
}

impl Function {
    /// The label at a block's start; empty if it has none.
    pub fn label(&self, block: Block) -> &str {
        &self.blocks[block.index()].label
    }

    /// The instructions of a block.
    pub fn statements(&self, block: Block) -> &[Statement] {
        &self.blocks[block.index()].statements
    }
}

impl ControlFlow for Function {
    fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn entry(&self) -> Block {
        Block(0)
    }

    fn successors(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let listed = &self.blocks[block.index()];
        let next = Block::new(block.index() + 1);
        let falls = (listed.falls_through && next.index() < self.blocks.len()).then_some(next);
        listed.targets.iter().filter_map(|label| self.labels.get(label).copied()).chain(falls)
    }
}

/// The functions of a text that have bodies. None where the text branches in a way that is not read here.
pub fn functions(ptx: &str) -> Option<Vec<Function>> {
    let noreturn = noreturn(ptx);
    let mut functions = Vec::new();
    let mut reader: Option<Reader<'_>> = None;
    let mut named = None;
    for line in ptx.lines() {
        let ends = line == "}" && reader.as_ref().is_some_and(|reader| !reader.in_assembly);
        match &mut reader {
            Some(_) if ends => functions.extend(reader.take().map(|reader| reader.function)),
            Some(reader) => reader.line(line.trim())?,
            None if line == "{" => reader = named.take().map(|name| Reader::new(name, &noreturn)),
            None => named = function_name(line).map(str::to_owned).or(named),
        }
    }
    Some(functions)
}

/// The functions that do not return. No jump stands behind a call of one, although something else may.
fn noreturn(ptx: &str) -> HashSet<&str> {
    let mut found = HashSet::new();
    let mut named = None;
    for line in ptx.lines() {
        named = function_name(line).or(named);
        if line.trim_end_matches(';') == ".noreturn" {
            found.extend(named);
        }
    }
    found
}

/// A function in work.
struct Reader<'a> {
    function: Function,
    noreturn: &'a HashSet<&'a str>,
    place: Option<Place>,
    in_assembly: bool,
    /// The labels that each table of the function leads to.
    tables: HashMap<String, Vec<String>>,
    /// The table being read.
    table: Option<(String, Vec<String>)>,
    /// Does the next instruction start a block?
    at_end: bool,
}

impl<'a> Reader<'a> {
    fn new(name: String, noreturn: &'a HashSet<&'a str>) -> Reader<'a> {
        let function = Function { name, blocks: vec![ListedBlock::new("")], ..Function::default() };
        Reader {
            function,
            noreturn,
            place: None,
            in_assembly: false,
            tables: HashMap::new(),
            table: None,
            at_end: false,
        }
    }

    fn line(&mut self, line: &str) -> Option<()> {
        match line {
            "// begin inline asm" => self.in_assembly = true,
            "// end inline asm" => {
                self.in_assembly = false;
                self.add_statement(Kind::Other);
            }
            _ if self.in_assembly => {}
            _ if self.table.is_some() => self.table_line(line),
            _ => self.code(line.split("//").next().unwrap_or_default().trim())?,
        }
        Some(())
    }

    fn code(&mut self, code: &str) -> Option<()> {
        if let Some(label) = code.strip_suffix(':') {
            if is_lasting(label) {
                self.start_block(label);
            }
        } else if let Some(place) = code.strip_prefix(".loc").filter(|rest| rest.starts_with(char::is_whitespace)) {
            self.set_place(place);
        } else if let Some((table, targets)) = code.split_once(": .branchtargets") {
            self.table = Some((table.to_owned(), Vec::new()));
            self.table_line(targets);
        } else if code.starts_with('$') {
            return None;
        } else if !code.is_empty() && !code.starts_with(['.', '{', '}']) {
            self.instruction(code)?;
        }
        Some(())
    }

    fn instruction(&mut self, code: &str) -> Option<()> {
        let mut words = code.split_whitespace();
        let first = words.next().unwrap_or_default();
        let is_conditional = first.starts_with('@');
        let name = if is_conditional { words.next().unwrap_or_default() } else { first };
        match name.trim_end_matches(';') {
            "bra" | "bra.uni" => {
                self.add_statement(Kind::Jump);
                let target = words.last().unwrap_or_default().trim_end_matches(';');
                self.end_block([target.to_owned()], is_conditional);
            }
            "ret" | "ret.uni" | "exit" => {
                self.add_statement(Kind::Other);
                self.end_block([], is_conditional);
            }
            "call" | "call.uni" => {
                self.add_statement(Kind::Other);
                if code.split([' ', '\t', ',']).any(|word| self.noreturn.contains(word)) {
                    self.end_block([], is_conditional);
                }
            }
            "brx.idx" | "brx.idx.uni" => {
                self.add_statement(Kind::Jump);
                let table = words.last().unwrap_or_default().trim_end_matches(';');
                let targets = self.tables.get(table)?.clone();
                self.end_block(targets, is_conditional);
            }
            name if is_work(name) => self.add_statement(Kind::Work),
            _ => self.add_statement(Kind::Other),
        }
        Some(())
    }

    /// `1 12 1, function_name $L__info_string0, inlined_at 1 7 1`: file, line, column.
    fn set_place(&mut self, text: &str) {
        let line = |text: &str| text.split_whitespace().nth(1)?.trim_end_matches(',').parse().ok();
        let inlined_at = text.split_once("inlined_at").and_then(|(_, at)| line(at));
        // A line of 0 is nowhere in the source.
        self.place = line(text).filter(|&number| number != 0).map(|number| Place { number, inlined_at });
        self.function.places.extend(self.place);
    }

    fn start_block(&mut self, label: &str) {
        let block = Block::new(self.function.blocks.len());
        self.function.labels.insert(label.to_owned(), block);
        self.function.blocks.push(ListedBlock::new(label));
        self.at_end = false;
    }

    /// A line of a table of labels, which ends with a semicolon.
    fn table_line(&mut self, line: &str) {
        let Some((_, targets)) = &mut self.table else { return };
        let labels = line.split([',', ';']).map(str::trim).filter(|label| !label.is_empty());
        targets.extend(labels.map(str::to_owned));
        if line.trim_end().ends_with(';') {
            self.tables.extend(self.table.take());
        }
    }

    fn end_block(&mut self, targets: impl IntoIterator<Item = String>, falls_through: bool) {
        let block = self.current();
        block.targets.extend(targets);
        block.falls_through = falls_through;
        self.at_end = true;
    }

    fn add_statement(&mut self, kind: Kind) {
        if self.at_end {
            self.function.blocks.push(ListedBlock::new(""));
            self.at_end = false;
        }
        let place = self.place;
        self.current().statements.push(Statement { place, kind });
    }

    fn current(&mut self) -> &mut ListedBlock {
        self.function.blocks.last_mut().expect("a function starts with a block")
    }
}

impl ListedBlock {
    fn new(label: &str) -> ListedBlock {
        ListedBlock { label: label.to_owned(), falls_through: true, ..ListedBlock::default() }
    }
}

fn is_work(name: &str) -> bool {
    let mut parts = name.split('.');
    let is_access = matches!(parts.next(), Some("ld" | "st" | "atom" | "red")) && parts.clone().next() != Some("param");
    is_access || parts.any(|part| matches!(part, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f64"))
}

/// Temporary labels mark places for debug information alone.
fn is_lasting(label: &str) -> bool {
    label.starts_with("$L__BB")
}

/// The text's functions, labels, jumps, calls and pragmas, without the numbers of registers: all that its loops hang
/// on.
pub fn skeleton(ptx: &str) -> String {
    let mut kept = String::new();
    for line in ptx.lines() {
        let code = line.split("//").next().unwrap_or_default().trim();
        let name = code.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
        let is_label = code.strip_suffix(':').is_some_and(is_lasting);
        let is_flow =
            ["bra", "brx", "call", "ret", "exit", "trap", ".pragma"].iter().any(|flow| name.starts_with(flow));
        if is_label || is_flow || function_name(line).is_some() {
            kept.extend(without_registers(code).chain(['\n']));
        }
    }
    kept
}

/// `@%p12 bra $L__BB0_3;` without the 12.
fn without_registers(code: &str) -> impl Iterator<Item = char> + '_ {
    let mut in_register = false;
    code.chars().filter(move |&letter| {
        in_register = letter == '%' || in_register && letter.is_ascii_alphanumeric();
        !(in_register && letter.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = r#"
.version 9.5
.target sm_100
.func stop
()
.noreturn;
.func  (.param .b32 func_retval0) helper
(
	.param .b64 helper_param_0
)
;
	// .globl	k
.visible .entry k(
	.param .u64 k_param_0
)
{
	.reg .pred 	%p<2>;
	.loc	1 0 0
$L__func_begin0:
	ld.param.b64 	%rd1, [k_param_0];
	.loc	1 7 1
	setp.eq.b64 	%p1, %rd1, 0;
	@%p1 bra 	$L__BB0_3;
$L__tmp0:
$L__BB0_1:
	.pragma "nounroll";
	.loc	1 12 1, function_name $L__info_string0, inlined_at 1 7 1
	ld.global.b32 	%r1, [%rd1];
	add.rn.f32 	%r2, %r2, %r1;
	// begin inline asm
	{ .reg .pred p; bra $L__BB0_3; ret; }
	// end inline asm
	setp.ne.b64 	%p1, %rd1, 0;
	@%p1 bra 	$L__BB0_1;
	bra.uni 	$L__BB0_4;
$L__BB0_3:
	{ // callseq 0, 0
	call.uni stop, ();
	} // callseq 0
$L__BB0_4:
	.loc	1 9 1
	ret;
$L__func_end0:

}
	.file	1 "instructions"
	.section	.debug_str
	{
$L__info_string0:
.b8 104
	}
"#;

    fn only() -> Function {
        let mut functions = functions(PTX).expect("it can be read");
        assert_eq!(functions.len(), 1, "declarations have no body");
        functions.remove(0)
    }

    fn edges(function: &Function) -> Vec<Vec<usize>> {
        let blocks = (0..function.block_count()).map(Block::new);
        blocks.map(|block| function.successors(block).map(Block::index).collect()).collect()
    }

    #[test]
    fn a_body_becomes_blocks_and_edges() {
        let function = only();
        assert_eq!(function.name, "k");
        // Entry; loop; its second jump; the call that does not return; the end.
        assert_eq!(edges(&function), [vec![3, 1], vec![1, 2], vec![4], vec![], vec![]]);
        let labels: Vec<_> = (0..5).map(|at| function.label(Block::new(at))).collect();
        assert_eq!(labels, ["", "$L__BB0_1", "", "$L__BB0_3", "$L__BB0_4"]);
    }

    #[test]
    fn instructions_have_kinds_and_places() {
        let function = only();
        let of = |at| function.statements(Block(at)).iter().map(|it| (it.kind, it.place)).collect::<Vec<_>>();
        let place = Some(Place { number: 7, inlined_at: None });
        assert_eq!(of(0), [(Kind::Other, None), (Kind::Other, place), (Kind::Jump, place)]);
        let inlined = Some(Place { number: 12, inlined_at: Some(7) });
        let kinds = [Kind::Work, Kind::Work, Kind::Other, Kind::Other, Kind::Jump];
        assert_eq!(of(1), kinds.map(|kind| (kind, inlined)));
        assert_eq!(function.places.iter().map(|place| place.number).collect::<Vec<_>>(), [7, 12, 9]);
    }

    #[test]
    fn a_table_of_jumps_leads_to_its_labels() {
        let table = "$L_brx_0: .branchtargets\n\t$L__BB0_1,\n\t$L__BB0_2;\n\tbrx.idx \t%r1, $L_brx_0;\n";
        let blocks = "$L__BB0_1:\n\tret;\n$L__BB0_2:\n\tret;\n";
        let ptx = format!(".visible .entry k()\n{{\n{table}{blocks}}}\n");
        let functions = functions(&ptx).expect("it is read");
        assert_eq!(functions[0].successors(Block(0)).collect::<Vec<_>>(), [Block(1), Block(2)]);
        let unknown = ptx.replace("%r1, $L_brx_0", "%r1, $L_brx_1");
        assert!(super::functions(&unknown).is_none());
    }

    #[test]
    fn a_brace_of_inline_assembly_ends_no_function() {
        let ptx = ".visible .entry k()\n{\n// begin inline asm\n{\n\tadd;\n}\n// end inline asm\n\t.local .b8 a[4];\n\tret;\n}\n";
        let functions = functions(ptx).expect("it is read");
        assert_eq!((functions.len(), functions[0].statements(Block(0)).len()), (1, 2));
    }

    #[test]
    fn loops_hang_on_labels_and_jumps_alone() {
        let skeleton = super::skeleton(PTX);
        let expected = ".func stop\n.func  (.param .b32 func_retval0) helper\n.visible .entry k(\n@%p bra \t$L__BB0_3;\n\
                        $L__BB0_1:\n.pragma \"nounroll\";\n@%p bra \t$L__BB0_1;\nbra.uni \t$L__BB0_4;\n$L__BB0_3:\n\
                        call.uni stop, ();\n$L__BB0_4:\nret;\n";
        assert_eq!(skeleton, expected);
        for same in [PTX.replace("%p1", "%p7"), PTX.replace("1 12 1", "1 13 1"), PTX.replace("add.rn.f32", "add.f32")] {
            assert_eq!(super::skeleton(&same), skeleton);
        }
        for (old, new) in [("@%p1 bra", "@!%p1 bra"), ("$L__BB0_4", "$L__BB0_5"), ("call.uni stop", "call.uni go")] {
            assert_ne!(super::skeleton(&PTX.replace(old, new)), skeleton, "{old}");
        }
        assert_ne!(super::skeleton(&PTX.replace(".pragma", "// .pragma")), skeleton);
    }
}
