//! What a machine must offer for sub-groups, and what it promises about them.

use super::{Shuffle, WordOperation};
use crate::thread;

/// A machine's sub-groups: the few primitives that every other operation is built on.
///
/// Sub-group `i` of a block holds the threads with linear index `i * WIDTH` to `i * WIDTH + WIDTH - 1`; the last one
/// has fewer where the block ends before (a **partial** sub-group). All primitives are collective: the lanes named by
/// [`Call::lanes`], as far as they exist, execute the same call together. None of them panics or traps.
pub trait SubGroup: Copy + 'static {
    /// The lanes of a full sub-group: a power of two of at most 64, and the largest size that [`size`](Self::size) has.
    const WIDTH: u32;
    /// Whether lanes follow the linear thread index, first dimension fastest. The default of every query needs it.
    const LINEAR_LANES: bool;
    /// Whether sub-groups make progress without each other: one may wait for another.
    const INDEPENDENT: bool;
    /// Whether segments may run apart: an operation on segments needs only the lanes of the caller's own segment.
    const PARTITIONABLE: bool;
    /// The bits that one native shuffle moves. Longer values take several.
    const NATIVE_BITS: u32 = 32;
    /// All lanes of a full sub-group.
    const LANES: u64 = u64::MAX >> (64 - Self::WIDTH);

    /// Where in the source an operation was asked for; nothing on a GPU.
    type Site: Copy;

    /// The site of the caller, for an operation of that name.
    #[cfg_attr(on_host, track_caller)]
    fn site(operation: &'static str) -> Self::Site;

    /// The thread's lane: below [`WIDTH`](Self::WIDTH), and not dependent on which other lanes are active.
    fn lane() -> u32;

    /// The value of `word` in the lane `source` of the segment, modulo the segment's width.
    ///
    /// Where that lane does not exist, an unspecified word.
    fn shuffle(call: Call<Self>, word: u32, source: u32) -> u32;

    /// The lanes of the call that have `predicate` set, as bits of the sub-group.
    fn ballot(call: Call<Self>, predicate: bool) -> u64;

    /// Waits for all lanes of the call, and orders their memory accesses.
    fn barrier(call: Call<Self>);

    /// The value of `word` in the lane `distance` above, or the lane's own past the end of the segment.
    ///
    /// `distance` is below the width.
    #[inline(always)]
    fn shuffle_down(call: Call<Self>, word: u32, distance: u32) -> u32 {
        let own = Self::lane() & call.width.wrapping_sub(1);
        let source = own.wrapping_add(distance);
        Self::shuffle(call, word, if source < call.width { source } else { own })
    }

    /// The value of `word` in the lane `distance` below, or the lane's own before the start of the segment.
    ///
    /// `distance` is below the width.
    #[inline(always)]
    fn shuffle_up(call: Call<Self>, word: u32, distance: u32) -> u32 {
        let own = Self::lane() & call.width.wrapping_sub(1);
        Self::shuffle(call, word, if distance <= own { own.wrapping_sub(distance) } else { own })
    }

    /// The value of `word` in the lane whose number differs by `mask`, which is below the width.
    #[inline(always)]
    fn shuffle_xor(call: Call<Self>, word: u32, mask: u32) -> u32 {
        Self::shuffle(call, word, Self::lane() ^ mask)
    }

    /// Whether any lane of the call has `predicate` set.
    #[inline(always)]
    fn any(call: Call<Self>, predicate: bool) -> bool {
        Self::ballot(call, predicate) != 0
    }

    /// Whether all lanes of the call have `predicate` set.
    #[inline(always)]
    fn all(call: Call<Self>, predicate: bool) -> bool {
        Self::ballot(call, !predicate) == 0
    }

    /// The lanes of the call that have the same `word` as this one, as bits of the sub-group.
    #[inline(always)]
    fn match_any(call: Call<Self>, word: u32) -> u64 {
        let mut same = Self::ballot(call, true);
        let mut bit = 0u32;
        while bit < u32::BITS {
            let is_set = word.wrapping_shr(bit) & 1 != 0;
            let set = Self::ballot(call, is_set);
            same &= if is_set { set } else { !set };
            bit = bit.wrapping_add(1);
        }
        same
    }

    /// Whether all lanes of the call have the same `word`.
    #[inline(always)]
    fn match_all(call: Call<Self>, word: u32) -> bool {
        let first = Self::shuffle(call, word, 0);
        Self::all(call, word == first)
    }

    /// All existing lanes' words combined, the same in all lanes; `None` where the machine has no instruction for it.
    ///
    /// Which of the two comes back depends on the operation alone.
    #[inline(always)]
    fn reduce_word(call: Call<Self>, operation: WordOperation, word: u32) -> Option<u32> {
        let _ = (call, operation, word);
        None
    }

    /// Whether one native shuffle moves a value of that type; others are moved in several.
    #[inline(always)]
    fn is_native<T: Shuffle>() -> bool {
        const { T::WORDS * size_of::<u32>() * 8 <= Self::NATIVE_BITS as usize }
    }

    /// The number of lanes that exist in this sub-group.
    #[inline(always)]
    fn size() -> u32 {
        let first = thread::index_in_block() & !(Self::WIDTH - 1);
        thread::threads_of_block().wrapping_sub(first).min(Self::WIDTH)
    }

    /// Which sub-group of the block this is.
    #[inline(always)]
    fn id() -> u32 {
        thread::index_in_block() / Self::WIDTH
    }

    /// The number of sub-groups in the block.
    #[inline(always)]
    fn count() -> u32 {
        thread::threads_of_block().wrapping_add(Self::WIDTH - 1) / Self::WIDTH
    }
}

/// One collective operation: which lanes take part.
#[derive(Debug)]
pub struct Call<S: SubGroup> {
    /// The lanes of the caller's segment, as bits of the sub-group. Lanes that do not exist may be among them.
    pub lanes: u64,
    /// The first of them.
    pub first: u32,
    /// How many they are: a power of two.
    pub width: u32,
    /// Where the operation was asked for.
    pub site: S::Site,
}

impl<S: SubGroup> Clone for Call<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: SubGroup> Copy for Call<S> {}
