//! What the command `gated-delta` does.
//!
//! - [`run`] computes the rule on arrays in NumPy's files.
//! - [`check`] holds every kernel to the oracle on a device, and times them there. It is written against
//!   [`launch::Launcher`], so all of it but the driver is tested on the emulator.
//! - [`prepared`] finds the PTX for a device.

pub mod arrays;
pub mod check;
pub mod prepared;
pub mod run;
