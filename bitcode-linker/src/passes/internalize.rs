//! Everything but kernels and exported symbols becomes internal, so that what nothing uses can be deleted.

use crate::Error;
use crate::pipeline::{Link, Pass, Skip};
use crate::symbols::{is_kernel, kernels};
use inkwell::module::Linkage;
use inkwell::values::GlobalValue;
use std::collections::HashSet;

pub const PASS: Pass = Pass {
    does: "makes everything but kernels and exported symbols internal",
    skip: Skip::Refused("nothing could be deleted that no kernel needs"),
    ..Pass::new("internalize", internalize)
};

fn internalize(link: &mut Link<'_>) -> Result<(), Error> {
    let module = &link.module;
    if kernels(module).next().is_none() {
        return Err(Error::NoKernel);
    }
    let exported: HashSet<&str> = link.args.export_symbol.iter().map(String::as_str).collect();
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        if !is_kernel(function) && !exported.contains(&*function.get_name().to_string_lossy()) {
            function.set_linkage(Linkage::Internal);
        }
    }
    for global in module.get_globals().filter(|global| is_definition(*global)) {
        let name = global.get_name().to_string_lossy();
        if !name.starts_with("llvm.") && !exported.contains(&*name) {
            global.set_linkage(Linkage::Internal);
        }
    }
    Ok(())
}

fn is_definition(global: GlobalValue<'_>) -> bool {
    global.get_initializer().is_some()
}
