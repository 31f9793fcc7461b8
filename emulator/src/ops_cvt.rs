//! Conversions between integers and floats of all widths, with all roundings.
//!
//! Float to integer saturates; a NaN gives zero, and the lowest signed value where the target has 64 bits, as GPUs do.

use crate::ast::{RawInst, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec, LANES};
use crate::lower_body::Body;
use crate::ops::{bin32, tri32};
use crate::ops_float::{format, rounding};
use crate::program::{ExecFn, File, Inst};
use crate::softfloat::{F32, F64, Format, Round, TF32};
use crate::table::{Class, Family, Row, Taint, rows};

pub(crate) const FAMILIES: &[Family] = &[Family {
    opcode: "cvt",
    forms: "{.rn|.rz|.rm|.rp|.rna|.rni|.rzi|.rmi|.rpi}{.ftz}{.sat}{.relu}{.satfinite}.{u,s 8-64|f16|bf16|f32|f64|tf32|f16x2|bf16x2}.{u,s 8-64|f16|bf16|f32|f64}",
    class: Class::Convert,
    lower,
}];

pub(crate) const ROWS: &[Row] = rows! {
    "cvt.pack.sat.u16.s32" "r=rr" Convert Compute |x, i| bin32(x, i, |a, b| packed(a, b, 0, 16, false));
    "cvt.pack.sat.s16.s32" "r=rr" Convert Compute |x, i| bin32(x, i, |a, b| packed(a, b, 0, 16, true));
    "cvt.pack.sat.u8.s32.b32" "r=rrr" Convert Compute |x, i| tri32(x, i, |a, b, c| packed(a, b, c, 8, false));
    "cvt.pack.sat.s8.s32.b32" "r=rrr" Convert Compute |x, i| tri32(x, i, |a, b, c| packed(a, b, c, 8, true));
};

/// Two signed values clamped to so many bits, and what was packed before above them.
fn packed(a: u32, b: u32, c: u32, bits: u32, signed: bool) -> u32 {
    let (min, max) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let field = |v: u32| (v as i32).clamp(min, max) as u32 & ((1 << bits) - 1);
    u64::from(c).wrapping_shl(2 * bits) as u32 | field(a) << bits | field(b)
}

const TO_INT: u32 = 1 << 3;
const FTZ: u32 = 1 << 4;
const SAT: u32 = 1 << 5;
const RELU: u32 = 1 << 6;
const FINITE: u32 = 1 << 7;

const TYPES: [Ty; 15] = [
    Ty::U8,
    Ty::S8,
    Ty::U16,
    Ty::S16,
    Ty::U32,
    Ty::S32,
    Ty::U64,
    Ty::S64,
    Ty::F16,
    Ty::Bf16,
    Ty::F32,
    Ty::F64,
    Ty::Tf32,
    Ty::F16x2,
    Ty::Bf16x2,
];

fn code(t: Ty) -> Option<u8> {
    TYPES.iter().position(|x| *x == t).map(|p| p as u8)
}

