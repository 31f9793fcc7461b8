//! Instructions that lanes execute together: shuffles, votes, matches, reductions.
//!
//! A lane that a shuffle reads and that does not take part gives a value the ISA leaves open: here the pattern
//! `0xcdcdcdcd`.

use crate::ast::{Operand, RawInst, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec, LANES};
use crate::lower_body::Body;
use crate::program::{ExecFn, File, Flow, Inst, Reg};
use crate::races::lanes;
use crate::table::{Class, Family, Row, Taint, rows};

pub(crate) const ROWS: &[Row] = rows! {
    "activemask.b32" "r=" Warp Nothing |x, i| {
        let v = [x.mask; LANES];
        x.put32(i.d, &v);
        Ok(())
    };
};

pub(crate) const FAMILIES: &[Family] = &[
    Family { opcode: "shfl", forms: ".sync.{idx|up|down|bfly}.b32", class: Class::Warp, lower },
    Family { opcode: "vote", forms: ".sync.{all|any|uni}.pred, .sync.ballot.b32", class: Class::Warp, lower },
    Family { opcode: "match", forms: ".{any|all}.sync.{b32|b64}", class: Class::Warp, lower },
    Family {
        opcode: "redux",
        forms: ".sync.{add|min|max}.{u32|s32}, .sync.{and|or|xor}.b32, .sync.{min|max}{.abs}{.NaN}.f32",
        class: Class::Warp,
        lower,
    },
    Family { opcode: "elect", forms: ".sync", class: Class::Warp, lower },
];

/// A value that no lane gave.
const UNSPECIFIED: u32 = 0xcdcd_cdcd;

/// What a form's operands are: result, whether a predicate may follow it, value, further operands before the mask.
struct Form {
    exec: ExecFn,
    d: File,
    paired: bool,
    a: File,
    more: usize,
}

fn form(name: &str) -> Option<Form> {
    use File::{None as No, Pred, R32, R64};
    let f = |exec, d, paired, a, more| Some(Form { exec, d, paired, a, more });
    match name {
        "shfl.sync.idx.b32" => f(
            |x, i| {
                shfl(x, i, |_, l, b, lo, hi, seg| {
                    let j = lo | b & !seg;
                    (j, j <= hi || l == j)
                })
            },
            R32,
            true,
            R32,
            2,
        ),
        "shfl.sync.up.b32" => f(|x, i| shfl(x, i, |_, l, b, _, hi, _| (l - b, l - b >= hi)), R32, true, R32, 2),
        "shfl.sync.down.b32" => f(|x, i| shfl(x, i, |_, l, b, _, hi, _| (l + b, l + b <= hi)), R32, true, R32, 2),
        "shfl.sync.bfly.b32" => f(|x, i| shfl(x, i, |_, l, b, _, hi, _| (l ^ b, l ^ b <= hi)), R32, true, R32, 2),
        "vote.sync.all.pred" => f(|x, i| vote(x, i, |p, m| p == m), Pred, false, Pred, 0),
        "vote.sync.any.pred" => f(|x, i| vote(x, i, |p, _| p != 0), Pred, false, Pred, 0),
        "vote.sync.uni.pred" => f(|x, i| vote(x, i, |p, m| p == m || p == 0), Pred, false, Pred, 0),
        "vote.sync.ballot.b32" => f(ballot, R32, false, Pred, 0),
        "match.any.sync.b32" => f(match_any, R32, false, R32, 0),
        "match.any.sync.b64" => f(match_any, R32, false, R64, 0),
        "match.all.sync.b32" => f(match_all, R32, true, R32, 0),
        "match.all.sync.b64" => f(match_all, R32, true, R64, 0),
        "redux.sync.add.u32" | "redux.sync.add.s32" => f(|x, i| redux(x, i, u32::wrapping_add), R32, false, R32, 0),
        "redux.sync.min.u32" => f(|x, i| redux(x, i, u32::min), R32, false, R32, 0),
        "redux.sync.max.u32" => f(|x, i| redux(x, i, u32::max), R32, false, R32, 0),
        "redux.sync.min.s32" => f(|x, i| redux(x, i, |a, b| (a as i32).min(b as i32) as u32), R32, false, R32, 0),
        "redux.sync.max.s32" => f(|x, i| redux(x, i, |a, b| (a as i32).max(b as i32) as u32), R32, false, R32, 0),
        "redux.sync.and.b32" => f(|x, i| redux(x, i, |a, b| a & b), R32, false, R32, 0),
        "redux.sync.or.b32" => f(|x, i| redux(x, i, |a, b| a | b), R32, false, R32, 0),
        "redux.sync.xor.b32" => f(|x, i| redux(x, i, |a, b| a ^ b), R32, false, R32, 0),
        "redux.sync.min.f32" => f(|x, i| redux_float(x, i, false, false, false), R32, false, R32, 0),
        "redux.sync.max.f32" => f(|x, i| redux_float(x, i, true, false, false), R32, false, R32, 0),
        "redux.sync.min.abs.f32" => f(|x, i| redux_float(x, i, false, true, false), R32, false, R32, 0),
        "redux.sync.max.abs.f32" => f(|x, i| redux_float(x, i, true, true, false), R32, false, R32, 0),
        "redux.sync.min.NaN.f32" => f(|x, i| redux_float(x, i, false, false, true), R32, false, R32, 0),
        "redux.sync.max.NaN.f32" => f(|x, i| redux_float(x, i, true, false, true), R32, false, R32, 0),
        "redux.sync.min.abs.NaN.f32" => f(|x, i| redux_float(x, i, false, true, true), R32, false, R32, 0),
        "redux.sync.max.abs.NaN.f32" => f(|x, i| redux_float(x, i, true, true, true), R32, false, R32, 0),
        "elect.sync" => f(elect, R32, true, No, 0),
        _ => None,
    }
}

