//! PTX parsed and run on the CPU.
#![forbid(unsafe_code)]
pub mod ast;
pub mod error;
mod lexer;
mod parser;
mod parser_body;
pub use parser::parse;
