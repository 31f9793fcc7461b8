//! What the rooms of Latch say to each other of a loop hint.
//!
//! ```text
//! macros ── markers: Site, Request ──► plugin, linker ── codegen_pass: NoLoop
//! plugin ── Note, as the code of a rustc diagnostic ──► command
//! command ── LevelFor, in a --cfg ──► plugin
//! linker ── LinkReport, as JSON: Site, Request, Status, Reason ──► command
//! linker ── StageFile, the names of kept modules ──► command
//! ```
//!
//! What is said is typed, and each type is written and read here, in one format. Nobody knows a [`Reason`] by its
//! sentence: sentences are for people, and are made where they are printed. The few that two rooms print are in
//! [`text`].
//!
//! Without the feature `serde` nothing here depends on anything, since the macros and the plugin are compiled before
//! the first kernel.

#[macro_use]
mod names;
mod level;
pub mod marker;
mod note;
mod reason;
#[cfg(feature = "serde")]
mod report;
mod request;
mod route;
mod site;
pub mod stages;
mod status;
pub mod text;

pub use level::{LEVEL_CFG, Level, LevelFor};
pub use names::UnknownName;
pub use note::{MirLoop, Note, TRACE_CFG};
pub use reason::{NoLoop, Reason, ReasonKind};
#[cfg(feature = "serde")]
pub use report::{HintRecord, KernelRecord, LeftLoop, LinkReport, LoopRecord, OtherVersion, PtxLoop, VERSION};
pub use request::{HintKind, Request};
pub use route::Route;
pub use site::{ParseSiteError, Site};
pub use status::Status;
