//! `#[unroll]` on what iterators make of a loop.

use core::slice;

use device_std::{kernel, thread};

/// A range, backwards.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn reversed_range(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for k in (0..8).rev() {
        sum = 0.5 * sum + *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// A range that includes its end, backwards.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn reversed_inclusive(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for k in (0..=7usize).rev() {
        sum = 0.5 * sum + *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// Every other element of 16.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn stepped_range(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for k in (0..16).step_by(2) {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// Every third element up to and with the last.
///
/// Machine code: 0 loops, 5 loads.
#[kernel]
pub unsafe fn stepped_inclusive(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for k in (0..=12usize).step_by(3) {
        sum += *x.add(i + k);
    }
    *y.add(i) = sum;
}

/// The elements of a slice.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn slice_elements(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for value in slice::from_raw_parts(x.add(i), 8) {
        sum += value;
    }
    *y.add(i) = sum;
}

/// Two slices, element by element.
///
/// Machine code: 0 loops, 16 loads.
#[kernel]
pub unsafe fn slices_in_step(w: *const f32, x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for (w, x) in slice::from_raw_parts(w, 8).iter().zip(slice::from_raw_parts(x.add(i), 8)) {
        sum += w * x;
    }
    *y.add(i) = sum;
}

/// An array, by reference.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn array_elements(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for value in &*x.add(i).cast::<[f32; 8]>() {
        sum += value;
    }
    *y.add(i) = sum;
}

/// An array, by value.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn array_by_value(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for value in *x.add(i).cast::<[f32; 8]>() {
        sum += value;
    }
    *y.add(i) = sum;
}

/// Numbered elements.
///
/// Machine code: 0 loops, 8 loads.
#[kernel]
pub unsafe fn numbered_elements(x: *const f32, y: *mut f32) {
    let i = thread::global_x() as usize;
    let mut sum = 0.0;
    #[unroll]
    for (k, value) in slice::from_raw_parts(x.add(i), 8).iter().enumerate() {
        sum += k as f32 * value;
    }
    *y.add(i) = sum;
}
