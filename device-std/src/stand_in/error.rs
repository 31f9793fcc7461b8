//! How a launch on the host can fail.

use super::ranges::Ranges;
use std::fmt::{self, Display, Formatter};
use std::format;
use std::io;
use std::panic::Location;
use std::string::String;
use std::vec::Vec;

/// Why a launch did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The grid has no block.
    #[error("a grid of {} blocks cannot be launched: each dimension must be at least 1", times(.0))]
    Grid([u32; 3]),
    /// The block has no thread, or more than a GPU can run.
    #[error(
        "a block of {} threads cannot be launched: each dimension must be at least 1, and all together at most {}",
        times(.0),
        super::MAX_BLOCK
    )]
    Block([u32; 3]),
    /// No GPU has so much shared memory.
    #[error(
        "{0} bytes of dynamic shared memory cannot be launched: the largest GPUs give a block {max}",
        max = super::MAX_DYNAMIC_SHARED
    )]
    DynamicShared(usize),
    /// The host gave no memory for a thread's stack.
    #[error("there is no memory for the stacks of a block's threads; ask for smaller ones with `Launch::stack`")]
    Stack(#[source] io::Error),
    /// A thread panicked, which traps on a GPU.
    #[error("thread {thread:?} of block {block:?} panicked: {message}")]
    Panicked {
        /// The block's index.
        block: [u32; 3],
        /// The thread's index in the block.
        thread: [u32; 3],
        /// What it panicked with.
        message: String,
    },
    /// Threads wait for memory to change, and nobody changes it.
    #[error(
        "block {block:?} makes no progress: threads {} have done {operations} atomic operations while none returned or got past \
         a barrier; if they do not wait in vain, ask for more with `Launch::patience`",
        Ranges(threads)
    )]
    Stalled {
        /// The block's index.
        block: [u32; 3],
        /// The linear indices of the threads that run.
        threads: Vec<u32>,
        /// How many operations they were allowed.
        operations: u64,
    },
    /// Every thread that is left waits for others that do not come.
    #[error("deadlock in block {block:?}: {}", list(waits))]
    Deadlock {
        /// The block's index.
        block: [u32; 3],
        /// Who waits for whom.
        waits: Vec<Wait>,
    },
}

/// Threads that wait together in one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The operation's name.
    pub operation: &'static str,
    /// Where the kernel calls it.
    pub location: &'static Location<'static>,
    /// The sub-group that the lanes are counted in; `None` where they are linear thread indices of the block.
    pub sub_group: Option<u32>,
    /// Who waits.
    pub waiting: Vec<u32>,
    /// Who else takes part and is still running elsewhere.
    pub missing: Vec<u32>,
    /// Who else takes part and has returned from the kernel.
    pub returned: Vec<u32>,
}

impl Display for Wait {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.sub_group {
            Some(group) => write!(f, "lanes {} of sub-group {group}", Ranges(&self.waiting))?,
            None => write!(f, "threads {}", Ranges(&self.waiting))?,
        }
        write!(f, " wait in `{}` at {} for ", self.operation, self.location)?;
        match (&self.missing[..], &self.returned[..]) {
            (missing, []) => write!(f, "{}", Ranges(missing)),
            ([], returned) => write!(f, "{}, which have returned", Ranges(returned)),
            (missing, returned) => write!(f, "{}, and for {}, which have returned", Ranges(missing), Ranges(returned)),
        }
    }
}

fn list(waits: &[Wait]) -> String {
    waits.iter().map(|wait| format!("{wait}")).collect::<Vec<_>>().join("; ")
}

fn times([x, y, z]: &[u32; 3]) -> String {
    format!("{x} x {y} x {z}")
}
