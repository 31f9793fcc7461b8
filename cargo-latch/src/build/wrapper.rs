//! What the command and `latch-rustc` agree on.

use std::ffi::OsString;

/// The compiler for device crates.
pub const DEVICE_RUSTC: &str = "LATCH_DEVICE_RUSTC";
/// Its `LD_LIBRARY_PATH`.
pub const DEVICE_LIBRARIES: &str = "LATCH_DEVICE_LIBRARIES";
/// The target of device crates.
pub const DEVICE_TARGET: &str = "nvptx64-nvidia-cuda";

/// Does a compiler's command line name the device's target?
pub fn is_for_device(arguments: &[OsString]) -> bool {
    arguments.windows(2).any(|pair| pair[0] == "--target" && pair[1] == DEVICE_TARGET)
        || arguments.iter().any(|argument| *argument == *format!("--target={DEVICE_TARGET}"))
}
