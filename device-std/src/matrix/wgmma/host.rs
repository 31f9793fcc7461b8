//! The same on the host: each thread computes its own sums when it comes to the product.
//!
//! The lanes of a sub-group meet in each of the instructions, and so in the wait: none goes on to overwrite an operand
//! before the others have read it.

use super::{Sums, THREADS, Tile};
use crate::block;
use crate::math::{Bf16, F16};
use crate::matrix::Element;
use crate::matrix::host::{add_products, meet_all};
use std::panic::Location;

/// Where an operand is.
#[derive(Debug, Clone, Copy)]
pub struct Descriptor {
    start: *const u8,
    depth_distance: usize,
    line_distance: usize,
}

impl Descriptor {
    #[track_caller]
    pub fn new(start: *const u8, depth_distance: u32, line_distance: u32) -> Descriptor {
        assert!(start.addr().is_multiple_of(16), "a tile of a warpgroup's product begins at a multiple of 16 bytes");
        Descriptor { start, depth_distance: depth_distance as usize, line_distance: line_distance as usize }
    }

    /// # Safety
    /// The element can be read, and has been written as a `T`.
    unsafe fn element<T: Element, const TRANSPOSED: bool>(self, line: usize, depth: usize) -> f64 {
        let core = line / 8 * self.line_distance + depth / 8 * self.depth_distance;
        let inside = if TRANSPOSED { depth % 8 * 8 + line % 8 } else { line % 8 * 8 + depth % 8 };
        // SAFETY: the caller's promise.
        let element = unsafe { self.start.add(core).cast::<T>().add(inside).read() };
        f64::from(element.to_f32())
    }
}

pub fn publish() {}

#[track_caller]
pub unsafe fn fence(_: &mut [f32; 32]) {
    check_group("wgmma::fence");
}

#[track_caller]
unsafe fn product<T: Element, const TA: bool, const TB: bool>(sums: &mut [f32; 32], a: Descriptor, b: Descriptor) {
    check_group("wgmma::mma_async");
    let thread = block::thread_index();
    for (i, sum) in sums.iter_mut().enumerate() {
        let (row, column) = (Sums::row(i, thread), Sums::column(i, thread));
        let depth = 0..Tile::<T, TA>::DEPTH;
        // SAFETY: the caller has written both operands, which hold 64 lines of that depth.
        let pairs = depth.map(|k| unsafe { (a.element::<T, TA>(row, k), b.element::<T, TB>(column, k)) });
        *sum = add_products(*sum, pairs);
    }
}

#[track_caller]
pub unsafe fn product_bf16<const TA: bool, const TB: bool>(sums: &mut [f32; 32], a: Descriptor, b: Descriptor) {
    // SAFETY: the caller's promise.
    unsafe { product::<Bf16, TA, TB>(sums, a, b) };
}

#[track_caller]
pub unsafe fn product_f16<const TA: bool, const TB: bool>(sums: &mut [f32; 32], a: Descriptor, b: Descriptor) {
    // SAFETY: the caller's promise.
    unsafe { product::<F16, TA, TB>(sums, a, b) };
}

pub unsafe fn commit_group() {}

#[track_caller]
pub unsafe fn wait_group<const PENDING: u32>(_: &mut [f32; 32]) {
    check_group("wgmma::wait_group");
}

/// Waits for the sub-group's lanes.
///
/// # Panics
/// Where the warpgroup is not whole.
#[track_caller]
fn check_group(operation: &'static str) {
    let first = block::thread_index() / THREADS * THREADS;
    assert!(
        first + THREADS <= block::threads(),
        "`{operation}` at {} needs whole warpgroups: launch blocks of a multiple of {THREADS} threads",
        Location::caller()
    );
    meet_all(operation);
}
