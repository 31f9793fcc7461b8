//! All objects become one module.
//!
//! Objects on the command line are linked in order; of archives, only what these need ([`crate::archive`]).

use crate::Error;
use crate::archive::{self, Members};
use crate::inputs::Object;
use crate::pipeline::{Link, Pass, Skip};
use std::mem;

pub const PASS: Pass = Pass {
    does: "links the objects, and what they need of the archives, into one module",
    skip: Skip::Refused("there is no module before it"),
    ..Pass::new("merge", merge)
};

fn merge(link: &mut Link<'_>) -> Result<(), Error> {
    let Link { session, gpu, module: whole, .. } = link;
    gpu.claim(whole);
    let objects = mem::take(&mut link.objects);
    let (members, objects): (Vec<Object>, Vec<Object>) = objects.into_iter().partition(|object| object.is_member);
    for Object { name, bitcode, .. } in objects {
        let module = session.read(&bitcode, &name).map_err(|message| Error::Parse { input: name.clone(), message })?;
        gpu.check_made_for(&module, &name)?;
        session.link(whole, module).map_err(|message| Error::Merge { input: name, message })?;
    }
    let exported = link.args.export_symbol.iter().map(|name| name.clone().into_bytes());
    let wanted = archive::undefined(whole).into_iter().chain(exported).collect();
    Members::new(session, gpu, members)?.link_needed(whole, wanted)
}
