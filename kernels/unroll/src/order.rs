//! Inner bounds that become constant only once the outer loop is unrolled.

// A number that unrolling makes a constant is what is shown.
#![allow(clippy::needless_range_loop)]

use device_std::{kernel, thread};

/// A triangle: the inner loop has as many steps as the outer one has done.
///
/// Machine code: 0 loops, 28 loads.
#[kernel]
pub unsafe fn triangle(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for row in 0..8 {
        #[unroll]
        for k in 0..row {
            sum += *x.add(i + 8 * row + k);
        }
    }
    *y.add(i) = sum;
}

/// The other triangle, with its diagonal.
///
/// Machine code: 0 loops, 36 loads.
#[kernel]
pub unsafe fn triangle_with_diagonal(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for row in 0..8usize {
        #[unroll]
        for k in row..=7usize {
            sum += *x.add(i + 8 * row + k);
        }
    }
    *y.add(i) = sum;
}

/// Three deep: `a > b > c`.
///
/// Machine code: 0 loops, 10 loads.
#[kernel]
pub unsafe fn pyramid(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for a in 0..5 {
        #[unroll]
        for b in 0..a {
            #[unroll]
            for c in 0..b {
                sum += *x.add(i + 25 * a + 5 * b + c);
            }
        }
    }
    *y.add(i) = sum;
}

/// Forward substitution with a lower triangle of 6 by 6 in front of each thread: `L z = b` in registers, `y[i] = z[5]`.
///
/// Machine code: 0 loops, 27 loads.
#[kernel]
pub unsafe fn forward_substitution(l: *const f32, b: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let l = l.add(36 * i);
    let mut z = [0.0; 6];
    #[unroll]
    for row in 0..6 {
        let mut rest = *b.add(6 * i + row);
        #[unroll]
        for k in 0..row {
            rest -= *l.add(6 * row + k) * z[k];
        }
        z[row] = rest * *l.add(7 * row);
    }
    *y.add(i) = z[5];
}

/// Halving strides: 8, 4, 2, 1 steps.
///
/// Machine code: 0 loops, 15 loads.
#[kernel]
pub unsafe fn halving(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for level in 0..4 {
        #[unroll]
        for k in 0..(8 >> level) {
            sum += *x.add(i + 8 * level + k);
        }
    }
    *y.add(i) = sum;
}