fn lower<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let [modes @ .., to, from] = mods else { return b.unknown(raw) };
    let (Some(to), Some(from)) = (Ty::parse(to), Ty::parse(from)) else { return b.unknown(raw) };
    let (Some(to_code), Some(from_code)) = (code(to), code(from)) else { return b.unknown(raw) };
    let (mut x, mut rounded) = (0, false);
    for m in modes {
        let (bits, rounds) = match *m {
            "rn" => (Round::Nearest as u32, true),
            "rz" => (Round::Zero as u32, true),
            "rm" => (Round::Down as u32, true),
            "rp" => (Round::Up as u32, true),
            "rna" => (Round::Away as u32, true),
            "rni" => (Round::Nearest as u32 | TO_INT, true),
            "rzi" => (Round::Zero as u32 | TO_INT, true),
            "rmi" => (Round::Down as u32 | TO_INT, true),
            "rpi" => (Round::Up as u32 | TO_INT, true),
            "ftz" => (FTZ, false),
            "sat" => (SAT, false),
            "relu" => (RELU, false),
            "satfinite" => (FINITE, false),
            _ => return b.unknown(raw),
        };
        x |= bits;
        rounded |= rounds;
    }
    if from.float() != to.float() && !rounded || matches!(from, Ty::F16x2 | Ty::Bf16x2 | Ty::Tf32) {
        return b.unknown(raw);
    }
    let pair = matches!(to, Ty::F16x2 | Ty::Bf16x2);
    if raw.operands.len() != if pair { 3 } else { 2 } {
        return b.bad(raw, "the number of operands is not that of this conversion");
    }
    let mut i = b.inst(raw, Class::Convert, if from.float() { Taint::Compute } else { Taint::Own }, convert)?;
    i.d = b.register(raw, &raw.operands[0])?;
    i.a = source(b, raw, 1, from)?;
    if pair {
        i.b = source(b, raw, 2, from)?;
    }
    let bits = |f: File| match f {
        File::R16 => 16,
        File::R32 => 32,
        File::R64 => 64,
        _ => 0,
    };
    if bits(i.a.file) < 8 * from.bytes().min(8) || i.d.file != File::None && bits(i.d.file) < 8 * to.bytes().min(8) {
        return b.bad(raw, "a register is too narrow for its type");
    }
    i.x = x;
    (i.size, i.count) = (to_code, from_code);
    if x & (SAT | FTZ) == 0
        && let Some(f) = fast(to, from, i.d.file, i.a.file, x)
    {
        i.exec = f;
    }
    b.emit(i);
    Ok(())
}

fn source<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, k: usize, from: Ty) -> Result<crate::program::Reg, LoadError> {
    use crate::ast::Operand;
    match &raw.operands[k] {
        op @ Operand::Name(name, _) if crate::special::find(name).is_none() => b.register(raw, op),
        op => {
            let special =
                matches!(op, Operand::Name(n, _) if crate::special::find(n).is_some_and(|s| s.file() == File::R64));
            let file = if special { File::R64 } else { File::of(from).unwrap_or(File::R32) };
            b.src(raw, op, file, from)
        }
    }
}

/// Loops for the conversions that compilers print most.
fn fast(to: Ty, from: Ty, d: File, a: File, x: u32) -> Option<ExecFn> {
    use File::{R32, R64};
    Some(match (to, from, d, a, x) {
        (Ty::U64 | Ty::S64, Ty::U32, R64, R32, 0) => |x, i| {
            let o = x.get32(i.a).map(u64::from);
            x.put64(i.d, &o);
            own(x, i)
        },
        (Ty::U64 | Ty::S64, Ty::S32, R64, R32, 0) => |x, i| {
            let o = x.get32(i.a).map(|v| v as i32 as u64);
            x.put64(i.d, &o);
            own(x, i)
        },
        (Ty::U32 | Ty::S32, Ty::U64 | Ty::S64, R32, R64, 0) => |x, i| {
            let o = x.get64(i.a).map(|v| v as u32);
            x.put32(i.d, &o);
            own(x, i)
        },
        (Ty::F32, Ty::S32, R32, R32, 0) => |x, i| crate::ops::un32(x, i, |v| (v as i32 as f32).to_bits()),
        (Ty::F32, Ty::U32, R32, R32, 0) => |x, i| crate::ops::un32(x, i, |v| (v as f32).to_bits()),
        _ => return None,
    })
}

/// Passes on what is known about unwritten bytes of an integer.
fn own(x: &mut Exec<'_>, i: &Inst) -> Done {
    if x.w.taints.any() {
        x.taint_resize(i);
    }
    Ok(())
}

