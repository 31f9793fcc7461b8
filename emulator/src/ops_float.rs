//! Floating-point arithmetic: f32, f64, f16, bf16 and the packed pairs, with the rounding, flushing and saturation that
//! the instruction names.
//!
//! Round-to-nearest f32 and f64 are the host's arithmetic, in vectorizable loops; anything else goes through
//! [`crate::softfloat`]. A NaN result of f32, f16 and bf16 arithmetic is the canonical one, as on GPUs; of f64 it is what
//! the host gives. An `add` or `mul` without a rounding is round-to-nearest here and never fused, though `ptxas` may
//! fuse it.
//!
//! **Approximations** are computed in f64 and rounded once, so they err by half a unit in the last place, well within
//! what the ISA grants (`ex2.approx` 2 ulp, `rcp.approx` 1, `div.full` 2, `sqrt.approx` 2^-23 and `rsqrt.approx`
//! 2^-22.9 relative, `sin` and `cos` 2^-20.9 absolute in [-pi, pi], `lg2` 2^-22, `tanh` 2^-11). A GPU's bits differ.

use crate::ast::{Operand, RawInst, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec, LANES};
use crate::lower_body::Body;
use crate::ops::*;
use crate::program::{ExecFn, File, Inst};
use crate::softfloat::{BF16, F16, F32, F64, Format, Round};
use crate::table::{Class, Family, Row, Taint, rows};

const FTZ: u32 = 1 << 3;
const SAT: u32 = 1 << 4;
const RELU: u32 = 1 << 5;
const NAN: u32 = 1 << 6;
const XORSIGN: u32 = 1 << 7;
const ABS: u32 = 1 << 8;
const APPROX: u32 = 1 << 9;

pub(crate) const FAMILIES: &[Family] = &[
    family("add", "{.rn|.rz|.rm|.rp}{.ftz}{.sat}.{f32|f64|f16|f16x2|bf16|bf16x2|f32x2|f32.f16|f32.bf16}", lower),
    family("sub", "{.rn|.rz|.rm|.rp}{.ftz}{.sat}.{f32|f64|f16|f16x2|bf16|bf16x2|f32x2|f32.f16|f32.bf16}", lower),
    family("mul", "{.rn|.rz|.rm|.rp}{.ftz}{.sat}.{f32|f64|f16|f16x2|bf16|bf16x2|f32x2}", lower),
    family("fma", ".{rn|rz|rm|rp}{.ftz}{.sat}{.relu}.{f32|f64|f16|f16x2|bf16|bf16x2|f32x2|f32.f16|f32.bf16}", lower),
    family("mad", "{.rn|.rz|.rm|.rp}{.ftz}{.sat}.{f32|f64}", lower),
    family("div", "{.rn|.rz|.rm|.rp|.approx|.full}{.ftz}.{f32|f64}", lower),
    family("sqrt", "{.rn|.rz|.rm|.rp|.approx}{.ftz}.{f32|f64}", lower),
    family("rcp", "{.rn|.rz|.rm|.rp|.approx}{.ftz}.{f32|f64}", lower),
    family("rsqrt", ".approx{.ftz}.{f32|f64}", lower),
    family("ex2", ".approx{.ftz}.{f32|f16|f16x2|bf16|bf16x2}", lower),
    family("lg2", ".approx{.ftz}.f32", lower),
    family("sin", ".approx{.ftz}.f32", lower),
    family("cos", ".approx{.ftz}.f32", lower),
    family("tanh", ".approx.{f32|f16|f16x2|bf16|bf16x2}", lower),
    family("abs", "{.ftz}.{f32|f64|f16|f16x2|bf16|bf16x2}", lower),
    family("neg", "{.ftz}.{f32|f64|f16|f16x2|bf16|bf16x2}", lower),
    family("min", "{.ftz}{.NaN}{.xorsign}{.abs}.{f32|f64|f16|f16x2|bf16|bf16x2}", lower),
    family("max", "{.ftz}{.NaN}{.xorsign}{.abs}.{f32|f64|f16|f16x2|bf16|bf16x2}", lower),
    family("copysign", ".{f32|f64}", lower),
    family("testp", ".{finite|infinite|number|notanumber|normal|subnormal}.{f32|f64}", lower_testp),
];

