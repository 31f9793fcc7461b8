//! What a kernel can call.
//!
//! Direct calls are edges. A function whose address is taken, by an instruction or by a constant such as a table of
//! methods, can be called from everywhere, so where one is, every kernel that calls through a pointer reaches all of
//! them.

use inkwell::llvm_sys::core::{
    LLVMGetFirstUse, LLVMGetNextUse, LLVMGetNumOperands, LLVMGetOperandUse, LLVMGetUser, LLVMIsACallInst,
};
use inkwell::llvm_sys::prelude::LLVMUseRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue};
use nounroll_metadata::ffi;
use std::collections::{HashMap, HashSet};
use std::iter;

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
        for function in module.get_functions() {
            for user in users(function) {
                graph.add_use(symbol(function), user);
            }
            let mut instructions = function.get_basic_block_iter().flat_map(|block| block.get_instructions());
            if instructions.any(calls_through_pointer) {
                graph.calls_through_pointer.insert(symbol(function));
            }
        }
        graph
    }

    fn add_use(&mut self, function: String, user: User<'_>) {
        let caller = match user {
            User::Call(call) => call.get_parent().and_then(|block| block.get_parent()),
            User::Other => None,
        };
        match caller {
            Some(caller) => self.callees.entry(symbol(caller)).or_default().insert(function),
            None => self.address_taken.insert(function),
        };
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

/// What uses a function.
enum User<'ctx> {
    /// An instruction that calls it.
    Call(InstructionValue<'ctx>),
    /// Whatever else knows its address.
    Other,
}

/// Everything that uses a function, constants included.
fn users<'ctx>(function: FunctionValue<'ctx>) -> impl Iterator<Item = User<'ctx>> {
    let some = |found: LLVMUseRef| (!found.is_null()).then_some(found);
    // SAFETY: the function is live, and LLVM returns the first of its uses, or null.
    let first = some(unsafe { LLVMGetFirstUse(function.as_value_ref()) });
    // SAFETY: `last` is a use of the function, and nothing changes the module while the iterator lives.
    iter::successors(first, move |&last| some(unsafe { LLVMGetNextUse(last) })).map(user)
}

fn user<'ctx>(found: LLVMUseRef) -> User<'ctx> {
    // SAFETY: a use has a user. What LLVM says is a call is an instruction, whose last operand is its callee.
    unsafe {
        let user = LLVMGetUser(found);
        if LLVMIsACallInst(user).is_null() {
            return User::Other;
        }
        let callee = LLVMGetOperandUse(user, LLVMGetNumOperands(user) as u32 - 1);
        if callee == found { User::Call(InstructionValue::new(user)) } else { User::Other }
    }
}

fn calls_through_pointer(instruction: InstructionValue<'_>) -> bool {
    let is_call = instruction.get_opcode() == InstructionOpcode::Call && !ffi::calls_inline_asm(instruction);
    is_call && ffi::called_function(instruction).is_none()
}

fn symbol(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    const MODULE: &str = r#"
@methods = internal constant [1 x ptr] [ptr @method]
declare void @llvm.experimental.noalias.scope.decl(metadata)
define void @method() { ret void }
define void @passed() { ret void }
define void @callee() { ret void }
define void @direct() {
  call void @llvm.experimental.noalias.scope.decl(metadata !0)
  call void asm sideeffect "", ""()
  call void @callee()
  ret void
}
define void @through(ptr %callee) {
  %method = load ptr, ptr @methods
  call void %method()
  ret void
}
define void @passes() {
  call void @through(ptr @passed)
  ret void
}
!0 = !{!1}
!1 = distinct !{!1, !2}
!2 = distinct !{!2}
"#;

    #[test]
    fn calls_by_name_and_through_pointers_are_followed() {
        let context = Context::create();
        let text = MemoryBuffer::create_from_memory_range_copy(MODULE.as_bytes(), "test");
        let module = context.create_module_from_ir(text).expect("the module parses");
        let graph = CallGraph::of(&module);
        let reached = |name: &str| {
            let mut reached: Vec<_> =
                graph.reached(name).into_iter().filter(|name| !name.starts_with("llvm.")).collect();
            reached.sort();
            reached.join(" ")
        };
        assert_eq!(reached("direct"), "callee direct", "metadata and assembly are no callees");
        assert_eq!(reached("through"), "method passed through", "a local's name is no function");
        assert_eq!(reached("passes"), "method passed passes through");
    }
}
