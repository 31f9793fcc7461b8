//! Arithmetic that reports overflow, where libNVVM has none.
//!
//! Its verifier knows `llvm.uadd.with.overflow` and the like from 16 bits on, and its code generation without optimization,
//! which builds with overflow checks use, has no such multiplication of 16 or 32 bits. Both are written out in numbers of
//! twice the width, where nothing overflows: the narrow result is the lower half, and it has overflowed exactly if widening it
//! does not give the wide one back.

use inkwell::IntPredicate;
use inkwell::builder::{Builder, BuilderError};
use inkwell::llvm_sys::core::LLVMReplaceAllUsesWith;
use inkwell::module::Module;
use inkwell::types::IntType;
use inkwell::values::{AsValueRef, BasicValueEnum, InstructionValue, IntValue, StructValue};
use nounroll_metadata::ffi;

/// Writes out what libNVVM has not; how many calls there were.
pub fn rewrite(module: &Module<'_>, is_optimized: bool) -> usize {
    let blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    let calls: Vec<Call<'_>> =
        blocks.flat_map(|block| block.get_instructions()).filter_map(|call| Call::of(call, is_optimized)).collect();
    calls.iter().for_each(Call::write_out);
    calls.len()
}

/// A call that has to be written out.
struct Call<'ctx> {
    instruction: InstructionValue<'ctx>,
    is_signed: bool,
    operation: Operation,
    left: IntValue<'ctx>,
    right: IntValue<'ctx>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add,
    Sub,
    Mul,
}

impl<'ctx> Call<'ctx> {
    fn of(instruction: InstructionValue<'ctx>, is_optimized: bool) -> Option<Call<'ctx>> {
        let callee = ffi::called_function(instruction)?;
        let name = callee.get_name().to_string_lossy();
        let (operation, rest) = name.strip_prefix("llvm.")?.split_once(".with.overflow.i")?;
        let (is_signed, operation) = match operation {
            "uadd" => (false, Operation::Add),
            "usub" => (false, Operation::Sub),
            "umul" => (false, Operation::Mul),
            "sadd" => (true, Operation::Add),
            "ssub" => (true, Operation::Sub),
            "smul" => (true, Operation::Mul),
            _ => return None,
        };
        let is_lacking = match rest {
            "8" => true,
            "16" | "32" => operation == Operation::Mul && !is_optimized,
            _ => false,
        };
        let operand = |at| match instruction.get_operand(at)?.value()? {
            BasicValueEnum::IntValue(value) => Some(value),
            _ => None,
        };
        let (left, right) = (operand(0)?, operand(1)?);
        is_lacking.then_some(Call { instruction, is_signed, operation, left, right })
    }

    fn write_out(&self) {
        let block = self.instruction.get_parent().expect("a call is in a block");
        let builder = block.get_context().create_builder();
        builder.position_before(&self.instruction);
        let pair = self.build(&builder).expect("the builder stands before an instruction, and the types are right");
        // SAFETY: both are live values of the same type. The pair is a constant where the operands are, so it has no place.
        unsafe { LLVMReplaceAllUsesWith(self.instruction.as_value_ref(), pair.as_value_ref()) };
        self.instruction.erase_from_basic_block();
    }

    /// The pair of the result and whether it has overflowed.
    fn build(&self, builder: &Builder<'ctx>) -> Result<StructValue<'ctx>, BuilderError> {
        let narrow = self.left.get_type();
        let context = narrow.get_context();
        let wide = context.custom_width_int_type((narrow.get_bit_width() * 2).try_into().expect("it is not zero"));
        let wide = wide.expect("twice 32 bits are few");
        let (left, right) = (self.widen(builder, self.left, wide)?, self.widen(builder, self.right, wide)?);
        let exact = match self.operation {
            Operation::Add => builder.build_int_add(left, right, ""),
            Operation::Sub => builder.build_int_sub(left, right, ""),
            Operation::Mul => builder.build_int_mul(left, right, ""),
        }?;
        let result = builder.build_int_truncate(exact, narrow, "")?;
        let again = self.widen(builder, result, wide)?;
        let overflows = builder.build_int_compare(IntPredicate::NE, again, exact, "")?;
        let pair = context.struct_type(&[narrow.into(), context.bool_type().into()], false).get_poison();
        let pair = builder.build_insert_value(pair, result, 0, "")?;
        let pair = builder.build_insert_value(pair, overflows, 1, "")?;
        Ok(pair.into_struct_value())
    }

    fn widen(
        &self,
        builder: &Builder<'ctx>,
        value: IntValue<'ctx>,
        wide: IntType<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        if self.is_signed {
            builder.build_int_s_extend(value, wide, "")
        } else {
            builder.build_int_z_extend(value, wide, "")
        }
    }
}
