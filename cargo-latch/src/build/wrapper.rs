//! What the command and `latch-rustc` agree on.

use std::ffi::OsString;

use crate::target::Target;

/// The compiler for device crates.
pub const DEVICE_RUSTC: &str = "LATCH_DEVICE_RUSTC";
/// Its `LD_LIBRARY_PATH`.
pub const DEVICE_LIBRARIES: &str = "LATCH_DEVICE_LIBRARIES";

/// Does a compiler's command line name a target of device crates?
pub fn is_for_device(arguments: &[OsString]) -> bool {
    Target::ALL.map(Target::triple).iter().any(|triple| {
        arguments.windows(2).any(|pair| pair[0] == "--target" && pair[1] == *triple)
            || arguments.iter().any(|argument| *argument == *format!("--target={triple}"))
    })
}
