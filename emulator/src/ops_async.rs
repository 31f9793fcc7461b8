//! `cp.async`: copies from global to shared memory that a thread waits for later.
//!
//! The source is read when the copy is issued; the destination is written at the wait that completes it and not before,
//! so a read without a wait finds what was there, which is mostly memory that nothing wrote. Copies that nobody waits
//! for are never written.

use crate::ast::{Operand, RawInst, Space, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec, LANES};
use crate::lower_body::Body;
use crate::program::{File, Inst};
use crate::races::lanes;
use crate::table::{Class, Family, Taint};
use crate::warp::AsyncCopy;

pub(crate) const FAMILIES: &[Family] = &[Family {
    opcode: "cp",
    forms: ".async.{ca|cg}.shared{::cta}.global{.L2::*}, .async.commit_group, .async.wait_group, .async.wait_all",
    class: Class::Async,
    lower,
}];

fn lower<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    match mods {
        ["async", "commit_group"] => {
            let i = b.inst(raw, Class::Async, Taint::Nothing, commit)?;
            b.emit(i);
            Ok(())
        }
        ["async", "wait_all"] => {
            let mut i = b.inst(raw, Class::Async, Taint::Nothing, wait)?;
            i.x = 1;
            b.emit(i);
            Ok(())
        }
        ["async", "wait_group"] => {
            let [Operand::Imm(crate::ast::Imm::Int(n))] = raw.operands.as_slice() else {
                return b.bad(raw, "a literal is needed");
            };
            let mut i = b.inst(raw, Class::Async, Taint::Nothing, wait)?;
            i.imm = *n as i64;
            b.emit(i);
            Ok(())
        }
        ["async", "ca" | "cg", "shared" | "shared::cta", "global", rest @ ..]
            if rest.iter().all(|m| m.starts_with("L2::")) =>
        {
            lower_copy(b, raw)
        }
        _ => b.unknown(raw),
    }
}

fn lower_copy<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>) -> Result<(), LoadError> {
    let [to, from, Operand::Imm(crate::ast::Imm::Int(size)), rest @ ..] = raw.operands.as_slice() else {
        return b.bad(raw, "two addresses and a literal size are needed");
    };
    if !matches!(size, 4 | 8 | 16) || rest.len() > 2 {
        return b.bad(raw, "the size must be 4, 8 or 16 bytes, and one source size may follow");
    }
    // A cache policy is the last operand of the forms that have one.
    let rest = if raw.name.ends_with("cache_hint") { rest.split_last().map_or(rest, |r| r.1) } else { rest };
    let (to, from) = (b.address(raw, to)?, b.address(raw, from)?);
    let mut i = b.inst(raw, Class::Async, Taint::Own, copy)?;
    i.a = from.base;
    i.imm = from.offset;
    i.b = to.base;
    match rest {
        [] => {}
        [op] if ignores(b, raw, op)? => i.c = b.src(raw, op, File::Pred, Ty::Pred)?,
        [n] => i.e = b.src(raw, n, File::R32, Ty::U32)?,
        _ => return b.bad(raw, "one source size, or a predicate, may follow the size"),
    }
    // The destination's offset: shared addresses fit 32 bits.
    i.x = to.offset as u32;
    i.size = *size as u8;
    b.emit(i);
    Ok(())
}

/// Whether an operand is the predicate of lanes that copy zeros.
fn ignores<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, op: &Operand<'a>) -> Result<bool, LoadError> {
    Ok(match op {
        Operand::Not(_) => true,
        Operand::Name(..) => b.register(raw, op)?.file == File::Pred,
        _ => false,
    })
}

fn copy(x: &mut Exec<'_>, i: &Inst) -> Done {
    let n = u32::from(i.size);
    x.address_taint(i)?;
    x.reject(i.b)?;
    let from = x.address(i);
    let to = x.get_any(i.b);
    let all = x.mask;
    // Lanes that copy nothing and fill with zeros read nothing.
    let take = if i.e.file == File::None { [n; LANES] } else { x.get32(i.e).map(|v| v.min(n)) };
    let ignored = if i.c.file == File::Pred { x.pred(i.c) } else { 0 };
    let take: [u32; LANES] = std::array::from_fn(|l| if ignored >> l & 1 != 0 { 0 } else { take[l] });
    let reading = lanes(all).filter(|&l| take[l] > 0).fold(0, |m, l| m | 1 << l);
    x.words[..4].fill([0; LANES]);
    if reading != 0 {
        x.set_mask(reading);
        let loaded = x.load(i, Space::Global, &from, n);
        x.set_mask(all);
        loaded?;
    }
    for l in lanes(all) {
        let mut words = [0; 4];
        for (k, w) in words.iter_mut().enumerate() {
            let have = take[l].saturating_sub(4 * k as u32).min(4);
            let keep = if have == 4 { !0 } else { (1u32 << (8 * have)) - 1 };
            *w = x.words[k][l] & keep;
        }
        let to = to[l].wrapping_add(i.x as i32 as u64) & 0xffff_ffff;
        x.w.copies.push(AsyncCopy { lane: l as u32, to, bytes: n, words, pc: x.pc, group: None });
    }
    Ok(())
}

fn commit(x: &mut Exec<'_>, _: &Inst) -> Done {
    let mask = x.mask;
    for c in &mut x.w.copies {
        if c.group.is_none() && mask >> c.lane & 1 != 0 {
            c.group = Some(x.w.commits[c.lane as usize]);
        }
    }
    lanes(mask).for_each(|l| x.w.commits[l] += 1);
    Ok(())
}

fn wait(x: &mut Exec<'_>, i: &Inst) -> Done {
    let all = x.mask;
    let (everything, pending) = (i.x != 0, i.imm as u64);
    let commits = x.w.commits;
    let (mut due, left): (Vec<AsyncCopy>, Vec<AsyncCopy>) =
        std::mem::take(&mut x.w.copies).into_iter().partition(|c| {
            let done = c.group.is_some_and(|g| g + pending < commits[c.lane as usize]);
            all >> c.lane & 1 != 0 && (everything || done)
        });
    x.w.copies = left;
    let here = x.pc;
    // Copies of one instruction by different lanes are one store of the warp.
    while let Some(first) = due.first() {
        let (pc, bytes) = (first.pc, first.bytes);
        let (mut mask, mut rest, mut to) = (0u32, Vec::new(), [0u64; LANES]);
        for c in due {
            let l = c.lane as usize;
            if c.pc == pc && c.bytes == bytes && mask >> l & 1 == 0 {
                mask |= 1 << l;
                to[l] = c.to;
                for k in 0..4 {
                    x.words[k][l] = c.words[k];
                }
            } else {
                rest.push(c);
            }
        }
        due = rest;
        x.any_unwritten = false;
        x.set_mask(mask);
        x.pc = pc;
        x.store(i, Space::Shared, &to, bytes)?;
        x.pc = here;
        x.set_mask(all);
    }
    Ok(())
}
