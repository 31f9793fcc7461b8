//! Hints in functions: generic ones, closures, functions of another crate, inlined twice or never.

use device_std::{device, kernel, thread};
use unroll_parts::{sum_rolled, sum_unrolled};

/// The number of copies as a constant of a type.
pub trait Tile {
    /// How many steps to lay side by side.
    const TILE: usize;
}

/// Four at a time.
pub struct Four;

/// Eight at a time.
pub struct Eight;

impl Tile for Four {
    const TILE: usize = 4;
}

impl Tile for Eight {
    const TILE: usize = 8;
}

#[device]
#[inline]
unsafe fn tiled<T: Tile>(x: *const f32) -> f32 {
    let mut sum = 0.0;
    #[unroll({ T::TILE })]
    for k in 0..64 {
        sum += *x.add(k);
    }
    sum
}

/// One generic function with four and with eight copies.
///
/// Machine code: 2 loops, 12 loads.
#[kernel]
pub unsafe fn by_tile(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    *y.add(i) = tiled::<Four>(x.add(i)) * tiled::<Eight>(x.add(i + 64));
}

/// A function of another crate, inlined twice with one length.
///
/// Machine code: 2 loops, 2 loads.
#[kernel]
pub unsafe fn inlined_twice(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    *y.add(i) = sum_rolled::<8>(x.add(i)) * sum_rolled::<8>(x.add(i + 8));
}

/// Functions of another crate with two lengths, unrolled.
///
/// Machine code: 0 loops, 12 loads.
#[kernel]
pub unsafe fn across_crates(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    *y.add(i) = sum_unrolled::<4>(x.add(i)) * sum_unrolled::<8>(x.add(i + 4));
}

#[device]
#[inline]
fn each_rolled(steps: usize, mut body: impl FnMut(usize)) {
    #[nounroll]
    for step in 0..steps {
        body(step);
    }
}

#[device]
#[inline]
fn each_unrolled(steps: usize, mut body: impl FnMut(usize)) {
    #[unroll]
    for step in 0..steps {
        body(step);
    }
}

/// A function that takes the loop's body; its trip count is constant once it is inlined.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn closure_unrolled(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    each_unrolled(8, |k| sum += *x.add(i + k));
    *y.add(i) = sum;
}

/// One site nested in itself: both of its loops stay.
///
/// Machine code: 2 loops, 1 load.
#[kernel]
pub unsafe fn closure_in_itself(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    each_rolled(4, |row| each_rolled(4, |k| sum += *x.add(i + 4 * row + k)));
    *y.add(i) = sum;
}

#[device]
#[inline(never)]
unsafe fn apart<const N: usize>(x: *const f32) -> f32 {
    let mut sum = 0.0;
    #[unroll]
    for k in 0..N {
        sum += *x.add(k);
    }
    sum
}

/// A function that is never inlined.
///
/// Machine code: 0 loops, 4 loads.
#[kernel]
pub unsafe fn unrolled_in_device_fn(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    *y.add(i) = apart::<4>(x.add(i));
}
