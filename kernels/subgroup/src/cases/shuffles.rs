//! Shuffles: every type, lane, distance, width and mask of the contract.

use super::{Case, Cases, Expected, Place, Random, group_sizes, inputs, line, segment_widths};
use crate::value::{Odd, Pair};
use crate::{RESULTS, Value};
use device_std::math::{Bf16, F16};

/// A distance that is beyond every sub-group, and 1 when cut to 32 bits.
const WIDE: u64 = (1 << 32) + 1;

/// A kernel and the bits of its values.
#[derive(Clone, Copy)]
struct Type {
    kernel: &'static str,
    /// Makes bits of a value out of any.
    value: fn(u128) -> u128,
    /// Bits that are worth a try.
    special: &'static [u128],
}

fn through<T: Value>(bits: u128) -> u128 {
    T::from_bits(bits).bits()
}

fn types() -> impl Iterator<Item = Type> {
    let plain = |kernel, value: fn(u128) -> u128| Type { kernel, value, special: &[0, u128::MAX] };
    let list = [
        plain("shuffle_bool", through::<bool>),
        plain("shuffle_u8", through::<u8>),
        plain("shuffle_u16", through::<u16>),
        plain("shuffle_u32", through::<u32>),
        plain("shuffle_u64", through::<u64>),
        plain("shuffle_u128", through::<u128>),
        plain("shuffle_usize", through::<usize>),
        plain("shuffle_i8", through::<i8>),
        plain("shuffle_i16", through::<i16>),
        plain("shuffle_i32", through::<i32>),
        plain("shuffle_i64", through::<i64>),
        plain("shuffle_i128", through::<i128>),
        plain("shuffle_isize", through::<isize>),
        // -0, infinity, and NaNs with payloads, quiet and signalling.
        Type { kernel: "shuffle_f16", value: through::<F16>, special: &[0x8000, 0x7c00, 0x7e55, 0xfd01] },
        Type { kernel: "shuffle_bf16", value: through::<Bf16>, special: &[0x8000, 0x7f80, 0x7fc5, 0xff91] },
        Type { kernel: "shuffle_primitive_f16", value: through::<F16>, special: &[0x8000, 0x7c00, 0x7e55, 0xfd01] },
        Type {
            kernel: "shuffle_f32",
            value: through::<f32>,
            special: &[1 << 31, 0x7f80_0000, 0x7fc0_beef, 0xff81_2345],
        },
        Type {
            kernel: "shuffle_f64",
            value: through::<f64>,
            special: &[1 << 63, 0x7ff0 << 48, 0x7ff8_0000_dead_beef, 0xfff4_0000_0000_0001],
        },
        Type {
            kernel: "shuffle_char",
            value: |bits| u128::from(character(bits as u32)),
            special: &[0x41, 0x10_ffff, 0xe000],
        },
        plain("shuffle_pair", through::<Pair>),
        plain("shuffle_odd", through::<Odd>),
        Type {
            kernel: "shuffle_tuple",
            value: |bits| {
                through::<(u8, char, f64)>(
                    bits & !(0xffff_ffff << 32) | u128::from(character((bits >> 32) as u32)) << 32,
                )
            },
            special: &[0x7ff0_dead_0000_beef << 64 | 0x1_f600 << 32 | 0xff],
        },
    ];
    list.into_iter()
}

/// Some character, for any number.
fn character(number: u32) -> u32 {
    char::from_u32(number % 0x11_0000).map_or(0x20ac, u32::from)
}

/// The lane that a thread asks for.
type Lanes = fn(Place, u64, &mut Random) -> u64;

/// Lanes to ask for: the same for all, rotations, a reversal, any, and such as do not exist.
const LANES: [Lanes; 9] = [
    |_, _, _| 0,
    |_, _, _| 1,
    |_, width, _| width - 1,
    |_, width, _| width,
    |place, width, _| (u64::from(place.lane) + 1) % width,
    |place, _, _| (u64::from(place.lane) + 3) % u64::from(place.size),
    |place, _, _| u64::from(place.size - 1 - place.lane),
    |place, _, random| random.below(u64::from(place.size)),
    |_, width, random| random.number() | width,
];

