//! Loads and stores of a warp: which memory, bounds, alignment, unwritten bytes, races, traffic.
//!
//! The common case, all lanes in one buffer, is checked once for the warp (largest offset, bits of all addresses) and
//! then copied in a plain loop. Lanes in different windows are done window by window. Accesses are of 1, 2 or a
//! multiple of 4 bytes; values travel in `Exec::words`, one word of all lanes after another.

use crate::ast::Space;
use crate::exec::{Done, Exec, L64, LANES, Stopped};
use crate::fault::FaultKind;
use crate::memory::*;
use crate::ops_mem::race_kind;
use crate::program::Inst;
use crate::races::{Access, Kind, lanes};
use crate::shared::HOLE;

const OFFSET: u64 = (1 << WINDOW_BITS) - 1;

impl<'a> Exec<'a> {
    /// Loads `bytes` from each lane's address into `words`.
    pub(crate) fn load(&mut self, i: &Inst, space: Space, addr: &L64, bytes: u32) -> Done {
        self.any_unwritten = false;
        self.windows(space, addr, |x, window, space, addr| match window {
            SHARED_WINDOW => x.load_shared(i, addr, bytes),
            LOCAL_WINDOW => x.load_local(addr, bytes),
            PARAM_WINDOW => x.load_param(addr, bytes),
            _ => x.load_region(i, space, addr, bytes),
        })
    }

    /// Stores `words` to each lane's address.
    pub(crate) fn store(&mut self, i: &Inst, space: Space, addr: &L64, bytes: u32) -> Done {
        self.windows(space, addr, |x, window, _, addr| match window {
            SHARED_WINDOW => x.store_shared(i, addr, bytes),
            LOCAL_WINDOW => x.store_local(addr, bytes),
            _ => x.store_region(i, addr, bytes),
        })
    }

    /// Calls `f` once for each window that the lanes' addresses are in, with the mask set to its lanes.
    pub(crate) fn windows(
        &mut self,
        space: Space,
        addr: &L64,
        mut f: impl FnMut(&mut Self, u64, Space, &L64) -> Done,
    ) -> Done {
        match space {
            Space::Shared => return f(self, SHARED_WINDOW, space, addr),
            Space::Local => return f(self, LOCAL_WINDOW, space, addr),
            _ => {}
        }
        let first = addr[self.first()] >> WINDOW_BITS;
        let differ = (0..LANES).fold(0, |d, l| d | (addr[l] >> WINDOW_BITS ^ first) & self.spread[l] as i32 as u64);
        if differ == 0 {
            return f(self, first, space, addr);
        }
        let all = self.mask;
        let mut left = all;
        let mut result = Ok(());
        while left != 0 && result.is_ok() {
            let window = addr[left.trailing_zeros() as usize] >> WINDOW_BITS;
            let part = lanes(left).filter(|&l| addr[l] >> WINDOW_BITS == window).fold(0, |m, l| m | 1 << l);
            left &= !part;
            self.set_mask(part);
            result = f(self, window, space, addr);
        }
        self.set_mask(all);
        result
    }

    /// Offsets in the window, all or-ed. Lanes that are off get that of the first lane that is on.
    #[inline]
    fn span(&self, addr: &L64, off: &mut L64) -> u64 {
        let mut bits = 0;
        if self.mask == !0 {
            for l in 0..LANES {
                off[l] = addr[l] & OFFSET;
                bits |= off[l];
            }
            return bits;
        }
        let first = addr[self.first()] & OFFSET;
        for l in 0..LANES {
            let m = self.spread[l] as i32 as u64;
            off[l] = addr[l] & OFFSET & m | first & !m;
            bits |= off[l];
        }
        bits
    }

    /// Checks offsets against `len` bytes and their alignment.
    #[inline]
    fn check(&mut self, off: &L64, bits: u64, bytes: u32, len: u64, describe: impl Fn(&Self, usize) -> String) -> Done {
        let align = u64::from(bytes.next_power_of_two()) - 1;
        // No offset is above all of them or-ed, so mostly this one comparison will do.
        let inside = bits + u64::from(bytes) <= len || off.iter().all(|o| o + u64::from(bytes) <= len);
        if inside && bits & align == 0 {
            return Ok(());
        }
        let bad = lanes(self.mask).find(|&l| off[l] & align != 0 || off[l] + u64::from(bytes) > len);
        let lane = bad.unwrap_or(0);
        let place = describe(self, lane);
        let kind = if off[lane] + u64::from(bytes) > len {
            FaultKind::OutOfBounds { bytes, place }
        } else {
            FaultKind::Misaligned { bytes, place }
        };
        self.stop(lane, kind)
    }

