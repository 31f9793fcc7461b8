//! The same on the host: lanes show each other their registers, and each computes what it is to hold.
//!
//! A lane reads the memory that it names before it meets the others, so that no lane sees what another writes
//! afterwards.

use super::{A, Accumulator, B, Element};
use crate::math::{Bf16, F16};
use crate::stand_in::{Place, meet};
use crate::subgroup;
use std::array;
use std::panic::Location;

/// The lanes of a sub-group, all of which take part.
const LANES: u32 = 32;
/// The depth of a product: columns of [`A`], rows of [`B`].
const DEPTH: usize = A::<Bf16>::COLUMNS;

/// The words of one register in all lanes.
type Register = [u32; LANES as usize];

/// Shows the lane's words to all lanes, and gives back all lanes' words.
///
/// # Panics
/// Where a lane does not exist.
#[track_caller]
fn exchange<const N: usize>(operation: &'static str, words: [u32; N]) -> [Register; N] {
    let (lane, group) = (subgroup::lane(), subgroup::id());
    let place = Place::Lanes { width: LANES, group, lanes: u64::from(u32::MAX) };
    let location = Location::caller();
    words.map(|word| {
        let met = meet(place, operation, location, lane, word);
        // Without its own word, a lane has met nobody: the launch has failed, and this runs as its stack is unwound.
        let unwinding = met.get(lane).is_none();
        array::from_fn(|other| match met.get(other as u32) {
            Some(word) => word,
            None if unwinding => 0,
            None => panic!(
                "`{operation}` at {location} needs all {LANES} lanes of a sub-group, and lane {other} of sub-group {group} does \
                 not exist: launch blocks of a multiple of {LANES} threads"
            ),
        })
    })
}

/// Waits until all 32 lanes have come.
#[track_caller]
pub(super) fn meet_all(operation: &'static str) {
    exchange(operation, [0]);
}

/// Half of a register's bits.
fn half<T: Element>(register: u32, high: usize) -> f64 {
    f64::from(T::from_bits((register >> (16 * high)) as u16).to_f32())
}

/// `sum` and the products of pairs: products in order, then the sum, in double precision, rounded once.
pub(super) fn add_products(sum: f32, pairs: impl Iterator<Item = (f64, f64)>) -> f32 {
    (pairs.fold(0.0, |products, (a, b)| products + a * b) + f64::from(sum)) as f32
}

#[track_caller]
fn product<T: Element>(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    let lane = subgroup::lane();
    let [a0, a1, a2, a3, b0, b1] = exchange("mma", [a[0], a[1], a[2], a[3], b[0], b[1]]);
    let (a, b) = ([a0, a1, a2, a3], [b0, b1]);
    let left = |row, column| {
        let (lane, i) = A::<T>::holder(row, column);
        half::<T>(a[i / 2][lane as usize], i % 2)
    };
    let right = |row, column| {
        let (lane, i) = B::<T>::holder(row, column);
        half::<T>(b[i / 2][lane as usize], i % 2)
    };
    array::from_fn(|i| {
        let (row, column) = (Accumulator::row(i, lane), Accumulator::column(i, lane));
        add_products(c[i], (0..DEPTH).map(|k| (left(row, k), right(k, column))))
    })
}

#[track_caller]
pub fn mma_bf16(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    product::<Bf16>(a, b, c)
}

#[track_caller]
pub fn mma_f16(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    product::<F16>(a, b, c)
}

fn pack<T: Element>(low: f32, high: f32) -> u32 {
    u32::from(T::from_f32(low).to_bits()) | u32::from(T::from_f32(high).to_bits()) << 16
}

pub fn pack_bf16(low: f32, high: f32) -> u32 {
    pack::<Bf16>(low, high)
}

pub fn pack_f16(low: f32, high: f32) -> u32 {
    pack::<F16>(low, high)
}

/// As the instruction; see the version for GPUs.
///
/// # Safety
/// Each row is 16 bytes, valid for reads.
#[track_caller]
pub unsafe fn ldmatrix<const N: usize, const TRANSPOSED: bool>(row: *const u16) -> [u32; N] {
    assert!(
        row.addr().is_multiple_of(16),
        "`ldmatrix` at {} reads rows that begin at multiples of 16 bytes, and a lane names {row:?}",
        Location::caller()
    );
    // SAFETY: the caller's promise, and the address has been checked. Two elements are a word, the first one its low
    // half.
    let words: [u32; 4] =
        array::from_fn(|pair| unsafe { u32::from(*row.add(2 * pair)) | u32::from(*row.add(2 * pair + 1)) << 16 });
    let rows = exchange("ldmatrix", words);
    let element =
        |matrix: usize, row: usize, column: usize| rows[column / 2][8 * matrix + row] >> (16 * (column % 2)) & 0xffff;
    let (row, column) = (subgroup::lane() as usize / 4, subgroup::lane() as usize % 4 * 2);
    array::from_fn(|matrix| match TRANSPOSED {
        false => element(matrix, row, column) | element(matrix, row, column + 1) << 16,
        true => element(matrix, column, row) | element(matrix, column + 1, row) << 16,
    })
}