fn convert(x: &mut Exec<'_>, i: &Inst) -> Done {
    let (to, from) = (TYPES[i.size as usize], TYPES[i.count as usize]);
    let mode = i.x;
    let (a, b) = (x.get_any(i.a), x.get_any(i.b));
    let mut o = [0u64; LANES];
    for l in crate::races::lanes(x.mask) {
        o[l] = match to {
            Ty::F16x2 => one(Ty::F16, from, a[l], mode) << 16 | one(Ty::F16, from, b[l], mode),
            Ty::Bf16x2 => one(Ty::Bf16, from, a[l], mode) << 16 | one(Ty::Bf16, from, b[l], mode),
            _ => one(to, from, a[l], mode),
        };
    }
    x.put_any(i.d, &o);
    if !from.float() { own(x, i) } else { Ok(()) }
}

/// One value converted, as the bits of a register: signed integers extended.
pub(crate) fn one(to: Ty, from: Ty, bits: u64, mode: u32) -> u64 {
    match (from.float(), to.float()) {
        (false, false) => {
            let v = integer(from, bits);
            let v = if mode & SAT != 0 { clamp(to, v) } else { v };
            extended(to, v)
        }
        (false, true) => target(to).of_int(integer(from, bits), rounding(mode)),
        (true, false) => {
            let f = format(from);
            let bits = flush(f, low(from, bits), mode);
            let (min, max) = range(to);
            let nan = if to.bytes() == 8 { i128::from(i64::MIN) } else { 0 };
            extended(to, f.to_int(bits, rounding(mode), min, max).unwrap_or(nan))
        }
        (true, true) => float(to, from, bits, mode),
    }
}

fn target(to: Ty) -> Format {
    if to == Ty::Tf32 { TF32 } else { format(to) }
}

fn float(to: Ty, from: Ty, bits: u64, mode: u32) -> u64 {
    let (f, t) = (format(from), target(to));
    let bits = flush(f, low(from, bits), mode);
    let bits = if mode & TO_INT != 0 { f.round_int(bits, rounding(mode)) } else { bits };
    let mut v = if f.is_nan(bits) && f == t && f == F64 { bits } else { f.to(t, bits, rounding(mode)) };
    let top = 1u64 << (t.exponent + t.fraction);
    if mode & (SAT | RELU) != 0 && (v & top != 0 || mode & SAT != 0 && t.is_nan(v)) && !(mode & SAT == 0 && t.is_nan(v))
    {
        v = 0;
    }
    let one = ((1u64 << (t.exponent - 1)) - 1) << t.fraction;
    if mode & SAT != 0 && v > one {
        v = one;
    }
    let infinite = ((1u64 << t.exponent) - 1) << t.fraction;
    if mode & FINITE != 0 && v & !top == infinite {
        v -= 1;
    }
    let v = flush(t, v, if to == Ty::F32 { mode } else { 0 });
    // tf32 is kept as a single: its fraction is the upper ten bits.
    if to == Ty::Tf32 { v << 13 } else { v }
}

fn low(ty: Ty, bits: u64) -> u64 {
    match ty.bytes() {
        2 => bits & 0xffff,
        4 => bits & 0xffff_ffff,
        _ => bits,
    }
}

fn flush(f: Format, bits: u64, mode: u32) -> u64 {
    let exponent = ((1u64 << f.exponent) - 1) << f.fraction;
    if mode & FTZ != 0 && f == F32 && bits & exponent == 0 { bits & 1 << 31 } else { bits }
}

fn integer(ty: Ty, bits: u64) -> i128 {
    match ty {
        Ty::U8 => i128::from(bits as u8),
        Ty::S8 => i128::from(bits as i8),
        Ty::U16 => i128::from(bits as u16),
        Ty::S16 => i128::from(bits as i16),
        Ty::U32 => i128::from(bits as u32),
        Ty::S32 => i128::from(bits as i32),
        Ty::S64 => i128::from(bits as i64),
        _ => i128::from(bits),
    }
}

fn range(ty: Ty) -> (i128, i128) {
    let bits = 8 * ty.bytes();
    if ty.signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn clamp(ty: Ty, v: i128) -> i128 {
    let (min, max) = range(ty);
    v.clamp(min, max)
}

/// The low bits of `v` in type `ty`, extended to 64.
fn extended(ty: Ty, v: i128) -> u64 {
    integer(ty, v as u64) as u64
}
