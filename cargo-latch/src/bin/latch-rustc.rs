//! `latch-rustc`, cargo's `RUSTC_WRAPPER` in the MIR mode: device crates go to the compiler that can load the plugin, all
//! others to the stock one.
//!
//! The compiler with rustc-dev may be one that was built without optimization, which takes a minute for the crates that
//! procedural macros need. Both are the same version of the same source, so they read each other's crates; the host's
//! crates are compiled by the stock compiler and shared with the mode without plugin.
//!
//! cargo calls it as `latch-rustc RUSTC ARGUMENTS…`; the command sets the two variables below.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use cargo_latch::build::wrapper::{DEVICE_LIBRARIES, DEVICE_RUSTC, is_for_device};

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let (Some(stock), Some(device)) = (arguments.next(), env::var_os(DEVICE_RUSTC)) else {
        eprintln!("error: latch-rustc is called by cargo on behalf of `cargo latch`, not by hand");
        return ExitCode::from(2);
    };
    let arguments: Vec<OsString> = arguments.collect();
    let mut rustc = Command::new(if is_for_device(&arguments) { &device } else { &stock });
    if let Some(libraries) = env::var_os(DEVICE_LIBRARIES).filter(|_| is_for_device(&arguments)) {
        rustc.env("LD_LIBRARY_PATH", libraries);
    }
    match rustc.args(arguments).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)),
        Err(error) => {
            eprintln!("error: cannot run the compiler {}: {error}", device.to_string_lossy());
            ExitCode::from(2)
        }
    }
}
