//! Reductions of rows by blocks, to one value each.

use crate::rows::Row;
use device_std::memory::PerBlock;
use device_std::{Plain, block, device, kernel};

/// `out[b]` is the sum of row `b` of `xs`, whose rows have `columns` elements.
#[kernel]
pub fn row_sum(xs: &[f32], columns: usize, mut out: PerBlock<'_, f32>) {
    let add = |sum, x| sum + x;
    let sum = block::reduce(Row::of_block(xs, columns).fold(0.0, add, add), add);
    if let Some(element) = out.tile() {
        *element = [sum];
    }
}

/// A number and its place in a row.
#[derive(Debug, Clone, Copy, PartialEq, Plain)]
#[repr(C)]
pub struct Found {
    /// The number.
    pub value: f32,
    /// The place; `u32::MAX` where there was no number.
    pub at: u32,
}

impl Found {
    const NOTHING: Found = Found { value: f32::NEG_INFINITY, at: u32::MAX };

    /// The larger one; of equal ones that with the lower place. NaNs are never found.
    #[inline(always)]
    fn or_larger(self, other: Found) -> Found {
        let is_better = other.value > self.value || (other.value == self.value && other.at < self.at);
        if is_better { other } else { self }
    }
}

/// `out[b]` is the first of the largest elements of row `b`, for rows of fewer than 2^32 elements; no number is as good as -∞.
#[kernel]
pub fn row_largest(xs: &[f32], columns: usize, mut out: PerBlock<'_, Found>) {
    let found = block::reduce(largest(xs, columns), Found::or_larger);
    if let Some(element) = out.tile() {
        *element = [found];
    }
}

/// The thread's part of [`row_largest`].
#[device]
#[inline(always)]
fn largest(xs: &[f32], columns: usize) -> Found {
    let start = block::index().wrapping_mul(columns);
    let row = xs.get(start..).and_then(|rows| rows.get(..columns)).unwrap_or(&[]);
    let mut found = Found::NOTHING;
    let mut at = block::thread_index() as usize;
    #[nounroll]
    while let Some(value) = row.get(at) {
        found = found.or_larger(Found { value: *value, at: at as u32 });
        at = at.wrapping_add(block::threads() as usize);
    }
    found
}
