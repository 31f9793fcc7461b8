//! PTX text, read as far as control flow goes: functions, statements with their lines, blocks, natural loops.
//!
//! ```text
//! text ── split ── plain text + source locations          (what the compiler's debug information adds, taken out)
//!   └──── one_statement_a_line ── PtxModule ── PtxFunction ── blocks, loops
//! ```
//!
//! A statement is an opcode, perhaps a guard, and operands; what they compute is not looked at, but for predicates that
//! branches use. Names are looked up as PTX scopes them: braces inside a body open a scope for labels and registers, so
//! that the same text of inline assembly may stand there twice.
//!
//! **Lines** are those of the text given, from 1. ptxas gives a machine instruction the line on which its statement
//! begins, so two statements on one line cannot be told apart: such text is refused, and [`one_statement_a_line`] puts
//! it right first.
//!
//! **When it is wrong.** A `call` is taken to come back. A register that branches by hand-written code reuse for
//! something else is followed by reaching definitions, not by value.

mod blocks;
mod lines;
mod predicates;
mod scan;
mod split;

use std::collections::HashMap;
use std::ops::Range;

use codegen_pass::{Block, ControlFlow, LoopForest, LoopId};

pub use lines::one_statement_a_line;
pub use split::{Location, SplitPtx, split};

/// A PTX text.
#[derive(Clone, Debug)]
pub struct PtxModule {
    functions: Vec<PtxFunction>,
    by_name: HashMap<String, usize>,
    /// Where the statement of each line is; position 0 is line 1.
    by_line: Vec<Option<StatementId>>,
}

/// A statement of a [`PtxModule`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StatementId {
    /// The position in [`PtxModule::functions`].
    pub function: u32,
    /// The position in [`PtxFunction::statements`].
    pub statement: u32,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct PtxFunction {
    /// Its name.
    pub name: String,
    /// Is it launched from the host?
    pub is_kernel: bool,
    /// Its instructions, in the order of the text.
    pub statements: Vec<Statement>,
    /// Its blocks, in the order of the text.
    pub blocks: Vec<PtxBlock>,
    /// Its natural loops.
    pub forest: LoopForest,
    block_of: Vec<u32>,
    predecessors: Vec<Predecessors>,
    predicates: predicates::Uses,
}

/// From where a block is entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Predecessors {
    None,
    One(u32),
    /// Or by a call of the function.
    More,
}

/// An instruction of PTX.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// The line on which it begins.
    pub line: u32,
    /// The line on which it ends.
    pub last_line: u32,
    /// The guard, where there is one, such as `%p1`.
    pub guard: Option<String>,
    /// The opcode with its modifiers, such as `ld.global.u32`.
    pub opcode: String,
    /// The operands, as in the text but for comments and ends of lines.
    pub operands: String,
    /// Whose names it sees.
    scope: u32,
}

/// Statements that run one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PtxBlock {
    /// The labels at its start.
    pub labels: Vec<String>,
    /// Positions in [`PtxFunction::statements`]. Empty where labels stand at the end of a body.
    pub statements: Range<usize>,
    /// The blocks that may come next.
    pub successors: Vec<usize>,
    /// Does `.pragma "nounroll"` stand in it?
    pub nounroll: bool,
}

/// A natural loop of a [`PtxFunction`].
#[derive(Clone, Copy, Debug)]
pub struct PtxLoop<'p> {
    function: &'p PtxFunction,
    /// Its name in [`PtxFunction::forest`].
    pub id: LoopId,
}

