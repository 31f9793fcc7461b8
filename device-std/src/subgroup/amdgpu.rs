//! Wavefronts, of 32 or 64 threads as the processor has them.
//!
//! The width is a constant of this crate, read from the processor's name by the build script. Lanes are hardware lanes
//! (`mbcnt` over all bits), which do not depend on the active ones. `ds_bpermute` reads any lane's register, its
//! address modulo 64 lanes: a source outside the segment is replaced by the lane itself before the permute, never by
//! its address wrapping around.

use super::{Call, SubGroup};
use core::arch::amdgpu;
use core::sync::atomic::{Ordering, compiler_fence};

/// AMD's sub-groups.
#[derive(Debug, Clone, Copy)]
pub struct Wavefront;

/// The bytes of a register: lanes are addressed by bytes.
const REGISTER: u32 = 4;

impl SubGroup for Wavefront {
    const WIDTH: u32 = if cfg!(wave64) { 64 } else { 32 };
    const LINEAR_LANES: bool = true;
    const INDEPENDENT: bool = true;
    const PARTITIONABLE: bool = true;

    type Site = ();

    #[inline(always)]
    fn site(_: &'static str) {}

    #[inline(always)]
    fn lane() -> u32 {
        amdgpu::mbcnt_hi(u32::MAX, amdgpu::mbcnt_lo(u32::MAX, 0))
    }

    #[inline(always)]
    fn shuffle(call: Call<Self>, word: u32, source: u32) -> u32 {
        // For a whole sub-group `first` is 0, and for a segment it holds just the bits that `source` is cleared of.
        let source = source & call.width.wrapping_sub(1) | call.first;
        // SAFETY: there is no precondition; from a lane that is not active comes an unspecified word.
        unsafe { amdgpu::ds_bpermute(source.wrapping_mul(REGISTER), word) }
    }

    #[inline(always)]
    fn ballot(call: Call<Self>, predicate: bool) -> u64 {
        // Lanes of other segments may be active too.
        amdgpu::ballot(predicate) & call.lanes
    }

    /// The lanes of a wavefront execute together and their memory accesses are performed in order, so that only the
    /// compiler has to be kept from moving any across: at the scope of a wavefront, LLVM makes no instruction of a
    /// fence.
    #[inline(always)]
    fn barrier(_: Call<Self>) {
        compiler_fence(Ordering::Release);
        amdgpu::wave_barrier();
        compiler_fence(Ordering::Acquire);
    }
}
