//! Gated DeltaNet from the host.
//!
//! - [`problem`] says what is to be computed, [`plan`] which kernel of the crate `gdn` does it and how it is launched.
//! - [`oracle`] computes the same on the CPU, straight from the definition, and [`cases`] are what every kernel is held to.

pub mod cases;
mod error;
pub mod oracle;
pub mod plan;
pub mod problem;

pub use error::Error;
