//! The analysis that decides which loop a hint belongs to, and the rewrite that gives that loop a single latch.
//!
//! What stands here knows neither MIR nor LLVM IR. A host intermediate representation shows its blocks through
//! [`ControlFlow`], hands over the markers it found ([`Marker`]), and gets back a [`Resolution`]: which loop carries
//! which hint, and for every other hint the [`DropReason`]. The host then calls [`single_latch`] for each hinted loop
//! and puts its own metadata on the block that comes back.
//!
//! ```text
//! blocks ── Flow ── Dominators ── LoopForest ──┐
//! markers ─────────────────────────────────────┴─ resolve ── Resolution ── single_latch
//! ```
//!
//! Every step takes time linear in blocks and edges (dominators: nearly so), because a kernel after unrolling macros
//! can have a hundred thousand blocks.

mod dominators;
mod flow;
mod irreducible;
mod latch;
mod loops;
mod resolve;

pub use dominators::Dominators;
pub use flow::{Block, ControlFlow, Flow};
pub use irreducible::IrreducibleCycles;
pub use latch::{MergeLatches, single_latch};
pub use loops::{Loop, LoopForest, LoopId};
pub use resolve::{DropReason, Hint, HintedLoop, Marker, Resolution, Role, SiteId, number_sites, resolve};
