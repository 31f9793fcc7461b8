//! Queries, in blocks of every shape.

use super::{Case, Cases, Expected, Place, blocks_and_segments};
use crate::{INPUTS, RESULTS};

pub(super) fn cases(width: u32) -> Cases {
    Box::new(blocks_and_segments(width).map(move |(block, segment)| case(width, block, segment)))
}

fn case(width: u32, block: [u32; 3], segment: u32) -> Case {
    let threads: u32 = block.iter().product();
    Case {
        name: format!("queries in a block of {block:?} by {width}, segments of {segment}"),
        kernel: "query",
        width,
        block,
        threads: vec![0; threads as usize * INPUTS],
        common: vec![u64::from(segment)],
        expected: (0..threads).map(|thread| expected(thread, threads, width, segment)).collect(),
    }
}

fn expected(thread: u32, threads: u32, width: u32, segment: u32) -> Expected {
    let mut expected = [Some(0); RESULTS];
    if thread % 3 == 1 {
        return expected;
    }
    let place = Place::of(thread, threads, width);
    let own = place.segment(segment);
    let answers = [
        thread,
        threads,
        width,
        place.size,
        threads.div_ceil(width),
        place.first / width,
        place.lane,
        segment,
        own.size,
        (own.first - place.first) / segment,
        own.lane,
    ];
    for (expected, answer) in expected.iter_mut().zip(answers) {
        *expected = Some(u64::from(answer));
    }
    expected
}
