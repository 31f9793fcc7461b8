//! What is left of every hint: by the loop IDs of the optimized module, or by libNVVM's PTX.
//!
//! Where that PTX does not tell, the report goes by what LLVM's own optimizer has left, and a warning says so.

use super::{COMPILE_BY_LIBNVVM, OPTIMIZE};
use crate::Error;
use crate::family::Family;
use crate::pipeline::{Link, Pass, Skip};
use hint_record::Route;
use nounroll_metadata::surviving_loops;

const NEEDED: Skip = Skip::Refused("nobody would know what became of the hints");

pub const PASS: Pass = Pass {
    does: "finds what optimization has left of every hint",
    route: Some(Route::Llc),
    after: &[OPTIMIZE.name],
    skip: NEEDED,
    ..Pass::new("find-loops", |link| {
        link.left = surviving_loops(&link.module);
        Ok(())
    })
};

pub const IN_PTX: Pass = Pass {
    does: "finds what libNVVM has left of every hint, in its PTX",
    family: Some(Family::Nvptx),
    route: Some(Route::Nvvm),
    after: &[COMPILE_BY_LIBNVVM.name],
    skip: NEEDED,
    ..Pass::new("find-loops-in-ptx", in_ptx)
};

fn in_ptx(link: &mut Link<'_>) -> Result<(), Error> {
    let module = link.unadapted.as_ref().unwrap_or(&link.module);
    link.left = match link.libnvvm().loops_left(module, &link.text)? {
        Some(left) => left,
        None => {
            tracing::warn!(
                "libNVVM's PTX does not tell its loops: the report has those that LLVM's optimizer has left"
            );
            surviving_loops(module)
        }
    };
    Ok(())
}
