//! Rolled loops inside unrolled ones, and the other way round.

use device_std::{kernel, thread};

/// The loop over K stays, the taps inside it are unrolled.
///
/// Machine code: 1 loop, 4 loads.
#[kernel]
pub unsafe fn rolled_k_unrolled_inner(w: *const f32, x: *const f32, y: *mut f32, n: u32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    let mut k = 0;
    #[nounroll]
    while k < n as usize {
        #[unroll]
        for tap in 0..2 {
            sum += *w.add(2 * k + tap) * *x.add(i + 2 * k + tap);
        }
        k += 1;
    }
    *y.add(i) = sum;
}

/// Four copies of a loop that stays.
///
/// Machine code: 4 loops, 4 loads.
#[kernel]
pub unsafe fn rolled_inside_full_unroll(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for row in 0..4 {
        let mut k = 0;
        #[nounroll]
        while k < 4 {
            sum += *x.add(i + 4 * row + k);
            k += 1;
        }
    }
    *y.add(i) = sum;
}

/// A loop that stays inside one of four copies with an unknown number of steps: four inner loops in the main loop and one
/// in the loop for the rest.
///
/// Machine code: 7 loops, 5 loads.
#[kernel]
pub unsafe fn rolled_inside_partial_unroll(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(4)]
    for row in 0..n as usize {
        let mut k = 0;
        #[nounroll]
        while k < 4 {
            sum += *x.add(i + 4 * row + k);
            k += 1;
        }
    }
    *y.add(i) = sum;
}

/// rustc's spelling of `#[nounroll]`.
///
/// Machine code: 1 loop, 1 load.
#[kernel]
pub unsafe fn never(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(never)]
    for k in 0..8 {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// A rolled loop around one that is unrolled in part.
///
/// Machine code: 2 loops, 2 loads.
#[kernel]
pub unsafe fn partial_inside_rolled(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[nounroll]
    for row in 0..8 {
        #[unroll(2)]
        for k in 0..32 {
            sum += *x.add(i + 32 * row + k);
        }
    }
    *y.add(i) = sum;
}

/// All three, one inside another.
///
/// Machine code: 3 loops, 2 loads.
#[kernel]
pub unsafe fn three_kinds(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[nounroll]
    for a in 0..8 {
        #[unroll]
        for b in 0..2 {
            #[nounroll]
            for c in 0..8 {
                sum += *x.add(i + 16 * a + 8 * b + c);
            }
        }
    }
    *y.add(i) = sum;
}
