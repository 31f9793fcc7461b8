//! Comparisons, selection, predicates.

use crate::ast::{Operand, RawInst, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec, LANES};
use crate::lower_body::Body;
use crate::ops::*;
use crate::ops_float::{class, flush};
use crate::program::{ExecFn, File, Inst, Reg};
use crate::softfloat::{BF16, F16, F64, Format, Round};
use crate::table::{Class, Family, Row, Taint, rows};

pub(crate) const FAMILIES: &[Family] = &[
    Family {
        opcode: "setp",
        forms: ".cmp{.and|.or|.xor}{.ftz}.{b,u,s 16|32|64, f16|f16x2|bf16|bf16x2|f32|f64}",
        class: Class::Compare,
        lower: lower_setp,
    },
    Family {
        opcode: "set",
        forms: ".cmp{.and|.or|.xor}{.ftz}.{u32|s32|f32|f16|f16x2|bf16|bf16x2|u16|s16}.{type as setp}",
        class: Class::Compare,
        lower: lower_set,
    },
    Family { opcode: "slct", forms: "{.ftz}.{b,u,s,f 16|32|64}.{s32|f32}", class: Class::Compare, lower: lower_slct },
];

pub(crate) const ROWS: &[Row] = rows! {
    "selp.b16|selp.u16|selp.s16|selp.f16|selp.bf16" "h=hhp" Compare Bitwise select32;
    "selp.b32|selp.u32|selp.s32|selp.f32|selp.f16x2" "r=rrp" Compare Bitwise select32;
    "selp.b64|selp.u64|selp.s64|selp.f64" "d=ddp" Compare Bitwise |x, i| {
        let (a, b, p) = (x.get64(i.a), x.get64(i.b), x.pred(i.c));
        let o = std::array::from_fn(|l| if p >> l & 1 != 0 { a[l] } else { b[l] });
        x.put64(i.d, &o);
        Ok(())
    };
};

fn select32(x: &mut Exec<'_>, i: &Inst) -> Done {
    let (a, b, p) = (x.get32(i.a), x.get32(i.b), x.pred(i.c));
    let mut o = [0; LANES];
    for l in 0..LANES {
        let m = (p >> l & 1).wrapping_neg();
        o[l] = a[l] & m | b[l] & !m;
    }
    x.put32(i.d, &o);
    Ok(())
}

/// Inverts a predicate.
pub(crate) fn not_pred(x: &mut Exec<'_>, i: &Inst) -> Done {
    let v = !x.pred(i.a);
    x.put_pred(i.d, v);
    Ok(())
}

/// What to combine a comparison with, in the low bits of `Inst::x`.
const AND: u32 = 1;
const OR: u32 = 2;
const XOR: u32 = 3;

/// What a comparison says about two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Number,
    Nan,
}

/// A comparison and whether it holds where a value is NaN.
fn parse_cmp(s: &str) -> Option<(Cmp, bool)> {
    Some(match s {
        "eq" => (Cmp::Eq, false),
        "ne" => (Cmp::Ne, false),
        "lt" | "lo" => (Cmp::Lt, false),
        "le" | "ls" => (Cmp::Le, false),
        "gt" | "hi" => (Cmp::Gt, false),
        "ge" | "hs" => (Cmp::Ge, false),
        "equ" => (Cmp::Eq, true),
        "neu" => (Cmp::Ne, true),
        "ltu" => (Cmp::Lt, true),
        "leu" => (Cmp::Le, true),
        "gtu" => (Cmp::Gt, true),
        "geu" => (Cmp::Ge, true),
        "num" => (Cmp::Number, false),
        "nan" => (Cmp::Nan, false),
        _ => return None,
    })
}

/// The parsed qualifiers of a comparison.
struct Form {
    cmp: Cmp,
    unordered: bool,
    combine: u32,
    ftz: bool,
    ty: Ty,
}

