//! What the machine really runs: PTX is assembled, disassembled, and its loops, loads and spills are counted.
//!
//! ```text
//! PTX ── Ptxas ── Cubin ── Nvdisasm ── Module ── Program ── Kernel ── Report
//!          │                             │          │         │
//!      ptxas's own              parsed text   flow graph,   loops, calls,
//!      figures, notes                         call graph    counts, dumps
//! ```
//!
//! [`Witness`] does the first three steps with the PTX line of every instruction, and [`tie`] tells from that what became
//! of every loop of the PTX ([`PtxModule`]): alive, gone or not proved, and in how many copies.
//!
//! [`Ptxas`] and [`Nvdisasm`] run NVIDIA's programs; everything after them is plain text work, so that a kernel kept as
//! disassembled text is analysed on a machine without CUDA ([`Module::parse`]).
//!
//! **What a kernel's figures cover.** The kernel and every function that it can call, each counted once however often
//! it is called. Optimizing, ptxas puts a copy of every callee into the section of each kernel, and two kernels share
//! no code; for debugging, every function has a section of its own. A call through a register may go to any device
//! function of the kernel's section, and to any in a section of its own.
//!
//! **What counts as what** (by opcode, modifiers aside):
//!
//! | figure | counts |
//! |---|---|
//! | `loops` | natural loops of the kernel and its device functions that the entry reaches, ptxas's own compare-and-swap loops for atomics included; not the branch to itself with which ptxas pads every section, nor loops inside ptxas's helpers (`helper_loops`) |
//! | `instructions` | every instruction that can be reached; padding cannot |
//! | `global_loads` | `LDG`, and the generic `LD` (llc leaves one where it cannot tell the address space) |
//! | `global_stores` | `STG`, and the generic `ST` |
//! | `local_loads`, `local_stores` | `LDL`, `STL`: spills, local arrays and saved registers alike |
//! | `calls` | call instructions to device functions, a jump into another function and a call through a register included |
//! | `helper_calls` | call instructions to ptxas's own arithmetic: division, remainder, reciprocal, square root |
//! | `sync_calls` | call instructions to the rest of ptxas's functions: on sm_80 a warp shuffle in divergent code is one |
//!
//! Atomics (`ATOM…`, `RED…`), asynchronous copies (`LDGSTS` and the bulk copies), shared and constant accesses are
//! neither loads nor stores here; [`Loop::holds`] finds them, and any other opcode.
//!
//! **When it is wrong.** An indirect jump for which nvdisasm names no targets is taken to reach every label of its
//! function, which can only add loops; [`Extra::unresolved_jumps`] says how many there were. A cycle with two entries
//! is no natural loop; [`Extra::irreducible`] says that there is one.

mod analysis;
mod disassembly;
mod error;
mod graph;
mod image;
mod instruction;
mod listing;
mod loops;
mod messages;
mod nvdisasm;
mod ptx;
mod ptxas;
mod report;
mod resources;
mod tie;
mod tool;
mod witness;

pub use analysis::{Call, Function, Kernel, Program};
pub use disassembly::{Module, ParseError, Section, Symbol, SymbolKind};
pub use error::Error;
pub use graph::{BasicBlock, Edge, EdgeKind, Graph};
pub use image::{ImageError, same_code};
pub use instruction::{Callee, Flow, Frame, Instruction, Place, Predicate, Source};
pub use loops::Loop;
pub use messages::{Message, Severity};
pub use nvdisasm::Nvdisasm;
pub use ptx::{
    Location, PtxBlock, PtxError, PtxFunction, PtxLoop, PtxModule, SplitPtx, Statement, StatementId,
    one_statement_a_line, split,
};
pub use ptxas::{AssembleOptions, Cubin, Ptx, Ptxas};
pub use report::{Counts, Extra, KernelReport, Report};
pub use resources::{FunctionResources, KernelResources, Resources, Total};
pub use tie::{BlockCode, Instance, Landmark, LandmarkKind, TiedKernel, TiedLoop, Verdict, tie};
pub use witness::Witness;

/// What the functions of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;
