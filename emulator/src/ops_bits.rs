//! Logic, shifts, fields, permutations. Shift amounts beyond the width give zero (or the sign), as PTX says.

use crate::ast::{Operand, RawInst, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec};
use crate::lower_body::Body;
use crate::ops::*;
use crate::program::{File, Inst};
use crate::table::{Class, Family, Row, Taint, rows};

pub(crate) const FAMILIES: &[Family] =
    &[Family { opcode: "lop3", forms: ".{and|or}.b32, with a predicate", class: Class::Integer, lower: lower_lop3 }];

fn shl32(a: u32, n: u32) -> u32 {
    a.checked_shl(n).unwrap_or(0)
}

fn shr32(a: u32, n: u32) -> u32 {
    a.checked_shr(n).unwrap_or(0)
}

fn sar32(a: u32, n: u32) -> u32 {
    (a as i32 >> n.min(31)) as u32
}

fn funnel_left(lo: u32, hi: u32, n: u32) -> u32 {
    (((u64::from(hi) << 32 | u64::from(lo)) << n) >> 32) as u32
}

fn funnel_right(lo: u32, hi: u32, n: u32) -> u32 {
    ((u64::from(hi) << 32 | u64::from(lo)) >> n) as u32
}

/// Position of the highest bit that is not a sign, or all ones.
fn find_high(a: u64, bits: u32, signed: bool) -> u32 {
    let v = if signed && a >> (bits - 1) & 1 != 0 { !a } else { a };
    let v = if bits == 64 { v } else { v & ((1 << bits) - 1) };
    if v == 0 { !0 } else { 63 - v.leading_zeros() }
}

fn high_shift(a: u64, bits: u32, signed: bool) -> u32 {
    match find_high(a, bits, signed) {
        u32::MAX => !0,
        p => bits - 1 - p,
    }
}

/// `bfe`: `len` bits from `pos`; beyond the top come zeros, or copies of the field's or the word's top bit.
fn extract(a: u64, pos: u32, len: u32, bits: u32, signed: bool) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let top = bits - 1;
    let sign = if !signed || len == 0 { 0 } else { a >> (pos + len - 1).min(top) & 1 };
    let mut d = if pos > top { 0 } else { a >> pos };
    let have = len.min(bits.saturating_sub(pos));
    let keep = if have >= 64 { !0 } else { (1u64 << have) - 1 };
    d &= keep;
    if sign != 0 { d | !keep } else { d }
}

/// `bfi`: `len` bits of `a` put into `b` at `pos`.
fn insert(a: u64, b: u64, pos: u32, len: u32, bits: u32) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    if pos >= bits {
        return b;
    }
    let len = len.min(bits - pos);
    let field = if len >= 64 { !0 } else { (1u64 << len) - 1 };
    b & !(field << pos) | (a & field) << pos
}

/// `prmt`: four bytes of eight, a nibble of the selector each; its top bit repeats the byte's sign.
fn permute(a: u32, b: u32, c: u32) -> u32 {
    let all = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |d, k| {
        let sel = c >> (4 * k);
        let byte = (all >> (8 * (sel & 7))) as u8;
        let byte = if sel & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
        d | u32::from(byte) << (8 * k)
    })
}

/// The selector of a `prmt` mode.
fn mode_selector(mode: u32, c: u32) -> u32 {
    let c = c & 3;
    let pick = |f: &dyn Fn(u32) -> u32| (0..4).fold(0, |s, k| s | (f(k) & 7) << (4 * k));
    match mode {
        0 => pick(&|k| c + k),
        1 => pick(&|k| c.wrapping_sub(k)),
        2 => pick(&|_| c),
        3 => pick(&|k| c.max(k)),
        4 => pick(&|k| c.min(k)),
        _ => pick(&|k| (c & 1) * 2 + (k & 1)),
    }
}

