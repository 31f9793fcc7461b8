//! Structs that derive `Plain` are exchanged by their words.

use device_std::subgroup::{self, Shuffle};
use device_std::{Plain, host};

#[derive(Debug, Clone, Copy, PartialEq, Plain)]
#[repr(C)]
struct Best {
    value: f32,
    lane: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Plain)]
#[repr(C, align(16))]
struct Aligned([[u16; 4]; 2]);

#[derive(Debug, Clone, Copy, PartialEq, Plain)]
#[repr(transparent)]
struct Wrapped {
    bits: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Plain)]
#[repr(C, packed(2))]
struct Packed {
    tag: u8,
    _pad: u8,
    wide: u64,
}

#[test]
fn structs_have_as_many_words_as_they_need() {
    assert_eq!([Best::WORDS, Aligned::WORDS, Wrapped::WORDS, Packed::WORDS], [2, 4, 2, 3]);
}

#[test]
fn structs_arrive_whole() {
    host::launch(1, 32, 0, || {
        let lane = subgroup::lane();
        let of = |lane: u32| {
            let best = Best { value: lane as f32 / 3.0, lane };
            let aligned = Aligned([[lane as u16, 1, 2, 3], [4, 5, 6, lane as u16 + 7]]);
            let packed = Packed { tag: lane as u8, _pad: 9, wide: u64::from(lane) << 40 };
            (best, aligned, Wrapped { bits: u64::MAX - u64::from(lane) }, packed)
        };
        assert_eq!(subgroup::shfl_xor(of(lane), 5), of(lane ^ 5));
    })
    .expect("a kernel in which all lanes exchange");
}
