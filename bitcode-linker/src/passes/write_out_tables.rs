//! Tables of shared addresses, written out as choices.
//!
//! LLVM makes a table of a `match` that gives constants, and the address of a shared array is one. But a block's shared
//! memory is there only while the block runs, so no variable can start with such an address: ptxas refuses it, and
//! AMD's code generation too. LLVM has no switch for these tables alone, so each is undone once the optimizer has run:
//!
//! 1. a table is a variable whose initial value holds the address of a shared variable, however deep;
//! 2. each load from it, by an index, becomes a choice among its elements, halved at every bit of the index: N elements
//!    are N - 1 selects, and as many tests as the index has bits;
//! 3. the table goes.
//!
//! The choice is among constants, and code generation sees that they are all of shared memory, so accesses through the
//! result do not become generic.
//!
//! When it is wrong: a table that is read otherwise than by one index is none that LLVM makes of a `match`; the link is
//! refused.

use super::{OPTIMIZE, SHARED};
use crate::Error;
use crate::pipeline::{Link, Pass, Skip};
use crate::symbols::demangle;
use inkwell::builder::{Builder, BuilderError};
use inkwell::llvm_sys::core::{
    LLVMGetAggregateElement, LLVMGetFirstUse, LLVMGetNextUse, LLVMGetNumOperands, LLVMGetOperand, LLVMGetUser,
    LLVMIsAConstant, LLVMIsAConstantExpr, LLVMIsAGlobalValue, LLVMIsAInstruction, LLVMIsUndef, LLVMReplaceAllUsesWith,
};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{AsValueRef, BasicValueEnum, GlobalValue, InstructionOpcode, InstructionValue, IntValue};
use inkwell::{AddressSpace, IntPredicate};
use std::collections::HashSet;
use std::iter;

pub const PASS: Pass = Pass {
    does: "writes tables of shared addresses out as choices",
    after: &[OPTIMIZE.name],
    skip: Skip::Refused("no variable can start with the address of shared memory"),
    ..Pass::new("write-out-tables", |link: &mut Link<'_>| write_out_all(&link.module))
};

fn write_out_all(module: &Module<'_>) -> Result<(), Error> {
    let layout = TargetData::create(&module.get_data_layout().as_str().to_string_lossy());
    let is_table = |global: &GlobalValue<'_>| {
        global.get_initializer().is_some_and(|value| holds_shared_address(value.as_value_ref(), &mut HashSet::new()))
    };
    for global in module.get_globals().filter(is_table).collect::<Vec<_>>() {
        let name = global.get_name().to_string_lossy().into_owned();
        let table = Table::of(global, &layout).ok_or_else(|| Error::SharedInitializer { name: name.clone() })?;
        let refused =
            |user| Error::SharedTable { table: name.clone(), function: function_of(user).unwrap_or_default() };
        let loads = table.loads().map_err(refused)?;
        for load in loads {
            load.write_out(&table).expect("the builder stands before an instruction, and the types are right");
        }
        if users(global.as_value_ref()).is_empty() {
            // SAFETY: nothing uses the table any more, and the handle is not used again.
            unsafe { global.delete() };
        }
    }
    Ok(())
}

/// An array of constants.
struct Table<'ctx> {
    global: GlobalValue<'ctx>,
    elements: Vec<BasicValueEnum<'ctx>>,
    element_bytes: u64,
}

/// A load of one element.
struct Load<'ctx> {
    load: InstructionValue<'ctx>,
    /// The address that it loads from, to be removed with it; none if it is the table's own.
    address: Option<InstructionValue<'ctx>>,
    index: Index<'ctx>,
}

