//! What a block of threads computes.

/// The sizes of one kernel's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Product {
    /// The threads of a block.
    pub threads: u32,
    /// The rows of `c` that a block computes.
    pub rows: usize,
    /// The columns of `c` that a block computes.
    pub columns: usize,
    /// The columns of `a`, and rows of `b`, of one round of the loop.
    pub depth: usize,
}
