//! Products fused with sums, where that is asked for.
//!
//! rustc writes `a * b + c` as a product that is rounded and a sum that is rounded. By LLVM's route PTX then says `.rn`
//! at both, which ptxas does not fuse either. The C API has no switch for LLVM to fuse all the same, but every
//! operation can say that it may be fused: so they all get the flag `contract`. The PTX has `fma.rn` then, or a product
//! and a sum without `.rn`, which ptxas fuses. libNVVM has a switch of its own and needs no flags.
//!
//! What the source itself asks for stays as it is, whatever the option: `mul_add` is one rounding, and the algebraic
//! operations of core carry flags of their own.

use crate::pipeline::{Link, Pass, Skip};
use crate::{Contraction, Error};
use inkwell::values::{FastMathFlags, InstructionOpcode, InstructionValue};

pub const PASS: Pass = Pass {
    does: "lets products be fused with sums, by `--fp-contract on`",
    wanted: |link| link.args.fp_contract == Contraction::On,
    skip: Skip::Allowed,
    ..Pass::new("contract", allow)
};

/// Lets every sum, difference and product of the module be fused.
fn allow(link: &mut Link<'_>) -> Result<(), Error> {
    for block in link.module.get_functions().flat_map(|function| function.get_basic_block_iter()) {
        for instruction in block.get_instructions().filter(|&instruction| can_be_fused(instruction)) {
            let flags = instruction.get_fast_math_flags().unwrap_or(FastMathFlags::empty());
            // An operation on floats always has flags.
            let _ = instruction.set_fast_math_flags(flags | FastMathFlags::AllowContract);
        }
    }
    Ok(())
}

fn can_be_fused(instruction: InstructionValue<'_>) -> bool {
    matches!(instruction.get_opcode(), InstructionOpcode::FAdd | InstructionOpcode::FSub | InstructionOpcode::FMul)
}