/// Which element.
#[derive(Clone, Copy)]
enum Index<'ctx> {
    First,
    Elements(IntValue<'ctx>),
    Bytes(IntValue<'ctx>),
}

impl<'ctx> Table<'ctx> {
    fn of(global: GlobalValue<'ctx>, layout: &TargetData) -> Option<Table<'ctx>> {
        let initial = global.get_initializer().filter(|_| global.is_constant())?;
        let BasicValueEnum::ArrayValue(array) = initial else { return None };
        let ty = array.get_type();
        let element_bytes = layout.get_abi_size(&ty.get_element_type());
        let element = |at| {
            // SAFETY: the array is a live constant, and the position is one of its elements, which live as long.
            unsafe { BasicValueEnum::new(LLVMGetAggregateElement(array.as_value_ref(), at)) }
        };
        Some(Table { global, elements: (0..ty.len()).map(element).collect(), element_bytes })
    }

    /// The loads from the table, or what uses it otherwise.
    fn loads(&self) -> Result<Vec<Load<'ctx>>, InstructionValue<'ctx>> {
        let mut loads = Vec::new();
        for user in instructions_through_casts(self.global.as_value_ref()) {
            match user.get_opcode() {
                InstructionOpcode::Load => loads.push(self.load(user, None, Index::First)?),
                InstructionOpcode::GetElementPtr => {
                    let index = self.index(user).ok_or(user)?;
                    for load in instructions_through_casts(user.as_value_ref()) {
                        loads.push(self.load(load, Some(user), index)?);
                    }
                }
                _ => return Err(user),
            }
        }
        Ok(loads)
    }

    fn load(
        &self,
        load: InstructionValue<'ctx>,
        address: Option<InstructionValue<'ctx>>,
        index: Index<'ctx>,
    ) -> Result<Load<'ctx>, InstructionValue<'ctx>> {
        let element = self.elements[0].get_type();
        let is_whole = load.get_opcode() == InstructionOpcode::Load
            && load.get_volatile() == Ok(false)
            && BasicTypeEnum::try_from(load.get_type()).is_ok_and(|ty| ty == element);
        if is_whole { Ok(Load { load, address, index }) } else { Err(load) }
    }

    /// The index of an address that is computed by `[N x T], 0, index`, by `T, index` or by bytes.
    fn index(&self, address: InstructionValue<'ctx>) -> Option<Index<'ctx>> {
        let element = self.elements[0].get_type();
        let operand = |at| match address.get_operand(at)?.value()? {
            BasicValueEnum::IntValue(value) => Some(value),
            _ => None,
        };
        let source = address.get_gep_source_element_type().ok()?;
        match (source, address.get_num_operands()) {
            (BasicTypeEnum::ArrayType(array), 3) if array.get_element_type() == element => {
                let is_first = operand(1)?.get_zero_extended_constant() == Some(0);
                operand(2).filter(|_| is_first).map(Index::Elements)
            }
            (source, 2) if source == element => operand(1).map(Index::Elements),
            (BasicTypeEnum::IntType(byte), 2) if byte.get_bit_width() == 8 => operand(1).map(Index::Bytes),
            _ => None,
        }
    }
}

impl<'ctx> Load<'ctx> {
    fn write_out(&self, table: &Table<'ctx>) -> Result<(), BuilderError> {
        let block = self.load.get_parent().expect("a load is in a block");
        let builder = block.get_context().create_builder();
        builder.position_before(&self.load);
        let chosen = match self.index {
            Index::First => table.elements[0],
            Index::Elements(index) => choose(&builder, &table.elements, index)?,
            Index::Bytes(bytes) => {
                let size = bytes.get_type().const_int(table.element_bytes, false);
                choose(&builder, &table.elements, builder.build_int_unsigned_div(bytes, size, "")?)?
            }
        };
        // SAFETY: both are live values of the same type, by `Table::load`.
        unsafe { LLVMReplaceAllUsesWith(self.load.as_value_ref(), chosen.as_value_ref()) };
        self.load.erase_from_basic_block();
        self.address.filter(|address| users(address.as_value_ref()).is_empty()).inspect(|address| {
            address.erase_from_basic_block();
        });
        Ok(())
    }
}

/// The element with an index, which is below their number: bit by bit, from the lowest.
fn choose<'ctx>(
    builder: &Builder<'ctx>,
    elements: &[BasicValueEnum<'ctx>],
    index: IntValue<'ctx>,
) -> Result<BasicValueEnum<'ctx>, BuilderError> {
    let ty = index.get_type();
    let mut left = elements.to_vec();
    let mut bit = 0;
    while left.len() > 1 {
        let masked = builder.build_and(index, ty.const_int(1 << bit, false), "")?;
        let is_set = builder.build_int_compare(IntPredicate::NE, masked, ty.const_zero(), "")?;
        let pairs = left.chunks(2).map(|pair| match *pair {
            [low, high] if low == high || is_undefined(high) => Ok(low),
            [low, high] if is_undefined(low) => Ok(high),
            [low, high] => builder.build_select(is_set, high, low, ""),
            _ => Ok(pair[0]),
        });
        left = pairs.collect::<Result<_, _>>()?;
        bit += 1;
    }
    Ok(left[0])
}

fn is_undefined(value: BasicValueEnum<'_>) -> bool {
    // SAFETY: the question may be asked of any live value; poison is undefined too.
    unsafe { LLVMIsUndef(value.as_value_ref()) != 0 }
}

/// Does a constant hold the address of a shared variable? `seen` are those that do not.
fn holds_shared_address(value: LLVMValueRef, seen: &mut HashSet<LLVMValueRef>) -> bool {
    if !seen.insert(value) {
        return false;
    }
    // SAFETY: the value is live. What LLVM says is a global is asked for its address space, whose value inkwell wraps;
    // other constants for their operands, of which there are as many as LLVM says, live as long as the constant.
    unsafe {
        if !LLVMIsAGlobalValue(value).is_null() {
            let BasicValueEnum::PointerValue(address) = BasicValueEnum::new(value) else { return false };
            return address.get_type().get_address_space() == AddressSpace::from(SHARED);
        }
        if LLVMIsAConstant(value).is_null() {
            return false;
        }
        let count = u32::try_from(LLVMGetNumOperands(value)).unwrap_or(0);
        (0..count).any(|at| holds_shared_address(LLVMGetOperand(value, at), seen))
    }
}

/// The instructions that use a value, or a constant cast of it to another address space.
fn instructions_through_casts<'ctx>(value: LLVMValueRef) -> Vec<InstructionValue<'ctx>> {
    let mut found = Vec::new();
    for user in users(value) {
        // SAFETY: a user is live; it is wrapped only after LLVM has said that it is an instruction.
        unsafe {
            if !LLVMIsAInstruction(user).is_null() {
                found.push(InstructionValue::new(user));
            } else if !LLVMIsAConstantExpr(user).is_null() && LLVMGetOperand(user, 0) == value {
                found.extend(instructions_through_casts(user));
            }
        }
    }
    found
}

fn users(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: the value is live; LLVM returns its uses one after the other, and null after the last. Nothing changes
    // meanwhile.
    unsafe {
        let first = LLVMGetFirstUse(value);
        let uses = iter::successors((!first.is_null()).then_some(first), |&last| {
            let next = LLVMGetNextUse(last);
            (!next.is_null()).then_some(next)
        });
        uses.map(|found| LLVMGetUser(found)).collect()
    }
}

fn function_of(instruction: InstructionValue<'_>) -> Option<String> {
    let function = instruction.get_parent()?.get_parent()?;
    Some(demangle(&function.get_name().to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// Constants are folded where they are built, so nothing comes to stand in the function.
    fn builder_in_function<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Builder<'ctx> {
        let function = module.add_function("f", context.void_type().fn_type(&[], false), None);
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, "entry"));
        builder
    }

    #[test]
    fn every_index_chooses_its_element() {
        let context = Context::create();
        let module = context.create_module("test");
        let (builder, number) = (builder_in_function(&context, &module), context.i64_type());
        for count in 1..=17 {
            let elements: Vec<BasicValueEnum<'_>> =
                (0..count).map(|at| number.const_int(at * 3, false).into()).collect();
            for at in 0..count {
                let chosen = choose(&builder, &elements, number.const_int(at, false)).unwrap();
                assert_eq!(chosen, elements[at as usize], "{at} of {count}");
            }
        }
    }

    #[test]
    fn an_element_that_is_undefined_costs_no_choice() {
        let context = Context::create();
        let module = context.create_module("test");
        let (builder, number) = (builder_in_function(&context, &module), context.i64_type());
        let [one, two] = [1, 2].map(|value| BasicValueEnum::from(number.const_int(value, false)));
        let poison = BasicValueEnum::from(number.get_poison());
        let chosen = |elements: &[_], at| choose(&builder, elements, number.const_int(at, false)).unwrap();
        assert_eq!([chosen(&[one, poison], 1), chosen(&[poison, two], 0)], [one, two]);
    }

    const TABLE: &str = "@a = internal addrspace(3) global i32 undef\n@b = internal addrspace(3) global i32 undef\n\
        @t = private unnamed_addr constant [2 x ptr] [ptr addrspacecast (ptr addrspace(3) @a to ptr), \
        ptr getelementptr inbounds (i8, ptr addrspacecast (ptr addrspace(3) @b to ptr), i64 2)]\n\
        @other = private constant [2 x i32] [i32 1, i32 2]\ndeclare void @escape(ptr)\n";

    fn written_out(context: &Context, body: &str) -> Result<String, String> {
        let text = format!("{TABLE}define ptr @f(i64 %i) {{\n{body}\n}}\n");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("the module parses");
        write_out_all(&module).map_err(|error| error.to_string())?;
        assert!(module.verify().is_ok(), "{}", module.print_to_string());
        Ok(module.print_to_string().to_string())
    }

    #[test]
    fn a_table_read_by_an_index_goes() {
        for address in
            ["inbounds [2 x ptr], ptr @t, i64 0, i64 %i", "inbounds ptr, ptr @t, i64 %i", "i8, ptr @t, i64 %i"]
        {
            let body = format!("%at = getelementptr {address}\n%v = load ptr, ptr %at\nret ptr %v");
            let text = written_out(&Context::create(), &body).unwrap();
            assert!(text.contains("select i1") && !text.contains("@t ") && text.contains("@other"), "{text}");
        }
        let text = written_out(&Context::create(), "%v = load ptr, ptr @t\nret ptr %v").unwrap();
        assert!(text.contains("ret ptr addrspacecast (ptr addrspace(3) @a to ptr)"), "{text}");
    }

    #[test]
    fn a_table_that_is_used_otherwise_is_refused_by_name() {
        let body = "call void @escape(ptr @t)\nret ptr null";
        let message = written_out(&Context::create(), body).unwrap_err();
        assert!(message.contains("`t`, that `f` reads otherwise than by an index"), "{message}");
    }
}
