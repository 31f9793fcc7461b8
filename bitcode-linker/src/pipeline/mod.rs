//! A link is a list of named passes over one module ([`crate::passes::list`]).
//!
//! A pass says what it does, where it belongs and whether a link can do without it, and has one [`run`](Pass::run) on
//! the
//! [`Link`]. All else is done here, after each pass and alike for all:
//!
//! 1. the module is verified: always in debug builds and for passes that ask for it ([`Verify`]), else with
//!    `--verify-each`;
//! 2. with `--keep-intermediates`, it is written to a file of its own ([`hint_record::stages`]);
//! 3. how long each of these took is a span ([`timings`](crate::timings)).
//!
//! `--skip-pass` leaves a pass out, to find the one that does harm. A pass without which the result would be wrong says
//! so in one sentence ([`Skip`]), and the link is refused.

mod keep;
mod link;
mod pass;

pub use link::{EXPLAIN, Link, OPTIMIZE};
pub use pass::{Pass, Skip, Verify};

use crate::family::Family;
use crate::timings::Step;
use crate::{Args, Error};
use keep::Folder;

/// The passes of one link, and what is done after each.
pub struct Pipeline<'a> {
    passes: &'a [Pass],
    skipped: &'a [String],
    verifies_each: bool,
    folder: Option<Folder>,
}

impl<'a> Pipeline<'a> {
    /// The passes for a maker's GPUs, as the command line asks.
    pub fn new(passes: &'a [Pass], args: &'a Args, family: Family) -> Result<Pipeline<'a>, Error> {
        debug_assert!(passes.iter().enumerate().all(|(at, pass)| pass.fits(family, args.route, &passes[..at])));
        Pipeline::with(passes, args)
    }

    fn with(passes: &'a [Pass], args: &'a Args) -> Result<Pipeline<'a>, Error> {
        args.skip_pass.iter().try_for_each(|name| check_skip(passes, name))?;
        let folder = args.keep_intermediates.as_deref().map(Folder::new).transpose()?;
        let verifies_each = args.verify_each || cfg!(debug_assertions);
        Ok(Pipeline { passes, skipped: &args.skip_pass, verifies_each, folder })
    }

    /// Runs them all.
    pub fn run(&self, link: &mut Link<'_>) -> Result<(), Error> {
        for (at, pass) in self.passes.iter().enumerate() {
            if self.skips(pass) {
                tracing::info!("pass `{}` skipped", pass.name);
            } else if (pass.wanted)(link) {
                self.run_pass(at + 1, pass, link)?;
            }
        }
        Ok(())
    }

    fn run_pass(&self, number: usize, pass: &Pass, link: &mut Link<'_>) -> Result<(), Error> {
        tracing::debug!("pass `{}` {}", pass.name, pass.does);
        Step::Run.of(pass.name, || (pass.run)(link))?;
        // First the file, which shows what the verifier speaks of.
        if let Some(folder) = &self.folder {
            Step::Keep.of(pass.name, || folder.keep(number, pass.name, &link.module))?;
        }
        if self.verifies_each || pass.verify == Verify::Always {
            let verified = Step::Verify.of(pass.name, || link.module.verify());
            verified.map_err(|message| Error::Invalid { pass: pass.name, message: message.to_string() })?;
        }
        Ok(())
    }

    fn skips(&self, pass: &Pass) -> bool {
        self.skipped.iter().any(|name| name == pass.name)
    }
}

fn check_skip(passes: &[Pass], name: &str) -> Result<(), Error> {
    let Some(pass) = passes.iter().find(|pass| pass.name == name) else {
        let names: Vec<&str> = passes.iter().map(|pass| pass.name).collect();
        return Err(Error::NoPass { name: name.to_owned(), passes: names.join(", ") });
    };
    match pass.skip {
        Skip::Allowed => Ok(()),
        Skip::Refused(reason) => Err(Error::Needed { pass: pass.name, reason }),
    }
}

#[cfg(test)]
mod tests;