    /// The offsets of a warp's addresses in shared memory, checked.
    pub(crate) fn shared_offsets(&mut self, addr: &L64, bytes: u32) -> Result<L64, Stopped> {
        let mut off = [0; LANES];
        let bits = self.span(addr, &mut off);
        let len = u64::from(self.sh.bytes);
        self.check(&off, bits, bytes, len, |x, l| x.env.layout.describe(off[l]))?;
        if self.env.track {
            let marks = off.iter().fold(0, |m, o| m | self.sh.written[(o / 4) as usize]);
            if marks & HOLE != 0 {
                let lane = lanes(self.mask).find(|&l| self.sh.written[(off[l] / 4) as usize] & HOLE != 0).unwrap_or(0);
                let place = self.env.layout.describe(off[lane]);
                return self.stop(lane, FaultKind::OutOfBounds { bytes, place });
            }
        }
        Ok(off)
    }

    /// The buffer that a warp's addresses are in, and their offsets, checked.
    #[inline]
    pub(crate) fn region_of(&mut self, addr: &L64, bytes: u32, off: &mut L64) -> Result<&'a Region, Stopped> {
        let lane = self.first();
        let bits = self.span(addr, off);
        let mem = self.mem;
        let Some(r) = mem.find(addr[lane]).filter(|r| r.live) else {
            let place = mem.describe(addr[lane]);
            return self.stop(lane, FaultKind::OutOfBounds { bytes, place });
        };
        self.check(off, bits, bytes, r.len, |x, l| x.mem.describe(addr[l]))?;
        Ok(r)
    }

    fn load_region(&mut self, i: &Inst, space: Space, addr: &L64, bytes: u32) -> Done {
        let mut off = [0; LANES];
        let r = self.region_of(addr, bytes, &mut off)?;
        if space != Space::Const {
            self.count_global(i, &off, bytes);
        }
        if bytes < 4 {
            let keep = (1u32 << (8 * bytes)) - 1;
            for l in 0..LANES {
                self.words[0][l] = r.word((off[l] / 4) as usize) >> (off[l] % 4 * 8) & keep;
            }
        } else {
            for k in 0..(bytes / 4) as usize {
                let out = &mut self.words[k];
                for l in 0..LANES {
                    out[l] = r.word((off[l] / 4) as usize + k);
                }
            }
        }
        if r.tracks() && self.env.track {
            self.note_unwritten(&off, bytes, |_, w, _| r.written(w));
        }
        Ok(())
    }

    fn store_region(&mut self, i: &Inst, addr: &L64, bytes: u32) -> Done {
        let mut off = [0; LANES];
        let r = self.region_of(addr, bytes, &mut off)?;
        if !r.writable {
            let lane = self.first();
            let place = self.mem.describe(addr[lane]);
            return self.stop(lane, FaultKind::ReadOnly { place });
        }
        self.count_global(i, &off, bytes);
        let tracks = r.tracks() && self.env.track;
        if bytes < 4 {
            let keep = (1u32 << (8 * bytes)) - 1;
            for l in lanes(self.mask) {
                let (w, s) = ((off[l] / 4) as usize, off[l] % 4);
                r.set_part(w, keep << (8 * s), self.words[0][l] << (8 * s));
                if tracks {
                    let touched = ((1u8 << bytes) - 1) << s;
                    r.mark(w, touched, touched & !(self.unwritten_of(0, l) << s));
                }
            }
            return Ok(());
        }
        for k in 0..(bytes / 4) as usize {
            if self.mask == !0 && !tracks {
                for l in 0..LANES {
                    r.set_word((off[l] / 4) as usize + k, self.words[k][l]);
                }
                continue;
            }
            for l in lanes(self.mask) {
                let w = (off[l] / 4) as usize + k;
                r.set_word(w, self.words[k][l]);
                if tracks {
                    r.mark(w, WRITTEN, WRITTEN & !self.unwritten_of(k, l));
                }
            }
        }
        Ok(())
    }

    /// Bytes of a word to be stored that were themselves loaded from memory nothing wrote.
    #[inline]
    fn unwritten_of(&self, k: usize, l: usize) -> u8 {
        if self.any_unwritten { self.unwritten[k][l] } else { 0 }
    }

    /// Fills `unwritten` from the marks of memory.
    fn note_unwritten(&mut self, off: &L64, bytes: u32, written: impl Fn(&Self, usize, usize) -> u8) {
        let n = (bytes / 4).max(1) as usize;
        let mut found = false;
        for k in 0..n {
            for l in lanes(self.mask) {
                let w = (off[l] / 4) as usize + k;
                let mut miss = !written(self, w, l) & WRITTEN;
                if bytes < 4 {
                    miss = miss >> (off[l] % 4) & ((1 << bytes) - 1);
                }
                found |= miss != 0;
                self.unwritten[k][l] = miss;
            }
        }
        if found && !self.any_unwritten {
            // Lanes of other windows have nothing to report.
            let others = !self.mask;
            for u in &mut self.unwritten[..n] {
                lanes(others).for_each(|l| u[l] = 0);
            }
        }
        self.any_unwritten |= found;
    }

    fn load_shared(&mut self, i: &Inst, addr: &L64, bytes: u32) -> Done {
        let off = &self.shared_offsets(addr, bytes)?;
        self.count_shared(i, off, bytes);
        if bytes < 4 {
            let keep = (1u32 << (8 * bytes)) - 1;
            for l in 0..LANES {
                self.words[0][l] = self.sh.words[(off[l] / 4) as usize] >> (off[l] % 4 * 8) & keep;
            }
        } else {
            for k in 0..(bytes / 4) as usize {
                for l in 0..LANES {
                    self.words[k][l] = self.sh.words[(off[l] / 4) as usize + k];
                }
            }
        }
        if self.env.track {
            self.note_unwritten(off, bytes, |x, w, _| x.sh.written[w]);
        }
        self.watch(off, bytes, race_kind(i, false))
    }

    fn store_shared(&mut self, i: &Inst, addr: &L64, bytes: u32) -> Done {
        let off = self.shared_offsets(addr, bytes)?;
        self.count_shared(i, &off, bytes);
        self.watch(&off, bytes, race_kind(i, true))?;
        self.put_shared(&off, bytes);
        Ok(())
    }

    /// Writes `words` to shared memory, checks done.
    fn put_shared(&mut self, off: &L64, bytes: u32) {
        if bytes < 4 {
            let keep = (1u32 << (8 * bytes)) - 1;
            for l in lanes(self.mask) {
                let (w, s) = ((off[l] / 4) as usize, off[l] % 4);
                let word = &mut self.sh.words[w];
                *word = *word & !(keep << (8 * s)) | (self.words[0][l] & keep) << (8 * s);
                let touched = ((1u8 << bytes) - 1) << s;
                let now = touched & !(self.unwritten_of(0, l) << s);
                self.sh.written[w] = self.sh.written[w] & !touched | now;
            }
            return;
        }
        for k in 0..(bytes / 4) as usize {
            for l in lanes(self.mask) {
                let w = (off[l] / 4) as usize + k;
                self.sh.words[w] = self.words[k][l];
                self.sh.written[w] = WRITTEN & !self.unwritten_of(k, l);
            }
        }
    }

    /// Race detection for an access to shared memory.
    pub(crate) fn watch(&mut self, off: &L64, bytes: u32, kind: Kind) -> Done {
        if !self.env.races {
            return Ok(());
        }
        let n = (bytes / 4).max(1) as usize;
        for k in 0..n {
            for l in lanes(self.mask) {
                let w = (off[l] / 4) as usize + k;
                let part = if bytes < 4 { ((1u8 << bytes) - 1) << (off[l] % 4) } else { WRITTEN };
                let value = self.words[k][l];
                let same_value = kind == Kind::Write && bytes >= 4 && self.sh.words[w] == value;
                let a = Access { kind, tid: self.w.index * 32 + l as u32, pc: self.pc, same_value };
                if let Some(c) = self.sh.races.access(w, part, a) {
                    let other = (c.tid % 32) as usize;
                    let together = c.pc == self.pc && c.tid / 32 == self.w.index && self.mask >> other & 1 != 0;
                    if kind == Kind::Write && together && off[other] == off[l] && self.words[k][other] == value {
                        // All lanes of one store write the same value: a flag being set.
                        continue;
                    }
                    let place = self.env.layout.describe(off[l]);
                    let other_line = self.prog.code.get(c.pc as usize).map_or(0, |i| i.line);
                    let kind = FaultKind::Race {
                        this: kind.word(),
                        place,
                        other: c.kind.word(),
                        other_thread: c.tid,
                        other_line,
                    };
                    return self.stop(l, kind);
                }
            }
        }
        Ok(())
    }

    fn local_span(&mut self, addr: &L64, bytes: u32) -> Result<L64, Stopped> {
        let mut off = [0; LANES];
        let bits = self.span(addr, &mut off);
        let len = self.w.local_bytes();
        self.check(&off, bits, bytes, len, |_, l| {
            format!("byte {} of the thread's local memory ({len} bytes in use)", off[l])
        })?;
        Ok(off)
    }

    /// Loads from local memory (also a device function's parameters).
    pub(crate) fn load_local(&mut self, addr: &L64, bytes: u32) -> Done {
        let off = self.local_span(addr, bytes)?;
        if bytes < 4 {
            let keep = (1u32 << (8 * bytes)) - 1;
            for l in 0..LANES {
                self.words[0][l] = self.w.local[(off[l] / 4) as usize * LANES + l] >> (off[l] % 4 * 8) & keep;
            }
        } else {
            for k in 0..(bytes / 4) as usize {
                for l in 0..LANES {
                    self.words[k][l] = self.w.local[((off[l] / 4) as usize + k) * LANES + l];
                }
            }
        }
        if self.env.track {
            self.note_unwritten(&off, bytes, |x, w, l| x.w.local_written[w * LANES + l]);
        }
        Ok(())
    }

    /// Stores to local memory.
    pub(crate) fn store_local(&mut self, addr: &L64, bytes: u32) -> Done {
        let off = self.local_span(addr, bytes)?;
        for k in 0..(bytes / 4).max(1) as usize {
            for l in lanes(self.mask) {
                let at = ((off[l] / 4) as usize + k) * LANES + l;
                if bytes < 4 {
                    let (keep, s) = ((1u32 << (8 * bytes)) - 1, off[l] % 4);
                    let word = &mut self.w.local[at];
                    *word = *word & !(keep << (8 * s)) | (self.words[0][l] & keep) << (8 * s);
                    let touched = ((1u8 << bytes) - 1) << s;
                    let now = touched & !(self.unwritten_of(0, l) << s);
                    self.w.local_written[at] = self.w.local_written[at] & !touched | now;
                } else {
                    self.w.local[at] = self.words[k][l];
                    self.w.local_written[at] = WRITTEN & !self.unwritten_of(k, l);
                }
            }
        }
        Ok(())
    }

    fn load_param(&mut self, addr: &L64, bytes: u32) -> Done {
        let mut off = [0; LANES];
        let bits = self.span(addr, &mut off);
        let params = self.env.params;
        self.check(&off, bits, bytes, params.len() as u64, |x, l| x.mem.describe(addr[l]))?;
        for k in 0..(bytes / 4).max(1) as usize {
            for l in 0..LANES {
                let at = off[l] as usize + 4 * k;
                let mut word = [0; 4];
                let n = bytes.min(4) as usize;
                word[..n].copy_from_slice(&params[at..at + n]);
                self.words[k][l] = u32::from_le_bytes(word);
            }
        }
        Ok(())
    }

    fn count_global(&mut self, _i: &Inst, off: &L64, bytes: u32) {
        let (mask, pc) = (self.mask, self.pc as usize);
        if let Some(t) = self.tally.as_deref_mut() {
            let p = &mut t.per[pc];
            p.bytes += u64::from(mask.count_ones() * bytes);
            p.sectors += distinct(mask, off, bytes);
        }
    }

    pub(crate) fn count_shared(&mut self, _i: &Inst, off: &L64, bytes: u32) {
        let (mask, pc) = (self.mask, self.pc as usize);
        if let Some(t) = self.tally.as_deref_mut() {
            t.per[pc].conflicts += conflicts(mask, off, bytes);
        }
    }
}

