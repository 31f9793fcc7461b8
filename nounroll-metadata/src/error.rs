//! What can be wrong with a module that carries hints.

use hint_record::ParseSiteError;

/// Why hints could not be resolved.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A marker's arguments are not constants.
    #[error(
        "a loop marker in `{function}` does not name its site by a constant (`{instruction}`): build device crates with \
         `-Cno-prepopulate-passes`, as `cargo latch build` does"
    )]
    UnreadableMarker {
        /// The function that holds the marker.
        function: String,
        /// The call, as LLVM prints it.
        instruction: String,
    },
    /// A marker is used otherwise than by calling it.
    #[error("`{marker}` is used otherwise than by a call: only the macros of device-std may name it")]
    MarkerEscapes {
        /// The marker's symbol.
        marker: &'static str,
    },
    /// A marker's text is no site.
    #[error("a loop marker in `{function}`: {source}")]
    Site {
        /// The function that holds the marker.
        function: String,
        /// What is wrong with the text.
        source: ParseSiteError,
    },
    /// LLVM's verifier refused the module after the rewrite.
    #[error("LLVM refuses the module after its loop hints were resolved; this is a fault of Latch: {message}")]
    Invalid {
        /// What the verifier said.
        message: String,
    },
}
