//! The instructions by which it is known where a piece of machine code stands.
//!
//! | machine instruction | if it was made from |
//! |---|---|
//! | `STG`, `ATOM`, `RED`, `BAR`, `SHFL`, `…MMA`, … | a statement with a side effect, or a warp's: `st`, `atom`, `bar`, `shfl`, `mma`, … |
//! | `LDG`, `LDS`, `LD` | `ld`, but not of parameters or constants |
//! | `CALL` | `call`: the slow path of a division has the line of a `div` |
//! | conditional `BRA`, `BRX` | `bra`, `brx`; of a `bra` without a guard, only the second of a pair |
//! | what decides a uniform branch | anything that decides a `bra` ([`super::uniform`]) |
//!
//! No landmarks: branches without a condition, `EXIT`, arithmetic, constants, convergence barriers.
//!
//! A pair like `@%p1 bra A; bra.uni B;` becomes one conditional branch, which may have the line of either: both are the
//! decision of the first. Any other jump without a guard is none: where the block behind an exit has been merged into
//! the loop, under predicates, the branch that leaves has the line of that block's jump.

use super::graph::Code;
use super::uniform;
use crate::{Flow, Instruction, PtxFunction, PtxModule, Statement};

/// An instruction that ptxas leaves in its loop.
#[derive(Clone, Debug)]
pub struct Landmark<'m> {
    /// What it is.
    pub kind: LandmarkKind,
    /// The section it stands in.
    pub section: &'m str,
    /// The instruction.
    pub instruction: &'m Instruction,
    /// The PTX function that it was made from, by position in [`PtxModule::functions`].
    pub function: usize,
    /// The statement that it was made from.
    pub statement: usize,
    /// The PTX blocks that it stands for: one, or those that branch on one condition.
    pub blocks: Vec<usize>,
    /// The block of machine code, in the kernel's graph.
    pub(super) node: usize,
}

/// Why an instruction is a landmark.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LandmarkKind {
    /// It does something that others see, or a warp does it together.
    Effect,
    /// It reads memory that can change.
    Load,
    /// It decides where control goes. A loop that is unrolled may need fewer of them.
    Branch,
}

/// All landmarks of a kernel.
pub(super) fn of<'m>(ptx: &PtxModule, code: &Code<'m>) -> Vec<Landmark<'m>> {
    let mut found = Vec::new();
    for (node, instruction) in code.instructions().filter(|(node, _)| !code.is_helper(*node)) {
        if uniform::is_uniform_branch(instruction) {
            found.extend(uniform::landmark(ptx, code, node, instruction));
        } else {
            found.extend(landmark(ptx, code, node, instruction));
        }
    }
    found
}

fn landmark<'m>(ptx: &PtxModule, code: &Code<'m>, node: usize, instruction: &'m Instruction) -> Option<Landmark<'m>> {
    let id = ptx.at_line(instruction.ptx_line?)?;
    let (function, statement) = (id.function as usize, id.statement as usize);
    let (kind, block) = match decides(instruction) {
        true => (LandmarkKind::Branch, decision(&ptx.functions()[function], statement)?),
        false => (kind(instruction, ptx.statement(id))?, ptx.functions()[function].block_of(statement)),
    };
    Some(Landmark { kind, section: code.section(node), instruction, function, statement, blocks: vec![block], node })
}

/// Does the instruction decide where control goes?
fn decides(instruction: &Instruction) -> bool {
    match &instruction.flow {
        Flow::Jump { conditional, .. } => *conditional,
        Flow::IndirectJump { .. } => true,
        _ => false,
    }
}

/// The block whose branch decides what a branch of machine code made from `statement` decides. A jump that always
/// happens decides nothing, unless it is the second of a pair.
fn decision(function: &PtxFunction, statement: usize) -> Option<usize> {
    let block = function.block_of(statement);
    let is_guarded = |statement: &Statement| statement.mnemonic() == "bra" && statement.guard.is_some();
    match &function.statements[statement] {
        brx if brx.mnemonic() == "brx" => Some(block),
        branch if is_guarded(branch) => Some(block),
        jump if jump.mnemonic() == "bra" && function.blocks[block].statements.len() == 1 => {
            let before = function.only_predecessor(block).filter(|&before| before + 1 == block)?;
            let last = function.statements[function.blocks[before].statements.clone()].last();
            last.is_some_and(is_guarded).then_some(before)
        }
        _ => None,
    }
}

fn kind(instruction: &Instruction, statement: &Statement) -> Option<LandmarkKind> {
    match instruction.mnemonic() {
        "CALL" => (statement.mnemonic() == "call").then_some(LandmarkKind::Effect),
        "LD" | "LDG" | "LDS" => is_load(statement).then_some(LandmarkKind::Load),
        other => (acts(other) && has_effect(statement)).then_some(LandmarkKind::Effect),
    }
}

/// Does the instruction do something that can neither be left out nor done elsewhere?
fn acts(mnemonic: &str) -> bool {
    const EFFECTS: [&str; 28] = [
        "ST",
        "STG",
        "STS",
        "STAS",
        "STSM",
        "ATOM",
        "ATOMG",
        "ATOMS",
        "RED",
        "REDG",
        "REDAS",
        "REDUX",
        "CREDUX",
        "BAR",
        "SHFL",
        "VOTE",
        "MATCH",
        "LDSM",
        "LDGSTS",
        "LDGDEPBAR",
        "DEPBAR",
        "MEMBAR",
        "FENCE",
        "SYNCS",
        "NANOSLEEP",
        "SUST",
        "UBLKCP",
        "UBLKRED",
    ];
    EFFECTS.contains(&mnemonic) || mnemonic.ends_with("MMA") || mnemonic.starts_with("UTMA")
}

fn has_effect(statement: &Statement) -> bool {
    const EFFECTS: [&str; 24] = [
        "st",
        "atom",
        "red",
        "bar",
        "barrier",
        "shfl",
        "vote",
        "activemask",
        "mma",
        "wmma",
        "wgmma",
        "tcgen05",
        "ldmatrix",
        "stmatrix",
        "cp",
        "mbarrier",
        "fence",
        "membar",
        "match",
        "redux",
        "nanosleep",
        "sust",
        "multimem",
        "discard",
    ];
    EFFECTS.contains(&statement.mnemonic())
}

fn is_load(statement: &Statement) -> bool {
    statement.mnemonic() == "ld" && !statement.has("param") && !statement.has("const")
}
