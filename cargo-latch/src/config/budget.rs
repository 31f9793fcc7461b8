//! What a kernel may cost: the tables `[[kernel]]`.

use std::collections::BTreeMap;
use std::fmt;

use glob::Pattern;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::build::Arch;

/// One table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelTable {
    /// Which kernels it is for.
    #[serde(deserialize_with = "glob")]
    pub name: Spanned<Pattern>,
    /// Which architectures it is for; all, where none is named.
    #[serde(default, deserialize_with = "archs")]
    arch: Vec<Arch>,
    loops: Option<Spanned<Limit>>,
    global_loads: Option<Spanned<Limit>>,
    registers: Option<Spanned<Limit>>,
    spill_bytes: Option<Spanned<Limit>>,
    local_loads: Option<Spanned<Limit>>,
    local_stores: Option<Spanned<Limit>>,
    stack_bytes: Option<Spanned<Limit>>,
    calls: Option<Spanned<Limit>>,
    helper_calls: Option<Spanned<Limit>>,
}

/// A figure that a budget can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Loops of the machine code.
    Loops,
    /// `LDG` and generic `LD`.
    GlobalLoads,
    /// Registers of a thread.
    Registers,
    /// Spill stores plus loads.
    SpillBytes,
    /// `LDL`.
    LocalLoads,
    /// `STL`.
    LocalStores,
    /// Stack of a thread.
    StackBytes,
    /// Calls to device functions.
    Calls,
    /// Calls to ptxas's own arithmetic.
    HelperCalls,
}

impl Figure {
    /// Every figure.
    pub const ALL: [Figure; 9] = [
        Figure::Loops,
        Figure::GlobalLoads,
        Figure::Registers,
        Figure::SpillBytes,
        Figure::LocalLoads,
        Figure::LocalStores,
        Figure::StackBytes,
        Figure::Calls,
        Figure::HelperCalls,
    ];

    /// The key in `latch.toml`, which is the report's too.
    pub fn key(self) -> &'static str {
        match self {
            Figure::Loops => "loops",
            Figure::GlobalLoads => "global_loads",
            Figure::Registers => "registers",
            Figure::SpillBytes => "spill_bytes",
            Figure::LocalLoads => "local_loads",
            Figure::LocalStores => "local_stores",
            Figure::StackBytes => "stack_bytes",
            Figure::Calls => "calls",
            Figure::HelperCalls => "helper_calls",
        }
    }

    /// A number of it, in words.
    pub fn amount(self, number: u64) -> String {
        let (one, many) = match self {
            Figure::Loops => ("loop", "loops"),
            Figure::GlobalLoads => ("global load", "global loads"),
            Figure::Registers => ("register", "registers"),
            Figure::SpillBytes => ("byte of spills", "bytes of spills"),
            Figure::LocalLoads => ("local load", "local loads"),
            Figure::LocalStores => ("local store", "local stores"),
            Figure::StackBytes => ("byte of stack", "bytes of stack"),
            Figure::Calls => ("call of a device function", "calls of device functions"),
            Figure::HelperCalls => ("call of ptxas's arithmetic", "calls of ptxas's arithmetic"),
        };
        format!(
            "{} {}",
            if number == 0 { "no".to_owned() } else { number.to_string() },
            if number == 1 { one } else { many }
        )
    }
}

/// From, to: written as a number, or as a table of `min` and `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// No fewer.
    pub min: Option<u64>,
    /// No more.
    pub max: Option<u64>,
}

impl Limit {
    /// Is a figure within it?
    pub fn allows(&self, figure: u64) -> bool {
        self.min.is_none_or(|min| figure >= min) && self.max.is_none_or(|max| figure <= max)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => write!(f, "{max}"),
            (Some(min), Some(max)) => write!(f, "{min} to {max}"),
            (None, Some(max)) => write!(f, "at most {max}"),
            (Some(min), None) => write!(f, "at least {min}"),
            (None, None) => f.write_str("any number"),
        }
    }
}

