//! The set-up's promises, held on made-up machines: nothing here downloads or builds anything real.
//!
//! - `interruption`: what a run left half made is thrown away, of every kind, and two runs at once make a thing once;
//! - `toolchain`, `sysroot`, `cuda`, `linker`, `lld`, `rustc_dev`: what each step takes, makes, and says when it
//!   cannot;
//! - `doctor`: what it tells of each of these machines;
//! - `script`: `./latch` and its toolchain from Debian's packages.

mod cuda;
mod doctor;
mod fakes;
mod interruption;
mod linker;
mod lld;
mod rustc_dev;
mod script;
mod sysroot;
mod toolchain;