/// The text is not PTX as far as it is read here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PtxError {
    /// A label that nothing defines.
    #[error("PTX line {line}: there is no label `{label}`")]
    NoLabel {
        /// The line of the branch or table.
        line: u32,
        /// The label.
        label: String,
    },
    /// A `brx.idx` whose table nothing defines.
    #[error("PTX line {line}: there is no table of branch targets `{table}`")]
    NoTable {
        /// The line of the branch.
        line: u32,
        /// The table.
        table: String,
    },
    /// A branch without a target.
    #[error("PTX line {line}: `{opcode}` names no place to go to")]
    NoTarget {
        /// The line of the branch.
        line: u32,
        /// The opcode.
        opcode: String,
    },
    /// The braces do not match.
    #[error("the PTX ends inside the braces opened on line {line}")]
    OpenBrace {
        /// The line of the function, or of the section.
        line: u32,
    },
    /// Two instructions stand on one line.
    #[error("PTX line {line} holds two instructions: put one on a line first")]
    SharedLine {
        /// The line.
        line: u32,
    },
}

impl PtxModule {
    /// Reads a text that has at most one instruction on a line.
    pub fn parse(text: &str) -> Result<PtxModule, PtxError> {
        let functions: Vec<PtxFunction> =
            scan::functions(text)?.into_iter().map(PtxFunction::new).collect::<Result<_, _>>()?;
        let by_name = functions.iter().enumerate().map(|(at, function)| (function.name.clone(), at)).collect();
        let by_line = statements_by_line(&functions)?;
        Ok(PtxModule { functions, by_name, by_line })
    }

    /// Every function with a body, in the order of the text.
    pub fn functions(&self) -> &[PtxFunction] {
        &self.functions
    }

    /// The function with a name.
    pub fn function(&self, name: &str) -> Option<&PtxFunction> {
        self.position(name).map(|at| &self.functions[at])
    }

    /// Where the function with a name is among [`PtxModule::functions`].
    pub fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The instruction that a line, counted from 1, is part of.
    pub fn at_line(&self, line: u32) -> Option<StatementId> {
        let index = (line as usize).checked_sub(1)?;
        self.by_line.get(index).copied().flatten()
    }

    /// An instruction by its name.
    pub fn statement(&self, id: StatementId) -> &Statement {
        &self.functions[id.function as usize].statements[id.statement as usize]
    }
}

fn statements_by_line(functions: &[PtxFunction]) -> Result<Vec<Option<StatementId>>, PtxError> {
    let mut by_line = Vec::new();
    for (function, found) in functions.iter().enumerate() {
        for (at, statement) in found.statements.iter().enumerate() {
            by_line.resize(by_line.len().max(statement.last_line as usize), None);
            let id = StatementId { function: function as u32, statement: at as u32 };
            let lines = statement.line as usize - 1..statement.last_line as usize;
            if by_line[lines.clone()].iter().any(Option::is_some) {
                return Err(PtxError::SharedLine { line: statement.line });
            }
            by_line[lines].fill(Some(id));
        }
    }
    Ok(by_line)
}

impl PtxFunction {
    fn new(body: scan::Body) -> Result<PtxFunction, PtxError> {
        let blocks = blocks::of(&body)?;
        let forest = LoopForest::of(&Blocks(&blocks));
        let mut block_of = vec![0; body.statements.len()];
        for (at, block) in blocks.iter().enumerate() {
            block_of[block.statements.clone()].fill(at as u32);
        }
        let predicates = predicates::Uses::of(&body);
        let predecessors = predecessors(&blocks);
        let scan::Body { name, is_kernel, statements, .. } = body;
        Ok(PtxFunction { name, is_kernel, statements, blocks, forest, block_of, predecessors, predicates })
    }

    /// The block of a statement.
    pub fn block_of(&self, statement: usize) -> usize {
        self.block_of[statement] as usize
    }

    /// The block from which alone another one is entered.
    pub fn only_predecessor(&self, block: usize) -> Option<usize> {
        match self.predecessors[block] {
            Predecessors::One(only) => Some(only as usize),
            Predecessors::None | Predecessors::More => None,
        }
    }

    /// The innermost loop around a statement.
    pub fn loop_of(&self, statement: usize) -> Option<LoopId> {
        self.forest.innermost(Block::new(self.block_of(statement)))
    }