/// What all tables that fit a kernel say together.
#[derive(Debug, Clone, Default)]
pub struct Budget<'a> {
    limits: BTreeMap<Figure, &'a Spanned<Limit>>,
}

impl<'a> Budget<'a> {
    /// The later table wins.
    pub(super) fn of(tables: &[&'a KernelTable]) -> Budget<'a> {
        let mut limits = BTreeMap::new();
        for table in tables {
            for figure in Figure::ALL {
                limits.extend(table.limit(figure).map(|limit| (figure, limit)));
            }
        }
        Budget { limits }
    }

    /// Every figure that is limited.
    pub fn limits(&self) -> impl Iterator<Item = (Figure, &'a Spanned<Limit>)> {
        self.limits.iter().map(|(figure, limit)| (*figure, *limit))
    }

    /// Does it say anything of a figure?
    pub fn mentions(&self, figure: Figure) -> bool {
        self.limits.contains_key(&figure)
    }
}

impl KernelTable {
    /// Is it for this kernel?
    pub fn matches(&self, kernel: &str) -> bool {
        self.name.get_ref().matches(kernel)
    }

    /// Is it for this architecture?
    pub fn is_for(&self, arch: &str) -> bool {
        self.arch.is_empty() || self.arch.iter().any(|own| own.name() == arch)
    }

    /// Is it for this kernel on this architecture?
    pub fn fits(&self, kernel: &str, arch: &str) -> bool {
        self.matches(kernel) && self.is_for(arch)
    }

    fn limit(&self, figure: Figure) -> Option<&Spanned<Limit>> {
        match figure {
            Figure::Loops => self.loops.as_ref(),
            Figure::GlobalLoads => self.global_loads.as_ref(),
            Figure::Registers => self.registers.as_ref(),
            Figure::SpillBytes => self.spill_bytes.as_ref(),
            Figure::LocalLoads => self.local_loads.as_ref(),
            Figure::LocalStores => self.local_stores.as_ref(),
            Figure::StackBytes => self.stack_bytes.as_ref(),
            Figure::Calls => self.calls.as_ref(),
            Figure::HelperCalls => self.helper_calls.as_ref(),
        }
    }
}

fn glob<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Spanned<Pattern>, D::Error> {
    let text = Spanned::<String>::deserialize(deserializer)?;
    let pattern = Pattern::new(text.get_ref())
        .map_err(|error| de::Error::custom(format!("`{}` is no glob: {}", text.get_ref(), error.msg)))?;
    Ok(Spanned::new(text.span(), pattern))
}

fn archs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Arch>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected an architecture, such as \"sm_90\", or a list of some")]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }
    let names = match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(name) => vec![name],
        OneOrMore::More(names) if names.is_empty() => {
            return Err(de::Error::custom("the list of architectures is empty"));
        }
        OneOrMore::More(names) => names,
    };
    names.iter().map(|name| name.parse().map_err(de::Error::custom)).collect()
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Limit, D::Error> {
        deserializer.deserialize_any(LimitVisitor)
    }
}

struct LimitVisitor;

impl<'de> Visitor<'de> for LimitVisitor {
    type Value = Limit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or { min = …, max = … }")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Limit, E> {
        let number = u64::try_from(number).map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))?;
        self.visit_u64(number)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Limit, E> {
        Ok(Limit { min: Some(number), max: Some(number) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Limit, A::Error> {
        let mut limit = Limit { min: None, max: None };
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "min" => limit.min = Some(map.next_value()?),
                "max" => limit.max = Some(map.next_value()?),
                _ => return Err(de::Error::unknown_field(&key, &["min", "max"])),
            }
        }
        match (limit.min, limit.max) {
            (None, None) => Err(de::Error::custom("neither `min` nor `max` is given")),
            (Some(min), Some(max)) if min > max => {
                Err(de::Error::custom(format!("`min` is {min} and `max` is {max}: no number is between them")))
            }
            _ => Ok(limit),
        }
    }
}
