//! Races in shared memory: two threads of a block, one address, one of them writing, no barrier between them.
//!
//! Every word has a cell with its last write and its last reads; a block-wide clock ticks at every synchronization. An
//! access is ordered after a recorded one if since then both threads took part in a synchronization, directly or
//! through others: a barrier of the whole block (one comparison), `bar.warp.sync` or a partial barrier (a small matrix
//! per warp, and one between warps). Words that are accessed in parts get a cell per byte on first need.
//!
//! **Deviations from the memory model, and what it cannot see.**
//! - Shuffles and votes order no memory here, as the ISA says, even where the hardware runs lanes in step.
//! - Order by flags (a release store read by an acquire load, or a fence and an atomic counter) is not followed: data
//!   handed over so is reported. Atomics themselves never race with atomics.
//! - A store of the value already there by the same instruction is not reported (all lanes set one flag).
//! - Loads with an order (`.relaxed`, `.acquire`, `.volatile`) are checked against earlier plain writes, but a later
//!   plain write is not checked against them.
//! - Only the last write and the readers since are kept: of several conflicts one is reported. Readers from several
//!   warps are kept as "several", so after a *partial* barrier a write over them passes unreported.
//! - One execution is watched: a race on a path that the data did not take is not seen. Global memory is not watched.

use std::collections::HashMap;

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// A read-modify-write, or a store with an order (`.relaxed`, `.release`, `.volatile`).
    Atomic,
    /// A load with an order.
    StrongRead,
}

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Atomic => "atomic",
            Kind::StrongRead => "atomic read",
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    write_time: u32,
    read_time: u32,
    write_pc: u32,
    read_pc: u32,
    read_lanes: u32,
    write_tid: u16,
    read_warp: u8,
    flags: u8,
}

const ATOMIC: u8 = 1;
const MANY: u8 = 2;
const SPLIT: u8 = 4;

/// The earlier access of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub kind: Kind,
    pub tid: u32,
    pub pc: u32,
}

/// One access of one thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub kind: Kind,
    pub tid: u32,
    pub pc: u32,
    /// A write of what the word holds already.
    pub same_value: bool,
}

#[derive(Debug, Clone, Default)]
struct WarpClock {
    /// Last synchronization of the whole warp.
    whole: u32,
    /// `seen[b][a]`: lane b knows what lane a did before this time. Empty until a part of the warp synchronizes.
    seen: Vec<[u32; 32]>,
}

/// The cells of a block's shared memory, and its clocks.
#[derive(Debug, Default)]
pub(crate) struct Races {
    cells: Vec<Cell>,
    parts: HashMap<u32, [Cell; 4]>,
    now: u32,
    block: u32,
    warps: Vec<WarpClock>,
    /// `between[w][v]`: warp w knows what warp v did before this time. Empty until a partial barrier.
    between: Vec<[u32; 32]>,
}

impl Races {
    /// Forgets everything: a new block with `words` words and `warps` warps.
    pub(crate) fn reset(&mut self, words: usize, warps: usize) {
        if self.cells.len() != words || self.now > 1 << 30 {
            self.cells.clear();
            self.cells.resize(words, Cell::default());
            self.now = 0;
        }
        // What an earlier block recorded is older than this block's first barrier, so it needs no clearing.
        self.now += 1;
        self.block = self.now;
        self.parts.clear();
        self.warps.clear();
        self.warps.resize(warps, WarpClock::default());
        self.between.clear();
    }

    /// All threads of the block met.
    pub(crate) fn block_barrier(&mut self) {
        self.now = self.now.saturating_add(1);
        self.block = self.now;
    }

    /// The lanes of `mask` of a warp met.
    pub(crate) fn warp_barrier(&mut self, warp: usize, mask: u32, exists: u32) {
        self.now = self.now.saturating_add(1);
        let now = self.now;
        let Some(w) = self.warps.get_mut(warp) else { return };
        if mask & exists == exists {
            w.whole = now;
            return;
        }
        if w.seen.is_empty() {
            w.seen = vec![[0; 32]; 32];
        }
        let mut joined = [0u32; 32];
        for a in lanes(mask) {
            for (j, s) in joined.iter_mut().zip(&w.seen[a]) {
                *j = (*j).max(*s);
            }
        }
        for a in lanes(mask) {
            joined[a] = now;
        }
        for b in lanes(mask) {
            w.seen[b] = joined;
        }
    }

