//! `#[unroll(N)]`: one loop of N copies, and what is left over.

use device_std::{kernel, thread};

/// 64 taps of two loads, four at a time. LLVM must not unroll the result again.
///
/// Machine code: 1 loop, 8 loads.
#[kernel]
pub unsafe fn by_four(w: *const f32, x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(4)]
    for k in 0..64 {
        sum += *w.add(k) * *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// A number of copies that is computed.
///
/// Machine code: 1 loop, 4 loads.
#[kernel]
pub unsafe fn by_expression(x: *const f32, y: *mut f32) {
    const WIDTH: usize = 2;
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(WIDTH * 2)]
    for k in 0..64 {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// A trip count that only the caller knows: a loop of four copies, and one for the rest.
///
/// Machine code: 2 loops, 5 loads.
#[kernel]
pub unsafe fn by_four_with_rest(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(4)]
    for k in 0..n {
        sum += *x.add(i + k as usize);
    }
    *y.add(i) = sum;
}

/// The same with two copies: what is left over is one step at most, and no loop.
///
/// Machine code: 1 loop, 3 loads.
#[kernel]
pub unsafe fn by_two_with_rest(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(2)]
    for k in 0..n {
        sum += *x.add(i + k as usize);
    }
    *y.add(i) = sum;
}

/// A `while` loop.
///
/// Machine code: 1 loop, 4 loads.
#[kernel]
pub unsafe fn by_four_while(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    let mut k = 0;
    #[unroll(4)]
    while k < 64 {
        sum += *x.add(i + k);
        k += 1;
    }
    *y.add(i) = sum;
}

/// Backwards.
///
/// Machine code: 1 loop, 4 loads.
#[kernel]
pub unsafe fn by_four_reversed(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(4)]
    for k in (0..64).rev() {
        sum = 0.5 * sum + *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// Every other element.
///
/// Machine code: 1 loop, 4 loads.
#[kernel]
pub unsafe fn by_four_stepped(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(4)]
    for k in (0..128).step_by(2) {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// With its end.
///
/// Machine code: 1 loop, 4 loads.
#[kernel]
pub unsafe fn by_four_inclusive(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(4)]
    for k in 0..=63usize {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// As many copies as steps: nothing is left to loop.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn by_all(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(8)]
    for k in 0..8 {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// A way out at every step.
///
/// Machine code: 1 loop, 4 loads.
#[kernel]
pub unsafe fn by_four_early_exit(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(4)]
    for k in 0..64 {
        let value = *x.add(i + k);
        if value < 0.0 {
            break;
        }
        sum += value;
    }
    *y.add(i) = sum;
}

/// A number of steps that four does not divide: LLVM's loop of four copies is left in its middle, and no other is there for the
/// rest. ptxas turns it round, with two of the copies before it.
///
/// Machine code: 1 loop, 6 loads.
#[kernel]
pub unsafe fn by_four_of_66(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll(4)]
    for k in 0..66 {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}
