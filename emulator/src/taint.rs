//! Bytes in registers that were loaded from memory nothing wrote.
//!
//! Copying such bytes is no mistake: a structure is copied with its padding. So a load only notes them, and the fault
//! comes where an instruction computes with them: arithmetic, a comparison (and so every branch), an address, an
//! atomic. Moves, stores, logic, shifts and integer conversions pass the note on, byte by byte where they keep bytes in
//! place. This is what Valgrind's memcheck does with bits, done with bytes, which compiled Rust and C++ never need
//! finer.
//!
//! While no register holds such a byte, which is nearly always, the cost is one test per instruction.
//!
//! **What it cannot see**: values that only pass through logic, shifts and stores to global memory are not reported in
//! the kernel; the buffer keeps the note, and [`crate::Device::read_written`] reports it. Registers that no instruction
//! wrote are not tracked.

use std::collections::HashMap;

use crate::exec::{Done, Exec, L64, LANES};
use crate::fault::FaultKind;
use crate::memory::WINDOW_BITS;
use crate::program::{File, Inst, Reg};
use crate::races::lanes;
use crate::table;

/// The bytes of a register, a bit each, that nothing wrote; and the load they came by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taint {
    bytes: [u8; LANES],
    pc: u32,
    addr: u64,
}

impl Taint {
    /// The same origin with no bytes.
    pub(crate) fn empty(&self) -> Taint {
        Taint { bytes: [0; LANES], ..*self }
    }

    /// `n` bytes from byte `at`.
    pub(crate) fn shifted(&self, at: usize, n: usize) -> Taint {
        let keep = ((1u16 << n) - 1) as u8;
        Taint { bytes: self.bytes.map(|b| ((u16::from(b) >> at) as u8) & keep), ..*self }
    }

    /// Adds the low `n` bytes of another at byte `at`.
    pub(crate) fn join_at(&mut self, o: &Taint, at: usize, n: usize) {
        let keep = ((1u16 << n) - 1) as u8;
        for l in 0..LANES {
            self.bytes[l] |= (o.bytes[l] & keep) << at;
        }
    }

    fn any(&self) -> bool {
        self.bytes.iter().any(|&b| b != 0)
    }
}

/// The notes of a warp, by file and place.
#[derive(Debug, Default)]
pub(crate) struct Taints {
    map: HashMap<(File, u32), Taint>,
}

impl Taints {
    #[inline]
    pub(crate) fn any(&self) -> bool {
        !self.map.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.map.clear();
    }

    /// A new frame: what earlier frames left in its registers is forgotten, for the lanes of a mask.
    pub(crate) fn forget(&mut self, r32: u32, r64: u32, mask: u32) {
        self.map.retain(|&(file, place), t| {
            if place >= if file == File::R64 { r64 } else { r32 } {
                lanes(mask).for_each(|l| t.bytes[l] = 0);
            }
            t.any()
        });
    }
}

