//! Loop hints on LLVM bitcode: markers become metadata on single latches.
//!
//! [`resolve_hints`] must see the module before any optimization. For every function that holds markers it
//! 1. settles each hint with the analysis of `codegen-pass`;
//! 2. gives every hinted loop a single latch;
//! 3. writes a loop ID there (the `loop_id` module);
//! 4. erases the markers.
//!
//! If any loop got a hint, every other loop of the module gets an ID without hint (the `plain` module says why).
//! Finally LLVM's verifier looks at the module. [`surviving_loops`] looks at it again after optimization and counts
//! what is left of each hint; [`prepare_for_printing`] keeps code generation from losing it.

mod error;
pub mod ffi;
mod graph;
mod holders;
mod loop_id;
mod markers;
mod place;
mod plain;
mod printing;
mod resolve;
mod split;
mod survivors;

pub use error::Error;
pub use graph::FunctionGraph;
pub use loop_id::{LoopIds, Named, PLAIN_PROPERTY, SITE_PROPERTY, UNROLLED_PROPERTY};
pub use place::{hold, place_latches};
pub use printing::prepare_for_printing;
pub use resolve::{HintOutcome, MarkedLoop, resolve_hints};
pub use split::whole;
pub use survivors::{SurvivingLoop, surviving_loops};
