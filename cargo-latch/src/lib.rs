//! The command `cargo latch`: sets the machine up, builds kernel crates, and reports what became of their loop hints.
//!
//! - [`commands`]: one file per command, only argument parsing and printing;
//! - [`setup`]: everything a build needs that is not part of this checkout, made once and kept in the user's cache;
//! - [`doctor`]: what of it is here, what is missing, and how to get it.

pub mod commands;
pub mod doctor;
pub mod setup;
