//! What earlier links made, found again by all that a link depends on ([`result_cache`]).
//!
//! A link is a function of its bitcode, its options, this program and the LLVM in it. The last two are what
//! `--identity` names, so without it nothing is kept; nor where the passes themselves are to be seen, verified or
//! timed, so that they have to run.

use crate::inputs::Object;
use crate::{Args, Made};
use result_cache::{Cache, Key};
use std::fs;

/// To be raised when the form of what is kept changes.
const STEP: &str = "link 1";

/// Where what a link makes is kept.
pub struct Kept {
    cache: Cache,
    key: Key,
}

impl Kept {
    /// The place of this link's result.
    pub fn of(args: &Args, objects: &[Object]) -> Option<Kept> {
        let identity = args.identity.as_ref().filter(|_| !shows_passes(args))?;
        let mut key = Key::of(STEP).with(identity).with(options(args));
        for object in objects {
            key = key.with([u8::from(object.is_member)]).with(&object.bitcode);
        }
        Some(Kept { cache: Cache::of_environment(), key: key.finish() })
    }

    /// What was made before.
    pub fn get(&self) -> Option<Made> {
        serde_json::from_slice(&self.cache.get(&self.key)?).ok()
    }

    /// Keeps what was made.
    pub fn put(&self, made: &Made) {
        self.cache.put(&self.key, &serde_json::to_vec(made).expect("what a link makes is plain data"));
    }
}

/// Is something wanted of the passes beside their result?
fn shows_passes(args: &Args) -> bool {
    args.keep_intermediates.is_some() || args.verify_each || args.timings
}

/// The options that the result depends on, in one text.
fn options(args: &Args) -> String {
    let Args { target, target_cpu, target_feature, export_symbol, optimize, route, fp_contract, skip_pass, .. } = args;
    let library = args.libnvvm.as_ref().map(|path| {
        let about = fs::metadata(path).ok();
        (path, about.as_ref().map(fs::Metadata::len), about.and_then(|about| about.modified().ok()))
    });
    let wants_object = args.object.is_some();
    format!(
        "{target} {target_cpu} {target_feature} {export_symbol:?} {optimize:?} {route:?} {fp_contract:?} {library:?} \
         {wants_object} {skip_pass:?}"
    )
}
