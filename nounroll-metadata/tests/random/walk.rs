//! A machine that walks a function's graph and writes down what can be observed.

use inkwell::basic_block::BasicBlock;
use inkwell::module::Module;
use inkwell::values::{AnyValue, BasicValueEnum, InstructionOpcode, InstructionValue, PhiValue};
use nounroll_metadata::ffi;
use std::collections::BTreeMap;

/// A number, or a phi by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Value {
    Number(u64),
    Phi(String),
}

#[derive(Clone, Debug)]
struct PictureBlock {
    name: String,
    /// Each phi's name, and what comes from which block.
    phis: Vec<(String, Vec<(Value, usize)>)>,
    /// What `at_N` gets.
    shown: Option<Value>,
    successors: Vec<usize>,
}

/// A function's blocks, as read from a module.
pub struct Picture {
    blocks: Vec<PictureBlock>,
}

/// A block that was passed, the values of its phis, and what it showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    block: String,
    phis: BTreeMap<String, u64>,
    shown: u64,
}

impl Picture {
    pub fn of(module: &Module<'_>) -> Picture {
        let blocks = module.get_function("f").unwrap().get_basic_blocks();
        let number = |block: BasicBlock<'_>| blocks.iter().position(|other| *other == block).unwrap();
        let read = |block: &BasicBlock<'_>| {
            let phis = block.get_instructions().map_while(|instruction| PhiValue::try_from(instruction).ok());
            let incoming = |phi: PhiValue<'_>| -> Vec<(Value, usize)> {
                phi.get_incomings().map(|(value, from)| (read_value(value), number(from))).collect()
            };
            let terminator = block.get_terminator().unwrap();
            PictureBlock {
                name: block.get_name().to_string_lossy().into_owned(),
                phis: phis.map(|phi| (phi.get_name().to_string_lossy().into_owned(), incoming(phi))).collect(),
                shown: block.get_instructions().filter(is_shown).map(shown_value).next(),
                successors: ffi::successors(terminator).into_iter().map(number).collect(),
            }
        };
        Picture { blocks: blocks.iter().map(read).collect() }
    }

    /// Walks from the entry, one decision a block of the `original` function. Blocks and phis that it does not have are
    /// passed without a word.
    pub fn walk(&self, decisions: &[u8], original: &Picture) -> Vec<Event> {
        let known = |block: &PictureBlock| original.blocks.iter().find(|other| other.name == block.name);
        let mut values: BTreeMap<String, u64> = BTreeMap::new();
        let mut events = Vec::new();
        let mut at = 0;
        let mut decisions = decisions.iter();
        loop {
            let block = &self.blocks[at];
            let decision = match known(block) {
                None => 0,
                Some(before) => {
                    let own = before.phis.iter().map(|(name, _)| (name.clone(), values[name])).collect();
                    let shown = block.shown.as_ref().map_or(0, |value| evaluate(value, &values));
                    events.push(Event { block: block.name.clone(), phis: own, shown });
                    match decisions.next() {
                        Some(decision) => usize::from(*decision),
                        None => return events,
                    }
                }
            };
            let Some(&next) = block.successors.get(decision % block.successors.len().max(1)) else { return events };
            // All phis of a block take their values at once.
            let taken: Vec<(String, u64)> = self.blocks[next]
                .phis
                .iter()
                .map(|(name, incoming)| {
                    let (value, _) = incoming.iter().find(|(_, from)| *from == at).expect("the edge has a value");
                    (name.clone(), evaluate(value, &values))
                })
                .collect();
            values.extend(taken);
            at = next;
        }
    }
}

fn evaluate(value: &Value, values: &BTreeMap<String, u64>) -> u64 {
    match value {
        Value::Number(number) => *number,
        Value::Phi(name) => values[name],
    }
}

fn read_value(value: BasicValueEnum<'_>) -> Value {
    match value.into_int_value().get_zero_extended_constant() {
        Some(number) => Value::Number(number),
        None => Value::Phi(value.into_int_value().get_name().to_string_lossy().into_owned()),
    }
}

fn is_shown(instruction: &InstructionValue<'_>) -> bool {
    callee(*instruction).is_some_and(|name| name.starts_with("at_"))
}

fn callee(instruction: InstructionValue<'_>) -> Option<String> {
    if instruction.get_opcode() != InstructionOpcode::Call {
        return None;
    }
    let text = instruction.print_to_string().to_string();
    let (_, rest) = text.split_once('@')?;
    Some(rest.split_once('(')?.0.to_owned())
}

fn shown_value(call: InstructionValue<'_>) -> Value {
    read_value(call.get_operand(0).unwrap().value().unwrap())
}

/// The blocks whose `at_N` a block calls.
pub fn observed(block: BasicBlock<'_>) -> Vec<String> {
    let names = block.get_instructions().filter_map(callee);
    names.filter_map(|name| Some(name.strip_prefix("at_")?.to_owned())).collect()
}
