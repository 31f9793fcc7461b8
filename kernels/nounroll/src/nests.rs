//! Loops in loops, and loops side by side: a hint marks only the loop that it stands on.
//!
//! The nests sum a 4 by 4 tile, `x[i + 4 * row + k]`, into `y[i]`.

use device_std::{kernel, thread};

/// Only the inner loop is hinted. The outer one may be unrolled, and every copy of the inner loop stays rolled.
///
/// Machine code: 4 loops, 4 loads.
#[kernel]
pub unsafe fn nested_inner(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    for row in 0..4 {
        #[nounroll]
        for k in 0..4 {
            sum += *x.add(i + 4 * row + k);
        }
    }
    *y.add(i) = sum;
}

/// Only the outer loop is hinted. The inner one may be unrolled inside it.
///
/// Machine code: 1 loop, 4 loads.
#[kernel]
pub unsafe fn nested_outer(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[nounroll]
    for row in 0..4 {
        for k in 0..4 {
            sum += *x.add(i + 4 * row + k);
        }
    }
    *y.add(i) = sum;
}

/// Both are hinted.
///
/// Machine code: 2 loops, 1 load.
#[kernel]
pub unsafe fn nested_both(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[nounroll]
    for row in 0..4 {
        #[nounroll]
        for k in 0..4 {
            sum += *x.add(i + 4 * row + k);
        }
    }
    *y.add(i) = sum;
}

/// Three loops in a row of four elements each: the first and the last are hinted, the one between them is not.
///
/// Machine code: 2 loops, 6 loads.
#[kernel]
pub unsafe fn siblings(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[nounroll]
    for k in 0..4 {
        sum += *x.add(i + k);
    }
    for k in 4..8 {
        sum *= *x.add(i + k);
    }
    #[nounroll]
    for k in 8..12 {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}
