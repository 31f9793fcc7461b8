//! Moves, packing and unpacking, address spaces.

use crate::ast::{Operand, RawInst, Space, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec, LANES};
use crate::lower_body::Body;
use crate::memory::*;
use crate::program::{File, Inst};
use crate::table::{Class, Family, Taint};

pub(crate) const FAMILIES: &[Family] = &[
    Family {
        opcode: "mov",
        forms: ".{b,u,s 16|32|64, f16|f16x2|bf16|f32|f64, pred}, of registers, addresses, special registers, vectors",
        class: Class::Move,
        lower: lower_mov,
    },
    Family {
        opcode: "cvta",
        forms: "{.to}.{global|shared|local|const|param}.{u32|u64}",
        class: Class::Move,
        lower: lower_cvta,
    },
    Family {
        opcode: "isspacep",
        forms: ".{global|shared|local|const|param}",
        class: Class::Compare,
        lower: lower_isspacep,
    },
];

fn lower_mov<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let [ty] = mods else { return b.unknown(raw) };
    let Some(ty) = Ty::parse(ty) else { return b.unknown(raw) };
    let [d, s] = raw.operands.as_slice() else { return b.bad(raw, "2 operands are needed") };
    let Some(file) = File::of(ty) else { return b.unknown(raw) };
    match (d, s) {
        (Operand::Vector(parts), s) => return unpack(b, raw, parts, s, file, ty),
        (d, Operand::Vector(parts)) => return pack(b, raw, d, parts, file, ty),
        _ => {}
    }
    if let Operand::Name(name, 0) = s
        && let Some(special) = crate::special::find(name)
    {
        let mut i = b.inst(raw, Class::Move, Taint::Nothing, crate::special::read)?;
        i.d = b.register(raw, d)?;
        i.x = special as u32;
        if i.d.file != special.file() && !(special.file() == File::R32 && i.d.file == File::R64) {
            return b.bad(raw, format!("`{name}` does not fit this register"));
        }
        b.emit(i);
        return Ok(());
    }
    let mut i = b.inst(raw, Class::Move, Taint::Move, mov32)?;
    i.exec = match file {
        File::Pred => mov_pred,
        File::R64 => mov64,
        _ => mov32,
    };
    i.d = b.dst(raw, d, file)?;
    i.a = b.src(raw, s, file, ty)?;
    if file == File::Pred {
        i.taint = Taint::Nothing;
    }
    b.emit(i);
    Ok(())
}

fn mov32(x: &mut Exec<'_>, i: &Inst) -> Done {
    let v = x.get32(i.a);
    x.put32(i.d, &v);
    Ok(())
}

fn mov64(x: &mut Exec<'_>, i: &Inst) -> Done {
    let v = x.get64(i.a);
    x.put64(i.d, &v);
    Ok(())
}

fn mov_pred(x: &mut Exec<'_>, i: &Inst) -> Done {
    let v = x.pred(i.a);
    x.put_pred(i.d, v);
    Ok(())
}

/// The file and width of each part of a value of `ty` cut in `n`.
fn part(ty: Ty, n: usize) -> Option<(File, Ty)> {
    Some(match ty.bytes() as usize / n.max(1) {
        4 => (File::R32, Ty::B32),
        2 => (File::R16, Ty::B16),
        1 => (File::R16, Ty::B8),
        _ => return None,
    })
}

fn unpack<'a>(
    b: &mut Body<'_, 'a>,
    raw: &RawInst<'a>,
    parts: &[Operand<'a>],
    s: &Operand<'a>,
    file: File,
    ty: Ty,
) -> Result<(), LoadError> {
    let Some((part_file, part_ty)) = part(ty, parts.len()).filter(|_| matches!(parts.len(), 2 | 4)) else {
        return b.unknown(raw);
    };
    let mut i = b.inst(raw, Class::Move, Taint::Own, exec_unpack)?;
    i.a = b.src(raw, s, file, ty)?;
    let mut regs = Vec::new();
    for p in parts {
        regs.push(b.dst(raw, p, part_file)?);
    }
    i.list = b.list(&regs);
    i.size = part_ty.bytes() as u8;
    b.emit(i);
    Ok(())
}

fn exec_unpack(x: &mut Exec<'_>, i: &Inst) -> Done {
    let v = x.get_any(i.a);
    let bits = 8 * u32::from(i.size);
    let prog = x.prog;
    let taint = x.taint_of(i.a);
    for (k, r) in prog.list(i).iter().enumerate() {
        let o = v.map(|v| v >> (bits * k as u32) & ((1u64 << bits) - 1));
        x.put_any(*r, &o);
        x.set_taint(*r, taint.as_ref().map(|t| t.shifted(i.size as usize * k, i.size as usize)));
    }
    Ok(())
}

