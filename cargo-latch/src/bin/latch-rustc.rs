//! `latch-rustc`, cargo's `RUSTC_WRAPPER`: says in the compiler's words which GPU is meant
//! ([`cargo_latch::build::spelling`]), and in the MIR mode sends device crates to the compiler that can load the
//! plugin, all others to the stock one.
//!
//! The compiler with rustc-dev may be one that was built without optimization, which takes a minute for the crates that
//! procedural macros need. Both are the same version of the same source, so they read each other's crates; the host's
//! crates are compiled by the stock compiler and shared with the mode without plugin.
//!
//! A wrapper of the user's own is called in the end, with the compiler and what the compiler is to be told: to sccache
//! a kernel crate is a crate like any other.
//!
//! cargo calls it as `latch-rustc RUSTC ARGUMENTS…`; the command sets the variables of [`cargo_latch::build::wrapper`].

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use cargo_latch::build::spelling::for_rustc;
use cargo_latch::build::wrapper::{DEVICE_LIBRARIES, DEVICE_RUSTC, USERS_WRAPPER, is_for_device};

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let Some(stock) = arguments.next() else {
        eprintln!("error: latch-rustc is called by cargo on behalf of `cargo latch`, not by hand");
        return ExitCode::from(2);
    };
    let arguments = for_rustc(arguments);
    let device = env::var_os(DEVICE_RUSTC).filter(|_| is_for_device(&arguments));
    let libraries = env::var_os(DEVICE_LIBRARIES).filter(|_| device.is_some());
    let mut rustc = through_users_wrapper(device.as_deref().unwrap_or(&stock));
    if let Some(libraries) = libraries {
        rustc.env("LD_LIBRARY_PATH", libraries);
    }
    // This process becomes the compiler; what comes back is why it could not.
    let error = rustc.args(arguments).exec();
    eprintln!("error: cannot run {}: {error}", rustc.get_program().to_string_lossy());
    ExitCode::from(2)
}

fn through_users_wrapper(rustc: &OsStr) -> Command {
    match env::var_os(USERS_WRAPPER) {
        Some(wrapper) => {
            let mut wrapped = Command::new::<OsString>(wrapper);
            wrapped.arg(rustc);
            wrapped
        }
        None => Command::new(rustc),
    }
}
