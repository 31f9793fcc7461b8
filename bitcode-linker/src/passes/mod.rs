//! The passes of a link, one a file where they are more than a call. [`crate::pipeline`] says what a pass is, and in
//! which order they run.

mod check_defined;
mod contract;
mod drop_compiler_fences;
mod explain;
mod find_loops;
mod internalize;
mod lists;
pub mod mark_convergent;
mod merge;
mod optimize;
pub mod place_scopes;
mod place_shared;
mod print;
mod write_out_tables;

pub use check_defined::PASS as CHECK_DEFINED;
pub use contract::PASS as CONTRACT;
pub use drop_compiler_fences::PASS as DROP_COMPILER_FENCES;
pub use explain::PASS as EXPLAIN;
pub use find_loops::{IN_PTX as FIND_LOOPS_IN_PTX, PASS as FIND_LOOPS, PRINTED as FIND_PRINTED_LOOPS};
pub use internalize::PASS as INTERNALIZE;
pub use lists::list;
pub use mark_convergent::PASS as MARK_CONVERGENT;
pub use merge::PASS as MERGE;
pub use optimize::PASS as OPTIMIZE;
pub use place_scopes::PASS as PLACE_SCOPES;
pub use place_shared::PASS as PLACE_SHARED;
pub use print::{OBJECT as WRITE_OBJECT, PASS as PRINT};
pub use write_out_tables::PASS as WRITE_OUT_TABLES;

use crate::family::Family;
use crate::pipeline::{Pass, Skip, Verify};
use crate::report::BeforeOptimization;
use hint_record::Route;
use std::mem;

/// LLVM's number for shared memory, on NVIDIA's GPUs and on AMD's.
const SHARED: u16 = 3;

pub const ADOPT_GPU: Pass = Pass {
    does: "makes every function follow the GPU of the link, and not that of its object",
    after: &[MERGE.name],
    skip: Skip::Refused("LLVM would make code for the GPU that each object names"),
    ..Pass::new("adopt-gpu", |link| {
        link.gpu.adopt(&link.module);
        Ok(())
    })
};

pub const DELETE_UNUSED: Pass = Pass {
    does: "deletes what no kernel needs",
    after: &[INTERNALIZE.name],
    skip: Skip::Refused("what no kernel needs may use what nobody defines"),
    verify: Verify::Always,
    ..Pass::new("delete-unused", |link| link.gpu.delete_unused(link.session, &link.module))
};

pub const RESOLVE_HINTS: Pass = Pass {
    does: "finds the loop of every hint, and writes its ID on a latch of its own",
    after: &[DELETE_UNUSED.name],
    skip: Skip::Refused("nobody defines the functions that mark a hint"),
    ..Pass::new("resolve-hints", |link| {
        let outcomes = nounroll_metadata::resolve_hints(&link.module)?;
        link.before = BeforeOptimization::of(&link.module, outcomes, link.is_optimized());
        Ok(())
    })
};

pub const KEEP_PRAGMAS: Pass = Pass {
    does: "gives loops around others a latch that code generation does not merge, so that each keeps its pragma",
    family: Some(Family::Nvptx),
    route: Some(Route::Llc),
    after: &[FIND_LOOPS.name],
    skip: Skip::Refused("a hint could move to another loop while PTX is printed"),
    ..Pass::new("keep-pragmas", |link| {
        link.unprinted = link.is_optimized().then(|| link.module.clone());
        nounroll_metadata::prepare_for_printing(&link.module);
        Ok(())
    })
};

pub const PLACE_LATCHES: Pass = Pass {
    does: "gives the jumps back of hinted loops the source line of the loop",
    route: Some(Route::Llc),
    after: &[OPTIMIZE.name],
    skip: Skip::Allowed,
    ..Pass::new("place-latches", |link| {
        nounroll_metadata::place_latches(&link.module);
        Ok(())
    })
};

pub const ADAPT_FOR_LIBNVVM: Pass = Pass {
    does: "makes NVVM IR of the module",
    family: Some(Family::Nvptx),
    route: Some(Route::Nvvm),
    after: &[DROP_COMPILER_FENCES.name, WRITE_OUT_TABLES.name],
    skip: Skip::Refused("libNVVM refuses what Rust writes"),
    verify: Verify::Always,
    ..Pass::new("adapt-for-libnvvm", |link| {
        link.unadapted = Some(link.module.clone());
        link.changes = link.libnvvm().adapt(&link.module)?;
        Ok(())
    })
};

pub const COMPILE_BY_LIBNVVM: Pass = Pass {
    does: "makes PTX by libNVVM",
    family: Some(Family::Nvptx),
    route: Some(Route::Nvvm),
    after: &[ADAPT_FOR_LIBNVVM.name],
    ..Pass::new("compile-by-libnvvm", |link| {
        link.text = link.libnvvm().ptx(&link.module, &link.changes)?;
        Ok(())
    })
};

pub const REPORT: Pass = Pass {
    does: "judges every hint by what is left of it",
    after: &[EXPLAIN.name],
    ..Pass::new("report", |link| {
        let module = link.unadapted.as_ref().unwrap_or(&link.module);
        let before = mem::take(&mut link.before);
        link.report = before.finish(module, &link.left, link.in_ptx.as_deref(), &link.reasons, &link.text);
        Ok(())
    })
};
