//! `latch-link`, which rustc calls in place of the stock bitcode linker.

use bitcode_linker::{Args, Error, end_in_one_sentence, link};
use std::process::ExitCode;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

fn main() -> ExitCode {
    log_to_stderr();
    end_in_one_sentence();
    match Args::read(std::env::args_os()).and_then(|args| link(&args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::CommandLine(error)) => error.exit(),
        Err(error) => {
            eprintln!("latch-link: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Shows errors by default; `RUST_LOG` asks for more.
fn log_to_stderr() {
    let asked = std::env::var("RUST_LOG").ok().and_then(|asked| asked.parse().ok());
    let filter: Targets = asked.unwrap_or_else(|| Targets::new().with_default(tracing::Level::ERROR));
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::io::stderr);
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
}