impl Exec<'_> {
    fn key(&self, r: Reg) -> Option<(File, u32)> {
        match r.file {
            File::R16 | File::R32 => Some((File::R32, self.base.r32 + r.index)),
            File::R64 => Some((File::R64, self.base.r64 + r.index)),
            File::Pred | File::None => None,
        }
    }

    /// What is noted of a register.
    pub(crate) fn taint_of(&self, r: Reg) -> Option<Taint> {
        if !self.w.taints.any() {
            return None;
        }
        self.w.taints.map.get(&self.key(r)?).cloned()
    }

    /// Notes bytes of a register for the lanes of the mask, or that it has none.
    pub(crate) fn set_taint(&mut self, r: Reg, t: Option<Taint>) {
        if t.is_none() && !self.w.taints.any() {
            return;
        }
        let Some(key) = self.key(r) else { return };
        let old = self.w.taints.map.remove(&key);
        let mut new = match (t, &old) {
            (Some(t), _) => t,
            (None, Some(o)) => o.empty(),
            (None, None) => return,
        };
        for l in 0..LANES {
            if self.mask >> l & 1 == 0 {
                new.bytes[l] = old.as_ref().map_or(0, |o| o.bytes[l]);
            }
        }
        if new.any() {
            self.w.taints.map.insert(key, new);
        }
    }

    /// Before an instruction runs: a fault if it computes with such bytes, else its result's note.
    pub(crate) fn taint(&mut self, i: &Inst) -> Done {
        match i.taint {
            table::Taint::Own => Ok(()),
            table::Taint::Nothing => {
                self.set_taint(i.d, None);
                Ok(())
            }
            table::Taint::Move => {
                let t = self.taint_of(i.a);
                self.set_taint(i.d, t);
                Ok(())
            }
            table::Taint::Compute => {
                for r in [i.a, i.b, i.c, i.e] {
                    self.reject(r)?;
                }
                self.set_taint(i.d, None);
                Ok(())
            }
            table::Taint::Bitwise | table::Taint::Shuffle => {
                let t = self.bitwise(i);
                self.set_taint(i.d, t);
                Ok(())
            }
        }
    }

    /// The note of a logic or shift result. A byte masked by a zero is known.
    fn bitwise(&self, i: &Inst) -> Option<Taint> {
        let mut out: Option<Taint> = None;
        for (r, other) in [(i.a, i.b), (i.b, i.a), (i.c, Reg::SINK), (i.e, Reg::SINK)] {
            let Some(mut t) = self.taint_of(r) else { continue };
            let name = self.prog.names.get(i.name as usize).map_or("", String::as_str);
            if i.taint == table::Taint::Shuffle {
                t.bytes = t.bytes.map(|b| if b == 0 { 0 } else { 0xff });
            } else if name.starts_with("and") {
                let mask = self.get_any(other);
                for l in 0..LANES {
                    let zero = (0..8).filter(|k| mask[l] >> (8 * k) & 0xff == 0).fold(0u8, |m, k| m | 1 << k);
                    t.bytes[l] &= !zero;
                }
            } else if name.starts_with("sh") {
                let n = self.get_any(i.b);
                for l in 0..LANES {
                    t.bytes[l] = shift(t.bytes[l], n[l], name.starts_with("shl"));
                }
            }
            let len = if i.d.file == File::R64 { 8 } else { 4 };
            out.get_or_insert_with(|| t.empty()).join_at(&t, 0, len);
        }
        out.filter(Taint::any)
    }

    /// After an integer conversion: the bytes kept, and all above where the top one lacks.
    pub(crate) fn taint_resize(&mut self, i: &Inst) {
        let t = self.taint_of(i.a);
        self.set_taint(i.d, t);
    }

    /// A fault if a register holds bytes that nothing wrote.
    pub(crate) fn reject(&mut self, r: Reg) -> Done {
        let Some(t) = self.taint_of(r) else { return Ok(()) };
        let width = match r.file {
            File::R16 => 0x3,
            File::R32 => 0xf,
            _ => 0xff,
        };
        match lanes(self.mask).find(|&l| t.bytes[l] & width != 0) {
            Some(l) => {
                let loaded_at = self.prog.code.get(t.pc as usize).map_or(0, |i| i.line);
                let place = if t.addr >> WINDOW_BITS == 0 {
                    self.env.layout.describe(t.addr)
                } else {
                    self.mem.describe(t.addr)
                };
                self.stop(l, FaultKind::Uninitialized { place, loaded_at })
            }
            None => Ok(()),
        }
    }

    /// A fault if an address does.
    #[inline]
    pub(crate) fn address_taint(&mut self, i: &Inst) -> Done {
        if self.w.taints.any() { self.reject(i.a) } else { Ok(()) }
    }

    /// Notes what a load brought.
    #[inline]
    pub(crate) fn loaded_taint(&mut self, i: &Inst, addr: &L64) {
        if self.any_unwritten || self.w.taints.any() {
            self.note_loaded(i, addr);
        }
    }

    #[cold]
    fn note_loaded(&mut self, i: &Inst, addr: &L64) {
        let prog = self.prog;
        let size = usize::from(i.size);
        for (k, r) in prog.list(i).iter().enumerate() {
            if !self.any_unwritten {
                self.set_taint(*r, None);
                continue;
            }
            let at = k * size;
            let bytes = std::array::from_fn(|l| {
                let word = self.unwritten[at / 4][l] >> (at % 4);
                match size {
                    8 => self.unwritten[at / 4][l] | self.unwritten[at / 4 + 1][l] << 4,
                    4 => word,
                    n => word & ((1 << n) - 1),
                }
            });
            let mut t = Taint { bytes, pc: self.pc, addr: addr[self.first()] };
            if let Some(l) = lanes(self.mask).find(|&l| t.bytes[l] != 0) {
                t.addr = addr[l];
            }
            self.set_taint(*r, t.any().then_some(t));
        }
    }

    /// Puts the notes of registers to be stored where the store looks for them.
    #[inline]
    pub(crate) fn stored_taint(&mut self, i: &Inst) {
        self.any_unwritten = false;
        if self.w.taints.any() {
            self.note_stored(i);
        }
    }

    #[cold]
    fn note_stored(&mut self, i: &Inst) {
        let prog = self.prog;
        let size = usize::from(i.size);
        self.unwritten = [[0; LANES]; 8];
        for (k, r) in prog.list(i).iter().enumerate() {
            let Some(t) = self.taint_of(*r) else { continue };
            self.any_unwritten = true;
            let at = k * size;
            for l in 0..LANES {
                let b = t.bytes[l];
                if size == 8 {
                    self.unwritten[at / 4][l] = b & 0xf;
                    self.unwritten[at / 4 + 1][l] = b >> 4;
                } else {
                    self.unwritten[at / 4][l] |= (b & ((1u16 << size) - 1) as u8) << (at % 4);
                }
            }
        }
    }
}

/// A byte mask moved by a shift of bits, rounded outwards.
fn shift(bytes: u8, bits: u64, left: bool) -> u8 {
    let (low, high) = ((bits / 8).min(8) as u32, bits.div_ceil(8).min(8) as u32);
    let b = u32::from(bytes);
    let moved = if left { b << low | b << high } else { b >> low | b >> high };
    moved as u8
}
