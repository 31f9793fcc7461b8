//! The passes of every kind of link, in order.
//!
//! | pass | NVIDIA, `llc` | NVIDIA, `nvvm` | AMD |
//! |---|---|---|---|
//! | `merge` | ✓ | ✓ | ✓ |
//! | `internalize` | ✓ | ✓ | ✓ |
//! | `adopt-gpu` | ✓ | ✓ | ✓ |
//! | `delete-unused` | ✓ | ✓ | ✓ |
//! | `resolve-hints` | ✓ | ✓ | ✓ |
//! | `place-shared` | ✓ | ✓ | ✓ |
//! | `place-scopes` | ✓ | ✓ | ✓ |
//! | `check-defined` | ✓ | ✓ | ✓ |
//! | `mark-convergent` | ✓ | ✓ | ✓ |
//! | `contract` | ✓ | | ✓ |
//! | `optimize` | ✓ | ✓ | ✓ |
//! | `write-out-tables` | ✓ | ✓ | ✓ |
//! | `drop-compiler-fences` | ✓ | ✓ | |
//! | `find-loops` | ✓ | | ✓ |
//! | `adapt-for-libnvvm` | | ✓ | |
//! | `compile-by-libnvvm` | | ✓ | |
//! | `find-loops-in-ptx` | | ✓ | |
//! | `explain` | ✓ | ✓ | ✓ |
//! | `keep-pragmas` | ✓ | | |
//! | `place-latches` | ✓ | | ✓ |
//! | `write-object` | | | ✓ |
//! | `print` | ✓ | | ✓ |
//! | `find-printed-loops` | ✓ | | |
//! | `report` | ✓ | ✓ | ✓ |
//!
//! Up to `mark-convergent` they are the same everywhere. Then LLVM optimizes, for the first and only time, and code is
//! made.

use crate::family::Family;
use crate::passes as p;
use crate::pipeline::Pass;
use hint_record::Route;

/// The passes for a maker's GPUs by a route.
pub fn list(family: Family, route: Route) -> &'static [Pass] {
    match (family, route) {
        (Family::Nvptx, Route::Llc) => NVIDIA,
        (Family::Nvptx, Route::Nvvm) => NVIDIA_BY_LIBNVVM,
        // There is no other route to AMD's code, and `Gpu::new` has said so.
        (Family::Amdgcn, _) => AMD,
    }
}

#[rustfmt::skip]
const NVIDIA: &[Pass] = &[
    p::MERGE, p::INTERNALIZE, p::ADOPT_GPU, p::DELETE_UNUSED,
    p::RESOLVE_HINTS, p::PLACE_SHARED, p::PLACE_SCOPES, p::CHECK_DEFINED, p::MARK_CONVERGENT,
    p::CONTRACT, p::OPTIMIZE, p::WRITE_OUT_TABLES, p::DROP_COMPILER_FENCES,
    p::FIND_LOOPS, p::EXPLAIN,
    p::KEEP_PRAGMAS, p::PLACE_LATCHES, p::PRINT, p::FIND_PRINTED_LOOPS, p::REPORT,
];

#[rustfmt::skip]
const NVIDIA_BY_LIBNVVM: &[Pass] = &[
    p::MERGE, p::INTERNALIZE, p::ADOPT_GPU, p::DELETE_UNUSED,
    p::RESOLVE_HINTS, p::PLACE_SHARED, p::PLACE_SCOPES, p::CHECK_DEFINED, p::MARK_CONVERGENT,
    p::OPTIMIZE, p::WRITE_OUT_TABLES, p::DROP_COMPILER_FENCES,
    p::ADAPT_FOR_LIBNVVM, p::COMPILE_BY_LIBNVVM,
    p::FIND_LOOPS_IN_PTX, p::EXPLAIN, p::REPORT,
];

#[rustfmt::skip]
const AMD: &[Pass] = &[
    p::MERGE, p::INTERNALIZE, p::ADOPT_GPU, p::DELETE_UNUSED,
    p::RESOLVE_HINTS, p::PLACE_SHARED, p::PLACE_SCOPES, p::CHECK_DEFINED, p::MARK_CONVERGENT,
    p::CONTRACT, p::OPTIMIZE, p::WRITE_OUT_TABLES,
    p::FIND_LOOPS, p::EXPLAIN,
    p::PLACE_LATCHES, p::WRITE_OBJECT, p::PRINT, p::REPORT,
];
