//! Arithmetic that reports overflow, where libNVVM has none.
//!
//! Its verifier knows `llvm.uadd.with.overflow` and the like for 16, 32 and 64 bits, and its code generation without
//! optimization, which builds with overflow checks use, has no such multiplication of 16 or 32 bits. Both are written
//! out in numbers of twice the width, where nothing overflows: the narrow result is the lower half, and it has
//! overflowed exactly if widening it does not give the wide one back.

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
            "8" | "128" => true,
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
        // SAFETY: both are live values of the same type. The pair is a constant where the operands are, so it has no
        // place.
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

#[cfg(test)]
mod tests {
    use super::super::testing::{body, parse};
    use super::*;
    use inkwell::context::Context;
    use inkwell::values::AnyValue;

    /// What is written out for two constants, which LLVM computes at once.
    #[track_caller]
    fn computed(operation: &str, left: i8, right: i8) -> String {
        let context = Context::create();
        let name = format!("@llvm.{operation}.with.overflow.i8(i8");
        let text = format!(
            "declare {{ i8, i1 }} {name}, i8)\ndefine {{ i8, i1 }} @f() {{\n\
             %r = call {{ i8, i1 }} {name} {left}, i8 {right})\nret {{ i8, i1 }} %r\n}}\n"
        );
        let module = parse(&context, &text);
        assert_eq!(rewrite(&module, true), 1);
        body(&module, "f").join("\n")
    }

    #[test]
    fn results_are_those_of_the_host() {
        let edges = [i8::MIN, -127, -16, -2, -1, 0, 1, 2, 15, 16, 64, 126, i8::MAX];
        for (left, right) in edges.iter().flat_map(|&left| edges.map(|right| (left, right))) {
            let (l, r) = (left as u8, right as u8);
            let unsigned = |(value, overflows): (u8, bool)| (value as i8, overflows);
            for (operation, (value, overflows)) in [
                ("sadd", left.overflowing_add(right)),
                ("ssub", left.overflowing_sub(right)),
                ("smul", left.overflowing_mul(right)),
                ("uadd", unsigned(l.overflowing_add(r))),
                ("usub", unsigned(l.overflowing_sub(r))),
                ("umul", unsigned(l.overflowing_mul(r))),
            ] {
                let expected = match (value, overflows) {
                    (0, false) => "ret { i8, i1 } zeroinitializer".to_owned(),
                    _ => format!("ret {{ i8, i1 }} {{ i8 {value}, i1 {overflows} }}"),
                };
                assert_eq!(computed(operation, left, right), expected, "{operation} {left} {right}");
            }
        }
    }

    #[test]
    fn only_what_is_lacking_is_written_out() {
        let lacking = |operation: &str, width: u32, is_optimized| {
            let context = Context::create();
            let name = format!("@llvm.{operation}.with.overflow.i{width}(i{width}");
            let text = format!(
                "declare {{ i{width}, i1 }} {name}, i{width})\ndefine {{ i{width}, i1 }} @f(i{width} %x) {{\n\
                 %r = call {{ i{width}, i1 }} {name} %x, i{width} %x)\nret {{ i{width}, i1 }} %r\n}}\n"
            );
            let module = parse(&context, &text);
            let count = rewrite(&module, is_optimized);
            assert_eq!(
                module.get_function("f").expect("it is there").print_to_string().to_string().contains("mul i"),
                { count == 1 && operation.ends_with("mul") }
            );
            body(&module, "f");
            count == 1
        };
        for (width, add, mul, mul_unoptimized) in [
            (8, true, true, true),
            (16, false, false, true),
            (32, false, false, true),
            (64, false, false, false),
            (128, true, true, true),
        ] {
            for operation in ["uadd", "sadd", "usub", "ssub"] {
                assert_eq!(lacking(operation, width, true), add, "{operation} {width}");
                assert_eq!(lacking(operation, width, false), add, "{operation} {width}");
            }
            for operation in ["umul", "smul"] {
                assert_eq!(lacking(operation, width, true), mul, "{operation} {width}");
                assert_eq!(lacking(operation, width, false), mul_unoptimized, "{operation} {width}");
            }
        }
    }
}
