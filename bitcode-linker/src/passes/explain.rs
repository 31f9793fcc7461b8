//! Why LLVM has not done as hints ask, where that is so: asked of LLVM itself ([`crate::why`]), on a copy of the
//! module.

use crate::Error;
use crate::pipeline::{EXPLAIN, Link, Pass, Skip};
use crate::why::Reasons;

pub const PASS: Pass =
    Pass { does: "asks LLVM why it has not done as a hint asks", skip: Skip::Allowed, ..Pass::new(EXPLAIN, explain) };

fn explain(link: &mut Link<'_>) -> Result<(), Error> {
    if let Some(module) = link.untouched.take().filter(|_| link.before.is_open(&link.left)) {
        link.reasons = Reasons::of(link.session, link.gpu, &module, link.unrolling())?;
    }
    Ok(())
}
