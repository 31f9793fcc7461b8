//! What symbols are: which functions are kernels, and how a name is shown.

use inkwell::module::Module;
use inkwell::values::FunctionValue;

/// LLVM's numbers for the calling conventions of kernels: PTX's and AMD's.
const KERNELS: [u32; 2] = [71, 91];

/// The kernels, in the module's order.
pub fn kernels<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = FunctionValue<'ctx>> {
    module.get_functions().filter(|function| is_kernel(*function) && !function.as_global_value().is_declaration())
}

/// Is a function called by launches?
pub fn is_kernel(function: FunctionValue<'_>) -> bool {
    KERNELS.contains(&function.get_call_conventions())
}

/// A Rust symbol as the source names it, without its hash.
pub fn demangle(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}
