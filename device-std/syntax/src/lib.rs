//! Loop hints as they are written in Rust source: which loop of an item carries which hint.
//!
//! The attribute macros of `device-std` and the source scan of the `cargo latch` command both read hints through this
//! crate, so that the two cannot disagree on what a hint is or where it stands. `hint` is the grammar of one attribute,
//! `walk` finds the hinted loops of an item, `scan` lists those of a file. `paste` lets tokens be parsed that hold
//! names to be pasted together by `unroll!` (`ph~i`).

pub mod hint;
pub mod paste;
pub mod scan;
pub mod walk;

pub use hint::{Hint, MAX_COPIES, MIN_COPIES, Written};
pub use scan::{Found, hinted_loops, place};
pub use walk::{Hinted, walk};
