//! How much is made of a dropped hint, as the options ask.
//!
//! Options are values of `--cfg latch_hints="…"`, since a backend can register neither lints nor options. Of several
//! for one kind of reason the strictest holds; one for a kind goes before one for all.

use hint_record::{LEVEL_CFG, Level, LevelFor, ReasonKind};
use rustc_session::Session;
use rustc_span::Symbol;

/// The level for a kind of reason; without one, the level for all. A level that does not exist is an error.
pub fn of(sess: &Session, kind: Option<ReasonKind>) -> Level {
    let name = Symbol::intern(LEVEL_CFG);
    let values = sess.psess.config.iter().filter(|(key, _)| *key == name).map(|&(_, value)| value);
    let settings: Vec<LevelFor> = values.filter_map(|value| read(sess, value)).collect();
    let strictest = |kind: Option<ReasonKind>| {
        settings.iter().filter(|setting| setting.kind == kind).map(|setting| setting.level).max()
    };
    let own = kind.and_then(|kind| strictest(Some(kind)));
    own.or_else(|| strictest(None)).unwrap_or(Level::Warn)
}

fn read(sess: &Session, value: Option<Symbol>) -> Option<LevelFor> {
    let value = value.map(|value| value.to_string()).unwrap_or_default();
    let setting = value.parse().ok();
    if setting.is_none() {
        sess.dcx().err(format!(
            "`{LEVEL_CFG}=\"{value}\"` is no level for loop hints: use `allow`, `warn` or `deny`, or one of them for one \
             reason, as in `never-repeats=allow`"
        ));
    }
    setting
}
