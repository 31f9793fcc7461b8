//! Exchanges of sub-groups.

use crate::pieces;
use device_std::subgroup::{self, segments};

pieces! {
    /// From the lane that the thread names.
    shfl(value: u32, lane: u64) -> u32 = subgroup::shfl(value, lane);
    /// From a distance above, which is compared before it is narrowed.
    shfl_down(value: u32, distance: u64) -> u32 = subgroup::shfl_down(value, distance);
    /// From a distance below.
    shfl_up(value: u32, distance: u64) -> u32 = subgroup::shfl_up(value, distance);
    /// From the lane whose number differs by a mask.
    shfl_xor(value: u32, mask: u64) -> u32 = subgroup::shfl_xor(value, mask);
    /// A value of one byte.
    shfl_u8(value: u8) -> u8 = subgroup::shfl(value, 3u32);
    /// A value of two words.
    shfl_f64(value: f64) -> f64 = subgroup::shfl(value, 3u32);
    /// In segments of eight lanes.
    segment_shfl(value: u32, lane: u64) -> u32 = segments::<8>().shfl(value, lane);
    /// In segments of eight lanes, from a distance above.
    segment_shfl_down(value: u32, distance: u64) -> u32 = segments::<8>().shfl_down(value, distance);
    /// In segments of eight lanes, from a distance below.
    segment_shfl_up(value: u32, distance: u64) -> u32 = segments::<8>().shfl_up(value, distance);

    /// Votes.
    vote_any(value: u32) -> u32 = u32::from(subgroup::any(value != 0));
    /// Votes.
    vote_all(value: u32) -> u32 = u32::from(subgroup::all(value != 0));
    /// The lanes that vote yes.
    ballot(value: u32) -> u64 = subgroup::ballot(value != 0);
    /// The lanes of a segment of eight that vote yes.
    segment_ballot(value: u32) -> u64 = segments::<8>().ballot(value != 0);
    /// The lanes with the same value.
    match_any(value: u32) -> u64 = subgroup::match_any(value);
    /// The lanes with the same value of two words.
    match_any_f64(value: f64) -> u64 = subgroup::match_any(value);
    /// Whether all lanes have the same value.
    match_all(value: u32) -> u32 = u32::from(subgroup::match_all(value));

    /// A sum whose order is pinned.
    reduce_sum(value: f32) -> f32 = subgroup::reduce(value, |a, b| a + b);
    /// A sum of integers, in the machine's own instruction where there is one.
    reduce_add(value: u32) -> u32 = subgroup::reduce_add(value);
    /// The least of numbers with a sign.
    reduce_min(value: i32) -> i32 = subgroup::reduce_min(value);
    /// The largest of numbers without one.
    reduce_max(value: u32) -> u32 = subgroup::reduce_max(value);
    /// The bits that all have, that any has, that an odd number has.
    reduce_bits(value: u32) -> [u32; 3] =
        [subgroup::reduce_and(value), subgroup::reduce_or(value), subgroup::reduce_xor(value)];
    /// A sum in segments of eight lanes.
    segment_reduce_add(value: u32) -> u32 = segments::<8>().reduce_add(value);
    /// Sums up to each lane.
    scan_sum(value: f32) -> f32 = subgroup::scan(value, |a, b| a + b);

    /// What a thread asks about its place.
    queries(value: u32) -> [u32; 5] =
        [subgroup::max_size(), subgroup::size(), subgroup::id(), subgroup::count(), subgroup::lane() ^ value];
    /// A wait for the sub-group.
    group_barrier(value: u32) -> u32 = {
        subgroup::barrier();
        value
    };
}
