//! A sub-group cut into segments of equal width, and the operations within a segment.
//!
//! The whole sub-group is the case of one segment. Everything here is written once, over the primitives of
//! [`SubGroup`]; `reduce` and the scans are in `fold`.

use super::{Call, Lane, Shuffle, SubGroup};
use core::marker::PhantomData;

/// Segments of a sub-group: each behaves as a sub-group of that width.
///
/// Lanes are counted from 0 within the segment, and so are the bits of [`ballot`](Self::ballot) and
/// [`match_any`](Self::match_any). Every operation is collective: all lanes of the caller's segment that exist must
/// execute it together, those of other segments need not (where the machine is
/// [partitionable](SubGroup::PARTITIONABLE)).
#[derive(Debug)]
pub struct Segments<S> {
    log2: u32,
    machine: PhantomData<S>,
}

impl<S> Clone for Segments<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Segments<S> {}

impl<S: SubGroup> Segments<S> {
    /// The sub-group as one segment.
    pub const WHOLE: Segments<S> = Segments { log2: S::WIDTH.ilog2(), machine: PhantomData };

    /// Segments of `width` lanes; `None` unless that is a power of two of at most [`SubGroup::WIDTH`].
    #[inline(always)]
    pub const fn new(width: u32) -> Option<Segments<S>> {
        if width.is_power_of_two() && width <= S::WIDTH {
            return Some(Segments { log2: width.trailing_zeros(), machine: PhantomData });
        }
        None
    }

    /// Segments of `WIDTH` lanes, checked while compiling.
    #[inline(always)]
    pub const fn of<const WIDTH: u32>() -> Segments<S> {
        const { Segments::checked(WIDTH) }
    }

    #[track_caller]
    const fn checked(width: u32) -> Segments<S> {
        match Segments::new(width) {
            Some(segments) => segments,
            None => panic!("the width of a segment is a power of two, at most the sub-group's"),
        }
    }

    /// The lanes of a segment.
    #[inline(always)]
    pub const fn width(self) -> u32 {
        1u32.wrapping_shl(self.log2)
    }

    /// The thread's lane in its segment.
    #[inline(always)]
    pub fn lane(self) -> u32 {
        S::lane() & self.width().wrapping_sub(1)
    }

    /// Which segment of the sub-group the thread is in.
    #[inline(always)]
    pub fn index(self) -> u32 {
        S::lane().wrapping_shr(self.log2)
    }

    /// How many lanes of the thread's segment exist.
    #[inline(always)]
    pub fn size(self) -> u32 {
        S::size().wrapping_sub(self.first_of(S::lane())).min(self.width())
    }

    /// `value` of the lane `lane` modulo the width; lanes may ask for different ones.
    ///
    /// Where that lane does not exist, an unspecified value.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn shfl<T: Shuffle>(self, value: T, lane: impl Lane) -> T {
        let call = self.call("shfl");
        let source = lane.widen() as u32;
        value.map_words(&mut |word| S::shuffle(call, word, source))
    }

    /// `value` of the lane `distance` above; the thread's own where that is past the width.
    ///
    /// `distance` is the same in all lanes. Where a lane within the width does not exist, an unspecified value.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn shfl_down<T: Shuffle>(self, value: T, distance: impl Lane) -> T {
        let call = self.call("shfl_down");
        let distance = self.within(distance);
        value.map_words(&mut |word| S::shuffle_down(call, word, distance))
    }

    /// `value` of the lane `distance` below; the thread's own where that would be below lane 0.
    ///
    /// `distance` is the same in all lanes.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn shfl_up<T: Shuffle>(self, value: T, distance: impl Lane) -> T {
        let call = self.call("shfl_up");
        let distance = self.within(distance);
        value.map_words(&mut |word| S::shuffle_up(call, word, distance))
    }

    /// `value` of the lane whose number differs from this one's by `mask`.
    ///
    /// `mask` is the same in all lanes and below the width; its higher bits are not looked at. Where the lane does not
    /// exist, an unspecified value.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn shfl_xor<T: Shuffle>(self, value: T, mask: impl Lane) -> T {
        let call = self.call("shfl_xor");
        let mask = mask.widen() as u32 & self.width().wrapping_sub(1);
        value.map_words(&mut |word| S::shuffle_xor(call, word, mask))
    }

    /// Whether `predicate` holds in any lane. The same in all lanes.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn any(self, predicate: bool) -> bool {
        S::any(self.call("any"), predicate)
    }

    /// Whether `predicate` holds in all lanes. The same in all lanes.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn all(self, predicate: bool) -> bool {
        S::all(self.call("all"), predicate)
    }

    /// One bit for each lane: whether `predicate` holds there. Lanes that do not exist have 0. The same in all lanes.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn ballot(self, predicate: bool) -> u64 {
        let call = self.call("ballot");
        S::ballot(call, predicate).wrapping_shr(call.first)
    }

    /// One bit for each lane: whether its `value` has the same bits as this lane's.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn match_any<T: Shuffle>(self, value: T) -> u64 {
        let call = self.call("match_any");
        let mut same = if T::WORDS == 0 { S::ballot(call, true) } else { call.lanes };
        value.map_words(&mut |word| {
            same &= S::match_any(call, word);
            word
        });
        same.wrapping_shr(call.first)
    }

    /// Whether `value` has the same bits in all lanes. The same in all lanes.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn match_all<T: Shuffle>(self, value: T) -> bool {
        let call = self.call("match_all");
        let mut same = true;
        value.map_words(&mut |word| {
            same &= S::match_all(call, word);
            word
        });
        same
    }

    /// Waits for all lanes, and makes what each wrote to memory before visible to all of them after.
    ///
    /// No other operation of a sub-group orders memory.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn barrier(self) {
        S::barrier(self.call("barrier"));
    }

    /// The call that an operation is.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub(super) fn call(self, operation: &'static str) -> Call<S> {
        let (site, width) = (S::site(operation), self.width());
        if self.log2 == Self::WHOLE.log2 {
            return Call { lanes: S::LANES, first: 0, width, site };
        }
        let first = self.first_of(S::lane());
        let lanes = u64::MAX.wrapping_shr(64u32.wrapping_sub(width)).wrapping_shl(first);
        Call { lanes, first, width, site }
    }

    /// The first lane of the segment that a lane is in.
    #[inline(always)]
    fn first_of(self, lane: u32) -> u32 {
        lane & !self.width().wrapping_sub(1)
    }

    /// A distance as a number below the width; one that leads out of every segment is none: the lane itself.
    ///
    /// The comparison is made in 64 bits, before anything is cut off.
    #[inline(always)]
    fn within(self, distance: impl Lane) -> u32 {
        let distance = distance.widen();
        if distance < u64::from(self.width()) { distance as u32 } else { 0 }
    }
}