/// How many different sectors of 32 bytes the accesses of a mask's lanes are in; each is aligned, so in one.
fn distinct(mask: u32, off: &L64, bytes: u32) -> u64 {
    // Mostly the lanes are in one sector, or one behind the other: two loops of plain arithmetic tell.
    let (mut same, mut in_line) = (0, 0);
    for l in 0..LANES {
        same |= off[l] ^ off[0];
        in_line |= off[l] ^ (off[0] + l as u64 * u64::from(bytes));
    }
    if same >> 5 == 0 {
        return 1;
    }
    if in_line == 0 && mask == !0 {
        return (off[LANES - 1] >> 5) - (off[0] >> 5) + 1;
    }
    // Offsets have 36 bits, so a sector's number has 31. Lanes that are off hold the first lane's offset and add
    // nothing.
    let mut sector = [0i32; LANES];
    for l in 0..LANES {
        sector[l] = (off[l] >> 5) as i32;
    }
    let (mut n, mut falling) = (1, 0);
    for l in 1..LANES {
        n += u32::from(sector[l] != sector[l - 1]);
        falling |= u32::from(sector[l] < sector[l - 1]);
    }
    if falling == 0 && mask == !0 {
        return u64::from(n);
    }
    sector.sort_unstable();
    1 + sector.windows(2).filter(|w| w[0] != w[1]).count() as u64
}

