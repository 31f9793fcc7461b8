//! The table of instructions: what the emulator knows, in one place.
//!
//! Two kinds of entries. A [`Row`] is one mnemonic written out (or a few that do the same, separated by `|`), the
//! registers it takes and the function that runs it. A [`Family`] is an opcode whose qualifiers combine too freely to
//! write out (`ld`, `cvt`, `setp`); it has a grammar for the documentation and a function that reads the qualifiers.
//! What is in neither is an error at load. The page of supported instructions is generated from here.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Serialize;

use crate::ast::RawInst;
use crate::error::LoadError;
use crate::lower_body::Body;
use crate::program::ExecFn;

/// A class of instructions, for counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Class {
    Move,
    Integer,
    Float,
    Double,
    Half,
    Convert,
    Compare,
    Branch,
    Call,
    Global,
    Shared,
    Local,
    Param,
    Atomic,
    Barrier,
    Warp,
    Tensor,
    Async,
    Other,
}

impl Class {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Class::Move => "move",
            Class::Integer => "integer",
            Class::Float => "float",
            Class::Double => "double",
            Class::Half => "half",
            Class::Convert => "convert",
            Class::Compare => "compare",
            Class::Branch => "branch",
            Class::Call => "call",
            Class::Global => "global",
            Class::Shared => "shared",
            Class::Local => "local",
            Class::Param => "param",
            Class::Atomic => "atomic",
            Class::Barrier => "barrier",
            Class::Warp => "warp",
            Class::Tensor => "tensor",
            Class::Async => "async",
            Class::Other => "other",
        }
    }
}

/// How an instruction treats bytes that nothing wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taint {
    /// Computes with its operands: such a byte in one is a fault.
    Compute,
    /// Passes bytes on unchanged: `d` is `a`.
    Move,
    /// Passes bits on: the result lacks what its operands lack, byte by byte.
    Bitwise,
    /// Passes bits on to other places: the result lacks all if an operand lacks any.
    Shuffle,
    /// Sees to it itself (loads, stores, vector moves).
    Own,
    /// Reads nothing that could lack.
    Nothing,
}

/// An instruction written out.
pub(crate) struct Row {
    /// Mnemonics, separated by `|`.
    pub names: &'static str,
    /// Result registers, `=`, operands: `h` 16 bits, `r` 32, `d` 64, `p` a predicate.
    pub sig: &'static str,
    pub class: Class,
    pub taint: Taint,
    pub exec: ExecFn,
}

/// Reads an instruction's qualifiers and emits what runs.
pub(crate) type LowerFn = for<'a> fn(&mut Body<'_, 'a>, &RawInst<'a>, &[&str]) -> Result<(), LoadError>;

/// An opcode with qualifiers that combine.
pub(crate) struct Family {
    pub opcode: &'static str,
    /// Its forms, for the documentation.
    pub forms: &'static str,
    pub class: Class,
    pub lower: LowerFn,
}

/// Writes rows.
macro_rules! rows {
    ($($names:literal $sig:literal $class:ident $taint:ident $exec:expr;)*) => {
        &[$($crate::table::Row {
            names: $names,
            sig: $sig,
            class: $crate::table::Class::$class,
            taint: $crate::table::Taint::$taint,
            exec: $exec,
        }),*]
    };
}
pub(crate) use rows;

/// The rows by theme.
pub(crate) const ROWS: &[(&str, &[Row])] = &[
    ("Integers", crate::ops_int::ROWS),
    ("Bits", crate::ops_bits::ROWS),
    ("Selection and predicates", crate::ops_select::ROWS),
    ("Floating point", crate::ops_float::ROWS),
    ("Conversion", crate::ops_cvt::ROWS),
    ("Control and misc", crate::ops_flow::ROWS),
    ("Warp", crate::ops_warp::ROWS),
    ("Tensor cores", crate::ops_mma::ROWS),
];

/// The families by theme.
pub(crate) const FAMILIES: &[(&str, &[Family])] = &[
    ("Selection and predicates", crate::ops_select::FAMILIES),
    ("Bits", crate::ops_bits::FAMILIES),
    ("Floating point", crate::ops_float::FAMILIES),
    ("Conversion", crate::ops_cvt::FAMILIES),
    ("Data movement", crate::ops_mov::FAMILIES),
    ("Memory", crate::ops_mem::FAMILIES),
    ("Atomics and fences", crate::ops_atom::FAMILIES),
    ("Control and misc", crate::ops_flow::FAMILIES),
    ("Warp", crate::ops_warp::FAMILIES),
    ("Tensor cores", crate::ops_mma::FAMILIES),
    ("Asynchronous copies", crate::ops_async::FAMILIES),
];

/// The row of a mnemonic.
pub(crate) fn row(name: &str) -> Option<&'static Row> {
    static MAP: OnceLock<HashMap<&'static str, &'static Row>> = OnceLock::new();
    let map = MAP.get_or_init(|| {
        let rows = ROWS.iter().flat_map(|(_, rows)| rows.iter());
        rows.flat_map(|r| r.names.split('|').map(move |n| (n, r))).collect()
    });
    map.get(name).copied()
}

/// The family of an opcode.
pub(crate) fn family(opcode: &str) -> Option<&'static Family> {
    static MAP: OnceLock<HashMap<&'static str, &'static Family>> = OnceLock::new();
    let map = MAP.get_or_init(|| {
        let all = FAMILIES.iter().flat_map(|(_, f)| f.iter());
        all.map(|f| (f.opcode, f)).collect()
    });
    map.get(opcode).copied()
}

/// The supported instructions as a Markdown table.
pub fn supported() -> String {
    let mut themes: Vec<&str> = Vec::new();
    for t in FAMILIES.iter().map(|f| f.0).chain(ROWS.iter().map(|r| r.0)) {
        if !themes.contains(&t) {
            themes.push(t);
        }
    }
    let mut out = String::new();
    for theme in themes {
        out.push_str(&format!("## {theme}\n\n| instruction | class |\n|---|---|\n"));
        for f in FAMILIES.iter().filter(|f| f.0 == theme).flat_map(|f| f.1) {
            out.push_str(&format!("| `{}{}` | {} |\n", f.opcode, f.forms.replace('|', "\\|"), f.class.name()));
        }
        for r in ROWS.iter().filter(|r| r.0 == theme).flat_map(|r| r.1) {
            let names: Vec<String> = r.names.split('|').map(|n| format!("`{n}`")).collect();
            out.push_str(&format!("| {} | {} |\n", names.join(" "), r.class.name()));
        }
        out.push('\n');
    }
    let names: Vec<String> = crate::special::names().map(|n| format!("`{n}`")).collect();
    out.push_str(&format!("## Special registers\n\n{}\n", names.join(" ")));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mnemonic_is_listed_twice() {
        let mut seen = std::collections::HashSet::new();
        for r in ROWS.iter().flat_map(|r| r.1) {
            for n in r.names.split('|') {
                assert!(seen.insert(n), "{n}");
            }
        }
        for f in FAMILIES.iter().flat_map(|f| f.1) {
            assert!(seen.insert(f.opcode), "{}", f.opcode);
        }
    }
}