pub(crate) const ROWS: &[Row] = rows! {
    "add.f32x2|add.rn.f32x2" "d=dd" Float Compute |x, i| pairs(x, i, |a, b, _| a + b);
    "sub.f32x2|sub.rn.f32x2" "d=dd" Float Compute |x, i| pairs(x, i, |a, b, _| a - b);
    "mul.f32x2|mul.rn.f32x2" "d=dd" Float Compute |x, i| pairs(x, i, |a, b, _| a * b);
    "fma.rn.f32x2" "d=ddd" Float Compute |x, i| pairs(x, i, fma32);
};

/// Two singles in 64 bits.
fn pairs(x: &mut Exec<'_>, i: &Inst, f: impl Fn(f32, f32, f32) -> f32) -> Done {
    let (a, b, c) = (x.get64(i.a), x.get64(i.b), x.get_any(i.c));
    let at = |v: u64, h: u32| f32::from_bits((v >> (32 * h)) as u32);
    let one = |l: usize, h: u32| u64::from(canonical(f(at(a[l], h), at(b[l], h), at(c[l], h))));
    let o = std::array::from_fn(|l| one(l, 0) | one(l, 1) << 32);
    x.put64(i.d, &o);
    Ok(())
}

const fn family(opcode: &'static str, forms: &'static str, lower: crate::table::LowerFn) -> Family {
    Family { opcode, forms, class: Class::Float, lower }
}

/// The format of a type's scalar.
pub(crate) fn format(ty: Ty) -> Format {
    match ty {
        Ty::F16 | Ty::F16x2 => F16,
        Ty::Bf16 | Ty::Bf16x2 => BF16,
        Ty::F64 => F64,
        _ => F32,
    }
}

/// The class that arithmetic of a type counts as.
pub(crate) fn class(ty: Ty) -> Class {
    match ty {
        Ty::F64 => Class::Double,
        Ty::F32 => Class::Float,
        _ => Class::Half,
    }
}

fn lower<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let opcode = raw.name.split('.').next().unwrap_or_default();
    if let [.., "f32x2"] | [.., "f32", "f16" | "bf16"] = mods {
        return lower_mixed(b, raw, opcode, mods);
    }
    let Some(ty) = mods.last().and_then(|m| Ty::parse(m)).filter(|t| t.float() && *t != Ty::Tf32) else {
        return b.unknown(raw);
    };
    let Some(mode) = mode(&mods[..mods.len() - 1]) else { return b.unknown(raw) };
    let Some((n, exec)) = choose(opcode, ty, mode, raw.operands.len()) else { return b.unknown(raw) };
    if raw.operands.len() != n + 1 {
        return b.bad(raw, format!("{} operands are needed, {} are given", n + 1, raw.operands.len()));
    }
    let Some(file) = File::of(ty) else { return b.unknown(raw) };
    let mut i = b.inst(raw, class(ty), Taint::Compute, exec)?;
    i.d = b.dst(raw, &raw.operands[0], file)?;
    i.a = b.src(raw, &raw.operands[1], file, ty)?;
    if n > 1 {
        i.b = b.src(raw, &raw.operands[2], file, ty)?;
    }
    if n > 2 {
        i.c = b.src(raw, &raw.operands[3], file, ty)?;
    }
    i.x = mode;
    i.size = ty as u8;
    b.emit(i);
    Ok(())
}

/// The qualifiers before the type.
fn mode(mods: &[&str]) -> Option<u32> {
    mods.iter().try_fold(0, |mode, m| {
        Some(
            mode | match *m {
                "rn" => Round::Nearest as u32,
                "rz" => Round::Zero as u32,
                "rm" => Round::Down as u32,
                "rp" => Round::Up as u32,
                "ftz" => FTZ,
                "sat" => SAT,
                "relu" => RELU,
                "NaN" => NAN,
                "xorsign" => XORSIGN,
                "abs" => ABS,
                "approx" | "full" => APPROX,
                _ => return None,
            },
        )
    })
}

