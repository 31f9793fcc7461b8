//! What the attribute macros expand to. Nothing here is for use by hand.
//!
//! The two markers are declared and never defined: they are calls that the compiler must keep, and the link stage
//! reads and erases every one of them. Where a marker is left, the GPU linker reports an undefined symbol.

pub use crate::counted::{Counted, Inclusive, Integer, Uncounted};

/// The markers of a hinted loop.
#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
pub use declared::{__latch_loop_body, __latch_loop_enter};

#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
mod declared {
    // SAFETY: no definition exists, and none is ever called: the link stage erases the calls before code is generated.
    unsafe extern "Rust" {
        /// Stands before a hinted loop.
        pub safe fn __latch_loop_enter(site: &'static str);
        /// Stands first in the body of a hinted loop; `factor` is the copies asked for, 0 for no loop left.
        pub safe fn __latch_loop_body(site: &'static str, factor: u64);
    }
}

/// Checks the copy count of an `#[unroll(N)]` while compiling.
///
/// # Panics
/// If `copies` is not in `2..=1024`.
#[track_caller]
pub const fn copies(copies: u64) -> u64 {
    assert!(copies != 1, "`#[unroll(N)]` with N = 1 is a rolled loop: write `#[nounroll]`");
    assert!(copies >= 2 && copies <= 1024, "`#[unroll(N)]` takes a number of copies from 2 to 1024");
    copies
}

#[cfg(test)]
mod tests {
    use super::copies;
    use hint_syntax::{MAX_COPIES, MIN_COPIES};
    use std::panic::catch_unwind;

    /// A computed count and a literal one have the same bounds.
    #[test]
    fn the_bounds_are_those_of_the_grammar() {
        assert_eq!((copies(MIN_COPIES), copies(MAX_COPIES)), (MIN_COPIES, MAX_COPIES));
        assert!(catch_unwind(|| copies(MIN_COPIES - 1)).is_err());
        assert!(catch_unwind(|| copies(MAX_COPIES + 1)).is_err());
    }
}
