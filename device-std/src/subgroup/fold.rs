//! Reductions and scans of a segment, by exchanges at doubling distances.
//!
//! The order of operations is fixed by the lanes and not by the machine, so results have the same bits everywhere that
//! `combine` itself does. (A float operation that makes a NaN may choose its payload; nothing else of IEEE arithmetic
//! is left to the machine.)

use super::{Call, Segments, Shuffle, SubGroup};

impl<S: SubGroup> Segments<S> {
    /// All lanes' values combined in lane order. The same in all lanes.
    ///
    /// `combine(a, b)` must be associative and need not be commutative: `a` always comes from lower lanes than `b`. It
    /// is called on existing lanes' values only. Neighbours combine first, then pairs of neighbours, and so on (a
    /// butterfly of distances 1, 2, 4, …). With fewer lanes than the width, all get lane 0's result, which has every
    /// existing lane's value in it.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn reduce<T: Shuffle>(self, mut value: T, combine: impl FnMut(T, T) -> T) -> T {
        let call = self.call("reduce");
        let end = self.end(call);
        value = self.butterfly(call, value, end, combine);
        if end != call.first.wrapping_add(call.width) {
            value = value.map_words(&mut |word| S::shuffle(call, word, 0));
        }
        value
    }

    /// In lane 0, the values of the first `many` lanes combined as by [`reduce`](Self::reduce).
    ///
    /// All lanes take part, and `combine` may be called on the values of any of them.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub(crate) fn reduce_first<T: Shuffle>(self, value: T, many: u32, combine: impl FnMut(T, T) -> T) -> T {
        let call = self.call("reduce");
        self.butterfly(call, value, call.first.wrapping_add(many), combine)
    }

    /// Exchanges at distances 1, 2, 4, …, leaving out lanes from `end` on.
    #[inline(always)]
    fn butterfly<T: Shuffle>(self, call: Call<S>, mut value: T, end: u32, mut combine: impl FnMut(T, T) -> T) -> T {
        let lane = S::lane();
        let mut distance = 1u32;
        while distance < call.width {
            let other = value.map_words(&mut |word| S::shuffle_xor(call, word, distance));
            // A lane without a partner keeps what it has. The first lane of a block of lanes always finds its partner,
            // the first of the upper half, unless the whole upper half is missing; so lane 0's result is complete.
            if lane ^ distance < end {
                let is_lower = lane & distance == 0;
                let (lower, upper) = if is_lower { (value, other) } else { (other, value) };
                value = combine(lower, upper);
            }
            distance = distance.wrapping_shl(1);
        }
        value
    }

    /// The values of lane 0 up to this one, combined in lane order.
    ///
    /// `combine` is as in [`reduce`](Self::reduce). Each lane combines with the one 1 below, then 2, then 4, …
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn scan<T: Shuffle>(self, mut value: T, mut combine: impl FnMut(T, T) -> T) -> T {
        let call = self.call("scan");
        let lane = self.lane();
        let mut distance = 1u32;
        while distance < call.width {
            let below = value.map_words(&mut |word| S::shuffle_up(call, word, distance));
            if distance <= lane {
                value = combine(below, value);
            }
            distance = distance.wrapping_shl(1);
        }
        value
    }

    /// `init`, combined with the values of all lanes below this one; lane 0 gets `init` itself.
    ///
    /// The lanes below are combined as [`scan`](Self::scan) does, and `init` with the result.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn exclusive_scan<T: Shuffle>(self, value: T, init: T, mut combine: impl FnMut(T, T) -> T) -> T {
        let through = self.scan(value, &mut combine);
        let below = self.shfl_up(through, 1);
        if self.lane() == 0 { init } else { combine(init, below) }
    }

    /// One past the last existing lane of the segment, counted in the sub-group.
    #[inline(always)]
    fn end(self, call: Call<S>) -> u32 {
        64u32.wrapping_sub(S::ballot(call, true).leading_zeros())
    }
}
