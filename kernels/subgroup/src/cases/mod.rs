//! The table of cases, for sub-groups of any width.
//!
//! Expectations are computed here from the contract's words alone: no sub-group takes part. A result that the contract
//! leaves open is not expected to be anything.

mod blocks;
mod folds;
mod kernels;
mod promises;
mod queries;
mod random;
mod shuffles;
mod votes;

pub use kernels::{Body, HostKernel, Kernel, kernel};
pub use random::Random;

use crate::{INPUTS, RESULTS};

/// What a thread is expected to put out; `None` where the contract leaves it open.
pub type Expected = [Option<u64>; RESULTS];

/// One launch and what must come of it.
#[derive(Debug, Clone)]
pub struct Case {
    /// What the case is about.
    pub name: String,
    /// The kernel's symbol.
    pub kernel: &'static str,
    /// The width of the machine's sub-groups that this is expected for.
    pub width: u32,
    /// The block's dimensions. There is one block.
    pub block: [u32; 3],
    /// The threads' input, [`INPUTS`] words each.
    pub threads: Vec<u64>,
    /// The input for all threads.
    pub common: Vec<u64>,
    /// The output, by thread.
    pub expected: Vec<Expected>,
}

impl Case {
    /// Every case for sub-groups of that width, with sub-groups, blocks and arguments as the contract lists them.
    pub fn all(width: u32) -> impl Iterator<Item = Case> {
        let tables = [
            shuffles::cases(width),
            votes::cases(width),
            folds::cases(width),
            queries::cases(width),
            promises::cases(width),
            blocks::cases(width),
        ];
        tables.into_iter().flatten()
    }

    /// Says which result of which thread is not the expected one, if any.
    pub fn check(&self, output: &[u64]) -> Result<(), String> {
        for (thread, (expected, results)) in self.expected.iter().zip(output.chunks(RESULTS)).enumerate() {
            let wrong =
                expected.iter().zip(results).position(|(expected, result)| expected.is_some_and(|e| e != *result));
            if let Some(at) = wrong {
                let (expected, result) = (expected[at].unwrap_or(0), results[at]);
                return Err(format!(
                    "{}: thread {thread}, result {at}: {result:#x} instead of {expected:#x}",
                    self.name
                ));
            }
        }
        Ok(())
    }
}

/// The cases of one kind, made when they are asked for.
type Cases = Box<dyn Iterator<Item = Case>>;

/// Where a thread stands among sub-groups of some width.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The first thread of its sub-group.
    first: u32,
    /// Its lane.
    lane: u32,
    /// How many lanes there are.
    size: u32,
}

impl Place {
    fn of(thread: u32, threads: u32, width: u32) -> Place {
        let first = thread - thread % width;
        Place { first, lane: thread - first, size: width.min(threads - first) }
    }

    /// The place among segments of a narrower width, each taken as a sub-group.
    fn segment(self, width: u32) -> Place {
        Place::of(self.first + self.lane, self.first + self.size, width)
    }
}

/// A block of one dimension.
fn line(threads: u32) -> [u32; 3] {
    [threads, 1, 1]
}

/// The numbers of threads that make whole, partial, several and single-lane sub-groups.
fn group_sizes(width: u32) -> [u32; 4] {
    [width, width - 3, 2 * width + 5, 1]
}

/// Blocks of several dimensions and odd sizes, as far as a block may be so large.
fn blocks(width: u32) -> impl Iterator<Item = [u32; 3]> {
    let w = width;
    let blocks = [
        line(w + 5),
        line(3 * w),
        line(9 * w + 5),
        [w, 4, 1],
        [2 * w, 2, 1],
        [w, 2, 2],
        [33, 2, 1],
        [7, 5, 1],
        [5, 3, 2],
    ];
    blocks.into_iter()
}

/// The words of all threads, from a function that gives those of one.
fn inputs(threads: u32, mut of: impl FnMut(u32) -> Vec<u64>) -> Vec<u64> {
    let padded = |mut words: Vec<u64>| {
        words.resize(INPUTS, 0);
        words
    };
    (0..threads).flat_map(|thread| padded(of(thread))).collect()
}

/// The widths of segments: the powers of two up to the sub-group's.
fn segment_widths(width: u32) -> impl Iterator<Item = u32> {
    (0..=width.ilog2()).map(|log2| 1 << log2)
}

/// Blocks with widths of segments: every width where there are few sub-groups, one for each other block.
fn blocks_and_segments(width: u32) -> impl Iterator<Item = ([u32; 3], u32)> {
    let small = group_sizes(width).into_iter().map(line);
    let small = small.flat_map(move |block| segment_widths(width).map(move |segment| (block, segment)));
    let others = blocks(width).zip((0..=width.ilog2()).rev().map(|log2| 1 << log2).cycle());
    small.chain(others)
}
