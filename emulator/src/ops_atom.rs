//! Atomics. Lanes of a warp take their turns in order; blocks on other cores are kept apart by the host's atomics.

use crate::ast::{Operand, RawInst, Space, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec, L64, LANES, Stopped};
use crate::fault::FaultKind;
use crate::lower_body::Body;
use crate::memory::*;
use crate::ops_float::format;
use crate::ops_mem::{resolve, space_of};
use crate::ops_mov::space;
use crate::program::{File, Inst, Reg};
use crate::races::{Kind, lanes};
use crate::softfloat::Round;
use crate::table::{Class, Family, Taint};

pub(crate) const FAMILIES: &[Family] = &[
    Family {
        opcode: "atom",
        forms: "{.sem}{.scope}{.global|.shared}.{and|or|xor|cas|exch|add|inc|dec|min|max}{.noftz}{.v2|.v4|.v8}.{b16|b32|b64|u32|s32|u64|s64|f16|f16x2|bf16|bf16x2|f32|f64}; vectors of floats, the type before or after the operation",
        class: Class::Atomic,
        lower,
    },
    Family {
        opcode: "red",
        forms: "{.sem}{.scope}{.global|.shared}.{and|or|xor|add|inc|dec|min|max}{.noftz}{.v2|.v4|.v8}.{b32|b64|u32|s32|u64|s64|f16|f16x2|bf16|bf16x2|f32|f64}",
        class: Class::Atomic,
        lower,
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    And,
    Or,
    Xor,
    Cas,
    Exch,
    Add,
    Inc,
    Dec,
    Min,
    Max,
}

const OPS: [(&str, Op); 10] = [
    ("and", Op::And),
    ("or", Op::Or),
    ("xor", Op::Xor),
    ("cas", Op::Cas),
    ("exch", Op::Exch),
    ("add", Op::Add),
    ("inc", Op::Inc),
    ("dec", Op::Dec),
    ("min", Op::Min),
    ("max", Op::Max),
];

const TYPES: [Ty; 13] = [
    Ty::B16,
    Ty::B32,
    Ty::B64,
    Ty::U32,
    Ty::S32,
    Ty::U64,
    Ty::S64,
    Ty::F16,
    Ty::F16x2,
    Ty::Bf16,
    Ty::Bf16x2,
    Ty::F32,
    Ty::F64,
];

fn allowed(op: Op, ty: Ty) -> bool {
    match op {
        Op::And | Op::Or | Op::Xor => matches!(ty, Ty::B32 | Ty::B64),
        Op::Cas | Op::Exch => matches!(ty, Ty::B16 | Ty::B32 | Ty::B64 | Ty::U32 | Ty::S32 | Ty::U64),
        Op::Inc | Op::Dec => ty == Ty::U32,
        Op::Add => !matches!(ty, Ty::B16 | Ty::B32 | Ty::B64),
        Op::Min | Op::Max => {
            matches!(ty, Ty::U32 | Ty::S32 | Ty::U64 | Ty::S64 | Ty::F16 | Ty::F16x2 | Ty::Bf16 | Ty::Bf16x2)
        }
    }
}

/// The qualifiers of an atomic.
struct Form {
    space: Space,
    op: Op,
    ty: Ty,
    /// Elements of a vector.
    count: usize,
}

/// Reads them; orders and scopes make no difference here. The type comes last, or before the operation of a vector.
fn form(mods: &[&str]) -> Option<Form> {
    let (mut sp, mut op, mut ty, mut count) = (Space::Generic, None, None, 1);
    for m in mods {
        match *m {
            "relaxed" | "acquire" | "release" | "acq_rel" | "cta" | "cluster" | "gpu" | "sys" | "noftz" => {}
            "v2" => count = 2,
            "v4" => count = 4,
            "v8" => count = 8,
            m if m.starts_with("L2::") => {}
            m => match (space(m), OPS.iter().find(|o| o.0 == m), Ty::parse(m)) {
                (Some(s), ..) => sp = s,
                (_, Some(o), _) if op.is_none() => op = Some(o.1),
                (.., Some(t)) if ty.is_none() => ty = Some(t),
                _ => return None,
            },
        }
    }
    let f = Form { space: sp, op: op?, ty: ty?, count };
    let bytes = f.ty.bytes() as usize * count;
    let vector = count > 1;
    let fits = match f.ty {
        Ty::F32 => f.op == Op::Add && matches!(bytes, 8 | 16),
        Ty::F16 | Ty::Bf16 | Ty::F16x2 | Ty::Bf16x2 => {
            matches!(f.op, Op::Add | Op::Min | Op::Max) && matches!(bytes, 4 | 8 | 16)
        }
        _ => false,
    };
    let known = allowed(f.op, f.ty)
        && TYPES.contains(&f.ty)
        && (vector || mods.last().and_then(|m| Ty::parse(m)) == Some(f.ty));
    (known && (!vector || fits && matches!(sp, Space::Global | Space::Generic))).then_some(f)
}

/// The elements of a vector operand, or the one operand.
fn elements<'b, 'a>(op: &'b Operand<'a>) -> &'b [Operand<'a>] {
    match op {
        Operand::Vector(v) => v,
        op => std::slice::from_ref(op),
    }
}

