//! The decoded form: what lowering makes of a module, and what the executor runs.
//!
//! Every operand is a register by the time an instruction is decoded: literals and addresses of variables live in
//! constant registers that a frame gets when it is entered. So an instruction's function loops over lanes of arrays and
//! never asks what kind an operand is, and types are resolved once, here, not per execution.

use crate::ast::{Loc, Ty};
use crate::exec::{Done, Exec};
use crate::table::{Class, Taint};

/// "No register."
pub(crate) const NONE: u32 = u32::MAX;

/// The function that executes an instruction for the lanes of `Exec::mask`.
pub(crate) type ExecFn = fn(&mut Exec<'_>, &Inst) -> Done;

/// A register of a frame: which file, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Reg {
    pub file: File,
    pub index: u32,
}

impl Reg {
    /// A register that nothing reads: the target of `_`.
    pub(crate) const SINK: Reg = Reg { file: File::None, index: NONE };
}

/// A register file. 16-bit registers are 32-bit ones whose upper half is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum File {
    None,
    R16,
    R32,
    R64,
    Pred,
}

impl File {
    pub(crate) fn of(ty: Ty) -> Option<File> {
        Some(match ty {
            Ty::Pred => File::Pred,
            Ty::B128 => return None,
            _ => match ty.bytes() {
                1 | 2 => File::R16,
                4 => File::R32,
                _ => File::R64,
            },
        })
    }
}

/// How the warp's loop treats an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Runs `exec`, then the next one.
    Plain,
    /// Jumps to `target`.
    Branch,
    /// Jumps to `list[a]`.
    Indexed,
    /// Calls `calls[x]`.
    Call,
    Return,
    Exit,
    /// Waits until the lanes of a mask are there, then runs `exec` for all of them together.
    Warp,
    /// Waits for the block.
    Barrier,
}

/// A decoded instruction.
#[derive(Clone)]
pub(crate) struct Inst {
    pub exec: ExecFn,
    pub flow: Flow,
    pub class: Class,
    pub taint: Taint,
    /// Bytes an element of a memory access has, or another small size.
    pub size: u8,
    /// Elements of a vector access.
    pub count: u8,
    /// Guard predicate, or [`NONE`], and the lanes' bits to flip in it.
    pub guard: u32,
    pub guard_flip: u32,
    pub d: Reg,
    pub d2: Reg,
    pub a: Reg,
    pub b: Reg,
    pub c: Reg,
    pub e: Reg,
    /// Modifiers and small numbers; the instruction's own business.
    pub x: u32,
    /// Address offset.
    pub imm: i64,
    /// Branch target.
    pub target: u32,
    /// Operands that do not fit: `lists[list.0..][..list.1]`.
    pub list: (u32, u32),
    /// Floating-point operations of each thread.
    pub flops: u32,
    /// Line in the PTX text.
    pub line: u32,
    /// Index into `Program::locs`, or [`NONE`].
    pub loc: u32,
    /// Index into `Program::names`.
    pub name: u32,
}

/// What a constant register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Const {
    Bits(u64),
    /// Address of a shared variable in its space, plus an offset.
    Shared(u32, i64),
    /// Address of a global or const variable, plus an offset.
    Global(u32, i64),
    /// Address of a local variable or a device function's parameter: the frame's base plus an offset.
    Local(i64),
    /// Generic address of a kernel parameter.
    KernelParam(i64),
    /// Address of a function.
    Function(u32),
}

/// A call site.
#[derive(Debug, Clone)]
pub(crate) struct CallSite {
    pub callee: Callee,
    /// Caller's offset and size of each argument and result, in order.
    pub args: Vec<(u32, u32)>,
    pub results: Vec<(u32, u32)>,
}

/// What a call calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callee {
    Function(u32),
    /// The address in a register (`Inst::a`).
    Register,
}

/// A parameter of a kernel or function.
#[derive(Debug, Clone)]
pub(crate) struct Param {
    pub ty: Ty,
    pub bytes: u32,
    pub array: bool,
    pub pointer: bool,
    /// Offset in the kernel's parameter block, or in the function's frame.
    pub offset: u32,
}

/// A decoded function.
pub(crate) struct Func {
    pub name: String,
    pub entry: bool,
    /// First instruction; [`NONE`] for a function without a body.
    pub start: u32,
    pub params: Vec<Param>,
    pub results: Vec<Param>,
    pub param_bytes: u32,
    /// Registers of each file.
    pub regs32: u32,
    pub regs64: u32,
    pub preds: u32,
    /// Bytes of local memory a frame takes, parameters included.
    pub frame_bytes: u32,
    /// Bytes at the frame's start that hold parameters.
    pub formal_bytes: u32,
    pub consts: Vec<(Reg, Const)>,
    /// Shared variables it names, and functions it may call.
    pub shared: Vec<u32>,
    pub calls: Vec<u32>,
    pub calls_through_register: bool,
    pub max_threads: Option<([u32; 3], bool)>,
}

/// A variable of the module.
pub(crate) struct GlobalVar {
    pub name: String,
    pub bytes: u64,
    pub writable: bool,
    /// Declared elsewhere, so it has no storage here.
    pub external: bool,
    pub init: Vec<u8>,
    /// Addresses to put into `init`: where, how many bytes shifted by what, what.
    pub relocs: Vec<Reloc>,
}

/// An address inside an initial value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reloc {
    pub at: u64,
    pub bytes: u32,
    pub shift: u32,
    pub value: Const,
}

/// A shared variable.
pub(crate) struct SharedVar {
    pub name: String,
    pub bytes: u32,
    pub align: u32,
    /// `extern` without a size: dynamic shared memory.
    pub dynamic: bool,
}

/// A module, decoded.
pub(crate) struct Program {
    pub code: Vec<Inst>,
    pub lists: Vec<Reg>,
    pub targets: Vec<u32>,
    pub funcs: Vec<Func>,
    pub globals: Vec<GlobalVar>,
    pub shared: Vec<SharedVar>,
    pub calls: Vec<CallSite>,
    pub locs: Vec<(Loc, Option<Loc>)>,
    pub files: std::collections::BTreeMap<u32, String>,
    pub names: Vec<String>,
}

impl Program {
    /// The mnemonic of `i`; that of a jump which [`crate::blocks`] added is what it would be.
    pub(crate) fn name(&self, i: &Inst) -> &str {
        self.names.get(i.name as usize).map_or("bra", String::as_str)
    }

    /// The extra operands of `i`.
    pub(crate) fn list(&self, i: &Inst) -> &[Reg] {
        &self.lists[i.list.0 as usize..][..i.list.1 as usize]
    }
}