/// Two singles in 64 bits, rounded or flushed; and singles with products or a first summand of 16 bits.
fn lower_mixed<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, opcode: &str, mods: &[&str]) -> Result<(), LoadError> {
    let pair = mods.last() == Some(&"f32x2");
    let half = if pair { None } else { mods.last().and_then(|m| Ty::parse(m)) };
    let allowed = if pair { FTZ | 7 } else { SAT | 7 };
    let modes = &mods[..mods.len() - if pair { 1 } else { 2 }];
    let Some(mode) = mode(modes).filter(|m| m & !allowed == 0) else { return b.unknown(raw) };
    let (n, exec): (usize, ExecFn) = match (opcode, pair) {
        ("add", _) => (2, |x, i| mixed(x, i, |a, b, _, r| F32.add(a, b, r))),
        ("sub", _) => (2, |x, i| mixed(x, i, |a, b, _, r| F32.add(a, negate(F32, b), r))),
        ("mul", true) => (2, |x, i| mixed(x, i, |a, b, _, r| F32.mul(a, b, r))),
        ("fma", _) => (3, |x, i| mixed(x, i, |a, b, c, r| F32.fma(a, b, c, r))),
        _ => return b.unknown(raw),
    };
    if raw.operands.len() != n + 1 {
        return b.bad(raw, format!("{} operands are needed, {} are given", n + 1, raw.operands.len()));
    }
    let wide = if pair { (File::R64, Ty::B64) } else { (File::R32, Ty::F32) };
    // The last operand is a single always, the first a half, the product's second too.
    let of = |k: usize| half.filter(|_| k + 1 < n).map_or(wide, |h| (File::R16, h));
    let mut i = b.inst(raw, Class::Float, Taint::Compute, exec)?;
    i.d = b.dst(raw, &raw.operands[0], wide.0)?;
    i.a = b.src(raw, &raw.operands[1], of(0).0, of(0).1)?;
    i.b = b.src(raw, &raw.operands[2], of(1).0, of(1).1)?;
    if n > 2 {
        i.c = b.src(raw, &raw.operands[3], wide.0, wide.1)?;
    }
    i.x = mode;
    i.size = half.unwrap_or(Ty::F32) as u8;
    b.emit(i);
    Ok(())
}

/// Runs an operation of singles on both halves of 64 bits, or on operands that are made singles first.
fn mixed(x: &mut Exec<'_>, i: &Inst, op: impl Fn(u64, u64, u64, Round) -> u64) -> Done {
    let (mode, round) = (i.x, rounding(i.x));
    let half = format(ty_of(i));
    let get = |x: &Exec<'_>, r: crate::program::Reg| {
        let v = x.get_any(r);
        if r.file == File::R16 { v.map(|v| half.to(F32, v & 0xffff, Round::Nearest)) } else { v }
    };
    let (a, b, c) = (get(x, i.a), get(x, i.b), get(x, i.c));
    let one = |a: u64, b: u64, c: u64| {
        let low = |v: u64| flushed(F32, v & 0xffff_ffff, mode);
        finish(F32, op(low(a), low(b), low(c), round), mode)
    };
    let mut o = [0; LANES];
    for l in crate::races::lanes(x.mask) {
        o[l] = one(a[l], b[l], c[l]);
        if i.d.file == File::R64 {
            o[l] |= one(a[l] >> 32, b[l] >> 32, c[l] >> 32) << 32;
        }
    }
    x.put_any(i.d, &o);
    Ok(())
}

