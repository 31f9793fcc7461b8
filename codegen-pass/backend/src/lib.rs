//! `rustc_codegen_latch`: the loop hints' pass over MIR, packed as a codegen backend.
//!
//! `-Zcodegen-backend=<path to this library>` makes rustc load it. It generates code exactly as rustc's own LLVM
//! backend does ([`backend`] forwards everything), and puts one pass behind the last of rustc's MIR passes ([`pass`]):
//!
//! 1. [`markers`] finds the calls that the attribute macros left, and reads the source site of each;
//! 2. `codegen_pass` decides which loop each hint belongs to ([`settled`]);
//! 3. [`graph`] records, and [`rewrite`] makes, the changes: one latch for each hinted loop, with its marker in it;
//! 4. [`report`] tells of every hint that will be dropped, as a rustc diagnostic at the loop.
//!
//! The link stage repeats the analysis on LLVM IR and is the only one that writes hint records, so this library is an
//! earlier and deeper look, never a condition: without it the same hints are honoured. Bodies without markers, which is
//! every body of a host crate, are returned untouched.
//!
//! What it cannot see: generic functions are judged before they are instantiated, so a loop that stops repeating for
//! one instance only is found by the link stage only.

#![feature(rustc_private)]

extern crate rustc_codegen_llvm;
extern crate rustc_codegen_ssa;
extern crate rustc_data_structures;
extern crate rustc_driver;
extern crate rustc_errors;
extern crate rustc_hir;
extern crate rustc_index;
extern crate rustc_interface;
extern crate rustc_metadata;
extern crate rustc_middle;
extern crate rustc_session;
extern crate rustc_span;

mod backend;
mod constants;
mod graph;
mod level;
mod markers;
mod pass;
mod report;
mod rewrite;
mod settled;

use rustc_codegen_ssa::traits::CodegenBackend;

pub use backend::LatchBackend;

/// The function that rustc looks up in the library and calls.
// SAFETY: the name and the signature are those that rustc expects of a backend; no other symbol of a compiler process
// has this name, since rustc loads one backend.
#[unsafe(no_mangle)]
pub fn __rustc_codegen_backend() -> Box<dyn CodegenBackend> {
    Box::new(LatchBackend::new())
}
