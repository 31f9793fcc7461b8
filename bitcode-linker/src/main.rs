//! `latch-link`, which rustc calls in place of the stock bitcode linker.

use bitcode_linker::{Args, Error, end_in_one_sentence, link};
use std::process::ExitCode;

fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
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