/// The number of operands and the function for an operation.
fn choose(opcode: &str, ty: Ty, mode: u32, given: usize) -> Option<(usize, ExecFn)> {
    let plain = mode == 0;
    let fast32 = ty == Ty::F32 && mode & !(FTZ | APPROX) == 0;
    let ftz = mode & FTZ != 0;
    let wide = matches!(ty, Ty::F32 | Ty::F64);
    if mode & SAT != 0 && !matches!(opcode, "add" | "sub" | "mul" | "fma" | "mad")
        || mode & RELU != 0 && opcode != "fma"
    {
        return None;
    }
    Some(match opcode {
        "add" if fast32 && !ftz => (2, |x, i| f32x2(x, i, |a, b| a + b)),
        "sub" if fast32 && !ftz => (2, |x, i| f32x2(x, i, |a, b| a - b)),
        "mul" if fast32 && !ftz => (2, |x, i| f32x2(x, i, |a, b| a * b)),
        "div" if fast32 && !ftz => (2, |x, i| f32x2(x, i, |a, b| a / b)),
        "add" if fast32 => (2, |x, i| f32x2(x, i, |a, b| flush(flush(a) + flush(b)))),
        "sub" if fast32 => (2, |x, i| f32x2(x, i, |a, b| flush(flush(a) - flush(b)))),
        "mul" if fast32 => (2, |x, i| f32x2(x, i, |a, b| flush(flush(a) * flush(b)))),
        "div" if fast32 => (2, |x, i| f32x2(x, i, |a, b| flush(flush(a) / flush(b)))),
        "fma" | "mad" if fast32 && !ftz => (3, |x, i| f32x3(x, i, fma32)),
        "fma" | "mad" if fast32 => (3, |x, i| f32x3(x, i, |a, b, c| flush(fma32(flush(a), flush(b), flush(c))))),
        "add" if ty == Ty::F64 && plain => (2, |x, i| f64x2(x, i, |a, b| a + b)),
        "sub" if ty == Ty::F64 && plain => (2, |x, i| f64x2(x, i, |a, b| a - b)),
        "mul" if ty == Ty::F64 && plain => (2, |x, i| f64x2(x, i, |a, b| a * b)),
        "div" if ty == Ty::F64 && plain => (2, |x, i| f64x2(x, i, |a, b| a / b)),
        "fma" | "mad" if ty == Ty::F64 && plain => (3, |x, i| f64x3(x, i, f64::mul_add)),
        "add" => (2, |x, i| soft(x, i, |f, a, b, _, r| f.add(a, b, r))),
        "sub" => (2, |x, i| soft(x, i, |f, a, b, _, r| f.add(a, negate(f, b), r))),
        "mul" => (2, |x, i| soft(x, i, |f, a, b, _, r| f.mul(a, b, r))),
        "fma" => (3, |x, i| soft(x, i, |f, a, b, c, r| f.fma(a, b, c, r))),
        "mad" if wide => (3, |x, i| soft(x, i, |f, a, b, c, r| f.fma(a, b, c, r))),
        "div" if wide => (2, |x, i| soft(x, i, |f, a, b, _, r| f.div(a, b, r))),
        "sqrt" if wide => (1, |x, i| soft(x, i, |f, a, _, _, r| f.sqrt(a, r))),
        "rcp" if ty == Ty::F64 && mode & APPROX != 0 => (1, |x, i| rough64(x, i, |a| 1.0 / a)),
        "rcp" if wide => (1, |x, i| soft(x, i, |f, a, _, _, r| f.div(F64.to(f, 1f64.to_bits(), r), a, r))),
        "rsqrt" if ty == Ty::F64 => (1, |x, i| rough64(x, i, |a| 1.0 / a.sqrt())),
        "rsqrt" if ty == Ty::F32 => (1, |x, i| approx(x, i, |a| 1.0 / a.sqrt())),
        "ex2" if ty != Ty::F64 => (1, |x, i| approx(x, i, f64::exp2)),
        "lg2" if ty == Ty::F32 => (1, |x, i| approx(x, i, f64::log2)),
        "sin" if ty == Ty::F32 => (1, |x, i| approx(x, i, f64::sin)),
        "cos" if ty == Ty::F32 => (1, |x, i| approx(x, i, f64::cos)),
        "tanh" if ty != Ty::F64 => (1, |x, i| approx(x, i, f64::tanh)),
        "abs" => (1, |x, i| sign(x, i, |_, a, top| a & !top)),
        "neg" => (1, |x, i| sign(x, i, |_, a, top| a ^ top)),
        "copysign" if wide => (2, |x, i| soft(x, i, |f, a, b, _, _| copy_sign(f, a, b))),
        "min" if given == 4 && ty == Ty::F32 => (3, |x, i| least(x, i, false)),
        "max" if given == 4 && ty == Ty::F32 => (3, |x, i| least(x, i, true)),
        "min" => (2, |x, i| least(x, i, false)),
        "max" => (2, |x, i| least(x, i, true)),
        _ => return None,
    })
}

/// Makes a NaN the canonical one.
#[inline(always)]
fn canonical(v: f32) -> u32 {
    if v.is_nan() { 0x7fff_ffff } else { v.to_bits() }
}

/// A subnormal as zero of its sign.
#[inline(always)]
pub(crate) fn flush(v: f32) -> f32 {
    let bits = v.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

#[inline(always)]
fn f32x2(x: &mut Exec<'_>, i: &Inst, f: impl Fn(f32, f32) -> f32) -> Done {
    bin32(x, i, |a, b| canonical(f(f32::from_bits(a), f32::from_bits(b))))
}

#[inline(always)]
fn f32x3(x: &mut Exec<'_>, i: &Inst, f: impl Fn(f32, f32, f32) -> f32) -> Done {
    tri32(x, i, |a, b, c| canonical(f(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c))))
}