    /// The warps of a set met, but not the whole block.
    pub(crate) fn partial_barrier(&mut self, warps: u32) {
        self.now = self.now.saturating_add(1);
        if self.between.is_empty() {
            self.between = vec![[0; 32]; 32];
        }
        let mut joined = [0u32; 32];
        for v in lanes(warps) {
            for (j, s) in joined.iter_mut().zip(&self.between[v]) {
                *j = (*j).max(*s);
            }
        }
        for v in lanes(warps) {
            joined[v] = self.now;
        }
        for w in lanes(warps) {
            self.between[w] = joined;
            if let Some(c) = self.warps.get_mut(w) {
                c.whole = self.now;
            }
        }
    }

    /// Checks and records an access to the bytes `bytes` (a bit each) of a word.
    #[inline]
    pub(crate) fn access(&mut self, word: usize, bytes: u8, a: Access) -> Option<Conflict> {
        let cell = self.cells.get(word).copied()?;
        if bytes == 0xf && cell.flags & SPLIT == 0 {
            let (next, hit) = self.step(cell, a);
            self.cells[word] = next;
            return hit;
        }
        self.access_parts(word, bytes, a)
    }

    #[cold]
    fn access_parts(&mut self, word: usize, bytes: u8, a: Access) -> Option<Conflict> {
        let cell = self.cells[word];
        let mut four = match self.parts.get(&(word as u32)) {
            Some(p) => *p,
            None => [cell; 4],
        };
        self.cells[word].flags |= SPLIT;
        let mut hit = None;
        for (k, c) in four.iter_mut().enumerate() {
            if bytes >> k & 1 != 0 {
                let (next, conflict) = self.step(*c, a);
                *c = next;
                hit = hit.or(conflict);
            }
        }
        self.parts.insert(word as u32, four);
        hit
    }

    #[inline]
    fn step(&self, mut c: Cell, a: Access) -> (Cell, Option<Conflict>) {
        let mut hit = None;
        let both_atomic = matches!(a.kind, Kind::Atomic | Kind::StrongRead) && c.flags & ATOMIC != 0;
        if c.write_time >= self.block && u32::from(c.write_tid) != a.tid && !both_atomic {
            let repeated = a.same_value && a.pc == c.write_pc;
            if !repeated && !self.ordered(u32::from(c.write_tid), c.write_time, a.tid) {
                let kind = if c.flags & ATOMIC != 0 { Kind::Atomic } else { Kind::Write };
                hit = Some(Conflict { kind, tid: u32::from(c.write_tid), pc: c.write_pc });
            }
        }
        let lane = 1u32 << (a.tid % 32);
        let warp = (a.tid / 32) as u8;
        if a.kind == Kind::StrongRead {
            // Not recorded, or it would seem to race with a later atomic.
            return (c, hit);
        }
        if a.kind == Kind::Read {
            if c.read_time < self.block {
                c.flags &= !MANY;
                c.read_warp = warp;
                c.read_lanes = lane;
            } else if c.read_warp == warp {
                c.read_lanes |= lane;
            } else {
                c.flags |= MANY;
            }
            c.read_time = self.now;
            c.read_pc = a.pc;
            return (c, hit);
        }
        if c.read_time >= self.block && hit.is_none() {
            hit = self.unordered_reader(&c, a.tid).map(|tid| Conflict { kind: Kind::Read, tid, pc: c.read_pc });
        }
        c.write_time = self.now;
        c.write_tid = a.tid as u16;
        c.write_pc = a.pc;
        c.flags = c.flags & !ATOMIC | if a.kind == Kind::Atomic { ATOMIC } else { 0 };
        (c, hit)
    }