    /// Its natural loops, outer loops first.
    pub fn loops(&self) -> impl Iterator<Item = PtxLoop<'_>> {
        self.forest.ids().map(|id| PtxLoop { function: self, id })
    }

    /// One of its loops.
    pub fn get(&self, id: LoopId) -> PtxLoop<'_> {
        PtxLoop { function: self, id }
    }

    /// The loop whose header has a label.
    pub fn loop_at(&self, label: &str) -> Option<PtxLoop<'_>> {
        self.loops().find(|found| found.labels().iter().any(|own| own == label))
    }

    /// The functions that it calls by name, as often as it does, with the statement that does it.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &str)> {
        self.statements.iter().enumerate().filter_map(|(at, statement)| Some((at, statement.callee()?)))
    }

    /// The blocks that end in a branch on what a statement computes, straight or through other predicates.
    pub fn branches_on(&self, statement: usize) -> Vec<usize> {
        self.predicates.branches_on(self, statement)
    }
}

fn predecessors(blocks: &[PtxBlock]) -> Vec<Predecessors> {
    let mut found = vec![Predecessors::None; blocks.len()];
    found.first_mut().into_iter().for_each(|entry| *entry = Predecessors::More);
    for (from, block) in blocks.iter().enumerate() {
        for &to in &block.successors {
            let from = Predecessors::One(from as u32);
            found[to] = if found[to] == Predecessors::None || found[to] == from { from } else { Predecessors::More };
        }
    }
    found
}

impl<'p> PtxLoop<'p> {
    /// The function around it.
    pub fn function(self) -> &'p PtxFunction {
        self.function
    }

    /// The block through which it is entered.
    pub fn header(self) -> usize {
        self.function.forest.get(self.id).header.index()
    }

    /// The labels of its header.
    pub fn labels(self) -> &'p [String] {
        &self.function.blocks[self.header()].labels
    }

    /// Its blocks, those of the loops inside it included.
    pub fn blocks(self) -> impl Iterator<Item = usize> + 'p {
        self.function.forest.blocks(self.id).map(Block::index)
    }

    /// The blocks of its own body: those that no loop inside it holds.
    pub fn own_blocks(self) -> impl Iterator<Item = usize> + 'p {
        let PtxLoop { function, id } = self;
        self.blocks().filter(move |&block| function.forest.innermost(Block::new(block)) == Some(id))
    }

    /// The lines of its statements, in ascending order.
    pub fn lines(self) -> impl Iterator<Item = u32> + 'p {
        let function = self.function;
        self.blocks().flat_map(move |at| &function.statements[function.blocks[at].statements.clone()]).map(|s| s.line)
    }

    /// Is ptxas asked to leave it alone?
    pub fn nounroll(self) -> bool {
        self.function.blocks[self.header()].nounroll
    }
}

impl Statement {
    /// The opcode without its modifiers: `ld` of `ld.global.u32`.
    pub fn mnemonic(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    /// Is a part of the opcode, behind the first, `modifier`?
    pub fn has(&self, modifier: &str) -> bool {
        self.opcode.split('.').skip(1).any(|part| part == modifier)
    }

    /// The function that it calls by name.
    pub fn callee(&self) -> Option<&str> {
        if self.mnemonic() != "call" {
            return None;
        }
        let results = self.operands.starts_with('(');
        let rest = if results { self.operands.split_once(')')?.1 } else { &self.operands };
        let name = rest.trim_start_matches([',', ' ']).split([',', ' ', '(']).next()?;
        (!name.is_empty() && !name.starts_with('%')).then_some(name)
    }
}

/// The blocks of a function as a graph.
struct Blocks<'b>(&'b [PtxBlock]);

impl ControlFlow for Blocks<'_> {
    fn block_count(&self) -> usize {
        self.0.len()
    }

    fn entry(&self) -> Block {
        Block::new(0)
    }

    fn successors(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.0[block.index()].successors.iter().map(|&to| Block::new(to))
    }
}