fn parse_form(mods: &[&str]) -> Option<Form> {
    let (cmp, unordered) = parse_cmp(mods.first()?)?;
    let ty = Ty::parse(mods.last()?)?;
    let mut f = Form { cmp, unordered, combine: 0, ftz: false, ty };
    for m in mods.get(1..mods.len().checked_sub(1)?)? {
        match *m {
            "and" => f.combine = AND,
            "or" => f.combine = OR,
            "xor" => f.combine = XOR,
            "ftz" => f.ftz = true,
            _ => return None,
        }
    }
    let float = ty.float();
    let odd = !float && (unordered || matches!(cmp, Cmp::Number | Cmp::Nan))
        || ty == Ty::Tf32
        || ty == Ty::Pred
        || ty.bytes() == 1;
    (!odd).then_some(f)
}

macro_rules! by_cmp {
    ($cmp:expr, $test:ident, $cast:expr) => {
        match $cmp {
            Cmp::Eq => |x, i| settle(x, i, |x| $test(x, i, |a, b| $cast(a) == $cast(b))),
            Cmp::Ne => |x, i| settle(x, i, |x| $test(x, i, |a, b| $cast(a) != $cast(b))),
            Cmp::Lt => |x, i| settle(x, i, |x| $test(x, i, |a, b| $cast(a) < $cast(b))),
            Cmp::Le => |x, i| settle(x, i, |x| $test(x, i, |a, b| $cast(a) <= $cast(b))),
            Cmp::Gt => |x, i| settle(x, i, |x| $test(x, i, |a, b| $cast(a) > $cast(b))),
            _ => |x, i| settle(x, i, |x| $test(x, i, |a, b| $cast(a) >= $cast(b))),
        }
    };
}

fn choose(f: &Form) -> ExecFn {
    match f.ty {
        Ty::S16 => by_cmp!(f.cmp, test32, |v: u32| v as i16),
        Ty::S32 => by_cmp!(f.cmp, test32, |v: u32| v as i32),
        Ty::S64 => by_cmp!(f.cmp, test64, |v: u64| v as i64),
        Ty::U16 | Ty::U32 | Ty::B16 | Ty::B32 => by_cmp!(f.cmp, test32, |v: u32| v),
        Ty::U64 | Ty::B64 => by_cmp!(f.cmp, test64, |v: u64| v),
        Ty::F32 if !f.ftz => single(f),
        _ => |x, i| settle(x, i, |x| float_test(x, i)),
    }
}

/// Comparisons of singles. PTX's `ne` is false where a value is NaN, unlike Rust's `!=`, and the unordered forms are
/// true there.
fn single(f: &Form) -> ExecFn {
    macro_rules! test {
        ($f:expr) => {
            |x, i| settle(x, i, |x| test32(x, i, |a, b| $f(f32::from_bits(a), f32::from_bits(b))))
        };
    }
    match (f.cmp, f.unordered) {
        (Cmp::Eq, false) => test!(|a: f32, b: f32| a == b),
        (Cmp::Lt, false) => test!(|a: f32, b: f32| a < b),
        (Cmp::Le, false) => test!(|a: f32, b: f32| a <= b),
        (Cmp::Gt, false) => test!(|a: f32, b: f32| a > b),
        (Cmp::Ge, false) => test!(|a: f32, b: f32| a >= b),
        (Cmp::Ne, true) => test!(|a: f32, b: f32| a != b),
        _ => |x, i| settle(x, i, |x| float_test(x, i)),
    }
}

const CMP_SHIFT: u32 = 4;
const UNORDERED: u32 = 1 << 8;
const FTZ: u32 = 1 << 9;
/// The second half of a packed pair.
const UPPER: u32 = 1 << 10;
const TY_SHIFT: u32 = 16;