/// Extra passes over the 32 banks: lanes that want different words of one bank take turns. Accesses of 8 bytes are
/// served by half warps, of 16 by quarters.
fn conflicts(mask: u32, off: &L64, bytes: u32) -> u64 {
    let words = (bytes / 4).max(1) as usize;
    if words == 1 && mask == !0 {
        let base = off[0] / 4;
        let stride = (off[1] / 4).wrapping_sub(base);
        let regular = (0..LANES).fold(0, |d, l| d | (off[l] / 4) ^ base.wrapping_add(stride.wrapping_mul(l as u64)));
        if regular == 0 {
            // A step of 2^n banks meets itself 2^n times; no step at all is one word for all.
            return if stride == 0 { 0 } else { (1 << stride.trailing_zeros().min(5)) - 1 };
        }
    }
    let chunk = (LANES / words).max(4);
    let mut extra = 0;
    for start in (0..LANES).step_by(chunk) {
        let part = (((1u64 << chunk) - 1) << start) as u32 & mask;
        let mut list = [u64::MAX; LANES];
        let mut n = 0;
        for l in lanes(part) {
            for k in 0..words.min(4) {
                if n < LANES {
                    list[n] = off[l] / 4 + k as u64;
                    n += 1;
                }
            }
        }
        list[..n].sort_unstable();
        let mut banks = [0u8; LANES];
        for k in 0..n {
            if k == 0 || list[k] != list[k - 1] {
                banks[(list[k] % 32) as usize] += 1;
            }
        }
        extra += u64::from(banks.iter().copied().max().unwrap_or(0).saturating_sub(1));
    }
    extra
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn sectors_are_counted_as_a_set_would() {
        let patterns: [fn(u64) -> u64; 9] = [
            |_| 64,
            |l| l % 8 * 4,
            |l| 64 + 4 * l,
            |l| 28 + 4 * l,
            |l| 4 * (31 - l),
            |l| 32 * l,
            |l| 36 * l,
            |l| l % 3 * 4096,
            |l| l * l * 4,
        ];
        for (n, pattern) in patterns.iter().enumerate() {
            for mask in [!0, 1, 0x8000_0001, 0x0ff0_00f0, 0x7fff_ffff] {
                for bytes in [1, 2, 4, 8, 16, 32] {
                    let first = lanes(mask).next().unwrap_or(0);
                    // As `span` leaves them: lanes that are off have the first one's.
                    let at = |l: usize| pattern(if mask >> l & 1 != 0 { l } else { first } as u64) / u64::from(bytes);
                    let off: L64 = std::array::from_fn(|l| at(l) * u64::from(bytes));
                    let set: BTreeSet<u64> = lanes(mask).map(|l| off[l] / 32).collect();
                    assert_eq!(distinct(mask, &off, bytes), set.len() as u64, "{n} {mask:x} {bytes}");
                }
            }
        }
    }
}
