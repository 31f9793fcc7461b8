//! Loop hints on LLVM bitcode: markers become metadata on single latches.
//!
//! [`resolve_hints`] must see the module before any optimization. For every function that holds markers it
//! 1. settles each hint with the analysis of `codegen-pass`;
//! 2. gives every hinted loop, and every unhinted loop inside one, a single latch;
//! 3. writes a loop ID there (the `loop_id` module);
//! 4. erases the markers;
//!
//! and finally runs LLVM's verifier over the module. [`surviving_loops`] looks at the module after optimization and
//! counts what is left of each hint.
//!
//! The inner loops without hint get an ID because LLVM would else move the outer loop's ID onto them: it folds the empty
//! latch of the outer loop into the inner loop's bottom test.

mod error;
pub mod ffi;
mod graph;
mod loop_id;
mod markers;
mod resolve;
mod survivors;

pub use error::Error;
pub use graph::FunctionGraph;
pub use loop_id::SITE_PROPERTY;
pub use resolve::{HintOutcome, MarkedLoop, resolve_hints};
pub use survivors::{SurvivingLoop, surviving_loops};