fn lower<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, _: &[&str]) -> Result<(), LoadError> {
    let Some(f) = form(raw.name) else { return b.unknown(raw) };
    let value = usize::from(f.a != File::None);
    let want = 2 + value + f.more;
    if raw.operands.len() != want {
        return b.bad(raw, format!("{want} operands are needed, {} are given", raw.operands.len()));
    }
    let mut i = b.inst(raw, Class::Warp, Taint::Compute, f.exec)?;
    i.flow = Flow::Warp;
    i.target = i.name;
    match &raw.operands[0] {
        Operand::Pair(d, p) if f.paired => {
            i.d = b.dst(raw, &Operand::Name(d, 0), f.d)?;
            i.d2 = b.dst(raw, &Operand::Name(p, 0), File::Pred)?;
        }
        d => i.d = b.dst(raw, d, f.d)?,
    }
    if value == 1 {
        i.a = b.src(raw, &raw.operands[1], f.a, Ty::B64)?;
    }
    if f.more == 2 {
        i.b = b.src(raw, &raw.operands[2], File::R32, Ty::B32)?;
        i.c = b.src(raw, &raw.operands[3], File::R32, Ty::B32)?;
    }
    i.e = b.src(raw, &raw.operands[want - 1], File::R32, Ty::B32)?;
    b.emit(i);
    Ok(())
}

/// `pick` gives the source lane and whether it is in range, from the lane, the amount, the segment's first lane, the
/// bound and the segment mask.
fn shfl(x: &mut Exec<'_>, i: &Inst, pick: impl Fn(&Exec<'_>, i32, i32, i32, i32, i32) -> (i32, bool)) -> Done {
    let (a, b, c) = (x.get32(i.a), x.get32(i.b), x.get32(i.c));
    let (mut o, mut p) = ([0; LANES], 0u32);
    for l in lanes(x.mask) {
        let (bval, cval, seg) = ((b[l] & 31) as i32, (c[l] & 31) as i32, (c[l] >> 8 & 31) as i32);
        let lane = l as i32;
        let lo = lane & seg;
        let hi = lo | cval & !seg;
        let (j, inside) = pick(x, lane, bval, lo, hi, seg);
        let from = if inside { j } else { lane };
        o[l] = if x.mask >> (from & 31) & 1 != 0 { a[(from & 31) as usize] } else { UNSPECIFIED };
        p |= u32::from(inside) << l;
    }
    x.put32(i.d, &o);
    x.put_pred(i.d2, p);
    Ok(())
}

fn vote(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u32, u32) -> bool) -> Done {
    let yes = f(x.pred(i.a) & x.mask, x.mask);
    x.put_pred(i.d, if yes { !0 } else { 0 });
    Ok(())
}

fn ballot(x: &mut Exec<'_>, i: &Inst) -> Done {
    let v = [x.pred(i.a) & x.mask; LANES];
    x.put32(i.d, &v);
    Ok(())
}

fn match_any(x: &mut Exec<'_>, i: &Inst) -> Done {
    let a = x.get_any(i.a);
    let mut o = [0; LANES];
    for l in lanes(x.mask) {
        o[l] = lanes(x.mask).filter(|&k| a[k] == a[l]).fold(0, |m, k| m | 1 << k);
    }
    x.put32(i.d, &o);
    Ok(())
}

fn match_all(x: &mut Exec<'_>, i: &Inst) -> Done {
    let a = x.get_any(i.a);
    let first = a[x.first()];
    let same = lanes(x.mask).all(|l| a[l] == first);
    let v = [if same { x.mask } else { 0 }; LANES];
    x.put32(i.d, &v);
    x.put_pred(i.d2, if same { !0 } else { 0 });
    Ok(())
}

fn redux(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u32, u32) -> u32) -> Done {
    let a = x.get32(i.a);
    let v = lanes(x.mask).map(|l| a[l]).reduce(f).unwrap_or(0);
    x.put32(i.d, &[v; LANES]);
    Ok(())
}

fn redux_float(x: &mut Exec<'_>, i: &Inst, greatest: bool, abs: bool, nan: bool) -> Done {
    let a = x.get32(i.a);
    let key = |v: u32| if v >> 31 != 0 { -1 - i64::from(v & 0x7fff_ffff) } else { i64::from(v) };
    let is_nan = |v: u32| f32::from_bits(v).is_nan();
    let values = lanes(x.mask).map(|l| if abs { a[l] & 0x7fff_ffff } else { a[l] });
    let v = values.reduce(|p, q| match (is_nan(p), is_nan(q)) {
        (true, true) => 0x7fff_ffff,
        (true, false) | (false, true) if nan => 0x7fff_ffff,
        (true, false) => q,
        (false, true) => p,
        (false, false) => {
            if (key(p) > key(q)) == greatest {
                p
            } else {
                q
            }
        }
    });
    let v = v.map_or(0, |v| if is_nan(v) { 0x7fff_ffff } else { v });
    x.put32(i.d, &[v; LANES]);
    Ok(())
}

fn elect(x: &mut Exec<'_>, i: &Inst) -> Done {
    let leader = x.first() as u32;
    x.put32(i.d, &[leader; LANES]);
    x.put_pred(i.d2, 1 << leader);
    Ok(())
}

/// Emits an instruction that the whole warp must execute.
pub(crate) fn whole_warp(i: &mut Inst) {
    i.flow = Flow::Warp;
    i.e = Reg::SINK;
    i.size = 32;
    i.target = i.name;
}
