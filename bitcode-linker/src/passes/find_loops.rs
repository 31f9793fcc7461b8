//! What is left of every hint: by the loop IDs of the optimized module, and as the PTX shows it.
//!
//! PTX has no loop IDs. So code is made once more of the same module with numbered instructions ([`crate::numbers`]),
//! and its PTX tells which loop is made of which ([`crate::nvvm::loops_left`]). On the route by libNVVM nothing else
//! does; where its PTX does not tell, the report goes by what LLVM's own optimizer has left, and a warning says so.

use super::{COMPILE_BY_LIBNVVM, OPTIMIZE, PRINT};
use crate::family::Family;
use crate::pipeline::{Link, Pass, Skip};
use crate::{Error, numbers, nvvm, ptx};
use hint_record::Route;
use nounroll_metadata::{SurvivingLoop, prepare_for_printing, surviving_loops};

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
    ..Pass::new("find-loops-in-ptx", by_libnvvm)
};

pub const PRINTED: Pass = Pass {
    does: "finds the loops of the PTX that are made of hinted ones",
    family: Some(Family::Nvptx),
    route: Some(Route::Llc),
    after: &[PRINT.name],
    skip: NEEDED,
    ..Pass::new("find-printed-loops", printed)
};

fn printed(link: &mut Link<'_>) -> Result<(), Error> {
    let Some(module) = link.unprinted.take() else { return Ok(()) };
    link.in_ptx = if link.before.has_loops() {
        let numbers = numbers::number(&module);
        prepare_for_printing(&module);
        let numbered = ptx::settle_pragmas(&link.gpu.text(link.session, &module)?);
        nvvm::loops_left(&numbers, &numbered, &link.text)
    } else {
        Some(Vec::<SurvivingLoop>::new())
    };
    Ok(())
}

fn by_libnvvm(link: &mut Link<'_>) -> Result<(), Error> {
    let module = link.unadapted.as_ref().unwrap_or(&link.module);
    link.in_ptx = link.libnvvm().loops_left(module, &link.text)?;
    link.left = match &link.in_ptx {
        Some(left) => left.clone(),
        None => {
            tracing::warn!(
                "libNVVM's PTX does not tell its loops: the report has those that LLVM's optimizer has left"
            );
            surviving_loops(module)
        }
    };
    Ok(())
}
