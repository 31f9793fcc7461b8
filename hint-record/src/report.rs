//! What the link stage says of one linked module: every hint in it, and every kernel.
//!
//! The linker writes it as JSON, the command reads it. It knows only what reached the link stage; hints of functions
//! that were never compiled are added by the command, which reads the source.
//!
//! The JSON starts with the version of its format. A report of another version is refused for that only, before
//! anything else in it is looked at.

use crate::{Reason, Request, Site, Status};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The version of the format. A change of what is written, or of what it means, gets the next number.
pub const VERSION: u32 = 2;
const VERSION_KEY: &str = "version";

/// The report of one link.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkReport {
    /// One entry per hint and function, ordered by site and function.
    pub hints: Vec<HintRecord>,
    /// One entry per kernel, in the module's order.
    pub kernels: Vec<KernelRecord>,
}

/// One hint in one function of the linked module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HintRecord {
    /// Where the hint stands.
    pub site: Site,
    /// What it asks for.
    pub request: Request,
    /// The function, demangled.
    pub function: String,
    /// The function's symbol.
    pub symbol: String,
    /// The loops that got the hint. More than one where rustc inlined a function twice into this one.
    pub loops: Vec<LoopRecord>,
    /// Honoured or dropped.
    pub status: Status,
    /// Why it was dropped.
    pub reason: Option<Reason>,
    /// The loops left of it after optimization, wherever they were inlined.
    pub left: Vec<LeftLoop>,
    /// The loops of the PTX that are made of the hint's; none where that could not be told, and in a build without PTX.
    pub ptx: Option<Vec<PtxLoop>>,
}

/// A loop of the PTX.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PtxLoop {
    /// The symbol of the function that it stands in.
    pub symbol: String,
    /// The label of its header.
    pub label: String,
}

/// A loop that got a hint.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoopRecord {
    /// The header's name in LLVM's text.
    pub header: String,
    /// How many jumps led back to the header.
    pub back_edges: usize,
    /// The name of the single latch.
    pub latch: String,
}

/// A loop left after optimization.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftLoop {
    /// The symbol of the function that it stands in.
    pub symbol: String,
    /// The header's name in LLVM's text.
    pub header: String,
}

/// One kernel, with all that it can call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelRecord {
    /// The kernel's symbol.
    pub name: String,
    /// The loops that carried a hint before optimization.
    pub marked_latches: usize,
    /// The `.pragma "nounroll"` directives in its PTX.
    pub pragmas: usize,
}

/// A report in another format than this crate's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OtherVersion {
    /// The version that it says it has, if it does.
    pub found: Option<u32>,
}

impl fmt::Display for OtherVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.found {
            Some(found) => write!(f, "it has version {found} of the format, and version {VERSION} is expected"),
            None => write!(f, "it has no version, and version {VERSION} of the format is expected"),
        }
    }
}

impl std::error::Error for OtherVersion {}

/// What stands in the JSON.
#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    hints: &'a [HintRecord],
    kernels: &'a [KernelRecord],
}

/// What stands there behind the version.
#[derive(Deserialize)]
struct Rest {
    hints: Vec<HintRecord>,
    kernels: Vec<KernelRecord>,
}

impl Serialize for LinkReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written { version: VERSION, hints: &self.hints, kernels: &self.kernels }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LinkReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LinkReport, D::Error> {
        deserializer.deserialize_map(VersionFirst)
    }
}

struct VersionFirst;

impl<'de> Visitor<'de> for VersionFirst {
    type Value = LinkReport;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report of hints and kernels")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LinkReport, A::Error> {
        let has_version = map.next_key::<String>()?.is_some_and(|key| key == VERSION_KEY);
        let found = if has_version { Some(map.next_value()?) } else { None };
        if found != Some(VERSION) {
            return Err(A::Error::custom(OtherVersion { found }));
        }
        let Rest { hints, kernels } = Rest::deserialize(MapAccessDeserializer::new(map))?;
        Ok(LinkReport { hints, kernels })
    }
}
