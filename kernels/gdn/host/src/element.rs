//! The element types of kernels, as types.

use crate::problem::Format;
use device_std::Plain;
use device_std::math::{Bf16, F16};

/// A type that queries, keys, values and outputs can have: `f32`, [`F16`] or [`Bf16`].
pub trait Element: gdn::Element + Plain + 'static {
    /// Its format.
    const FORMAT: Format;
}

impl Element for f32 {
    const FORMAT: Format = Format::F32;
}

impl Element for F16 {
    const FORMAT: Format = Format::F16;
}

impl Element for Bf16 {
    const FORMAT: Format = Format::Bf16;
}
