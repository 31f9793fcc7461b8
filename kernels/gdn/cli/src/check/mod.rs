//! The check of the kernels on a device: right, the same every time, and how fast.
//!
//! 1. Every kernel, in every element type, computes all cases; the outputs, filled with NaN before, are held to the oracle.
//! 2. The kernels run many times on one input, and every output has the same bits each time.
//! 3. They are timed at the sizes for which figures of others are published, a head of each result held to the oracle.
//!
//! A [`Scope`] says how much of it is done, and in what time: what there is no time for is left out, and the report says
//! so. A time is the median of many runs between two events on the device, with the inputs in its caches as the run
//! before left them.

mod accuracy;
mod cell;
mod published;
mod repeats;
mod report;
mod sample;
mod scope;
mod times;

use gated_delta::Kernels;
use launch::Launcher;

pub use accuracy::Accuracy;
pub use cell::Cell;
pub use published::{Beside, Floors, PUBLISHED, Published};
pub use repeats::Repeats;
pub use report::Report;
pub use scope::{Budget, Scope, Sequences, Stage};
pub use times::{Shape, Times};

/// What is done, told as it is done.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

/// Checks the kernels.
pub fn check<L: Launcher>(kernels: &Kernels<L>, scope: &Scope, progress: Progress<'_>) -> Report {
    let budget = Budget::new(scope.time);
    let device = kernels.launcher().device();
    Report {
        device: format!(
            "{} ({}, {} KiB of shared memory a block)",
            device.name,
            device.arch,
            device.shared_limit >> 10
        ),
        accuracy: accuracy::check(kernels, scope, &budget, progress),
        repeats: repeats::check(kernels, scope, &budget, progress),
        times: times::measure(kernels, scope, &budget, progress),
    }
}
