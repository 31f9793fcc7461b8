//! LLVM's optimizer, for the first and only time.
//!
//! What hints ask for, it does on both routes. A loop without hint it leaves to libNVVM where that comes next, and it
//! makes nothing a vector there ([`crate::nvvm`] says why).

use super::MARK_CONVERGENT;
use crate::Error;
use crate::args::OptLevel;
use crate::pipeline::{Link, OPTIMIZE, Pass, Skip, Verify};
use hint_record::Route;

pub const PASS: Pass = Pass {
    does: "runs LLVM's optimizer, for the first and only time",
    after: &[MARK_CONVERGENT.name],
    // Without optimization LLVM still inlines what must be; libNVVM does that itself.
    wanted: |link| link.args.route == Route::Llc || link.args.optimize != OptLevel::None,
    skip: Skip::Allowed,
    verify: Verify::Always,
    ..Pass::new(OPTIMIZE, optimize)
};

fn optimize(link: &mut Link<'_>) -> Result<(), Error> {
    link.untouched = (link.explains() && link.before.has_loops()).then(|| link.module.clone());
    link.gpu.optimize(link.session, &link.module, link.unrolling())
}