fn pack<'a>(
    b: &mut Body<'_, 'a>,
    raw: &RawInst<'a>,
    d: &Operand<'a>,
    parts: &[Operand<'a>],
    file: File,
    ty: Ty,
) -> Result<(), LoadError> {
    let Some((part_file, part_ty)) = part(ty, parts.len()).filter(|_| matches!(parts.len(), 2 | 4)) else {
        return b.unknown(raw);
    };
    let mut i = b.inst(raw, Class::Move, Taint::Own, exec_pack)?;
    i.d = b.dst(raw, d, file)?;
    let mut regs = Vec::new();
    for p in parts {
        regs.push(b.src(raw, p, part_file, part_ty)?);
    }
    i.list = b.list(&regs);
    i.size = part_ty.bytes() as u8;
    b.emit(i);
    Ok(())
}

fn exec_pack(x: &mut Exec<'_>, i: &Inst) -> Done {
    let bits = 8 * u32::from(i.size);
    let prog = x.prog;
    let mut o = [0u64; LANES];
    let mut taint: Option<crate::taint::Taint> = None;
    for (k, r) in prog.list(i).iter().enumerate() {
        let v = x.get_any(*r);
        for l in 0..LANES {
            o[l] |= (v[l] & ((1u64 << bits) - 1)) << (bits * k as u32);
        }
        if let Some(t) = x.taint_of(*r) {
            taint.get_or_insert_with(|| t.empty()).join_at(&t, i.size as usize * k, i.size as usize);
        }
    }
    x.put_any(i.d, &o);
    x.set_taint(i.d, taint);
    Ok(())
}

/// A state space's name.
pub(crate) fn space(s: &str) -> Option<Space> {
    Some(match s {
        "global" => Space::Global,
        "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" | "param::entry" | "param::func" => Space::Param,
        _ => return None,
    })
}

fn lower_cvta<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let (to, sp, ty) = match mods {
        ["to", sp, ty] => (true, sp, ty),
        [sp, ty] => (false, sp, ty),
        _ => return b.unknown(raw),
    };
    let (Some(sp), "u64") = (space(sp), *ty) else { return b.unknown(raw) };
    let [d, a] = raw.operands.as_slice() else { return b.bad(raw, "2 operands are needed") };
    // Only shared addresses differ from generic ones.
    let mut i = b.inst(raw, Class::Move, Taint::Move, mov64)?;
    if sp == Space::Shared {
        i.exec = if to { to_shared } else { from_shared };
    }
    i.d = b.dst(raw, d, File::R64)?;
    i.a = b.src(raw, a, File::R64, Ty::U64)?;
    b.emit(i);
    Ok(())
}

fn to_shared(x: &mut Exec<'_>, i: &Inst) -> Done {
    let v = x.get64(i.a).map(|a| a.wrapping_sub(SHARED_WINDOW << WINDOW_BITS));
    x.put64(i.d, &v);
    Ok(())
}

fn from_shared(x: &mut Exec<'_>, i: &Inst) -> Done {
    let v = x.get64(i.a).map(|a| a.wrapping_add(SHARED_WINDOW << WINDOW_BITS));
    x.put64(i.d, &v);
    Ok(())
}

fn lower_isspacep<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let [sp] = mods else { return b.unknown(raw) };
    let Some(sp) = space(sp) else { return b.unknown(raw) };
    let [d, a] = raw.operands.as_slice() else { return b.bad(raw, "2 operands are needed") };
    let mut i = b.inst(raw, Class::Compare, Taint::Compute, isspacep)?;
    i.d = b.dst(raw, d, File::Pred)?;
    i.a = b.src(raw, a, File::R64, Ty::U64)?;
    i.x = sp as u32;
    b.emit(i);
    Ok(())
}

fn isspacep(x: &mut Exec<'_>, i: &Inst) -> Done {
    let a = x.get64(i.a);
    let mut m = 0;
    for (l, &addr) in a.iter().enumerate() {
        let is = match addr >> WINDOW_BITS {
            SHARED_WINDOW => Space::Shared,
            LOCAL_WINDOW => Space::Local,
            PARAM_WINDOW => Space::Param,
            _ => match x.mem.find(addr) {
                Some(r) if !r.writable => Space::Const,
                _ => Space::Global,
            },
        };
        m |= u32::from(is as u32 == i.x) << l;
    }
    x.put_pred(i.d, m);
    Ok(())
}
