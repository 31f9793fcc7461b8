//! What an instruction's function sees while it runs: the current warp's registers, the lanes to act for, the memories.

use crate::counts::Tally;
use crate::fault::FaultKind;
use crate::launch::Env;
use crate::memory::Memory;
use crate::program::{File, Inst, Program, Reg};
use crate::shared::Shared;
use crate::warp::Warp;

/// The lanes of a warp.
pub(crate) const LANES: usize = 32;

/// One value a lane.
pub(crate) type L32 = [u32; LANES];
/// One value a lane.
pub(crate) type L64 = [u64; LANES];

/// An instruction stopped the kernel; [`Exec::fault`] says why.
#[derive(Debug)]
pub(crate) struct Stopped;

/// Whether an instruction's function went through.
pub(crate) type Done = Result<(), Stopped>;

/// Where the current frame's registers and local memory begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Base {
    pub func: u32,
    pub r32: u32,
    pub r64: u32,
    pub pred: u32,
    pub local: u32,
}

/// The state an instruction works on.
pub(crate) struct Exec<'a> {
    pub prog: &'a Program,
    pub env: &'a Env<'a>,
    pub mem: &'a Memory,
    pub w: &'a mut Warp,
    pub sh: &'a mut Shared,
    pub tally: Option<&'a mut Tally>,
    /// Lanes to act for.
    pub mask: u32,
    /// The mask, spread: all ones or zero per lane.
    pub spread: L32,
    pub base: Base,
    pub pc: u32,
    pub fault: Option<(FaultKind, u32)>,
    /// Block index and linear number.
    pub block: [u32; 3],
    /// Words a load gave, and which of their bytes nothing wrote.
    pub words: [L32; 8],
    pub unwritten: [[u8; LANES]; 8],
    pub any_unwritten: bool,
}

impl Exec<'_> {
    /// Sets the lanes to act for.
    #[inline]
    pub(crate) fn set_mask(&mut self, mask: u32) {
        if mask != self.mask {
            self.mask = mask;
            for (l, s) in self.spread.iter_mut().enumerate() {
                *s = (mask >> l & 1).wrapping_neg();
            }
        }
    }

    /// Stops the kernel: `lane` broke a rule.
    #[cold]
    pub(crate) fn stop<T>(&mut self, lane: usize, kind: FaultKind) -> Result<T, Stopped> {
        self.fault = Some((kind, lane as u32));
        Err(Stopped)
    }

    /// The first lane to act for.
    #[inline]
    pub(crate) fn first(&self) -> usize {
        (self.mask.trailing_zeros() & 31) as usize
    }

    #[inline]
    pub(crate) fn get32(&self, r: Reg) -> L32 {
        self.w.r32[(self.base.r32 + r.index) as usize]
    }

    #[inline]
    pub(crate) fn get64(&self, r: Reg) -> L64 {
        self.w.r64[(self.base.r64 + r.index) as usize]
    }

    #[inline]
    pub(crate) fn pred(&self, r: Reg) -> u32 {
        self.w.preds[(self.base.pred + r.index) as usize]
    }

    #[inline]
    pub(crate) fn put32(&mut self, r: Reg, v: &L32) {
        if r.file == File::None {
            return;
        }
        let dst = &mut self.w.r32[(self.base.r32 + r.index) as usize];
        if self.mask == !0 {
            *dst = *v;
        } else {
            for l in 0..LANES {
                dst[l] = v[l] & self.spread[l] | dst[l] & !self.spread[l];
            }
        }
    }

    #[inline]
    pub(crate) fn put64(&mut self, r: Reg, v: &L64) {
        if r.file == File::None {
            return;
        }
        let dst = &mut self.w.r64[(self.base.r64 + r.index) as usize];
        if self.mask == !0 {
            *dst = *v;
        } else {
            for l in 0..LANES {
                let m = self.spread[l] as i32 as u64;
                dst[l] = v[l] & m | dst[l] & !m;
            }
        }
    }

    #[inline]
    pub(crate) fn put_pred(&mut self, r: Reg, v: u32) {
        if r.file == File::None {
            return;
        }
        let dst = &mut self.w.preds[(self.base.pred + r.index) as usize];
        *dst = v & self.mask | *dst & !self.mask;
    }

    /// A register of any file as 64 bits a lane, zero-extended.
    pub(crate) fn get_any(&self, r: Reg) -> L64 {
        match r.file {
            File::R64 => self.get64(r),
            File::R16 | File::R32 => self.get32(r).map(u64::from),
            File::Pred => {
                let p = self.pred(r);
                std::array::from_fn(|l| u64::from(p >> l & 1))
            }
            File::None => [0; LANES],
        }
    }

    /// Writes the low bits of a value to a register of any file.
    pub(crate) fn put_any(&mut self, r: Reg, v: &L64) {
        match r.file {
            File::R64 => self.put64(r, v),
            File::R32 => self.put32(r, &v.map(|x| x as u32)),
            File::R16 => self.put32(r, &v.map(|x| x as u32 & 0xffff)),
            File::Pred => {
                let p = (0..LANES).fold(0, |p, l| p | ((v[l] & 1) as u32) << l);
                self.put_pred(r, p);
            }
            File::None => {}
        }
    }

    /// The address operand of an instruction: register `a` plus the offset.
    #[inline]
    pub(crate) fn address(&self, i: &Inst) -> L64 {
        let off = i.imm as u64;
        match i.a.file {
            File::R64 => {
                let mut a = self.get64(i.a);
                for x in &mut a {
                    *x = x.wrapping_add(off);
                }
                a
            }
            // 32-bit addresses occur in the shared and local spaces; the sum wraps there.
            File::R16 | File::R32 => self.get32(i.a).map(|x| u64::from(x.wrapping_add(off as u32))),
            _ => [off; LANES],
        }
    }
}