    fn unordered_reader(&self, c: &Cell, tid: u32) -> Option<u32> {
        let (warp, own) = (tid / 32, 1u32 << (tid % 32));
        let reader = u32::from(c.read_warp);
        if c.flags & MANY != 0 {
            let other = if reader == warp && c.read_lanes & !own == 0 {
                None
            } else {
                Some(reader * 32 + c.read_lanes.trailing_zeros())
            };
            // Some reader is in another warp in any case.
            return if self.between.is_empty() { Some(other.unwrap_or(reader * 32)) } else { None };
        }
        let others = if reader == warp { c.read_lanes & !own } else { c.read_lanes };
        lanes(others).map(|l| reader * 32 + l as u32).find(|&r| !self.ordered(r, c.read_time, tid))
    }

    /// Whether `tid` knows what `other` did at `time`, no block barrier having come since.
    fn ordered(&self, other: u32, time: u32, tid: u32) -> bool {
        let (v, w) = ((other / 32) as usize, (tid / 32) as usize);
        if v != w {
            return self.between.get(w).is_some_and(|b| b[v] > time);
        }
        let Some(c) = self.warps.get(w) else { return false };
        c.whole > time || c.seen.get((tid % 32) as usize).is_some_and(|s| s[(other % 32) as usize] > time)
    }
}

/// The set bits of a mask.
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let l = mask.trailing_zeros();
        mask &= mask - 1;
        Some(l as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> Races {
        let mut r = Races::default();
        r.reset(8, 4);
        r
    }

    fn at(kind: Kind, tid: u32) -> Access {
        Access { kind, tid, pc: 1, same_value: false }
    }

    #[test]
    fn write_then_read_by_another_thread_races_until_a_barrier() {
        let mut r = fresh();
        assert_eq!(r.access(0, 0xf, at(Kind::Write, 3)), None);
        assert_eq!(r.access(0, 0xf, at(Kind::Read, 3)), None);
        assert!(r.access(0, 0xf, at(Kind::Read, 40)).is_some());
        r.block_barrier();
        assert_eq!(r.access(0, 0xf, at(Kind::Read, 40)), None);
    }

    #[test]
    fn reads_by_two_warps_then_a_write_race() {
        let mut r = fresh();
        r.access(0, 0xf, at(Kind::Read, 3));
        r.access(0, 0xf, at(Kind::Read, 40));
        assert!(r.access(0, 0xf, at(Kind::Write, 3)).is_some());
    }

    #[test]
    fn a_warp_barrier_orders_its_lanes_only() {
        let mut r = fresh();
        r.access(0, 0xf, at(Kind::Write, 1));
        r.access(1, 0xf, at(Kind::Write, 1));
        r.warp_barrier(0, 0b11, !0);
        assert_eq!(r.access(0, 0xf, at(Kind::Read, 0)), None);
        assert!(r.access(0, 0xf, at(Kind::Read, 2)).is_some());
        r.warp_barrier(0, 0b101, !0);
        // Lane 2 learns of lane 1 through lane 0.
        assert_eq!(r.access(1, 0xf, at(Kind::Read, 2)), None);
    }

    #[test]
    fn a_partial_barrier_orders_its_warps_only() {
        let mut r = fresh();
        r.access(0, 0xf, at(Kind::Write, 1));
        r.partial_barrier(0b11);
        assert_eq!(r.access(0, 0xf, at(Kind::Read, 33)), None);
        assert!(r.access(0, 0xf, at(Kind::Read, 65)).is_some());
    }

    #[test]
    fn different_bytes_of_a_word_do_not_race_and_equal_ones_do() {
        let mut r = fresh();
        assert_eq!(r.access(2, 0b0011, at(Kind::Write, 0)), None);
        assert_eq!(r.access(2, 0b1100, at(Kind::Write, 1)), None);
        assert!(r.access(2, 0b0100, at(Kind::Read, 0)).is_some());
        assert!(r.access(2, 0xf, at(Kind::Read, 2)).is_some());
    }

    #[test]
    fn atomics_race_with_plain_accesses_only() {
        let mut r = fresh();
        assert_eq!(r.access(0, 0xf, at(Kind::Atomic, 0)), None);
        assert_eq!(r.access(0, 0xf, at(Kind::Atomic, 1)), None);
        assert_eq!(r.access(0, 0xf, at(Kind::StrongRead, 2)), None);
        assert_eq!(r.access(0, 0xf, at(Kind::Atomic, 3)), None);
        assert!(r.access(0, 0xf, at(Kind::Read, 2)).is_some());
    }
}
