//! Branches on uniform predicates, whose line is wrong.
//!
//! From sm_100 on, nvdisasm gives `BRA.U UP0, …` the line of whatever stood before it. The instruction that made `UP0`
//! has the right one; so that instruction is the landmark, where it stands, if it is the only one that the branch can
//! have its predicate from. It speaks for every PTX block that branches on what its statement computes.

use std::collections::HashSet;

use super::graph::Code;
use super::landmarks::{Landmark, LandmarkKind};
use crate::{Flow, Instruction, Predicate, PtxModule};

/// Is it a conditional branch on a uniform predicate, or one marked as uniform?
pub(super) fn is_uniform_branch(instruction: &Instruction) -> bool {
    let is_branch = matches!(instruction.flow, Flow::Jump { conditional: true, .. });
    is_branch
        && instruction.mnemonic() == "BRA"
        && condition(instruction)
            .is_some_and(|register| register.starts_with("UP") || instruction.opcode.split('.').any(|part| part == "U"))
}

/// The predicate register that decides a branch.
fn condition(branch: &Instruction) -> Option<String> {
    let among_operands = || branch.operands.iter().find_map(|operand| Predicate::parse(operand));
    let predicates = among_operands().into_iter().chain(branch.predicate.clone());
    predicates.map(|predicate| predicate.register).find(|register| !register.ends_with('T'))
}

/// The landmark that a uniform branch stands for.
pub(super) fn landmark<'m>(
    ptx: &PtxModule,
    code: &Code<'m>,
    node: usize,
    branch: &'m Instruction,
) -> Option<Landmark<'m>> {
    let (node, instruction) = only_definition(code, node, branch)?;
    let id = ptx.at_line(instruction.ptx_line?)?;
    let (function, statement) = (id.function as usize, id.statement as usize);
    let blocks = ptx.functions()[function].branches_on(statement);
    let section = code.section(node);
    let landmark = Landmark { kind: LandmarkKind::Branch, section, instruction, function, statement, blocks, node };
    (!landmark.blocks.is_empty()).then_some(landmark)
}

/// The one instruction that the branch has its predicate from.
fn only_definition<'m>(code: &Code<'m>, node: usize, branch: &Instruction) -> Option<(usize, &'m Instruction)> {
    let register = condition(branch)?;
    let mut found: Option<(usize, &'m Instruction)> = None;
    let mut pending = vec![node];
    let mut seen = HashSet::new();
    while let Some(at) = pending.pop() {
        let (definitions, stops) = definitions(code.block(at), &register);
        for definition in definitions {
            if found.is_some_and(|(_, other)| !std::ptr::eq(other, definition)) {
                return None;
            }
            found = Some((at, definition));
        }
        if !stops {
            pending.extend(code.predecessors[at].iter().copied().filter(|&before| seen.insert(before)));
        }
    }
    found
}

/// The instructions of a block that may set what a register holds at its end, and whether one of them certainly does.
fn definitions<'m>(block: &[&'m Instruction], register: &str) -> (Vec<&'m Instruction>, bool) {
    let mut found = Vec::new();
    for &instruction in block.iter().rev().filter(|instruction| writes(instruction, register)) {
        found.push(instruction);
        if instruction.predicate.is_none() {
            return (found, true);
        }
    }
    (found, false)
}

/// Is a predicate register among the results of an instruction, which stand first?
pub(super) fn writes(instruction: &Instruction, register: &str) -> bool {
    let results = match instruction.mnemonic() {
        "BRA" | "BRX" | "BRXU" | "EXIT" => 0,
        name if name.contains("SETP") || name.contains("PLOP") => 2,
        "VOTE" => 2,
        "R2UR" | "UIADD3" | "ULOP3" | "LOP3" | "VOTEU" | "UR2UP" | "ULEA" | "USHF" => 3,
        _ => 1,
    };
    instruction.operands.iter().take(results).any(|operand| operand == register)
}