#[inline(always)]
fn f64x2(x: &mut Exec<'_>, i: &Inst, f: impl Fn(f64, f64) -> f64) -> Done {
    bin64(x, i, |a, b| f(f64::from_bits(a), f64::from_bits(b)).to_bits())
}

#[inline(always)]
fn f64x3(x: &mut Exec<'_>, i: &Inst, f: impl Fn(f64, f64, f64) -> f64) -> Done {
    tri64(x, i, |a, b, c| f(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).to_bits())
}

/// Fused multiply-add of singles without the host's instruction, which not every host has and a call costs more than
/// this.
///
/// The product of two singles is exact in a double. Its sum with the third is rounded to odd: the error of the addition
/// is known exactly (Knuth's two-sum), and where it is not zero the last bit is set by stepping towards it. A double
/// rounded to odd holds two bits more than a single and what was lost, so rounding it to single is as if done once
/// (Boldo and Melquiond, *Emulation of FMA and correctly rounded sums*, 2008).
#[inline(always)]
pub(crate) fn fma32(a: f32, b: f32, c: f32) -> f32 {
    let p = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let s = p + c;
    let t = s - p;
    let err = (p - (s - t)) + (c - t);
    let bits = s.to_bits();
    let inexact = (err > 0.0) | (err < 0.0);
    let away = (err > 0.0) == (s > 0.0);
    let odd = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if inexact & (bits & 1 == 0) { odd } else { bits }) as f32
}

fn ty_of(i: &Inst) -> Ty {
    const ALL: [Ty; 5] = [Ty::F16, Ty::F16x2, Ty::Bf16, Ty::Bf16x2, Ty::F64];
    ALL.into_iter().find(|t| *t as u8 == i.size).unwrap_or(Ty::F32)
}

/// The rounding in a mode.
pub(crate) fn rounding(mode: u32) -> Round {
    match mode & 7 {
        1 => Round::Zero,
        2 => Round::Down,
        3 => Round::Up,
        4 => Round::Away,
        _ => Round::Nearest,
    }
}

fn top(f: Format) -> u64 {
    1 << (f.exponent + f.fraction)
}

fn negate(f: Format, a: u64) -> u64 {
    a ^ top(f)
}

fn copy_sign(f: Format, sign: u64, magnitude: u64) -> u64 {
    sign & top(f) | magnitude & !top(f)
}

fn flushed(f: Format, a: u64, mode: u32) -> u64 {
    let exponent = ((1u64 << f.exponent) - 1) << f.fraction;
    if mode & FTZ != 0 && a & exponent == 0 { a & top(f) } else { a }
}

/// Flushing, saturation to [0, 1] and `.relu` of a result.
fn finish(f: Format, v: u64, mode: u32) -> u64 {
    let v = flushed(f, v, mode);
    if mode & (SAT | RELU) == 0 {
        return v;
    }
    if f.is_nan(v) {
        return if mode & SAT != 0 { 0 } else { v };
    }
    let one = ((1u64 << (f.exponent - 1)) - 1) << f.fraction;
    if v & top(f) != 0 {
        0
    } else if mode & SAT != 0 && v > one {
        one
    } else {
        v
    }
}

/// Runs an operation on every lane's bits, packed pairs half by half.
fn soft(x: &mut Exec<'_>, i: &Inst, op: impl Fn(Format, u64, u64, u64, Round) -> u64) -> Done {
    let ty = ty_of(i);
    let f = format(ty);
    let (mode, round) = (i.x, rounding(i.x));
    let (a, b, c) = (x.get_any(i.a), x.get_any(i.b), x.get_any(i.c));
    let one = |a: u64, b: u64, c: u64| {
        let (a, b, c) = (flushed(f, a, mode), flushed(f, b, mode), flushed(f, c, mode));
        finish(f, op(f, a, b, c, round), mode)
    };
    let mut o = [0; LANES];
    for l in crate::races::lanes(x.mask) {
        o[l] = if matches!(ty, Ty::F16x2 | Ty::Bf16x2) {
            one(a[l] & 0xffff, b[l] & 0xffff, c[l] & 0xffff) | one(a[l] >> 16, b[l] >> 16, c[l] >> 16) << 16
        } else {
            one(a[l], b[l], c[l])
        };
    }
    x.put_any(i.d, &o);
    Ok(())
}

