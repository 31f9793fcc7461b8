//! What a pass is.

use super::Link;
use crate::Error;
use crate::family::Family;
use hint_record::Route;

/// One step of a link.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Its name on the command line and in the names of files.
    pub name: &'static str,
    /// What it does, in a few words.
    pub does: &'static str,
    /// The only route that it belongs to; none if it belongs to both.
    pub route: Option<Route>,
    /// The only maker's GPUs that it is for; none if it is for both.
    pub family: Option<Family>,
    /// The passes that must have run before it.
    pub after: &'static [&'static str],
    /// Does this link need it, going by its options?
    pub wanted: fn(&Link<'_>) -> bool,
    /// Can a link do without it?
    pub skip: Skip,
    /// When the module is verified after it.
    pub verify: Verify,
    /// Does it.
    pub run: for<'s> fn(&mut Link<'s>) -> Result<(), Error>,
}

/// Can a pass be left out?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Skip {
    /// The result is right without it, if slower or less well explained.
    Allowed,
    /// It is not: what would go wrong.
    Refused(&'static str),
}

/// When the module is verified after a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verify {
    /// Always: the module has come from outside, or goes to what crashes on a bad one.
    Always,
    /// In debug builds, and with `--verify-each`.
    WhenAsked,
}

impl Pass {
    /// A pass of both routes and makers, for every link; it cannot be skipped.
    pub const fn new(name: &'static str, run: for<'s> fn(&mut Link<'s>) -> Result<(), Error>) -> Pass {
        Pass {
            name,
            does: "",
            route: None,
            family: None,
            after: &[],
            wanted: |_| true,
            skip: Skip::Refused("the link has no result without it"),
            verify: Verify::WhenAsked,
            run,
        }
    }

    /// Has it what it needs in a list, after the passes before it?
    pub fn fits(&self, family: Family, route: Route, before: &[Pass]) -> bool {
        let has_run = |name: &&str| before.iter().any(|pass| pass.name == *name);
        self.family.is_none_or(|only| only == family)
            && self.route.is_none_or(|only| only == route)
            && self.after.iter().all(has_run)
    }
}
