//! `#[unroll]`: no loop is left.

use device_std::{kernel, thread};

/// A range.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn full_range(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for k in 0..8 {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// The same in rustc's spelling.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn full_spelled_out(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(full)]
    for k in 0..8 {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// A range that includes its end.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn full_inclusive(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for k in 0..=7usize {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// A `while` loop.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn full_while(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    let mut k = 0;
    #[unroll]
    while k < 8 {
        sum += *x.add(i + k);
        k += 1;
    }
    *y.add(i) = sum;
}

/// A `loop` that breaks at its end.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn full_loop_break(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    let mut k = 0;
    #[unroll]
    loop {
        sum += *x.add(i + k);
        k += 1;
        if k == 8 {
            break;
        }
    }
    *y.add(i) = sum;
}

/// A loop that may be left at every step: up to the first negative element.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn full_early_exit(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for k in 0..8 {
        let value = *x.add(i + k);
        if value < 0.0 {
            break;
        }
        sum += value;
    }
    *y.add(i) = sum;
}

/// A nest of 4 by 4 with a `continue` of the outer loop: every row up to its first negative element.
///
/// Machine code: 0 loops, 16 loads.
#[kernel]
pub unsafe fn full_labelled_continue(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    'rows: for row in 0..4 {
        #[unroll]
        for k in 0..4 {
            let value = *x.add(i + 4 * row + k);
            if value < 0.0 {
                continue 'rows;
            }
            sum += value;
        }
    }
    *y.add(i) = sum;
}

/// Two loops in a row.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn full_siblings(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for k in 0..4 {
        sum += *x.add(i + k);
    }
    #[unroll]
    for k in 4..8 {
        sum *= *x.add(i + k);
    }
    *y.add(i) = sum;
}