fn float_test(x: &Exec<'_>, i: &Inst) -> u32 {
    let (a, b) = (x.get_any(i.a), x.get_any(i.b));
    let code = i.x >> TY_SHIFT;
    let value = |bits: u64| {
        let bits = if i.x & UPPER != 0 { bits >> 16 } else { bits };
        let wide = |f: Format| f64::from_bits(f.to(F64, bits & 0xffff, Round::Nearest));
        match code {
            c if c == Ty::F64 as u32 => f64::from_bits(bits),
            c if c == Ty::F16 as u32 || c == Ty::F16x2 as u32 => wide(F16),
            c if c == Ty::Bf16 as u32 || c == Ty::Bf16x2 as u32 => wide(BF16),
            _ => {
                let v = f32::from_bits(bits as u32);
                f64::from(if i.x & FTZ != 0 { flush(v) } else { v })
            }
        }
    };
    let mut m = 0;
    for l in 0..LANES {
        let (a, b) = (value(a[l]), value(b[l]));
        let nan = a.is_nan() || b.is_nan();
        let yes = match i.x >> CMP_SHIFT & 15 {
            c if c == Cmp::Number as u32 => !nan,
            c if c == Cmp::Nan as u32 => nan,
            _ if nan => i.x & UNORDERED != 0,
            c if c == Cmp::Eq as u32 => a == b,
            c if c == Cmp::Ne as u32 => a != b,
            c if c == Cmp::Lt as u32 => a < b,
            c if c == Cmp::Le as u32 => a <= b,
            c if c == Cmp::Gt as u32 => a > b,
            _ => a >= b,
        };
        m |= u32::from(yes) << l;
    }
    m
}

/// Combines a comparison's outcome with the third operand and writes it, and its complement, where they go.
#[inline(always)]
fn settle(x: &mut Exec<'_>, i: &Inst, test: impl Fn(&Exec<'_>) -> u32) -> Done {
    let t = test(x);
    let combined = |t: u32, x: &Exec<'_>| match i.x & 3 {
        0 => t,
        AND => t & x.pred(i.c),
        OR => t | x.pred(i.c),
        _ => t ^ x.pred(i.c),
    };
    let (p, q) = (combined(t, x), combined(!t, x));
    x.put_pred(i.d, p);
    x.put_pred(i.d2, q);
    Ok(())
}

fn comparison<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, f: &Form, a: usize) -> Result<Inst, LoadError> {
    let want = a + 2 + usize::from(f.combine != 0);
    if raw.operands.len() != want {
        return b.bad(raw, format!("{want} operands are needed, {} are given", raw.operands.len()));
    }
    let Some(file) = File::of(f.ty) else { return b.unknown(raw) };
    let mut i = b.inst(raw, Class::Compare, Taint::Compute, choose(f))?;
    i.a = b.src(raw, &raw.operands[a], file, f.ty)?;
    i.b = b.src(raw, &raw.operands[a + 1], file, f.ty)?;
    if f.combine != 0 {
        i.c = b.src(raw, &raw.operands[a + 2], File::Pred, Ty::Pred)?;
    }
    i.x = f.combine
        | (f.cmp as u32) << CMP_SHIFT
        | if f.unordered { UNORDERED } else { 0 }
        | if f.ftz { FTZ } else { 0 }
        | (f.ty as u32) << TY_SHIFT;
    Ok(i)
}

fn lower_setp<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let Some(f) = parse_form(mods) else { return b.unknown(raw) };
    let mut i = comparison(b, raw, &f, 1)?;
    let (p, q) = match &raw.operands[0] {
        Operand::Pair(p, q) => (Operand::Name(p, 0), Some(Operand::Name(q, 0))),
        p => (p.clone(), None),
    };
    i.d = b.dst(raw, &p, File::Pred)?;
    if let Some(q) = &q {
        i.d2 = b.dst(raw, q, File::Pred)?;
    }
    if matches!(f.ty, Ty::F16x2 | Ty::Bf16x2) {
        // Two comparisons: the lower halves to the first predicate, the upper halves to the second.
        let mut upper = i.clone();
        upper.d = i.d2;
        upper.d2 = Reg::SINK;
        upper.x |= UPPER;
        i.d2 = Reg::SINK;
        b.emit(i);
        b.emit(upper);
        return Ok(());
    }
    b.emit(i);
    Ok(())
}