fn lower<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let Some(f) = form(mods) else { return b.unknown(raw) };
    let (d, ops) = match raw.operands.split_first() {
        Some((d, rest)) if raw.name.starts_with("atom") => (Some(d), rest),
        _ => (None, raw.operands.as_slice()),
    };
    let want = if f.op == Op::Cas { 3 } else { 2 };
    if ops.len() < want || ops.len() > want + 1 {
        return b.bad(raw, "the number of operands is not that of this atomic");
    }
    let Some(file) = File::of(f.ty) else { return b.unknown(raw) };
    let a = b.address(raw, &ops[0])?;
    let mut i = b.inst(raw, Class::Atomic, Taint::Compute, exec)?;
    i.a = a.base;
    i.imm = a.offset;
    i.x = resolve(f.space, &a) as u32 | at(&OPS.map(|o| o.1), f.op) << 4 | at(&TYPES, f.ty) << 8;
    if f.count > 1 {
        return lower_vector(b, raw, i, (d, &ops[1]), (file, f));
    }
    i.d = match d {
        Some(Operand::Name("_", 0)) | None => Reg::SINK,
        Some(d) => b.dst(raw, d, file)?,
    };
    i.b = b.src(raw, &ops[1], file, f.ty)?;
    if f.op == Op::Cas {
        i.c = b.src(raw, &ops[2], file, f.ty)?;
    }
    b.emit(i);
    Ok(())
}

/// Where `v` is in a list that has it.
fn at<T: PartialEq>(list: &[T], v: T) -> u32 {
    list.iter().position(|x| *x == v).unwrap_or(0) as u32
}

fn lower_vector<'a>(
    b: &mut Body<'_, 'a>,
    raw: &RawInst<'a>,
    mut i: Inst,
    (d, v): (Option<&Operand<'a>>, &Operand<'a>),
    (file, f): (File, Form),
) -> Result<(), LoadError> {
    let (ds, vs) = (d.map_or(&[][..], elements), elements(v));
    if vs.len() != f.count || d.is_some() && ds.len() != f.count {
        return b.bad(raw, format!("vectors of {} registers are needed", f.count));
    }
    let mut regs = Vec::new();
    for v in vs {
        regs.push(b.src(raw, v, file, f.ty)?);
    }
    for k in 0..f.count {
        regs.push(ds.get(k).map_or(Ok(Reg::SINK), |d| b.dst(raw, d, file))?);
    }
    (i.exec, i.taint, i.count) = (exec_vector, Taint::Own, f.count as u8);
    i.list = b.list(&regs);
    b.emit(i);
    Ok(())
}