/// The n-th set bit from `base`, upwards or, for a negative offset, downwards.
fn find_nth(mask: u32, base: u32, offset: i32) -> u32 {
    if base > 31 {
        return !0;
    }
    if offset == 0 {
        return if mask >> base & 1 != 0 { base } else { !0 };
    }
    let mut left = offset.unsigned_abs();
    let mut pos = base as i32;
    while (0..32).contains(&pos) {
        if mask >> pos & 1 != 0 {
            left -= 1;
            if left == 0 {
                return pos as u32;
            }
        }
        pos += offset.signum();
    }
    !0
}

fn logic3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    (0..8).filter(|k| table >> k & 1 != 0).fold(0, |d, k| {
        let pick = |v: u32, bit: u32| if k & bit != 0 { v } else { !v };
        d | pick(a, 4) & pick(b, 2) & pick(c, 1)
    })
}

/// `lop3.and.b32 d|p, a, b, c, table, q`: `p` is whether `d` has a bit, combined with `q`.
fn lower_lop3<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let and = match mods {
        ["and", "b32"] => 1,
        ["or", "b32"] => 0,
        _ => return b.unknown(raw),
    };
    let [Operand::Pair(d, p), a, bb, c, Operand::Imm(crate::ast::Imm::Int(table)), q] = raw.operands.as_slice() else {
        return b.bad(raw, "two results, three values, a literal and a predicate are needed");
    };
    let mut i = b.inst(raw, Class::Integer, Taint::Compute, lop3_test)?;
    i.d = b.dst(raw, &Operand::Name(d, 0), File::R32)?;
    i.d2 = b.dst(raw, &Operand::Name(p, 0), File::Pred)?;
    i.a = b.src(raw, a, File::R32, Ty::B32)?;
    i.b = b.src(raw, bb, File::R32, Ty::B32)?;
    i.c = b.src(raw, c, File::R32, Ty::B32)?;
    i.e = b.src(raw, q, File::Pred, Ty::Pred)?;
    i.x = (*table as u32 & 0xff) << 1 | and;
    b.emit(i);
    Ok(())
}

fn lop3_test(x: &mut Exec<'_>, i: &Inst) -> Done {
    let (a, b, c) = (x.get32(i.a), x.get32(i.b), x.get32(i.c));
    let o = std::array::from_fn(|l| logic3(a[l], b[l], c[l], i.x >> 1));
    let some = o.iter().enumerate().fold(0, |m, (l, &v)| m | u32::from(v != 0) << l);
    let q = x.pred(i.e);
    x.put32(i.d, &o);
    x.put_pred(i.d2, if i.x & 1 != 0 { some & q } else { some | q });
    Ok(())
}

fn bit_mask(a: u32, b: u32, wrap: bool) -> u32 {
    let (a, b) = if wrap { (a & 31, b & 31) } else { (a.min(32), b.min(32)) };
    let field = if b >= 32 { !0 } else { (1u32 << b) - 1 };
    shl32(field, a)
}

fn extend(a: u32, b: u32, wrap: bool, signed: bool) -> u32 {
    let n = if wrap { b & 31 } else { b.min(32) };
    if n == 0 {
        0
    } else if signed {
        ((a << (32 - n)) as i32 >> (32 - n)) as u32
    } else {
        a << (32 - n) >> (32 - n)
    }
}

