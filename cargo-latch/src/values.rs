//! Types of `hint-record` as values on the command line, with what `--help` says of each.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hint_record::{Level, Route};

/// Parses a [`Level`].
pub fn levels() -> impl TypedValueParser<Value = Level> {
    let values = Level::ALL.map(|level| {
        PossibleValue::new(level.name()).help(match level {
            Level::Allow => "Nothing is said; the table still shows it",
            Level::Warn => "It is told, and changes no exit code",
            Level::Deny => "It is an error, with exit code 1",
        })
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Level>())
}

/// Parses a [`Route`].
pub fn routes() -> impl TypedValueParser<Value = Route> {
    let values = Route::ALL.map(|route| {
        PossibleValue::new(route.name()).help(match route {
            Route::Llc => "LLVM's own optimizer and code generation",
            Route::Nvvm => "NVIDIA's libNVVM, for sm_100 and later",
        })
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Route>())
}