fn lower_set<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let Some(k) = mods.len().checked_sub(2) else { return b.unknown(raw) };
    let Some(to) = Ty::parse(mods[k]) else { return b.unknown(raw) };
    let short: Vec<&str> = mods.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, m)| *m).collect();
    let Some(f) = parse_form(&short) else { return b.unknown(raw) };
    let pair = matches!(to, Ty::F16x2 | Ty::Bf16x2);
    if matches!(f.ty, Ty::F16x2 | Ty::Bf16x2) && !pair && to.bytes() != 4 || pair && to != f.ty {
        return b.unknown(raw);
    }
    let one = match to {
        Ty::F32 => 0x3f80_0000,
        Ty::F16 => 0x3c00,
        Ty::Bf16 => 0x3f80,
        Ty::F16x2 => 0x3c00_3c00,
        Ty::Bf16x2 => 0x3f80_3f80,
        Ty::U32 | Ty::S32 => 0xffff_ffff,
        Ty::U16 | Ty::S16 => 0xffff,
        _ => return b.unknown(raw),
    };
    let Some(file) = File::of(to) else { return b.unknown(raw) };
    let mut i = comparison(b, raw, &f, 1)?;
    let d = b.dst(raw, &raw.operands[0], file)?;
    let p = b.temp(File::Pred, raw.line)?;
    i.d = p;
    let mut upper = matches!(f.ty, Ty::F16x2 | Ty::Bf16x2).then(|| i.clone());
    b.emit(i);
    let mut q = p;
    if let Some(u) = &mut upper {
        q = b.temp(File::Pred, raw.line)?;
        u.d = q;
        u.x |= UPPER;
        b.emit(u.clone());
    }
    // `x` is what to write where the predicates hold, halves apart.
    let mut s = b.inst(raw, class(Ty::F32), Taint::Nothing, write_set)?;
    (s.d, s.a, s.b, s.x) = (d, p, q, one);
    b.emit(s);
    Ok(())
}

fn write_set(x: &mut Exec<'_>, i: &Inst) -> Done {
    let (p, q) = (x.pred(i.a), x.pred(i.b));
    let o = std::array::from_fn(|l| {
        let lower = if p >> l & 1 != 0 { i.x & 0xffff } else { 0 };
        let upper = if q >> l & 1 != 0 { i.x & 0xffff_0000 } else { 0 };
        u64::from(lower | upper)
    });
    x.put_any(i.d, &o);
    Ok(())
}

fn lower_slct<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let (ftz, mods) = match mods {
        ["ftz", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let [ty, by] = mods else { return b.unknown(raw) };
    let (Some(ty), Some(by @ (Ty::S32 | Ty::F32))) = (Ty::parse(ty), Ty::parse(by)) else { return b.unknown(raw) };
    let (Some(file), [d, a, c, sel]) = (File::of(ty), raw.operands.as_slice()) else {
        return b.bad(raw, "4 operands are needed");
    };
    let mut i = b.inst(raw, Class::Compare, Taint::Compute, slct)?;
    i.d = b.dst(raw, d, file)?;
    i.a = b.src(raw, a, file, ty)?;
    i.b = b.src(raw, c, file, ty)?;
    i.c = b.src(raw, sel, File::R32, by)?;
    i.x = u32::from(by == Ty::F32) | if ftz { FTZ } else { 0 };
    b.emit(i);
    Ok(())
}

fn slct(x: &mut Exec<'_>, i: &Inst) -> Done {
    let (a, b, c) = (x.get_any(i.a), x.get_any(i.b), x.get32(i.c));
    let o = std::array::from_fn(|l| {
        let first = if i.x & 1 != 0 {
            let v = f32::from_bits(c[l]);
            (if i.x & FTZ != 0 { flush(v) } else { v }) >= 0.0
        } else {
            c[l] as i32 >= 0
        };
        if first { a[l] } else { b[l] }
    });
    x.put_any(i.d, &o);
    Ok(())
}
