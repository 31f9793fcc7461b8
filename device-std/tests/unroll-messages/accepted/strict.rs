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

use device_std::{device, unroll};

const fn constant<const N: usize>() -> u32 {
    let mut sum = 0;
    unroll!(cap 8; for i in 0..=N { if i == 2 { continue; } if i == 5 { break; } sum += 1 << i; });
    sum
}

#[device]
fn hinted(n: usize) -> usize {
    unroll! { 'turn: for (i, x) in ((0, n), (1, n + 1)) {
        #[nounroll]
        while x > i {
            continue 'turn;
        }
        return i;
    } }
    n
}

fn main() {
    unroll! { for i in 0u32..4 { let half~i = i * 3 + (i << 1) >= i; } }
    unroll!(for i in (3..=0).step_by(-1) { assert_eq!(half~i, i >= 0); });
    const SUM: u32 = constant::<7>();
    assert_eq!((SUM, hinted(3)), (27, 3));
}
