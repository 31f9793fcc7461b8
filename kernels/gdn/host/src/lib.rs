//! Gated DeltaNet from the host.
//!
//! [`gated_delta_rule`] checks its arguments, picks a kernel of the crate `gdn` and launches it, on whatever
//! [`launch::Launcher`] there is:
//!
//! ```no_run
//! use gated_delta::{Inputs, Kernels, Tensor, gated_delta_rule};
//! use launch::Emulator;
//!
//! // Made by `cargo latch build -p gdn --arch sm_90`.
//! let ptx = std::fs::read_to_string("gdn.ptx")?;
//! let kernels = Kernels::load(Emulator::new("sm_90")?, &ptx)?;
//!
//! // Two sequences of 3 and 2 tokens; one head of keys for two of values.
//! let (tokens, heads, dk, dv) = (5, 2, 16, 8);
//! let (keys, values, gates) = (vec![0.1f32; tokens * dk], vec![1.0f32; tokens * heads * dv], vec![0.9; tokens * heads]);
//! let inputs = Inputs {
//!     q: Tensor::dense(&keys, [tokens, 1, dk]),
//!     k: Tensor::dense(&keys, [tokens, 1, dk]),
//!     v: Tensor::dense(&values, [tokens, heads, dv]),
//!     g: Tensor::dense(&gates, [tokens, heads]),
//!     beta: Tensor::dense(&gates, [tokens, heads]),
//!     state: None,
//!     starts: &[0, 3, 5],
//! };
//! let outputs = gated_delta_rule(&kernels, &inputs)?;
//! assert_eq!((outputs.y.len(), outputs.state.len()), (tokens * heads * dv, 2 * heads * dv * dk));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`plan`] says which kernel does what, and how it is launched.
//! - [`oracle`] computes the same on the CPU, straight from the definition, and [`cases`] are what every kernel is held to.

mod call;
pub mod cases;
mod element;
mod error;
mod inputs;
pub mod oracle;
pub mod plan;
pub mod problem;
mod tensor;

pub use call::{Call, Kernels, gated_delta_rule};
pub use element::Element;
pub use error::Error;
pub use inputs::{Inputs, OwnedInputs};
pub use tensor::Tensor;
