//! 16-byte loads and stores: every element type, the bounds, the alignment.

use device_std::math::{Bf16, F16};
use device_std::{Plain, vector};

/// Bytes at a multiple of 16, twice as many as a vector has and a few more.
#[repr(C, align(16))]
struct Aligned<T>([T; 48]);

/// Sets and gets one vector at each place, with elements that are all different.
fn round_trip<T: Plain + PartialEq + std::fmt::Debug, const N: usize>(element: fn(u8) -> T) {
    let mut memory = Aligned(std::array::from_fn(|i| element(i as u8)));
    for start in 0..=48 - N {
        let before = memory.0;
        let vector: [T; N] = std::array::from_fn(|i| element(100 + i as u8));
        let is_aligned = (start * size_of::<T>()).is_multiple_of(16);
        let loaded = vector::get::<T, N>(&memory.0, start);
        assert_eq!(loaded.map(|loaded| loaded.to_vec()), is_aligned.then(|| before[start..start + N].to_vec()));
        assert_eq!(vector::set(&mut memory.0, start, vector), is_aligned.then_some(()));
        let mut expected = before;
        if is_aligned {
            expected[start..start + N].copy_from_slice(&vector);
        }
        assert_eq!(memory.0, expected);
    }
}

#[test]
fn every_type_of_element_makes_the_round_trip() {
    round_trip::<u8, 16>(|i| i);
    round_trip::<i16, 8>(|i| i16::from(i) * -257);
    round_trip::<u32, 4>(|i| u32::from(i) * 0x0101_0101);
    round_trip::<f32, 4>(|i| f32::from(i) / 7.0);
    round_trip::<f64, 2>(|i| f64::from(i) / 7.0);
    round_trip::<u64, 2>(|i| u64::from(i) << 56 | 1);
    round_trip::<u128, 1>(|i| u128::from(i) << 120 | 1);
    round_trip::<[f32; 2], 2>(|i| [f32::from(i), -1.0]);
}

#[test]
fn half_precision_comes_in_eights() {
    let numbers: [F16; 8] = std::array::from_fn(|i| F16::from_f32(i as f32));
    let memory = Aligned([numbers[3]; 48]);
    let loaded: [F16; 8] = vector::get(&memory.0, 8).expect("an aligned place");
    assert_eq!(loaded.map(F16::to_bits), [numbers[3].to_bits(); 8]);
    let mut memory = Aligned([Bf16::default(); 48]);
    assert_eq!(vector::set(&mut memory.0, 40, [Bf16::from_f32(2.0); 8]), Some(()));
    assert_eq!((memory.0[39].to_f32(), memory.0[47].to_f32()), (0.0, 2.0));
}

#[test]
fn outside_of_the_slice_there_is_nothing() {
    let mut memory = Aligned([0u32; 48]);
    for start in [45, 46, 48, 49, usize::MAX, usize::MAX - 3] {
        assert_eq!(vector::get::<u32, 4>(&memory.0, start), None);
        assert_eq!(vector::set(&mut memory.0, start, [1; 4]), None);
    }
    assert_eq!(vector::get::<u32, 4>(&memory.0[..3], 0), None);
    assert_eq!(memory.0, [0; 48]);
}

#[test]
fn raw_vectors_read_and_write_what_is_there() {
    let mut memory = Aligned([1.5f32; 48]);
    let place = memory.0[4..].as_mut_ptr();
    // SAFETY: four floats are there, 16 bytes after a multiple of 16.
    let read: [f32; 4] = unsafe {
        vector::store(place, [1.0, 2.0, 3.0, 4.0]);
        vector::load(place)
    };
    assert_eq!((read, memory.0[3], memory.0[8]), ([1.0, 2.0, 3.0, 4.0], 1.5, 1.5));
}

#[test]
fn refusals_are_worded() {
    let cases = trybuild::TestCases::new();
    // A program that runs comes first: it makes trybuild generate code, without which no size is evaluated.
    cases.pass("tests/vector-messages/accepted/*.rs");
    cases.compile_fail("tests/vector-messages/refused/*.rs");
}