fn exec(x: &mut Exec<'_>, i: &Inst) -> Done {
    let (b, c) = (x.get_any(i.b), x.get_any(i.c));
    let addr = x.address(i);
    let old = update(x, i, &addr, &b, &c)?;
    x.put_any(i.d, &old);
    Ok(())
}

/// Each element is an atomic of its own; the address must be that of a whole vector.
fn exec_vector(x: &mut Exec<'_>, i: &Inst) -> Done {
    let prog = x.prog;
    let (values, results) = prog.list(i).split_at(usize::from(i.count));
    x.address_taint(i)?;
    for r in values {
        x.reject(*r)?;
    }
    let mut addr = x.address(i);
    let one = u64::from(TYPES[(i.x >> 8) as usize].bytes());
    let bytes = one * u64::from(i.count);
    if let Some(l) = lanes(x.mask).find(|&l| !addr[l].is_multiple_of(bytes)) {
        let place = x.mem.describe(addr[l]);
        return x.stop(l, FaultKind::Misaligned { bytes: bytes as u32, place });
    }
    let mut old = Vec::new();
    for r in values {
        let v = x.get_any(*r);
        old.push(update(x, i, &addr, &v, &[0; LANES])?);
        addr = addr.map(|a| a.wrapping_add(one));
    }
    for (r, v) in results.iter().zip(&old) {
        x.put_any(*r, v);
        x.set_taint(*r, None);
    }
    Ok(())
}

/// One atomic of every lane; gives what was there before.
fn update(x: &mut Exec<'_>, i: &Inst, addr: &L64, b: &L64, c: &L64) -> Result<L64, Stopped> {
    let ty = TYPES[(i.x >> 8) as usize];
    let op = OPS[(i.x >> 4 & 15) as usize].1;
    let mut old = [0u64; LANES];
    let bytes = ty.bytes();
    x.windows(space_of(i), addr, |x, window, _, addr| match window {
        SHARED_WINDOW => shared(x, i, addr, bytes, &mut old, |l, v| apply(op, ty, v, b[l], c[l])),
        LOCAL_WINDOW | PARAM_WINDOW => {
            let lane = x.first();
            x.stop(lane, FaultKind::Operand("an atomic on local or parameter memory".into()))
        }
        _ => region(x, addr, bytes, &mut old, |l, v| apply(op, ty, v, b[l], c[l])),
    })?;
    Ok(old)
}

fn region(x: &mut Exec<'_>, addr: &L64, bytes: u32, old: &mut L64, f: impl Fn(usize, u64) -> u64) -> Done {
    let mut off = [0; LANES];
    let r = x.region_of(addr, bytes, &mut off)?;
    let mem = x.mem;
    let lane = x.first();
    if !r.writable {
        let place = mem.describe(addr[lane]);
        return x.stop(lane, FaultKind::ReadOnly { place });
    }
    let (pc, mask) = (x.pc as usize, x.mask);
    if let Some(t) = x.tally.as_deref_mut() {
        t.per[pc].bytes += u64::from(mask.count_ones() * bytes);
        t.per[pc].sectors += u64::from(mask.count_ones());
    }
    for l in lanes(x.mask) {
        let w = (off[l] / 4) as usize;
        if r.tracks() && x.env.track {
            let touched = if bytes < 4 { 3 << (off[l] % 4) } else { WRITTEN };
            let lacks = touched & !r.written(w) != 0 || bytes == 8 && r.written(w + 1) != WRITTEN;
            if lacks {
                let (place, loaded_at) = (mem.describe(addr[l]), x.prog.code[pc].line);
                return x.stop(l, FaultKind::Uninitialized { place, loaded_at });
            }
        }
        old[l] = match bytes {
            8 => r.update64(w, |v| f(l, v)),
            4 => u64::from(r.update32(w, |v| f(l, u64::from(v)) as u32)),
            _ => {
                let s = off[l] % 4 * 8;
                let part = |v: u32| u64::from(v >> s & 0xffff);
                let v = r.update32(w, |v| v & !(0xffff << s) | (f(l, part(v)) as u32 & 0xffff) << s);
                part(v)
            }
        };
    }
    Ok(())
}

