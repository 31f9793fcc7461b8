//! Warps, by LLVM's intrinsics.
//!
//! An intrinsic is convergent, which inline assembly is not: LLVM may not move or copy it into a branch.
//!
//! # The member mask
//! `shfl.sync`, `vote.sync`, `match.sync` and `redux.sync` take the set of lanes that execute them together, and wait
//! for the *non-exited threads* in it. Operations on the whole sub-group pass all 32 lanes as a constant, in a partial
//! warp too: lanes without a thread have nothing to wait for, and contribute to no vote or reduction. A mask computed
//! from the block size would name the same threads, at a price: unless the mask is a constant, ptxas guards every
//! operation with a check that all lanes hold the same mask (`MATCH`, `REDUX`, `BRA.DIV`). Segments pay it, as only
//! their own lanes may be named. The active mask is no way out: what it holds depends on how far the hardware lets
//! lanes drift apart.

#[cfg(target_feature = "sm_80")]
use super::WordOperation;
use super::{Call, SubGroup};

/// NVIDIA's sub-groups: 32 consecutive threads.
#[derive(Debug, Clone, Copy)]
pub struct Warp;

#[repr(C)]
struct Matched {
    lanes: u32,
    all: bool,
}

// SAFETY: these are LLVM's own declarations of the intrinsics.
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    safe fn laneid() -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_sync_idx(members: u32, value: u32, lane: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_sync_down(members: u32, value: u32, distance: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_sync_up(members: u32, value: u32, distance: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_sync_bfly(members: u32, value: u32, mask: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any_sync(members: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all_sync(members: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot_sync(members: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_sync(members: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.all.sync.i32p"]
    fn match_all_sync(members: u32, value: u32) -> Matched;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(members: u32);
}

/// Reductions in one instruction, which sm_80 brought.
#[cfg(target_feature = "sm_80")]
mod redux {
    use super::WordOperation;

    macro_rules! operations {
        ($($operation:ident = $name:ident, $intrinsic:literal;)*) => {
            // SAFETY: these are LLVM's own declarations of the intrinsics: the members come last.
            unsafe extern "unadjusted" {
                $(
                    #[link_name = $intrinsic]
                    fn $name(word: u32, members: u32) -> u32;
                )*
            }

            /// # Safety
            /// The lane is one of the members.
            #[inline(always)]
            pub unsafe fn redux(operation: WordOperation, word: u32, members: u32) -> u32 {
                match operation {
                    // SAFETY: the caller's promise.
                    $(WordOperation::$operation => unsafe { $name(word, members) },)*
                }
            }
        };
    }

    operations! {
        Add = add, "llvm.nvvm.redux.sync.add";
        Min = umin, "llvm.nvvm.redux.sync.umin";
        Max = umax, "llvm.nvvm.redux.sync.umax";
        SignedMin = min, "llvm.nvvm.redux.sync.min";
        SignedMax = max, "llvm.nvvm.redux.sync.max";
        And = and, "llvm.nvvm.redux.sync.and";
        Or = or, "llvm.nvvm.redux.sync.or";
        Xor = xor, "llvm.nvvm.redux.sync.xor";
    }
}

/// The last operand of a shuffle: bits 8 to 12 hold the lane bits that the source shares with the caller, the low five
/// the bound of the source within the rest.
#[inline(always)]
fn control(width: u32, bound: u32) -> u32 {
    Warp::WIDTH.wrapping_sub(width).wrapping_shl(8) | bound
}

/// The bound for a source that may not lie above the segment.
const UPWARDS: u32 = 0x1f;
/// The bound for a source that may not lie below the segment.
const DOWNWARDS: u32 = 0;

// SAFETY: (all calls below) the caller's lane is among the members, since a call names the caller's own segment. That
// all members execute the call together is the contract of the trait; where they do not, the result is unspecified.
impl SubGroup for Warp {
    const WIDTH: u32 = 32;
    const LINEAR_LANES: bool = true;
    const INDEPENDENT: bool = true;
    const PARTITIONABLE: bool = true;

    type Site = ();

    #[inline(always)]
    fn site(_: &'static str) {}

    #[inline(always)]
    fn lane() -> u32 {
        laneid()
    }

    #[inline(always)]
    fn shuffle(call: Call<Self>, word: u32, source: u32) -> u32 {
        // SAFETY: as above.
        unsafe { shfl_sync_idx(call.lanes as u32, word, source, control(call.width, UPWARDS)) }
    }

    #[inline(always)]
    fn shuffle_down(call: Call<Self>, word: u32, distance: u32) -> u32 {
        // SAFETY: as above.
        unsafe { shfl_sync_down(call.lanes as u32, word, distance, control(call.width, UPWARDS)) }
    }

    #[inline(always)]
    fn shuffle_up(call: Call<Self>, word: u32, distance: u32) -> u32 {
        // SAFETY: as above.
        unsafe { shfl_sync_up(call.lanes as u32, word, distance, control(call.width, DOWNWARDS)) }
    }

    #[inline(always)]
    fn shuffle_xor(call: Call<Self>, word: u32, mask: u32) -> u32 {
        // SAFETY: as above.
        unsafe { shfl_sync_bfly(call.lanes as u32, word, mask, control(call.width, UPWARDS)) }
    }

    #[inline(always)]
    fn ballot(call: Call<Self>, predicate: bool) -> u64 {
        // SAFETY: as above.
        u64::from(unsafe { vote_ballot_sync(call.lanes as u32, predicate) })
    }

    #[inline(always)]
    fn any(call: Call<Self>, predicate: bool) -> bool {
        // SAFETY: as above.
        unsafe { vote_any_sync(call.lanes as u32, predicate) }
    }

    #[inline(always)]
    fn all(call: Call<Self>, predicate: bool) -> bool {
        // SAFETY: as above.
        unsafe { vote_all_sync(call.lanes as u32, predicate) }
    }

    #[inline(always)]
    fn match_any(call: Call<Self>, word: u32) -> u64 {
        // SAFETY: as above.
        u64::from(unsafe { match_any_sync(call.lanes as u32, word) })
    }

    #[inline(always)]
    fn match_all(call: Call<Self>, word: u32) -> bool {
        // SAFETY: as above.
        unsafe { match_all_sync(call.lanes as u32, word) }.all
    }

    #[cfg(target_feature = "sm_80")]
    #[inline(always)]
    fn reduce_word(call: Call<Self>, operation: WordOperation, word: u32) -> Option<u32> {
        // SAFETY: as above.
        Some(unsafe { redux::redux(operation, word, call.lanes as u32) })
    }

    #[inline(always)]
    fn barrier(call: Call<Self>) {
        // SAFETY: as above.
        unsafe { bar_warp_sync(call.lanes as u32) };
    }
}
