//! Votes and matches.

use super::{Case, Cases, Expected, Place, Random, blocks_and_segments, inputs};
use crate::RESULTS;

/// Whether a thread's predicate holds.
type Predicate = fn(u32, Place, &mut Random) -> bool;

const PREDICATES: [(&str, Predicate); 5] = [
    ("none", |_, _, _| false),
    ("all", |_, _, _| true),
    ("each third", |thread, _, _| thread.is_multiple_of(3)),
    ("the last", |_, place, _| place.lane == place.size - 1),
    ("some", |_, _, random| random.below(2) == 0),
];

/// What a thread holds against the others' values.
type Held = fn(u32, &mut Random) -> [u64; 2];

/// Equal values; values that differ in the third word, in the second, and in the sign of zero; a few values.
const VALUES: [Held; 5] = [
    |_, _| [0x7ff8_0000_0000_0001, 5],
    |thread, _| [7, u64::from(thread / 16)],
    |thread, _| [u64::from(thread % 4) << 32, 0],
    |thread, _| [u64::from(thread % 2) << 63, 1 << 63],
    |_, random| [random.below(4), random.below(2) << 40],
];

pub(super) fn cases(width: u32) -> Cases {
    let all = blocks_and_segments(width).flat_map(move |(block, segment)| {
        let kinds = PREDICATES.into_iter().zip(VALUES);
        kinds.map(move |(predicate, held)| case(width, block, predicate, held, segment))
    });
    Box::new(all)
}

fn case(width: u32, block: [u32; 3], (name, predicate): (&str, Predicate), held: Held, segment: u32) -> Case {
    let threads = block.iter().product();
    let mut random = Random::new(u64::from(threads * 64 + segment));
    let places: Vec<Place> = (0..threads).map(|thread| Place::of(thread, threads, width)).collect();
    let set: Vec<bool> = places.iter().zip(0..).map(|(place, thread)| predicate(thread, *place, &mut random)).collect();
    let values: Vec<[u64; 2]> = (0..threads).map(|thread| held(thread, &mut random)).collect();
    let expected = |thread: u32| {
        let place = places[thread as usize];
        let mut expected: Expected = [Some(0); RESULTS];
        expected[..9].copy_from_slice(&nine(place, &set, &values).map(Some));
        expected[9..18].copy_from_slice(&nine(place.segment(segment), &set, &values).map(Some));
        expected
    };
    Case {
        name: format!("votes in a block of {block:?} by {width}: {name}, segments of {segment}"),
        kernel: "vote",
        width,
        block,
        threads: inputs(threads, |thread| {
            let [low, high] = values[thread as usize];
            vec![u64::from(set[thread as usize]), low, high]
        }),
        common: vec![u64::from(segment)],
        expected: (0..threads).map(expected).collect(),
    }
}

fn nine(place: Place, set: &[bool], values: &[[u64; 2]]) -> [u64; 9] {
    let lanes = || (0..place.size).map(|lane| (lane, (place.first + lane) as usize));
    let bits = |holds: &dyn Fn(usize) -> bool| -> u64 {
        lanes().filter(|(_, thread)| holds(*thread)).map(|(lane, _)| 1 << lane).sum()
    };
    let everyone = bits(&|_| true);
    let ballot = bits(&|thread| set[thread]);
    let own = values[(place.first + place.lane) as usize];
    let short = bits(&|thread| values[thread][0] as u32 == own[0] as u32);
    let double = bits(&|thread| values[thread][0] == own[0]);
    let long = bits(&|thread| values[thread] == own);
    let is_all = |bits: u64| u64::from(bits == everyone);
    [u64::from(ballot != 0), is_all(ballot), ballot, short, is_all(short), double, is_all(double), long, is_all(long)]
}