pub(super) fn cases(width: u32) -> Cases {
    let wide = u64::from(width);
    let distances = [0, 1, 3, wide / 2, wide - 1, wide, wide + 1, WIDE, u64::MAX];
    let masks = [0, 1, wide - 1, wide / 2];
    let segments = segment_widths(width).flat_map(|segment| {
        let segment = u64::from(segment);
        [1, 3, segment - 1, segment + 2, WIDE, u64::MAX].map(|argument| (segment, argument))
    });
    let arguments: Vec<_> = segments.collect();
    let make = move |(index, &(segment, argument)): (usize, &(u64, u64))| Arguments {
        lanes: LANES[index % LANES.len()],
        distance: distances[index % distances.len()],
        mask: masks[index % masks.len()],
        segment,
        segment_argument: argument,
        segment_mask: [0, 1, segment - 1][index % 3] % segment,
    };
    let arguments: Vec<Arguments> = arguments.iter().enumerate().map(make).collect();
    let all = types().flat_map(move |ty| {
        let arguments = arguments.clone();
        group_sizes(width).into_iter().flat_map(move |threads| {
            arguments.clone().into_iter().map(move |arguments| arguments.case(ty, threads, width))
        })
    });
    Box::new(all)
}

/// The arguments of one launch.
#[derive(Clone, Copy)]
struct Arguments {
    lanes: Lanes,
    distance: u64,
    mask: u64,
    segment: u64,
    /// The lane that all ask for in their segment, and the distance there.
    segment_argument: u64,
    segment_mask: u64,
}

impl Arguments {
    fn case(self, ty: Type, threads: u32, width: u32) -> Case {
        let mut random =
            Random::new(u64::from(threads) << 32 | self.distance ^ self.segment_argument ^ self.segment << 20);
        let values: Vec<u128> = (0..threads).map(|thread| ty.bits(thread, &mut random)).collect();
        let places: Vec<Place> = (0..threads).map(|thread| Place::of(thread, threads, width)).collect();
        let lanes: Vec<u64> = places.iter().map(|place| (self.lanes)(*place, u64::from(width), &mut random)).collect();
        let of = |thread: u32| {
            let (value, lane) = (values[thread as usize], lanes[thread as usize]);
            vec![value as u64, (value >> 64) as u64, lane, self.segment_argument]
        };
        let expected = places.iter().zip(&lanes).map(|(place, lane)| self.expected(&values, *place, *lane, width));
        Case {
            name: format!(
                "{} of {threads} threads by {width}: distance {:#x}, mask {}; segments of {}: lane and distance {:#x}, mask {}",
                ty.kernel, self.distance, self.mask, self.segment, self.segment_argument, self.segment_mask
            ),
            kernel: ty.kernel,
            width,
            block: line(threads),
            threads: inputs(threads, of),
            common: vec![self.distance, self.mask, self.segment, self.segment_argument, self.segment_mask],
            expected: expected.collect(),
        }
    }

    fn expected(&self, values: &[u128], place: Place, lane: u64, width: u32) -> Expected {
        let segment = self.segment as u32;
        let in_segment = place.segment(segment);
        let sources = [
            // A lane that does not exist gives what it likes.
            existing(place, lane),
            down(place, self.distance, width),
            up(place, self.distance),
            existing(place, u64::from(place.lane) ^ self.mask),
            existing(in_segment, self.segment_argument % self.segment),
            down(in_segment, self.segment_argument, segment),
            up(in_segment, self.segment_argument),
            existing(in_segment, u64::from(in_segment.lane) ^ self.segment_mask),
        ];
        let mut expected = [None; RESULTS];
        for (at, source) in sources.into_iter().enumerate() {
            let bits = source.map(|thread| values[thread as usize]);
            expected[2 * at] = bits.map(|bits| bits as u64);
            expected[2 * at + 1] = bits.map(|bits| (bits >> 64) as u64);
        }
        expected[2 * sources.len()..].fill(Some(0));
        expected
    }
}

impl Type {
    fn bits(self, thread: u32, random: &mut Random) -> u128 {
        let special = self.special.get(thread as usize / 3).filter(|_| thread.is_multiple_of(3));
        (self.value)(special.copied().unwrap_or_else(|| random.wide()))
    }
}

/// The thread that is that lane.
fn existing(place: Place, lane: u64) -> Option<u32> {
    (lane < u64::from(place.size)).then(|| place.first + lane as u32)
}

/// The thread that is so far above, or the lane itself past the width.
fn down(place: Place, distance: u64, width: u32) -> Option<u32> {
    match u64::from(place.lane).checked_add(distance) {
        Some(lane) if lane < u64::from(width) => existing(place, lane),
        _ => Some(place.first + place.lane),
    }
}

/// The thread that is so far below, or the lane itself below 0.
fn up(place: Place, distance: u64) -> Option<u32> {
    existing(place, u64::from(place.lane).checked_sub(distance).unwrap_or(u64::from(place.lane)))
}
