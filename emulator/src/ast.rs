//! What the parser gives: the module as written, borrowed from the text, nothing resolved yet.
//!
//! A function's body is a flat list; nested braces are two statements, so that deep nesting costs no stack.

use std::collections::BTreeMap;

/// A scalar type of PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Ty {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F64,
    Pred,
}

impl Ty {
    /// The type that `name` (without its dot) spells.
    pub fn parse(name: &str) -> Option<Ty> {
        Some(match name {
            "b8" => Ty::B8,
            "b16" => Ty::B16,
            "b32" => Ty::B32,
            "b64" => Ty::B64,
            "b128" => Ty::B128,
            "u8" => Ty::U8,
            "u16" => Ty::U16,
            "u32" => Ty::U32,
            "u64" => Ty::U64,
            "s8" => Ty::S8,
            "s16" => Ty::S16,
            "s32" => Ty::S32,
            "s64" => Ty::S64,
            "f16" => Ty::F16,
            "f16x2" => Ty::F16x2,
            "bf16" => Ty::Bf16,
            "bf16x2" => Ty::Bf16x2,
            "tf32" => Ty::Tf32,
            "f32" => Ty::F32,
            "f64" => Ty::F64,
            "pred" => Ty::Pred,
            _ => return None,
        })
    }

    /// Its size in bytes (a predicate takes one).
    pub fn bytes(self) -> u32 {
        match self {
            Ty::B8 | Ty::U8 | Ty::S8 | Ty::Pred => 1,
            Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::Bf16 => 2,
            Ty::B32 | Ty::U32 | Ty::S32 | Ty::F32 | Ty::F16x2 | Ty::Bf16x2 | Ty::Tf32 => 4,
            Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 => 8,
            Ty::B128 => 16,
        }
    }

    /// Whether it is a two's-complement integer.
    pub fn signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
    }

    /// Whether it is a floating-point type.
    pub fn float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F16x2 | Ty::Bf16 | Ty::Bf16x2 | Ty::Tf32 | Ty::F32 | Ty::F64)
    }
}

/// A state space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Space {
    Generic,
    Global,
    Shared,
    Local,
    Const,
    Param,
}

/// A literal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Imm {
    /// An integer, kept as the 64 bits it denotes.
    Int(u64),
    /// Bits of a single (`0f…`).
    F32(u32),
    /// Bits of a double (`0d…` or a decimal literal).
    F64(u64),
}

/// An operand as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand<'a> {
    /// A register, a label, a variable or a function, perhaps with an offset (`x+4`).
    Name(&'a str, i64),
    /// `!%p`.
    Not(&'a str),
    /// A literal.
    Imm(Imm),
    /// `{a, b}`.
    Vector(Vec<Operand<'a>>),
    /// `[base+offset]`; more than one inside for tensor forms.
    Address(Box<Operand<'a>>),
    /// `%p|%q`, two results.
    Pair(&'a str, &'a str),
    /// `(a, b)`, a call's arguments.
    List(Vec<Operand<'a>>),
}

/// One instruction as written.
#[derive(Debug, Clone, PartialEq)]
pub struct RawInst<'a> {
    /// `@%p` or `@!%p`.
    pub guard: Option<(&'a str, bool)>,
    /// The mnemonic with its qualifiers.
    pub name: &'a str,
    /// The operands in order.
    pub operands: Vec<Operand<'a>>,
    /// Line in the PTX text.
    pub line: u32,
}

/// A piece of a variable's initial value.
#[derive(Debug, Clone, PartialEq)]
pub enum Init<'a> {
    /// A literal.
    Imm(Imm),
    /// The address of a symbol plus an offset; `generic(x)` gives the generic address.
    Address(&'a str, i64),
    /// One byte of such an address: `0xff00(x)`, the mask telling which.
    AddressByte(&'a str, i64, u64),
}

/// A declared variable or parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Var<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its state space.
    pub space: Space,
    /// Element type.
    pub ty: Ty,
    /// Alignment in bytes.
    pub align: u32,
    /// Elements (1 for a scalar); `None` for an array of unknown size.
    pub count: Option<u64>,
    /// Whether it is written as an array.
    pub array: bool,
    /// Whether the parameter is marked as a pointer.
    pub pointer: bool,
    /// Whether it is only declared here.
    pub external: bool,
    /// Initial value, missing elements zero.
    pub init: Vec<Init<'a>>,
    /// Line in the PTX text.
    pub line: u32,
}

/// A place in the source that was compiled to PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// Index of the `.file` directive.
    pub file: u32,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// A statement of a function's body.
#[derive(Debug, Clone, PartialEq)]
pub enum Stmt<'a> {
    /// `{`
    Open,
    /// `}`
    Close,
    /// A label.
    Label(&'a str, u32),
    /// `.reg .ty name<count>, …`
    Reg(Ty, Vec<(&'a str, Option<u32>)>, u32),
    /// A variable of the function.
    Var(Var<'a>),
    /// `.loc`; the place where it was inlined, outermost, follows if there is one.
    Loc(Loc, Option<Loc>),
    /// `label: .branchtargets a, b;`
    BranchTargets(&'a str, Vec<&'a str>, u32),
    /// `label: .callprototype …;`
    Prototype(&'a str, Vec<Var<'a>>, Vec<Var<'a>>, u32),
    /// An instruction.
    Inst(RawInst<'a>),
}

/// A function or a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it is a kernel (`.entry`).
    pub entry: bool,
    /// Results.
    pub results: Vec<Var<'a>>,
    /// Parameters.
    pub params: Vec<Var<'a>>,
    /// `.maxntid` or `.reqntid`: the largest block, or the exact one.
    pub max_threads: Option<([u32; 3], bool)>,
    /// The body; `None` for a declaration.
    pub body: Option<Vec<Stmt<'a>>>,
    /// Line in the PTX text.
    pub line: u32,
}

/// A PTX module.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Module<'a> {
    /// `.version`
    pub version: (u32, u32),
    /// `.target`, its first word.
    pub target: &'a str,
    /// `.file` numbers and names.
    pub files: BTreeMap<u32, &'a str>,
    /// Module-scope variables.
    pub vars: Vec<Var<'a>>,
    /// Functions and kernels in order.
    pub functions: Vec<Function<'a>>,
}
