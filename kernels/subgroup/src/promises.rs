//! What a machine promises of its sub-groups beside the operations, and whether it is so.
//!
//! A thread's input: its number (one word). Nothing for all of them.

use crate::parameters::kernels;
use crate::{Input, RESULTS, Results};
use device_std::atomic::{Acquire, Atomic, Block, Relaxed, Release};
use device_std::memory::PerThread;
use device_std::shared::Shared;
use device_std::subgroup::{Segments, SubGroup};
use device_std::{block, shared};

/// The most sub-groups of a block: 1024 threads, by four.
const GROUPS: usize = 256;

/// The constants; the sum over a segment of four lanes, which every other segment asks for alone; and 1 where the sub-group
/// has waited for the one after it.
#[inline(always)]
pub fn promises<S: SubGroup>(input: Input<'_>) -> Results {
    let mut results = [0; RESULTS];
    results[0] = const { S::WIDTH as u64 };
    results[1] = const { S::LINEAR_LANES as u64 | (S::INDEPENDENT as u64) << 1 | (S::PARTITIONABLE as u64) << 2 };
    let native = [S::is_native::<u8>(), S::is_native::<char>(), S::is_native::<f32>(), S::is_native::<f64>()];
    let [a, b, c, d] = native.map(u64::from);
    results[2] = a | b << 1 | c << 2 | d << 3;
    results[3] = of_odd_segments::<S>(input.own(0));
    results[4] = u64::from(last_to_first::<S>());
    results
}

/// The sum of a segment of four in odd segments, and the thread's own number in even ones, which do not take part.
#[inline(always)]
fn of_odd_segments<S: SubGroup>(number: u64) -> u64 {
    let segments = Segments::<S>::of::<4>();
    if segments.index() % 2 == 1 { segments.reduce(number, u64::wrapping_add) } else { number }
}

/// Sub-groups go on one after another, from the last to the first, which all are waiting for from the start.
#[inline(always)]
fn last_to_first<S: SubGroup>() -> bool {
    let flags: Shared<[Atomic<u32>; GROUPS]> = shared!([Atomic<u32>; GROUPS]);
    let (id, group) = (S::id() as usize, Segments::<S>::WHOLE);
    if S::lane() == 0 {
        // SAFETY: the first lane of each sub-group writes a flag of its own, before the barrier.
        unsafe { flags.write(id, Atomic::new(0)) };
    }
    block::barrier();
    // SAFETY: from here on they are reached by atomic operations only, and those that are read were written.
    let flags = unsafe { flags.as_ref() };
    if S::lane() == 0 {
        if S::id().wrapping_add(1) < S::count() {
            while flags.get(id.wrapping_add(1)).is_some_and(|flag| flag.load(Acquire, Block) == 0) {}
        }
        if let Some(flag) = flags.get(id) {
            flag.store(1, Release, Block);
        }
    }
    group.barrier();
    flags.get(id).is_some_and(|flag| flag.load(Relaxed, Block) == 1)
}

kernels! {
    promise = promises;
}