fn shared(x: &mut Exec<'_>, i: &Inst, addr: &L64, bytes: u32, old: &mut L64, f: impl Fn(usize, u64) -> u64) -> Done {
    let off = x.shared_offsets(addr, bytes)?;
    x.count_shared(i, &off, bytes);
    x.watch(&off, bytes, Kind::Atomic)?;
    for l in lanes(x.mask) {
        let (w, s) = ((off[l] / 4) as usize, off[l] % 4 * 8);
        let touched = if bytes < 4 { 3 << (off[l] % 4) } else { WRITTEN };
        let lacks = touched & !x.sh.written[w] != 0 || bytes == 8 && x.sh.written[w + 1] & WRITTEN != WRITTEN;
        if lacks && x.env.track {
            let (place, loaded_at) = (x.env.layout.describe(off[l]), x.prog.code[x.pc as usize].line);
            return x.stop(l, FaultKind::Uninitialized { place, loaded_at });
        }
        match bytes {
            8 => {
                old[l] = u64::from(x.sh.words[w]) | u64::from(x.sh.words[w + 1]) << 32;
                let new = f(l, old[l]);
                x.sh.words[w] = new as u32;
                x.sh.words[w + 1] = (new >> 32) as u32;
            }
            4 => {
                old[l] = u64::from(x.sh.words[w]);
                x.sh.words[w] = f(l, old[l]) as u32;
            }
            _ => {
                old[l] = u64::from(x.sh.words[w] >> s & 0xffff);
                x.sh.words[w] = x.sh.words[w] & !(0xffff << s) | (f(l, old[l]) as u32 & 0xffff) << s;
            }
        }
    }
    Ok(())
}

/// The new value.
fn apply(op: Op, ty: Ty, old: u64, b: u64, c: u64) -> u64 {
    match op {
        Op::And => old & b,
        Op::Or => old | b,
        Op::Xor => old ^ b,
        Op::Exch => b,
        Op::Cas => {
            if old == b {
                c
            } else {
                old
            }
        }
        Op::Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        Op::Dec => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        Op::Add => match ty {
            Ty::F32 | Ty::F64 | Ty::F16 | Ty::Bf16 => format(ty).add(old, b, Round::Nearest),
            Ty::F16x2 | Ty::Bf16x2 => halves(old, b, |a, b| format(ty).add(a, b, Round::Nearest)),
            Ty::U32 | Ty::S32 => u64::from((old as u32).wrapping_add(b as u32)),
            _ => old.wrapping_add(b),
        },
        Op::Min | Op::Max => {
            let greatest = op == Op::Max;
            let pick = |less: bool| if less != greatest { old } else { b };
            match ty {
                Ty::S32 => pick((old as i32) < b as i32),
                Ty::S64 => pick((old as i64) < b as i64),
                Ty::F16 | Ty::Bf16 => half_least(ty, old, b, greatest),
                Ty::F16x2 | Ty::Bf16x2 => halves(old, b, |a, b| half_least(ty, a, b, greatest)),
                _ => pick(old < b),
            }
        }
    }
}

fn halves(a: u64, b: u64, f: impl Fn(u64, u64) -> u64) -> u64 {
    f(a & 0xffff, b & 0xffff) | f(a >> 16 & 0xffff, b >> 16 & 0xffff) << 16
}

fn half_least(ty: Ty, a: u64, b: u64, greatest: bool) -> u64 {
    let f = format(ty);
    let key = |v: u64| if v & 0x8000 != 0 { -1 - (v & 0x7fff) as i64 } else { v as i64 };
    match (f.is_nan(a), f.is_nan(b)) {
        (true, true) => f.nan,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            if (key(a) > key(b)) == greatest {
                a
            } else {
                b
            }
        }
    }
}
