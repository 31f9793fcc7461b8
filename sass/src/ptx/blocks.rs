//! Statements to blocks: a block begins at a label and behind whatever may leave the straight line.

use std::collections::{BTreeSet, HashMap};

use super::scan::{Body, words};
use super::{PtxBlock, PtxError, Statement};

/// Cuts a body into blocks.
pub(super) fn of(body: &Body) -> Result<Vec<PtxBlock>, PtxError> {
    let starts = starts(body);
    let names = Names::of(body);
    let block_at = |statement: usize| starts.partition_point(|&start| start <= statement) - 1;
    let mut blocks: Vec<PtxBlock> = Vec::with_capacity(starts.len());
    for (at, &start) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(body.statements.len());
        let last = body.statements[start..end].last();
        let targets = last.map_or(Ok(Vec::new()), |last| names.targets(last))?;
        let mut successors: Vec<usize> = targets.into_iter().map(block_at).collect();
        successors.extend((at + 1 < starts.len() && last.is_none_or(falls_through)).then_some(at + 1));
        blocks.push(PtxBlock { labels: Vec::new(), statements: start..end, successors, nounroll: false });
    }
    body.labels.iter().for_each(|label| blocks[block_at(label.at)].labels.push(label.name.clone()));
    body.pragmas.iter().for_each(|&at| blocks[block_at(at)].nounroll = true);
    Ok(blocks)
}

/// The first statements of all blocks.
fn starts(body: &Body) -> Vec<usize> {
    let mut starts: BTreeSet<usize> = body.labels.iter().map(|label| label.at).collect();
    starts.insert(0);
    let behind = |(at, statement): (usize, &Statement)| leaves(statement).then_some(at + 1);
    let all = body.statements.iter().enumerate().filter_map(behind);
    starts.extend(all.filter(|&at| at < body.statements.len()));
    starts.into_iter().collect()
}

/// May control go elsewhere than to the next statement?
fn leaves(statement: &Statement) -> bool {
    matches!(statement.mnemonic(), "bra" | "brx" | "ret" | "exit" | "trap")
}

fn falls_through(statement: &Statement) -> bool {
    statement.guard.is_some() || !leaves(statement)
}

/// Labels and tables by scope and name.
struct Names<'b> {
    body: &'b Body,
    labels: HashMap<(u32, &'b str), usize>,
    tables: HashMap<(u32, &'b str), usize>,
}

impl<'b> Names<'b> {
    fn of(body: &'b Body) -> Names<'b> {
        let labels = body.labels.iter().map(|label| ((label.scope, label.name.as_str()), label.at)).collect();
        let tables = body.tables.iter().enumerate().map(|(at, table)| ((table.scope, table.name.as_str()), at));
        Names { body, labels, tables: tables.collect() }
    }

    /// The statements that a branch goes to.
    fn targets(&self, branch: &Statement) -> Result<Vec<usize>, PtxError> {
        let operand = words(&branch.operands).last();
        let no_target = || PtxError::NoTarget { line: branch.line, opcode: branch.opcode.clone() };
        match branch.mnemonic() {
            "bra" => Ok(vec![self.label(branch.scope, operand.ok_or_else(no_target)?, branch.line)?]),
            "brx" => self.table(branch, operand.ok_or_else(no_target)?),
            _ => Ok(Vec::new()),
        }
    }

    fn label(&self, scope: u32, name: &str, line: u32) -> Result<usize, PtxError> {
        let found = look_up(&self.body.scopes, scope, |scope| self.labels.get(&(scope, name)));
        found.copied().ok_or_else(|| PtxError::NoLabel { line, label: name.to_owned() })
    }

    fn table(&self, branch: &Statement, name: &str) -> Result<Vec<usize>, PtxError> {
        let found = look_up(&self.body.scopes, branch.scope, |scope| self.tables.get(&(scope, name)));
        let no_table = || PtxError::NoTable { line: branch.line, table: name.to_owned() };
        let table = &self.body.tables[*found.ok_or_else(no_table)?];
        table.targets.iter().map(|target| self.label(table.scope, target, table.line)).collect()
    }
}

/// Looks in a scope, and in all around it.
pub(super) fn look_up<T>(scopes: &[u32], mut scope: u32, find: impl Fn(u32) -> Option<T>) -> Option<T> {
    loop {
        if let Some(found) = find(scope) {
            return Some(found);
        }
        let around = scopes.get(scope as usize).copied()?;
        if around == scope {
            return None;
        }
        scope = around;
    }
}
