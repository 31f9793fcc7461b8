//! The two functions that a hinted loop calls.
//!
//! One is called before the loop, one first in its body. Both name the hint's [`Site`](crate::Site) as a constant text,
//! and the second one its [`Request`](crate::Request) as a number.

/// The crate that declares the markers. A function of the same name elsewhere is no marker.
pub const CRATE: &str = "device_std";
/// The function called before a hinted loop: `fn(site: &'static str)`.
pub const ENTER: &str = "__latch_loop_enter";
/// The function called first in the body of a hinted loop: `fn(site: &'static str, factor: u64)`.
pub const BODY: &str = "__latch_loop_body";
