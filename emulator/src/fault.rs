//! What went wrong while a kernel ran: which rule, where in the PTX, where in the source, which block, which thread.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

/// The rule a kernel broke.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside every buffer, or across the end of one.
    #[error("out of bounds: {bytes} bytes at {place}")]
    OutOfBounds {
        /// Bytes accessed.
        bytes: u32,
        /// The address, in words.
        place: String,
    },
    /// An access at an address its size does not divide.
    #[error("misaligned: {bytes} bytes at {place}")]
    Misaligned {
        /// Bytes accessed.
        bytes: u32,
        /// The address, in words.
        place: String,
    },
    /// A write to memory that kernels may only read.
    #[error("a write to read-only memory at {place}")]
    ReadOnly {
        /// The address, in words.
        place: String,
    },
    /// A value computed from memory that nothing wrote.
    #[error(
        "uninitialized: the value loaded from {place} at PTX line {loaded_at} was never written, and this instruction computes with it"
    )]
    Uninitialized {
        /// The address, in words.
        place: String,
        /// PTX line of the load.
        loaded_at: u32,
    },
    /// Two threads of a block used the same shared memory with no barrier between them, one of them to write.
    #[error(
        "race in shared memory: this {this} of {place} and the {other} by thread {other_thread} at PTX line {other_line} have no barrier between them"
    )]
    Race {
        /// `read`, `write` or `atomic`.
        this: &'static str,
        /// The address, in words.
        place: String,
        /// What the other access was.
        other: &'static str,
        /// Its thread, numbered through the block.
        other_thread: u32,
        /// Its PTX line.
        other_line: u32,
    },
    /// A barrier that some threads of the block never reach.
    #[error("barrier {barrier} is not reached by all: {arrived} of {expected} threads wait here; {missing}")]
    BarrierNotReached {
        /// Its number.
        barrier: u32,
        /// Threads that wait.
        arrived: u32,
        /// Threads it waits for.
        expected: u32,
        /// Where the others are.
        missing: String,
    },
    /// A shuffle, vote or the like whose named lanes do not all come.
    #[error("the mask {mask:#010x} names lanes that do not arrive here: {missing}")]
    LanesMissing {
        /// The member mask.
        mask: u32,
        /// Where they are.
        missing: String,
    },
    /// A lane executed a warp instruction with a mask that does not name it.
    #[error("the mask {mask:#010x} does not name lane {lane} that executes this")]
    NotInMask {
        /// The member mask.
        mask: u32,
        /// The lane.
        lane: u32,
    },
    /// Threads wait for each other at different barriers and none can go on.
    #[error("deadlock: {what}")]
    Deadlock {
        /// Who waits for what.
        what: String,
    },
    /// More instructions than the launch allows.
    #[error("step limit: a warp executed {limit} instructions")]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// `trap`, which is how compiled Rust panics.
    #[error("trap")]
    Trap,
    /// C++'s `assert` failed.
    #[error("assertion failed: {0}")]
    Assert(String),
    /// A call of a function that the module declares only.
    #[error("a call of `{0}`, which this module does not define")]
    Unresolved(String),
    /// A call through a register whose value is no function that fits.
    #[error("a call through a register that holds no function of this signature")]
    BadCall,
    /// Calls nested deeper than the emulator or the thread's local memory allow.
    #[error("the call stack is full")]
    StackOverflow,
    /// An operand outside what the instruction allows at run time.
    #[error("{0}")]
    Operand(String),
}

/// A fault with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The kernel launched.
    pub kernel: String,
    /// The function the instruction is in (the kernel itself, or one it called).
    pub function: String,
    /// The instruction's mnemonic.
    pub instruction: String,
    /// Its line in the PTX text.
    pub ptx_line: u32,
    /// File, line and column in the source, where the module has line tables.
    pub source: Option<(String, u32, u32)>,
    /// The block.
    pub block: [u32; 3],
    /// The thread in the block.
    pub thread: [u32; 3],
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`, PTX line {}: `{}`", self.kernel, self.ptx_line, self.instruction)?;
        if self.function != self.kernel {
            write!(f, " in `{}`", self.function)?;
        }
        if let Some((file, line, column)) = &self.source {
            write!(f, " ({file}:{line}:{column})")?;
        }
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        write!(f, ", block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}): {}", self.kind)
    }
}
