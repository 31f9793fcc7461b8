//! LLVM's code generation. It changes the module, so whatever reads or copies that comes before.

use super::PLACE_LATCHES;
use crate::Error;
use crate::family::Family;
use crate::pipeline::{Link, Pass};
use crate::ptx;
use hint_record::Route;

pub const PASS: Pass = Pass {
    does: "makes PTX, or AMD's assembly",
    route: Some(Route::Llc),
    after: &[PLACE_LATCHES.name],
    ..Pass::new("print", print)
};

pub const OBJECT: Pass = Pass {
    does: "makes an ELF object of machine code, by `--object`",
    family: Some(Family::Amdgcn),
    route: Some(Route::Llc),
    after: &[PLACE_LATCHES.name],
    wanted: |link| link.args.object.is_some(),
    ..Pass::new("write-object", |link| {
        link.object = Some(link.gpu.object(link.session, &link.module.clone())?);
        Ok(())
    })
};

fn print(link: &mut Link<'_>) -> Result<(), Error> {
    let text = link.gpu.text(link.session, &link.module)?;
    link.text = if link.gpu.family == Family::Nvptx { ptx::settle_pragmas(&text) } else { text };
    Ok(())
}
