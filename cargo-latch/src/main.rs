//! Entry point of `cargo-latch`, called by cargo as `cargo-latch latch …` or by hand as `cargo-latch …`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_latch::commands::main(std::env::args_os())
}
