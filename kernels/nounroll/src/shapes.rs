//! One loop a kernel, in every form that Rust has.

use device_std::{kernel, thread};

/// `y[i] = sum of x[i..i + 8]`, by a range.
///
/// Machine code: 1 loop, 1 load.
#[kernel]
pub unsafe fn range_for(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[nounroll]
    for k in 0..8 {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// `y[i]` = sum of `x[i..i + n]`, with a trip count that only the caller knows.
///
/// Machine code: 1 loop, 1 load.
#[kernel]
pub unsafe fn while_loop(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    let mut k = 0;
    #[nounroll]
    while k < n {
        sum += *x.add(i + k as usize);
        k += 1;
    }
    *y.add(i) = sum;
}

/// `y[i]` = how many of `x[i..i + 8]` come before the first negative one; the loop's value is its `break`'s.
///
/// Machine code: 1 loop, 1 load.
#[kernel]
pub unsafe fn loop_break(x: *const f32, y: *mut u32) {
    let i = thread::global_x() as usize;
    let mut k = 0;
    let found = #[nounroll]
    loop {
        if k == 8 || *x.add(i + k as usize) < 0.0 {
            break k;
        }
        k += 1;
    };
    *y.add(i) = found;
}

/// `y[i]` = sum of `x[i..i + 8]` without negatives and with what is above 1 counted half. Three ways lead back to the
/// loop's start, which become one latch.
///
/// Machine code: 1 loop, 1 load.
#[kernel]
pub unsafe fn two_continues(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[nounroll]
    for k in 0..8 {
        let value = *x.add(i + k);
        if value < 0.0 {
            continue;
        }
        if value > 1.0 {
            sum += 0.5 * value;
            continue;
        }
        sum += value;
    }
    *y.add(i) = sum;
}

/// `y[i]` = the sum of the rows of `x` (8 of 8, from `i` on), each up to its first negative element. The inner loop
/// continues the outer one, whose hint must not slip onto it.
///
/// Machine code: 2 loops, 1 load.
#[kernel]
pub unsafe fn labelled_continue(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[nounroll]
    'rows: for row in 0..8 {
        #[nounroll]
        for k in 0..8 {
            let value = *x.add(i + 8 * row + k);
            if value < 0.0 {
                continue 'rows;
            }
            sum += value;
        }
    }
    *y.add(i) = sum;
}

/// `y[i]` = the sum along a list of `(next index + 1) << 16 | value` words that starts at `x[i]` and ends with a next of 0.
///
/// Machine code: 1 loop, 1 load.
#[kernel]
pub unsafe fn while_let(x: *const u32, y: *mut u32) {
    let i = thread::global_x();
    let mut sum = 0;
    let mut next = Some(i);
    #[nounroll]
    while let Some(at) = next {
        let word = *x.add(at as usize);
        sum += word & 0xffff;
        next = (word >> 16).checked_sub(1);
    }
    *y.add(i as usize) = sum;
}
