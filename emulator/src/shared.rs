//! A block's shared memory: exact variables, unwritten bytes, races.

use crate::program::{Program, SharedVar};
use crate::races::Races;

/// Marks a word that belongs to no variable.
pub(crate) const HOLE: u8 = 0x80;

/// Unused words between two variables, so that an overrun is seen.
const GAP: u32 = 64;

/// Where a kernel's shared variables lie.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    /// Offset of each variable of the module, `None` for those the kernel does not use.
    pub offsets: Vec<Option<u32>>,
    /// Used ranges, in order.
    pub ranges: Vec<(u32, u32, String)>,
    /// Bytes up to the end of the last one.
    pub bytes: u32,
    /// Bytes that variables and dynamic memory take.
    pub used: u32,
}

impl Layout {
    /// Places the variables `used` and `dynamic` bytes behind them.
    pub(crate) fn new(prog: &Program, used: &[u32], dynamic: u32, checks: bool) -> Layout {
        let mut l = Layout { offsets: vec![None; prog.shared.len()], ..Layout::default() };
        for &v in used {
            let var = &prog.shared[v as usize];
            if !var.dynamic {
                let at = l.place(var.align, var.bytes, &var.name, checks);
                l.offsets[v as usize] = Some(at);
            }
        }
        let names: Vec<&SharedVar> = used.iter().map(|&v| &prog.shared[v as usize]).filter(|v| v.dynamic).collect();
        let align = names.iter().map(|v| v.align).max().unwrap_or(1).max(16);
        let name = names.first().map_or("dynamic shared memory", |v| v.name.as_str());
        let at = l.place(align, dynamic, name, checks);
        for &v in used.iter().filter(|&&v| prog.shared[v as usize].dynamic) {
            l.offsets[v as usize] = Some(at);
        }
        l
    }

    fn place(&mut self, align: u32, bytes: u32, name: &str, checks: bool) -> u32 {
        let gap = if checks && self.bytes > 0 { GAP } else { 0 };
        let at = (self.bytes + gap).next_multiple_of(align.max(4));
        self.ranges.push((at, at + bytes, name.to_owned()));
        self.bytes = at + bytes;
        self.used = self.used.next_multiple_of(align.max(1)) + bytes;
        at
    }

    /// The variable an address is in or nearest behind, in words.
    pub(crate) fn describe(&self, at: u64) -> String {
        match self.ranges.iter().rev().find(|r| u64::from(r.0) <= at) {
            Some((start, end, name)) => {
                format!("byte {} of shared `{name}` ({} bytes)", at - u64::from(*start), end - start)
            }
            None => format!("byte {at} of shared memory, where this kernel has no variable"),
        }
    }
}

/// Shared memory of the block that runs.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub words: Vec<u32>,
    /// Per word: a bit for each byte written, [`HOLE`].
    pub written: Vec<u8>,
    pub bytes: u32,
    pub races: Races,
    /// The block's barriers, and which of them completed and wait to be released.
    pub barriers: [Barrier; 16],
    pub released: u32,
}

/// A barrier of the block.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Barrier {
    /// Threads that came, and how many must.
    pub arrived: u32,
    pub expected: u32,
    pub warps: u32,
    /// Of `bar.red`: threads whose predicate held, and threads that voted.
    pub votes: u32,
    pub voters: u32,
}

impl Shared {
    /// A new block's memory: nothing written.
    pub(crate) fn reset(&mut self, layout: &Layout, warps: usize, track: bool, races: bool) {
        let n = layout.bytes.div_ceil(4) as usize;
        self.bytes = layout.bytes;
        self.words.clear();
        self.words.resize(n, 0xcdcd_cdcd);
        self.written.clear();
        if track {
            self.written.resize(n, HOLE);
            for (start, end, _) in &layout.ranges {
                self.written[(*start / 4) as usize..(*end).div_ceil(4) as usize].fill(0);
            }
        } else {
            self.written.resize(n, 0xf);
        }
        self.barriers = Default::default();
        self.released = 0;
        self.races.reset(if races { n } else { 0 }, warps);
    }
}