/// A function approximated: in f64, rounded once.
fn approx(x: &mut Exec<'_>, i: &Inst, f: impl Fn(f64) -> f64) -> Done {
    soft(x, i, |fmt, a, _, _, _| {
        let v = f(f64::from_bits(fmt.to(F64, a, Round::Nearest)));
        F64.to(fmt, v.to_bits(), Round::Nearest)
    })
}

/// The rough f64 forms: they read and write the upper 32 bits only.
fn rough64(x: &mut Exec<'_>, i: &Inst, f: impl Fn(f64) -> f64) -> Done {
    un64(x, i, |a| {
        let a = flushed(F64, a & !0xffff_ffff, FTZ);
        flushed(F64, f(f64::from_bits(a)).to_bits() & !0xffff_ffff, FTZ)
    })
}

fn sign(x: &mut Exec<'_>, i: &Inst, f: impl Fn(Format, u64, u64) -> u64) -> Done {
    soft(x, i, |fmt, a, _, _, _| if fmt != F64 && fmt.is_nan(a) { fmt.nan } else { f(fmt, a, top(fmt)) })
}

/// `min` and `max`: a NaN loses unless `.NaN`, and -0 is below +0.
fn least(x: &mut Exec<'_>, i: &Inst, greatest: bool) -> Done {
    let mode = i.x;
    let three = i.c.file != File::None;
    soft(x, i, |f, a, b, c, _| {
        let pair = |a: u64, b: u64| {
            let signs = (a ^ b) & top(f);
            let (a, b) = if mode & ABS != 0 { (a & !top(f), b & !top(f)) } else { (a, b) };
            let m = match (f.is_nan(a), f.is_nan(b)) {
                (true, true) => return f.nan,
                (true, false) | (false, true) if mode & NAN != 0 => return f.nan,
                (true, false) => b,
                (false, true) => a,
                (false, false) => {
                    if (order(f, a) > order(f, b)) == greatest {
                        a
                    } else {
                        b
                    }
                }
            };
            if mode & XORSIGN != 0 { m & !top(f) | signs } else { m }
        };
        let ab = pair(a, b);
        if three { pair(ab, c) } else { ab }
    })
}

/// A key by which values of a format compare, -0 below +0.
fn order(f: Format, a: u64) -> i64 {
    if f == F64 {
        let a = a as i64;
        return if a < 0 { a ^ i64::MAX } else { a };
    }
    let magnitude = (a & !top(f)) as i64;
    if a & top(f) != 0 { -1 - magnitude } else { magnitude }
}

fn lower_testp<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let [what, ty] = mods else { return b.unknown(raw) };
    let kinds = ["finite", "infinite", "number", "notanumber", "normal", "subnormal"];
    let (Some(kind), Some(ty @ (Ty::F32 | Ty::F64))) = (kinds.iter().position(|k| k == what), Ty::parse(ty)) else {
        return b.unknown(raw);
    };
    let [d, a]: &[Operand<'a>; 2] = match raw.operands.as_slice().try_into() {
        Ok(o) => o,
        Err(_) => return b.bad(raw, "2 operands are needed"),
    };
    let file = if ty == Ty::F32 { File::R32 } else { File::R64 };
    let mut i = b.inst(raw, Class::Compare, Taint::Compute, testp)?;
    i.d = b.dst(raw, d, File::Pred)?;
    i.a = b.src(raw, a, file, ty)?;
    i.x = kind as u32;
    b.emit(i);
    Ok(())
}

fn testp(x: &mut Exec<'_>, i: &Inst) -> Done {
    let wide = i.a.file == File::R64;
    let a = x.get_any(i.a);
    let mut m = 0;
    for (l, &bits) in a.iter().enumerate() {
        use std::num::FpCategory::*;
        let c = if wide { f64::from_bits(bits).classify() } else { f32::from_bits(bits as u32).classify() };
        let yes = match i.x {
            0 => !matches!(c, Nan | Infinite),
            1 => c == Infinite,
            2 => c != Nan,
            3 => c == Nan,
            4 => c == Normal,
            _ => c == Subnormal,
        };
        m |= u32::from(yes) << l;
    }
    x.put_pred(i.d, m);
    Ok(())
}
