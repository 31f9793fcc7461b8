//! What libNVVM wants of a module that LLVM does not.
//!
//! NVVM IR is LLVM IR with more rules. The module must carry NVVM's version and data layout. Kernels keep the calling
//! convention `ptx_kernel`, which libNVVM takes for what it is; `!nvvm.annotations` are not needed. Then there is what
//! its verifier refuses:
//! - function attributes that mean nothing on a GPU ([`MEANINGLESS`]), sections, and the alignment of functions:
//!   removed;
//! - some of LLVM's intrinsics, and atomic loads and stores: written otherwise ([`super::intrinsics`],
//!   [`super::overflow`], [`super::atomics`]).
//!
//! What changes the program if it is left out (`naked`, 8-bit atomics, `llvm.sin`, …) stays, and libNVVM's own words
//! say that it will not have it. NVVM's layout gives every type that rustc uses the size and alignment that it has in
//! rustc's.

use super::library::IrVersion;
use super::{atomics, intrinsics, overflow};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::FunctionValue;

/// The layout that the specification of NVVM IR gives for 64 bits.
const DATA_LAYOUT: &str = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-\
                           v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64";
/// Attributes of functions that speak of stacks, registers and tools that a GPU does not have.
const MEANINGLESS: [&str; 11] = [
    "noimplicitfloat",
    "nonlazybind",
    "noredzone",
    "safestack",
    "sanitize_address",
    "sanitize_memory",
    "sanitize_thread",
    "ssp",
    "sspreq",
    "sspstrong",
    "uwtable",
];
/// Sections in which LLVM keeps what is no data.
const METADATA_SECTION: &[u8] = b"llvm.metadata";

/// Makes NVVM IR of the module. What was removed or written otherwise comes back, one sentence each.
pub fn adapt(module: &Module<'_>, version: IrVersion, is_optimized: bool) -> Vec<String> {
    module.set_data_layout(&TargetData::create(DATA_LAYOUT).get_data_layout());
    set_version(module, version);
    let mut changes = remove_attributes(module);
    changes.extend(counted(remove_sections(module), "section(s) removed"));
    changes.extend(counted(remove_alignments(module), "alignment(s) of functions removed"));
    changes.extend(intrinsics::rewrite(module));
    changes.extend(counted(atomics::rewrite(module), "atomic load(s) and store(s) made volatile, with fences"));
    changes.extend(counted(overflow::rewrite(module, is_optimized), "check(s) for overflow written out"));
    for change in &changes {
        tracing::info!("adapted for libNVVM: {change}");
    }
    changes
}

fn counted(count: usize, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} {what}"))
}

fn set_version(module: &Module<'_>, version: IrVersion) {
    let context = module.get_context();
    let number = |number: u32| context.i32_type().const_int(u64::from(number), false).into();
    let node = context.metadata_node(&version.numbers.map(number));
    module.add_global_metadata("nvvmir.version", &node).expect("a node is a node");
}

fn remove_attributes(module: &Module<'_>) -> Vec<String> {
    let removed = |name: &str| {
        let kind = Attribute::get_named_enum_kind_id(name);
        let has = |function: &FunctionValue<'_>| function.get_enum_attribute(AttributeLoc::Function, kind).is_some();
        let functions: Vec<_> = module.get_functions().filter(has).collect();
        functions.iter().for_each(|function| function.remove_enum_attribute(AttributeLoc::Function, kind));
        counted(functions.len(), &format!("attribute(s) `{name}` removed"))
    };
    MEANINGLESS.iter().filter_map(|name| removed(name)).collect()
}

fn remove_sections(module: &Module<'_>) -> usize {
    let functions = module.get_functions().map(|function| function.as_global_value());
    let globals = functions.chain(module.get_globals());
    let placed = globals.filter(|global| global.get_section().is_some_and(|name| name.to_bytes() != METADATA_SECTION));
    placed.map(|global| global.set_section(None)).count()
}

fn remove_alignments(module: &Module<'_>) -> usize {
    let globals = module.get_functions().map(|function| function.as_global_value());
    globals.filter(|global| global.get_alignment() != 0).map(|global| global.set_alignment(0)).count()
}

#[cfg(test)]
mod tests {
    use super::super::testing::parse;
    use super::*;
    use inkwell::context::Context;

    const VERSION: IrVersion = IrVersion { numbers: [2, 0, 3, 2] };

    #[test]
    fn what_libnvvm_refuses_is_removed_and_named() {
        let context = Context::create();
        let text = "@table = internal constant [2 x i8] c\"ab\", section \".rodata\"\n\
                    @llvm.used = appending global [1 x ptr] [ptr @table], section \"llvm.metadata\"\n\
                    define ptx_kernel void @k() noinline uwtable section \".text.k\" align 16 {\nret void\n}\n\
                    define void @f() uwtable noredzone convergent \"no-builtins\" {\nret void\n}\n";
        let module = parse(&context, text);
        let changes = adapt(&module, VERSION, true);
        let expected = [
            "1 attribute(s) `noredzone` removed",
            "2 attribute(s) `uwtable` removed",
            "2 section(s) removed",
            "1 alignment(s) of functions removed",
        ];
        assert_eq!(changes, expected);
        let adapted = module.print_to_string().to_string();
        for kept in ["ptx_kernel void @k", "noinline", "convergent", "no-builtins", "section \"llvm.metadata\""] {
            assert!(adapted.contains(kept), "{kept}: {adapted}");
        }
        for gone in ["uwtable", "noredzone", ".rodata", ".text.k", "align 16"] {
            assert!(!adapted.contains(gone), "{gone}: {adapted}");
        }
    }

    #[test]
    fn a_plain_module_gets_version_and_layout_alone() {
        let context = Context::create();
        let module = parse(&context, "target triple = \"nvptx64-nvidia-cuda\"\ndefine void @f() {\nret void\n}\n");
        assert!(adapt(&module, VERSION, false).is_empty());
        assert!(module.verify().is_ok());
        let adapted = module.print_to_string().to_string();
        assert!(adapted.contains("!nvvmir.version = !{!0}\n\n!0 = !{i32 2, i32 0, i32 3, i32 2}"), "{adapted}");
        assert!(adapted.contains(&format!("target datalayout = \"{DATA_LAYOUT}\"")), "{adapted}");
    }
}
