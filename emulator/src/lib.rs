//! PTX parsed and run on the CPU: what a *compiled* kernel computes, what rules it breaks, what it costs.
//!
//! ```
//! use emulator::{Device, Module, Shape};
//!
//! let module = Module::load(
//!     ".version 8.0\n.target sm_80\n.address_size 64
//!      .visible .entry double(.param .u64 x) {
//!          .reg .b64 %d<3>; .reg .b32 %r<3>;
//!          ld.param.u64 %d1, [x];
//!          mov.u32 %r1, %tid.x;
//!          mad.wide.u32 %d2, %r1, 4, %d1;
//!          ld.global.u32 %r2, [%d2];
//!          add.u32 %r2, %r2, %r2;
//!          st.global.u32 [%d2], %r2;
//!          ret;
//!      }",
//! )?;
//! let mut device = Device::default();
//! let x = device.buffer(&[1u32, 2, 3, 4]);
//! let report = device.launch(&module.kernel("double")?, Shape::line(1, 4), &[x.into()])?;
//! assert_eq!(device.read(&x)?, [2, 4, 6, 8]);
//! assert_eq!(report.counts.total.global_sectors, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//! [`Module::load`] parses the text ([`parse`]) and decodes it against one table of instructions ([`supported`] prints it). An
//! instruction that is not in the table is an error there, with its line: there is no wrong answer later. A launch runs
//! blocks on all cores, the warps of a block in turns, and the 32 lanes of a warp together: an instruction is decoded
//! once and then loops over lanes. Lanes that branch differently form groups that meet again at the earliest point and
//! each make progress, so spin locks between lanes end. Results do not depend on the number of cores, except where
//! blocks race or add floats atomically.
//!
//! # What is exact
//! Integer and floating-point arithmetic, conversions and comparisons are bit for bit what the ISA defines, with the
//! rounding and flushing the instruction names. Where the ISA leaves freedom, the emulator takes one choice:
//! approximate functions are computed in f64 and rounded once; sums of tensor-core products are made in f64; NaN
//! results of f32 and the half formats are the canonical NaN; integer division by zero gives all ones.
//!
//! # What it does not know
//! [`supported`] prints what it knows; the rest is refused at load. Left out are `wmma`, `mma` and `wgmma` of 8-bit, 4-bit and
//! double elements and sparse ones, `tcgen05`, matrix loads of 8-bit elements, conversions to formats of 8 bits and
//! less, registers of 128 bits, `mbarrier` and what arrives at one (`cp.async.bulk`, `cp.async.mbarrier`, `st.async`),
//! clusters of several blocks (`barrier.cluster`, `mapa`), `multimem`, `tensormap`, textures and surfaces, most video
//! instructions, `alloca`, and what was removed before sm_70 (`shfl` and `vote` without `.sync`).
//!
//! # What it finds
//! A kernel that breaks a rule ends the launch with a [`Fault`]: accesses out of bounds (buffers and shared variables
//! are exact to the byte), misaligned, freed, or of memory that cannot be written; values computed from memory that
//! nothing wrote; barriers that not all threads reach; shuffles, votes and other warp instructions whose named lanes do
//! not come; races in shared memory; deadlock; traps and calls of undefined functions (how Rust panics); a full stack;
//! a step limit.
//!
//! # What it cannot see
//! - **One execution is watched.** Paths the data did not take are not judged, nor other interleavings of warps and
//!   blocks.
//! - **Races in global memory**, within a block or between blocks, go unreported. They give one of the values written;
//!   64-bit accesses that are not atomic may tear.
//! - **Order by flags** in shared memory is not followed and is reported as a race though it may be right; all of what
//!   the race detector leaves out is listed in its module, `races`.
//! - **The memory model's weakness.** Every write is visible at once to all, so a missing fence between blocks is not
//!   found.
//! - **Blocks run to their end in order.** A block that waits for a later one hits the step limit; on a GPU it may or
//!   may not hang.
//! - **Local memory** is exact to a function's whole frame, not to each array in it. Registers nothing wrote are not
//!   tracked.
//! - **`wgmma` and `cp.async`**: a missing `wgmma` fence, commit or wait is not found; a missing `cp.async` wait shows
//!   as memory that was not written.
//! - **Time.** Counts are of PTX instructions, not of what `ptxas` makes of them; nothing is cached; there is no clock
//!   but the count of instructions.
//!
//! Deliberately stricter than the hardware, each with a switch in [`Config`]: threads that exited do not count at
//! barriers, and member masks must not name lanes that exited. A full mask in a partial last warp is right, as the ISA
//! has it; a switch reports that too.
#![forbid(unsafe_code)]
// Loops over lanes index several arrays by the lane; that is what the compiler vectorizes and what reads best.
#![allow(clippy::needless_range_loop)]

mod access;
mod args;
pub mod ast;
mod block;
mod blocks;
mod command;
mod counts;
mod error;
mod exec;
mod fault;
pub mod flops;
mod launch;
mod lexer;
mod lower;
mod lower_body;
mod memory;
pub mod npy;
mod ops;
mod ops_async;
mod ops_atom;
mod ops_bits;
mod ops_cvt;
mod ops_float;
mod ops_flow;
mod ops_int;
mod ops_mem;
mod ops_mma;
mod ops_mov;
mod ops_select;
mod ops_warp;
mod ops_wgmma;
mod order;
mod parser;
mod parser_body;
mod program;
mod races;
mod run;
mod shared;
mod softfloat;
mod special;
mod table;
mod taint;
mod warp;

pub use args::{Arg, Scalar};
pub use command::{Command, CommandError, parse_dims};
pub use counts::{Counts, LineKey, Totals};
pub use error::LoadError;
pub use fault::{Fault, FaultKind};
pub use launch::{Buffer, Config, Device, Kernel, LaunchError, Module, Report, Shape};
pub use parser::parse;
pub use table::{Class, supported};
