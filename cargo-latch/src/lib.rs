//! The command `cargo latch`: sets the machine up, builds kernel crates, and reports what became of their loop hints.
//!
//! - [`commands`]: one file per command, only argument parsing and printing;
//! - [`setup`]: everything a build needs that is not part of this checkout, made once and kept in the user's cache;
//! - [`doctor`]: what of it is here, what is missing, and how to get it;
//! - [`plugin`]: the compiler plugin, built for the compiler that loads it;
//! - [`kernel_crate`], [`target`] and [`build`]: from a kernel crate to PTX, or to AMD's assembly;
//! - [`audit`]: every hint, followed from the source to the machine code;
//! - [`config`]: `latch.toml`, which says what an audit lets pass;
//! - [`diagnose`]: messages about kernels, as rustc would print them;
//! - [`inspect`]: one kernel at one stage;
//! - [`hints_trace`]: one kernel's hints at every stage.

pub mod assembly;
pub mod audit;
pub mod build;
mod checkout;
pub mod commands;
pub mod config;
pub mod diagnose;
pub mod doctor;
pub mod hints_trace;
pub mod inspect;
pub mod kernel_crate;
pub mod plugin;
pub mod setup;
pub mod target;
mod values;