pub(crate) const ROWS: &[Row] = rows! {
    "and.pred" "p=pp" Integer Nothing |x, i| bin_pred(x, i, |a, b| a & b);
    "or.pred" "p=pp" Integer Nothing |x, i| bin_pred(x, i, |a, b| a | b);
    "xor.pred" "p=pp" Integer Nothing |x, i| bin_pred(x, i, |a, b| a ^ b);
    "not.pred" "p=p" Integer Nothing crate::ops_select::not_pred;
    "and.b16" "h=hh" Integer Bitwise |x, i| bin32(x, i, |a, b| a & b);
    "or.b16" "h=hh" Integer Bitwise |x, i| bin32(x, i, |a, b| a | b);
    "xor.b16" "h=hh" Integer Bitwise |x, i| bin32(x, i, |a, b| a ^ b);
    "not.b16" "h=h" Integer Bitwise |x, i| un16(x, i, |a| !a);
    "and.b32" "r=rr" Integer Bitwise |x, i| bin32(x, i, |a, b| a & b);
    "or.b32" "r=rr" Integer Bitwise |x, i| bin32(x, i, |a, b| a | b);
    "xor.b32" "r=rr" Integer Bitwise |x, i| bin32(x, i, |a, b| a ^ b);
    "not.b32" "r=r" Integer Bitwise |x, i| un32(x, i, |a| !a);
    "and.b64" "d=dd" Integer Bitwise |x, i| bin64(x, i, |a, b| a & b);
    "or.b64" "d=dd" Integer Bitwise |x, i| bin64(x, i, |a, b| a | b);
    "xor.b64" "d=dd" Integer Bitwise |x, i| bin64(x, i, |a, b| a ^ b);
    "not.b64" "d=d" Integer Bitwise |x, i| un64(x, i, |a| !a);
    "cnot.b16" "h=h" Integer Compute |x, i| un16(x, i, |a| u16::from(a == 0));
    "cnot.b32" "r=r" Integer Compute |x, i| un32(x, i, |a| u32::from(a == 0));
    "cnot.b64" "d=d" Integer Compute |x, i| un64(x, i, |a| u64::from(a == 0));
    "shl.b16" "h=hr" Integer Bitwise |x, i| bin32(x, i, |a, n| shl32(a, n) & 0xffff);
    "shl.b32" "r=rr" Integer Bitwise |x, i| bin32(x, i, shl32);
    "shl.b64" "d=dr" Integer Bitwise |x, i| shift64(x, i, |a, n| a.checked_shl(n).unwrap_or(0));
    "shr.u16|shr.b16" "h=hr" Integer Bitwise |x, i| bin32(x, i, shr32);
    "shr.s16" "h=hr" Integer Bitwise |x, i| bin32(x, i, |a, n| u32::from((a as u16 as i16 >> n.min(15)) as u16));
    "shr.u32|shr.b32" "r=rr" Integer Bitwise |x, i| bin32(x, i, shr32);
    "shr.s32" "r=rr" Integer Bitwise |x, i| bin32(x, i, sar32);
    "shr.u64|shr.b64" "d=dr" Integer Bitwise |x, i| shift64(x, i, |a, n| a.checked_shr(n).unwrap_or(0));
    "shr.s64" "d=dr" Integer Bitwise |x, i| shift64(x, i, |a, n| (a as i64 >> n.min(63)) as u64);
    "shf.l.wrap.b32" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| funnel_left(a, b, c & 31));
    "shf.r.wrap.b32" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| funnel_right(a, b, c & 31));
    "shf.l.clamp.b32" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| funnel_left(a, b, c.min(32)));
    "shf.r.clamp.b32" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| funnel_right(a, b, c.min(32)));
    "popc.b32" "r=r" Integer Compute |x, i| un32(x, i, u32::count_ones);
    "popc.b64" "r=d" Integer Compute |x, i| narrow(x, i, u64::count_ones);
    "clz.b32" "r=r" Integer Compute |x, i| un32(x, i, u32::leading_zeros);
    "clz.b64" "r=d" Integer Compute |x, i| narrow(x, i, u64::leading_zeros);
    "brev.b32" "r=r" Integer Shuffle |x, i| un32(x, i, u32::reverse_bits);
    "brev.b64" "d=d" Integer Shuffle |x, i| un64(x, i, u64::reverse_bits);
    "bfind.u32" "r=r" Integer Compute |x, i| un32(x, i, |a| find_high(u64::from(a), 32, false));
    "bfind.s32" "r=r" Integer Compute |x, i| un32(x, i, |a| find_high(u64::from(a), 32, true));
    "bfind.u64" "r=d" Integer Compute |x, i| narrow(x, i, |a| find_high(a, 64, false));
    "bfind.s64" "r=d" Integer Compute |x, i| narrow(x, i, |a| find_high(a, 64, true));
    "bfind.shiftamt.u32" "r=r" Integer Compute |x, i| un32(x, i, |a| high_shift(u64::from(a), 32, false));
    "bfind.shiftamt.s32" "r=r" Integer Compute |x, i| un32(x, i, |a| high_shift(u64::from(a), 32, true));
    "bfind.shiftamt.u64" "r=d" Integer Compute |x, i| narrow(x, i, |a| high_shift(a, 64, false));
    "bfind.shiftamt.s64" "r=d" Integer Compute |x, i| narrow(x, i, |a| high_shift(a, 64, true));
    "bfe.u32" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| extract(u64::from(a), b, c, 32, false) as u32);
    "bfe.s32" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| extract(u64::from(a), b, c, 32, true) as u32);
    "bfe.u64" "d=drr" Integer Shuffle |x, i| {
        let c = x.get32(i.c);
        let b = x.get32(i.b);
        let a = x.get64(i.a);
        let o = std::array::from_fn(|l| extract(a[l], b[l], c[l], 64, false));
        x.put64(i.d, &o);
        Ok(())
    };
    "bfe.s64" "d=drr" Integer Shuffle |x, i| {
        let c = x.get32(i.c);
        let b = x.get32(i.b);
        let a = x.get64(i.a);
        let o = std::array::from_fn(|l| extract(a[l], b[l], c[l], 64, true));
        x.put64(i.d, &o);
        Ok(())
    };
    "bfi.b32" "r=rrrr" Integer Shuffle |x, i| quad32(x, i, |a, b, c, e| insert(u64::from(a), u64::from(b), c, e, 32) as u32);
    "bfi.b64" "d=ddrr" Integer Shuffle |x, i| {
        let (a, b, c, e) = (x.get64(i.a), x.get64(i.b), x.get32(i.c), x.get32(i.e));
        let o = std::array::from_fn(|l| insert(a[l], b[l], c[l], e[l], 64));
        x.put64(i.d, &o);
        Ok(())
    };
    "prmt.b32" "r=rrr" Integer Shuffle |x, i| tri32(x, i, permute);
    "prmt.b32.f4e" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| permute(a, b, mode_selector(0, c)));
    "prmt.b32.b4e" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| permute(a, b, mode_selector(1, c)));
    "prmt.b32.rc8" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| permute(a, b, mode_selector(2, c)));
    "prmt.b32.ecl" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| permute(a, b, mode_selector(3, c)));
    "prmt.b32.ecr" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| permute(a, b, mode_selector(4, c)));
    "prmt.b32.rc16" "r=rrr" Integer Shuffle |x, i| tri32(x, i, |a, b, c| permute(a, b, mode_selector(5, c)));
    "fns.b32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| find_nth(a, b, c as i32));
    "bmsk.clamp.b32" "r=rr" Integer Compute |x, i| bin32(x, i, |a, b| bit_mask(a, b, false));
    "bmsk.wrap.b32" "r=rr" Integer Compute |x, i| bin32(x, i, |a, b| bit_mask(a, b, true));
    "szext.clamp.s32" "r=rr" Integer Compute |x, i| bin32(x, i, |a, b| extend(a, b, false, true));
    "szext.clamp.u32" "r=rr" Integer Compute |x, i| bin32(x, i, |a, b| extend(a, b, false, false));
    "szext.wrap.s32" "r=rr" Integer Compute |x, i| bin32(x, i, |a, b| extend(a, b, true, true));
    "szext.wrap.u32" "r=rr" Integer Compute |x, i| bin32(x, i, |a, b| extend(a, b, true, false));
    "lop3.b32" "r=rrrr" Integer Bitwise |x, i| quad32(x, i, logic3);
};
