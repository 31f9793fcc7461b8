//! What the command and `latch-rustc` agree on.

use std::ffi::OsString;

use crate::target::Target;

/// The compiler for device crates, where it is not the stock one.
pub const DEVICE_RUSTC: &str = "LATCH_DEVICE_RUSTC";
/// Its `LD_LIBRARY_PATH`.
pub const DEVICE_LIBRARIES: &str = "LATCH_DEVICE_LIBRARIES";
/// The user's own wrapper, such as sccache, which runs the compiler in the end.
pub const USERS_WRAPPER: &str = "LATCH_USERS_WRAPPER";

/// Does a compiler's command line, in its own words, name a target of device crates?
pub fn is_for_device(arguments: &[OsString]) -> bool {
    Target::ALL.map(Target::triple).iter().any(|triple| {
        arguments.windows(2).any(|pair| pair[0] == "--target" && pair[1] == *triple)
            || arguments.iter().any(|argument| *argument == *format!("--target={triple}"))
    })
}
