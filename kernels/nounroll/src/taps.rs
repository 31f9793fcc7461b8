//! A short filter: `y[i] = sum of w[t] * x[i + t] for t < 4`. The compilers like to unroll it.

use device_std::{device, kernel, thread};

/// The control: no hint. ptxas unrolls the four taps to eight loads.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn taps_default(w: *const f32, x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    let mut tap = 0;
    while tap < 4 {
        sum += *w.add(tap) * *x.add(i + tap);
        tap += 1;
    }
    *y.add(i) = sum;
}

/// The same filter, kept a loop of two loads.
///
/// Machine code: 1 loop, 2 loads.
#[kernel]
pub unsafe fn taps_rolled(w: *const f32, x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    let mut tap = 0;
    #[nounroll]
    while tap < 4 {
        sum += *w.add(tap) * *x.add(i + tap);
        tap += 1;
    }
    *y.add(i) = sum;
}

/// `y[i] = sum of x[i..i + 4]`, by a function of its own.
///
/// Machine code: 1 loop, 1 load.
#[kernel]
pub unsafe fn rolled_in_device_fn(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    *y.add(i) = sum4(x.add(i));
}

/// The sum of four elements from `x` on, never inlined: the hint must hold in the function itself.
#[device]
#[inline(never)]
unsafe fn sum4(x: *const f32) -> f32 {
    let mut sum = 0.0;
    let mut k = 0;
    #[nounroll]
    while k < 4 {
        sum += *x.add(k);
        k += 1;
    }
    sum
}
