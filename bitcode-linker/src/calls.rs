//! What a kernel can call.
//!
//! Direct calls are edges. A function whose address is taken can be called from everywhere, so where one is, every
//! kernel that calls through a pointer reaches all of them.

use inkwell::module::Module;
use inkwell::values::{BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue};
use nounroll_metadata::ffi;
use std::collections::{HashMap, HashSet};

/// Who calls whom, by symbol.
pub struct CallGraph {
    callees: HashMap<String, HashSet<String>>,
    calls_through_pointer: HashSet<String>,
    address_taken: HashSet<String>,
}

impl CallGraph {
    /// The calls of a module.
    pub fn of(module: &Module<'_>) -> CallGraph {
        let mut graph =
            CallGraph { callees: HashMap::new(), calls_through_pointer: HashSet::new(), address_taken: HashSet::new() };
        let functions: HashSet<String> = module.get_functions().map(symbol).collect();
        for function in module.get_functions() {
            let name = symbol(function);
            for instruction in function.get_basic_block_iter().flat_map(|block| block.get_instructions()) {
                graph.add(&name, instruction, &functions);
            }
        }
        graph
    }

    fn add(&mut self, caller: &str, instruction: InstructionValue<'_>, functions: &HashSet<String>) {
        let named = |at: u32| match instruction.get_operand(at)?.value()? {
            BasicValueEnum::PointerValue(value) => {
                Some(value.get_name().to_string_lossy().into_owned()).filter(|name| functions.contains(name))
            }
            _ => None,
        };
        let operands = instruction.get_num_operands();
        let is_call = instruction.get_opcode() == InstructionOpcode::Call && !ffi::calls_inline_asm(instruction);
        for at in 0..operands {
            let is_callee = is_call && at + 1 == operands;
            match named(at) {
                Some(name) if is_callee => {
                    self.callees.entry(caller.to_owned()).or_default().insert(name);
                }
                Some(name) => {
                    self.address_taken.insert(name);
                }
                None if is_callee => {
                    self.calls_through_pointer.insert(caller.to_owned());
                }
                None => {}
            }
        }
    }

    /// The kernel and everything it can call.
    pub fn reached(&self, kernel: &str) -> HashSet<String> {
        let mut reached = HashSet::new();
        let mut pending = vec![kernel.to_owned()];
        while let Some(name) = pending.pop() {
            if reached.insert(name.clone()) {
                pending.extend(self.callees.get(&name).into_iter().flatten().cloned());
                if self.calls_through_pointer.contains(&name) {
                    pending.extend(self.address_taken.iter().cloned());
                }
            }
        }
        reached
    }
}

fn symbol(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}
