//! A warp: its registers, and the groups that its lanes form.
//!
//! Lanes that are at the same instruction with the same callers form a *group* and run together. A branch that lanes
//! take differently splits a group; groups that meet merge. Which group runs is decided by position: instructions are
//! numbered so that the place where paths join comes after all of both (see [`crate::order`]), and the group at the
//! lowest number runs until it reaches the next group's place. That reconverges at the earliest point, as in *SIMD
//! re-convergence at thread frontiers* (Diamos et al., MICRO 2011). Lanes inside a call go before the caller's.
//!
//! Position alone could starve a lane that another one spins on. So a group that takes many backward branches while
//! others could run loses its turn for a while: every lane makes progress, as the ISA promises since sm_70.

use crate::exec::{Base, L32, LANES};
use crate::taint::Taints;

/// Why a group does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// At a warp instruction whose other lanes have not come.
    Lanes,
    /// At a barrier of the block.
    Barrier {
        id: u32,
    },
}

/// A caller's state, to return to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub ret: u32,
    pub base: Base,
}

/// Lanes that run together.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub pc: u32,
    pub mask: u32,
    pub base: Base,
    pub frames: Vec<Frame>,
    pub state: State,
    /// Turns lost for spinning.
    pub penalty: u32,
}

impl Group {
    /// Whether two groups can be one.
    fn meets(&self, o: &Group) -> bool {
        self.pc == o.pc
            && self.state == State::Ready
            && o.state == State::Ready
            && self.frames == o.frames
            && self.base == o.base
    }

    /// Which of two groups goes first: by place in the outermost function where they differ, callee before caller.
    fn before(&self, o: &Group) -> bool {
        let key = |g: &Group, d: usize| g.frames.get(d).map_or((g.pc, 1), |f| (f.ret, 0));
        let depth = self.frames.len().max(o.frames.len());
        let unequal = (0..=depth).map(|d| (key(self, d), key(o, d))).find(|(a, b)| a != b);
        let by_place = unequal.is_some_and(|(a, b)| a < b);
        (self.penalty, !by_place) < (o.penalty, by_place)
    }
}

/// A copy from global to shared memory under way (`cp.async`).
#[derive(Debug, Clone)]
pub(crate) struct AsyncCopy {
    pub lane: u32,
    pub to: u64,
    pub bytes: u32,
    pub words: [u32; 4],
    pub pc: u32,
    /// Commit group it belongs to; `None` until committed.
    pub group: Option<u64>,
}

/// A warp.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    pub index: u32,
    pub r32: Vec<L32>,
    pub r64: Vec<[u64; LANES]>,
    pub preds: Vec<u32>,
    /// Local memory by word, the lanes' words side by side.
    pub local: Vec<u32>,
    /// Per word and lane, a bit for each byte written.
    pub local_written: Vec<u8>,
    pub groups: Vec<Group>,
    /// Lanes that have a thread.
    pub exists: u32,
    pub exited: u32,
    /// Thread index of each lane.
    pub tid: [L32; 3],
    /// Instructions executed.
    pub steps: u64,
    pub taints: Taints,
    /// The carry of `add.cc` and its kin, a bit a lane.
    pub carry: u32,
    pub copies: Vec<AsyncCopy>,
    /// Commit groups of `cp.async` so far, by lane.
    pub commits: [u64; LANES],
}

impl Warp {
    /// Bytes of local memory a thread has at present.
    pub(crate) fn local_bytes(&self) -> u64 {
        (self.local.len() / LANES * 4) as u64
    }

    /// A fresh warp at `start` of a block of `block` threads.
    pub(crate) fn reset(&mut self, index: u32, block: [u32; 3], start: u32, base: Base) {
        let threads = u64::from(block[0]) * u64::from(block[1]) * u64::from(block[2]);
        let first = u64::from(index) * LANES as u64;
        self.index = index;
        let n = threads.saturating_sub(first).min(32) as u32;
        self.exists = if n == 32 { !0 } else { (1 << n) - 1 };
        self.exited = !self.exists;
        for l in 0..LANES {
            let t = (first + l as u64) as u32;
            let (x, y) = (block[0].max(1), block[1].max(1));
            self.tid[0][l] = t % x;
            self.tid[1][l] = t / x % y;
            self.tid[2][l] = t / x / y;
        }
        self.steps = 0;
        self.taints.clear();
        self.copies.clear();
        self.commits = [0; LANES];
        self.groups.clear();
        self.groups.push(Group {
            pc: start,
            mask: self.exists,
            base,
            frames: Vec::new(),
            state: State::Ready,
            penalty: 0,
        });
    }

    /// Makes the register files and local memory at least as large as a frame at `base` needs.
    pub(crate) fn reserve(&mut self, r32: u32, r64: u32, preds: u32, local_bytes: u32) {
        let grow = |n: usize, to: u32| (to as usize).max(n);
        self.r32.resize(grow(self.r32.len(), r32), [0; LANES]);
        self.r64.resize(grow(self.r64.len(), r64), [0; LANES]);
        self.preds.resize(grow(self.preds.len(), preds), 0);
        let words = local_bytes.div_ceil(4) as usize * LANES;
        if self.local.len() < words {
            self.local.resize(words, 0xcdcd_cdcd);
            self.local_written.resize(words, 0);
        }
    }

    pub(crate) fn done(&self) -> bool {
        self.groups.is_empty()
    }

    /// The group to run next, groups that met merged; `None` when none can run.
    pub(crate) fn pick(&mut self) -> Option<usize> {
        if self.groups.len() > 1 {
            self.merge();
        }
        let mut best: Option<usize> = None;
        for (k, g) in self.groups.iter().enumerate() {
            if g.state == State::Ready && best.is_none_or(|b| g.before(&self.groups[b])) {
                best = Some(k);
            }
        }
        best
    }

    fn merge(&mut self) {
        let mut k = 0;
        while k < self.groups.len() {
            let mut j = k + 1;
            while j < self.groups.len() {
                if self.groups[k].meets(&self.groups[j]) {
                    let g = self.groups.swap_remove(j);
                    self.groups[k].mask |= g.mask;
                    self.groups[k].penalty = self.groups[k].penalty.min(g.penalty);
                } else {
                    j += 1;
                }
            }
            k += 1;
        }
    }

    /// The place up to which group `k` may run before another one must be looked at.
    pub(crate) fn limit(&self, k: usize) -> u32 {
        let g = &self.groups[k];
        let ready = self.groups.iter().enumerate().filter(|(j, o)| *j != k && o.state == State::Ready);
        ready
            .filter_map(|(_, o)| {
                // Only groups whose callers are ours, or ours and more, are on our way.
                if o.frames.len() < g.frames.len() || o.frames[..g.frames.len()] != g.frames[..] {
                    return None;
                }
                let place = o.frames.get(g.frames.len()).map_or(o.pc, |f| f.ret);
                (place > g.pc).then_some(place)
            })
            .min()
            .unwrap_or(u32::MAX)
    }

    /// Whether another group could run in place of group `k`.
    pub(crate) fn others_ready(&self, k: usize) -> bool {
        self.groups.iter().enumerate().any(|(j, g)| j != k && g.state == State::Ready)
    }

    /// Takes `part` out of group `k` and puts it at `pc`.
    pub(crate) fn split(&mut self, k: usize, part: u32, pc: u32) -> usize {
        let mut g = self.groups[k].clone();
        g.mask = part;
        g.pc = pc;
        g.state = State::Ready;
        self.groups[k].mask &= !part;
        self.groups.push(g);
        self.groups.len() - 1
    }
}
