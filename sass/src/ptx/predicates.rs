//! Which branches a predicate decides.
//!
//! From sm_100 on ptxas branches on uniform predicates, and such a branch has a wrong line; the instruction that made
//! its predicate has a right one, most often that of a `setp`. So it is asked here: which blocks end in a branch on
//! what this statement computes? Logic between predicates is looked through where no branch uses the result itself.
//!
//! In compiled PTX every register is written once, and its uses are all there is to look up. In code by hand a register
//! is written again: then the uses that this definition reaches are searched for along the control flow.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::blocks::look_up;
use super::scan::{Body, words};
use super::{PtxFunction, Statement};

/// A register, by the scope that declares it.
type Register = u32;

/// Definitions and uses of the registers that may hold conditions.
#[derive(Clone, Default, Debug)]
pub(super) struct Uses {
    /// What each statement writes first.
    written: HashMap<usize, Register>,
    /// Statements that write a register, each in ascending order.
    writers: HashMap<Register, Vec<usize>>,
    /// Branches that a register guards.
    branches: HashMap<Register, Vec<usize>>,
    /// Logic that reads a register.
    logic: HashMap<Register, Vec<usize>>,
}

impl Uses {
    pub(super) fn of(body: &Body) -> Uses {
        let mut names = Registers::of(body);
        let mut uses = Uses::default();
        for (at, statement) in body.statements.iter().enumerate() {
            uses.add(at, statement, &mut names);
        }
        uses
    }

    fn add(&mut self, at: usize, statement: &Statement, names: &mut Registers<'_>) {
        if let ("bra", Some(guard)) = (statement.mnemonic(), &statement.guard) {
            self.branches.entry(names.get(statement.scope, guard)).or_default().push(at);
            return;
        }
        // A vector or an address is no condition.
        let mut registers = statement.operands.split([',', '|', ' ']).filter(|word| !word.is_empty());
        let Some(result) = registers.next().filter(|word| is_register(word)) else { return };
        let result = names.get(statement.scope, result);
        self.written.insert(at, result);
        self.writers.entry(result).or_default().push(at);
        if is_logic(statement) {
            for operand in words(&statement.operands).skip(1).filter(|word| is_register(word)) {
                self.logic.entry(names.get(statement.scope, operand.trim_start_matches('!'))).or_default().push(at);
            }
        }
    }

    /// The blocks whose branch a statement decides.
    pub(super) fn branches_on(&self, function: &PtxFunction, statement: usize) -> Vec<usize> {
        if function.statements[statement].mnemonic() == "bra" {
            return vec![function.block_of(statement)];
        }
        let mut pending = vec![statement];
        let mut seen: HashSet<usize> = HashSet::new();
        let mut blocks = BTreeSet::new();
        while let Some(writer) = pending.pop() {
            let Some(&register) = self.written.get(&writer).filter(|_| seen.insert(writer)) else { continue };
            let reached = |uses: &HashMap<Register, Vec<usize>>| {
                uses.get(&register).map(|uses| self.reached(function, writer, register, uses)).unwrap_or_default()
            };
            blocks.extend(reached(&self.branches).into_iter().map(|at| function.block_of(at)));
            if blocks.is_empty() {
                pending.extend(reached(&self.logic));
            }
        }
        blocks.into_iter().collect()
    }

    /// Those of `uses` that see what `writer` wrote.
    fn reached(&self, function: &PtxFunction, writer: usize, register: Register, uses: &[usize]) -> Vec<usize> {
        match self.writers.get(&register).map(Vec::as_slice) {
            Some([_]) | None => uses.to_vec(),
            Some(writers) => reached_from(function, writer, writers, uses),
        }
    }
}

/// Goes along the control flow from `writer` as far as the next writer.
fn reached_from(function: &PtxFunction, writer: usize, writers: &[usize], uses: &[usize]) -> Vec<usize> {
    // A guarded writer may leave the old value.
    let stops = |at: usize| function.statements[at].guard.is_none();
    let next_in = |list: &[usize], from: usize, to: usize| {
        let first = list.partition_point(|&at| at < from);
        list[first..].iter().copied().take_while(move |&at| at < to).collect::<Vec<_>>()
    };
    let mut found = BTreeSet::new();
    let mut seen = HashSet::new();
    let home = function.block_of(writer);
    let mut pending = vec![(home, writer + 1)];
    while let Some((block, from)) = pending.pop() {
        let end = function.blocks[block].statements.end;
        let stop = next_in(writers, from, end).into_iter().find(|&at| stops(at));
        found.extend(next_in(uses, from, stop.map_or(end, |stop| stop + 1)));
        if stop.is_none() {
            let next = function.blocks[block].successors.iter().copied().filter(|&next| seen.insert(next));
            pending.extend(next.map(|next| (next, function.blocks[next].statements.start)));
        }
    }
    found.into_iter().collect()
}

fn is_register(word: &str) -> bool {
    word.trim_start_matches('!').starts_with(|first: char| first == '%' || first.is_alphabetic() || first == '_')
}

/// Can it pass a condition on?
fn is_logic(statement: &Statement) -> bool {
    matches!(statement.mnemonic(), "and" | "or" | "xor" | "not" | "mov" | "selp" | "setp" | "set" | "cvt" | "lop3")
}

/// Registers numbered by the scope that declares them.
struct Registers<'b> {
    scopes: &'b [u32],
    declared: HashSet<(u32, &'b str)>,
    numbers: HashMap<(u32, String), Register>,
}

impl<'b> Registers<'b> {
    fn of(body: &'b Body) -> Registers<'b> {
        let declared = body.registers.iter().map(|(name, scope)| (*scope, name.as_str())).collect();
        Registers { scopes: &body.scopes, declared, numbers: HashMap::new() }
    }

    fn get(&mut self, scope: u32, name: &str) -> Register {
        let name = name.trim_start_matches('!');
        let inner = look_up(self.scopes, scope, |scope| self.declared.contains(&(scope, name)).then_some(scope));
        let next = self.numbers.len() as u32;
        *self.numbers.entry((inner.unwrap_or(0), name.to_owned())).or_insert(next)
    }
}
