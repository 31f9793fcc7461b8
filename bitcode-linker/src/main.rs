//! `latch-link`, which rustc calls in place of the stock bitcode linker.

use bitcode_linker::{Args, Error, Timings, end_in_one_sentence, link};
use std::process::ExitCode;
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::prelude::*;

fn main() -> ExitCode {
    end_in_one_sentence();
    match Args::read(std::env::args_os()).and_then(|args| run(&args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::CommandLine(error)) => error.exit(),
        Err(error) => {
            eprintln!("latch-link: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Links, and says how long it took where that is wanted.
fn run(args: &Args) -> Result<(), Error> {
    let timings = args.timings.then(Timings::default);
    log_to_stderr(timings.clone());
    let linked = link(args);
    if let Some(timings) = timings {
        eprint!("{timings}");
    }
    linked
}

/// Shows errors by default; `RUST_LOG` asks for more.
fn log_to_stderr(timings: Option<Timings>) {
    let asked = std::env::var("RUST_LOG").ok().and_then(|asked| asked.parse().ok());
    let filter: Targets = asked.unwrap_or_else(|| Targets::new().with_default(tracing::Level::ERROR));
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::io::stderr);
    let timings = timings.map(|timings| timings.with_filter(filter_fn(Timings::listens_to)));
    tracing_subscriber::registry().with(lines.with_filter(filter)).with(timings).init();
}
