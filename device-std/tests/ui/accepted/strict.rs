//! A crate as strict as crates get.
#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    trivial_casts,
    trivial_numeric_casts,
    unreachable_pub,
    unused,
    unused_qualifications,
    single_use_lifetimes
)]

use device_std::{device, kernel};

const COPIES: u64 = 4;

/// A constant that only a hint uses.
trait Tiled {
    const TILE: usize;
}

struct Four;

impl Tiled for Four {
    const TILE: usize = 4;
}

#[kernel]
fn unused_on_the_host(_: &[f32]) {
    #[nounroll]
    loop {
        break;
    }
}

#[device]
fn value(n: u32) -> u32 {
    let mut i = 0;
    let found = #[nounroll]
    loop {
        i += 1;
        if i * i > n {
            break i;
        }
    };
    #[allow(clippy::needless_range_loop)]
    #[unroll(COPIES)]
    'outer: for a in 0..n {
        #[unroll({ 4 })]
        while i > a {
            i -= 1;
            if i == 2 {
                continue 'outer;
            }
        }
    }
    found + i
}

#[device]
fn generic<T: Tiled>(xs: &[u32]) -> u32 {
    let mut sum = 0;
    #[unroll({ T::TILE })]
    for x in xs {
        sum += x;
    }
    sum
}

#[device]
fn diverges(n: u32) -> u32 {
    #[nounroll]
    loop {
        if value(n) > 0 {
            return 7;
        }
    }
}

fn main() {
    assert_eq!(value(10), 5);
    assert_eq!(generic::<Four>(&[1, 2, 3, 4, 5]), 15);
    assert_eq!(diverges(1), 7);
}
