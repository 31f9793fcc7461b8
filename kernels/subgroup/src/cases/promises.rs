//! What every machine here promises.

use super::{Case, Cases, Expected, Place, blocks, group_sizes, inputs, line};
use crate::RESULTS;

pub(super) fn cases(width: u32) -> Cases {
    Box::new(group_sizes(width).into_iter().map(line).chain(blocks(width)).map(move |block| case(width, block)))
}

fn case(width: u32, block: [u32; 3]) -> Case {
    let threads: u32 = block.iter().product();
    Case {
        name: format!("promises in a block of {block:?} by {width}"),
        kernel: "promise",
        width,
        block,
        threads: inputs(threads, |thread| vec![number(thread)]),
        common: vec![],
        expected: (0..threads).map(|thread| expected(thread, threads, width)).collect(),
    }
}

fn number(thread: u32) -> u64 {
    u64::from(thread) << 20 | 1
}

/// All three promises are made everywhere, and 32 bits are native, so a double is not.
fn expected(thread: u32, threads: u32, width: u32) -> Expected {
    let place = Place::of(thread, threads, width);
    let own = place.segment(4);
    let is_odd = (own.first - place.first) / 4 % 2 == 1;
    let sum = (own.first..own.first + own.size).map(number).sum();
    let mut expected = [Some(0); RESULTS];
    expected[..5]
        .copy_from_slice(&[u64::from(width), 0b111, 0b0111, if is_odd { sum } else { number(thread) }, 1].map(Some));
    expected
}
