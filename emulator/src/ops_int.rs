//! Integer arithmetic. Division by zero gives all ones and remainder by zero the dividend, as GPUs do (the ISA leaves
//! it open).

use crate::exec::{Done, Exec, LANES};
use crate::ops::*;
use crate::program::Inst;
use crate::table::{Row, rows};

/// Signed forms of unsigned lanes.
#[inline(always)]
fn s32(f: impl Fn(i32, i32) -> i32) -> impl Fn(u32, u32) -> u32 {
    move |a, b| f(a as i32, b as i32) as u32
}

#[inline(always)]
fn s64(f: impl Fn(i64, i64) -> i64) -> impl Fn(u64, u64) -> u64 {
    move |a, b| f(a as i64, b as i64) as u64
}

#[inline(always)]
fn s16(f: impl Fn(i16, i16) -> i16) -> impl Fn(u16, u16) -> u16 {
    move |a, b| f(a as i16, b as i16) as u16
}

macro_rules! div_rem {
    ($div:ident, $rem:ident, $t:ty) => {
        #[inline]
        fn $div(a: $t, b: $t) -> $t {
            if b == 0 { !0 } else { a.wrapping_div(b) }
        }
        #[inline]
        fn $rem(a: $t, b: $t) -> $t {
            if b == 0 { a } else { a.wrapping_rem(b) }
        }
    };
}

div_rem!(div_u16, rem_u16, u16);
div_rem!(div_s16, rem_s16, i16);
div_rem!(div_u32, rem_u32, u32);
div_rem!(div_s32, rem_s32, i32);
div_rem!(div_u64, rem_u64, u64);
div_rem!(div_s64, rem_s64, i64);

fn hi_u32(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

fn hi_s32(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

fn hi_u64(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

fn hi_s64(a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) >> 64) as i64
}

fn low24(a: u32) -> u32 {
    a & 0xff_ffff
}

fn low24s(a: u32) -> i32 {
    (a << 8) as i32 >> 8
}

fn hi24(a: u32, b: u32) -> u32 {
    ((u64::from(low24(a)) * u64::from(low24(b))) >> 16) as u32
}

fn hi24s(a: u32, b: u32) -> i32 {
    ((i64::from(low24s(a)) * i64::from(low24s(b))) >> 16) as i32
}

fn wide_s32(a: u32, b: u32) -> u64 {
    (i64::from(a as i32) * i64::from(b as i32)) as u64
}

/// Adds with carry in and out where the instruction has them; `cc` of the warp is the carry.
fn carry32(x: &mut Exec<'_>, i: &Inst, carry_in: bool, carry_out: bool, subtract: bool) -> Done {
    let (a, b) = (x.get32(i.a), x.get32(i.b));
    let cc = x.w.carry;
    let (mut o, mut out) = ([0; LANES], 0u32);
    for l in 0..LANES {
        let c = u64::from(carry_in && cc >> l & 1 != 0);
        let wide = if subtract {
            u64::from(a[l]).wrapping_sub(u64::from(b[l])).wrapping_sub(c)
        } else {
            u64::from(a[l]) + u64::from(b[l]) + c
        };
        o[l] = wide as u32;
        out |= ((wide >> 32 & 1) as u32) << l;
    }
    if carry_out {
        x.w.carry = cc & !x.mask | out & x.mask;
    }
    x.put32(i.d, &o);
    Ok(())
}

fn carry64(x: &mut Exec<'_>, i: &Inst, carry_in: bool, carry_out: bool, subtract: bool) -> Done {
    let (a, b) = (x.get64(i.a), x.get64(i.b));
    let cc = x.w.carry;
    let (mut o, mut out) = ([0; LANES], 0u32);
    for l in 0..LANES {
        let c = u128::from(carry_in && cc >> l & 1 != 0);
        let wide = if subtract {
            u128::from(a[l]).wrapping_sub(u128::from(b[l])).wrapping_sub(c)
        } else {
            u128::from(a[l]) + u128::from(b[l]) + c
        };
        o[l] = wide as u64;
        out |= ((wide >> 64 & 1) as u32) << l;
    }
    if carry_out {
        x.w.carry = cc & !x.mask | out & x.mask;
    }
    x.put64(i.d, &o);
    Ok(())
}

/// Multiply-add with carry: `hi` takes the upper half of the product.
fn mad_carry32(x: &mut Exec<'_>, i: &Inst, hi: bool, signed: bool, carry_in: bool, carry_out: bool) -> Done {
    let (a, b, c) = (x.get32(i.a), x.get32(i.b), x.get32(i.c));
    let cc = x.w.carry;
    let (mut o, mut out) = ([0; LANES], 0u32);
    for l in 0..LANES {
        let product = if signed { wide_s32(a[l], b[l]) } else { u64::from(a[l]) * u64::from(b[l]) };
        let part = if hi { product >> 32 } else { product & 0xffff_ffff };
        let sum = part + u64::from(c[l]) + u64::from(carry_in && cc >> l & 1 != 0);
        o[l] = sum as u32;
        out |= ((sum >> 32 & 1) as u32) << l;
    }
    if carry_out {
        x.w.carry = cc & !x.mask | out & x.mask;
    }
    x.put32(i.d, &o);
    Ok(())
}

/// The same in 64 bits; the lower half of a product is the same for both signs.
fn mad_carry64(x: &mut Exec<'_>, i: &Inst, hi: bool, signed: bool, carry_in: bool, carry_out: bool) -> Done {
    let (a, b, c) = (x.get64(i.a), x.get64(i.b), x.get64(i.c));
    let cc = x.w.carry;
    let (mut o, mut out) = ([0; LANES], 0u32);
    for l in 0..LANES {
        let part = match (hi, signed) {
            (false, _) => a[l].wrapping_mul(b[l]),
            (true, false) => hi_u64(a[l], b[l]),
            (true, true) => hi_s64(a[l] as i64, b[l] as i64) as u64,
        };
        let sum = u128::from(part) + u128::from(c[l]) + u128::from(carry_in && cc >> l & 1 != 0);
        o[l] = sum as u64;
        out |= ((sum >> 64 & 1) as u32) << l;
    }
    if carry_out {
        x.w.carry = cc & !x.mask | out & x.mask;
    }
    x.put64(i.d, &o);
    Ok(())
}

fn byte(v: u32, k: u32, signed: bool) -> i64 {
    let b = (v >> (8 * k)) as u8;
    if signed { i64::from(b as i8) } else { i64::from(b) }
}

fn dp4a(a: u32, b: u32, c: u32, sa: bool, sb: bool) -> u32 {
    let sum: i64 = (0..4).map(|k| byte(a, k, sa) * byte(b, k, sb)).sum();
    c.wrapping_add(sum as u32)
}

/// How far the bytes of two words are apart, with their numbers.
fn byte_differences(a: u32, b: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..4).map(move |k| (k, byte(a, k, false).abs_diff(byte(b, k, false)) as u32))
}

fn dp2a(a: u32, b: u32, c: u32, sa: bool, sb: bool, first: u32) -> u32 {
    let half = |k: u32| {
        let h = (a >> (16 * k)) as u16;
        if sa { i64::from(h as i16) } else { i64::from(h) }
    };
    let sum: i64 = (0..2).map(|k| half(k) * byte(b, first + k, sb)).sum();
    c.wrapping_add(sum as u32)
}

pub(crate) const ROWS: &[Row] = rows! {
    "add.u16|add.s16" "h=hh" Integer Compute |x, i| bin16(x, i, u16::wrapping_add);
    "add.u32|add.s32" "r=rr" Integer Compute |x, i| bin32(x, i, u32::wrapping_add);
    "add.u64|add.s64" "d=dd" Integer Compute |x, i| bin64(x, i, u64::wrapping_add);
    "add.sat.s32" "r=rr" Integer Compute |x, i| bin32(x, i, s32(i32::saturating_add));
    "add.u16x2|add.s16x2" "r=rr" Integer Compute |x, i| bin16x2(x, i, u16::wrapping_add);
    "sub.u16|sub.s16" "h=hh" Integer Compute |x, i| bin16(x, i, u16::wrapping_sub);
    "sub.u32|sub.s32" "r=rr" Integer Compute |x, i| bin32(x, i, u32::wrapping_sub);
    "sub.u64|sub.s64" "d=dd" Integer Compute |x, i| bin64(x, i, u64::wrapping_sub);
    "sub.sat.s32" "r=rr" Integer Compute |x, i| bin32(x, i, s32(i32::saturating_sub));
    "add.cc.u32|add.cc.s32" "r=rr" Integer Compute |x, i| carry32(x, i, false, true, false);
    "addc.u32|addc.s32" "r=rr" Integer Compute |x, i| carry32(x, i, true, false, false);
    "addc.cc.u32|addc.cc.s32" "r=rr" Integer Compute |x, i| carry32(x, i, true, true, false);
    "sub.cc.u32|sub.cc.s32" "r=rr" Integer Compute |x, i| carry32(x, i, false, true, true);
    "subc.u32|subc.s32" "r=rr" Integer Compute |x, i| carry32(x, i, true, false, true);
    "subc.cc.u32|subc.cc.s32" "r=rr" Integer Compute |x, i| carry32(x, i, true, true, true);
    "add.cc.u64|add.cc.s64" "d=dd" Integer Compute |x, i| carry64(x, i, false, true, false);
    "addc.u64|addc.s64" "d=dd" Integer Compute |x, i| carry64(x, i, true, false, false);
    "addc.cc.u64|addc.cc.s64" "d=dd" Integer Compute |x, i| carry64(x, i, true, true, false);
    "sub.cc.u64|sub.cc.s64" "d=dd" Integer Compute |x, i| carry64(x, i, false, true, true);
    "subc.u64|subc.s64" "d=dd" Integer Compute |x, i| carry64(x, i, true, false, true);
    "subc.cc.u64|subc.cc.s64" "d=dd" Integer Compute |x, i| carry64(x, i, true, true, true);
    "mad.lo.cc.u32|mad.lo.cc.s32" "r=rrr" Integer Compute |x, i| mad_carry32(x, i, false, false, false, true);
    "mad.hi.cc.u32" "r=rrr" Integer Compute |x, i| mad_carry32(x, i, true, false, false, true);
    "mad.hi.cc.s32" "r=rrr" Integer Compute |x, i| mad_carry32(x, i, true, true, false, true);
    "madc.lo.u32|madc.lo.s32" "r=rrr" Integer Compute |x, i| mad_carry32(x, i, false, false, true, false);
    "madc.hi.u32" "r=rrr" Integer Compute |x, i| mad_carry32(x, i, true, false, true, false);
    "madc.hi.s32" "r=rrr" Integer Compute |x, i| mad_carry32(x, i, true, true, true, false);
    "madc.lo.cc.u32|madc.lo.cc.s32" "r=rrr" Integer Compute |x, i| mad_carry32(x, i, false, false, true, true);
    "madc.hi.cc.u32" "r=rrr" Integer Compute |x, i| mad_carry32(x, i, true, false, true, true);
    "madc.hi.cc.s32" "r=rrr" Integer Compute |x, i| mad_carry32(x, i, true, true, true, true);
    "mad.lo.cc.u64|mad.lo.cc.s64" "d=ddd" Integer Compute |x, i| mad_carry64(x, i, false, false, false, true);
    "mad.hi.cc.u64" "d=ddd" Integer Compute |x, i| mad_carry64(x, i, true, false, false, true);
    "mad.hi.cc.s64" "d=ddd" Integer Compute |x, i| mad_carry64(x, i, true, true, false, true);
    "madc.lo.u64|madc.lo.s64" "d=ddd" Integer Compute |x, i| mad_carry64(x, i, false, false, true, false);
    "madc.hi.u64" "d=ddd" Integer Compute |x, i| mad_carry64(x, i, true, false, true, false);
    "madc.hi.s64" "d=ddd" Integer Compute |x, i| mad_carry64(x, i, true, true, true, false);
    "madc.lo.cc.u64|madc.lo.cc.s64" "d=ddd" Integer Compute |x, i| mad_carry64(x, i, false, false, true, true);
    "madc.hi.cc.u64" "d=ddd" Integer Compute |x, i| mad_carry64(x, i, true, false, true, true);
    "madc.hi.cc.s64" "d=ddd" Integer Compute |x, i| mad_carry64(x, i, true, true, true, true);
    "mul.lo.u16|mul.lo.s16" "h=hh" Integer Compute |x, i| bin16(x, i, u16::wrapping_mul);
    "mul.lo.u32|mul.lo.s32" "r=rr" Integer Compute |x, i| bin32(x, i, u32::wrapping_mul);
    "mul.lo.u64|mul.lo.s64" "d=dd" Integer Compute |x, i| bin64(x, i, u64::wrapping_mul);
    "mul.hi.u16" "h=hh" Integer Compute |x, i| bin16(x, i, |a, b| ((u32::from(a) * u32::from(b)) >> 16) as u16);
    "mul.hi.s16" "h=hh" Integer Compute |x, i| bin16(x, i, s16(|a, b| ((i32::from(a) * i32::from(b)) >> 16) as i16));
    "mul.hi.u32" "r=rr" Integer Compute |x, i| bin32(x, i, hi_u32);
    "mul.hi.s32" "r=rr" Integer Compute |x, i| bin32(x, i, s32(hi_s32));
    "mul.hi.u64" "d=dd" Integer Compute |x, i| bin64(x, i, hi_u64);
    "mul.hi.s64" "d=dd" Integer Compute |x, i| bin64(x, i, s64(hi_s64));
    "mul.wide.u16" "r=hh" Integer Compute |x, i| bin32(x, i, |a, b| (a & 0xffff) * (b & 0xffff));
    "mul.wide.s16" "r=hh" Integer Compute |x, i| bin32(x, i, |a, b| (i32::from(a as i16) * i32::from(b as i16)) as u32);
    "mul.wide.u32" "d=rr" Integer Compute |x, i| wide(x, i, |a, b| u64::from(a) * u64::from(b));
    "mul.wide.s32" "d=rr" Integer Compute |x, i| wide(x, i, wide_s32);
    "mul24.lo.u32" "r=rr" Integer Compute |x, i| bin32(x, i, |a, b| low24(a).wrapping_mul(low24(b)));
    "mul24.lo.s32" "r=rr" Integer Compute |x, i| bin32(x, i, |a, b| low24s(a).wrapping_mul(low24s(b)) as u32);
    "mul24.hi.u32" "r=rr" Integer Compute |x, i| bin32(x, i, hi24);
    "mul24.hi.s32" "r=rr" Integer Compute |x, i| bin32(x, i, |a, b| hi24s(a, b) as u32);
    "mad24.lo.u32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| low24(a).wrapping_mul(low24(b)).wrapping_add(c));
    "mad24.lo.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| (low24s(a).wrapping_mul(low24s(b)) as u32).wrapping_add(c));
    "mad24.hi.u32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| hi24(a, b).wrapping_add(c));
    "mad24.hi.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| (hi24s(a, b) as u32).wrapping_add(c));
    "mad24.hi.sat.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| hi24s(a, b).saturating_add(c as i32) as u32);
    "mad.lo.u16|mad.lo.s16" "h=hhh" Integer Compute |x, i| tri16(x, i, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    "mad.lo.u32|mad.lo.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    "mad.lo.u64|mad.lo.s64" "d=ddd" Integer Compute |x, i| tri64(x, i, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    "mad.hi.u32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| hi_u32(a, b).wrapping_add(c));
    "mad.hi.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| (hi_s32(a as i32, b as i32) as u32).wrapping_add(c));
    "mad.hi.sat.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| hi_s32(a as i32, b as i32).saturating_add(c as i32) as u32);
    "mad.hi.u64" "d=ddd" Integer Compute |x, i| tri64(x, i, |a, b, c| hi_u64(a, b).wrapping_add(c));
    "mad.hi.s64" "d=ddd" Integer Compute |x, i| tri64(x, i, |a, b, c| (hi_s64(a as i64, b as i64) as u64).wrapping_add(c));
    "mad.wide.u16" "r=hhr" Integer Compute |x, i| tri32(x, i, |a, b, c| ((a & 0xffff) * (b & 0xffff)).wrapping_add(c));
    "mad.wide.s16" "r=hhr" Integer Compute |x, i| tri32(x, i, |a, b, c| ((i32::from(a as i16) * i32::from(b as i16)) as u32).wrapping_add(c));
    "mad.wide.u32" "d=rrd" Integer Compute |x, i| wide_add(x, i, |a, b, c| (u64::from(a) * u64::from(b)).wrapping_add(c));
    "mad.wide.s32" "d=rrd" Integer Compute |x, i| wide_add(x, i, |a, b, c| wide_s32(a, b).wrapping_add(c));
    "div.u16" "h=hh" Integer Compute |x, i| bin16(x, i, div_u16);
    "div.s16" "h=hh" Integer Compute |x, i| bin16(x, i, s16(div_s16));
    "div.u32" "r=rr" Integer Compute |x, i| bin32(x, i, div_u32);
    "div.s32" "r=rr" Integer Compute |x, i| bin32(x, i, s32(div_s32));
    "div.u64" "d=dd" Integer Compute |x, i| bin64(x, i, div_u64);
    "div.s64" "d=dd" Integer Compute |x, i| bin64(x, i, s64(div_s64));
    "rem.u16" "h=hh" Integer Compute |x, i| bin16(x, i, rem_u16);
    "rem.s16" "h=hh" Integer Compute |x, i| bin16(x, i, s16(rem_s16));
    "rem.u32" "r=rr" Integer Compute |x, i| bin32(x, i, rem_u32);
    "rem.s32" "r=rr" Integer Compute |x, i| bin32(x, i, s32(rem_s32));
    "rem.u64" "d=dd" Integer Compute |x, i| bin64(x, i, rem_u64);
    "rem.s64" "d=dd" Integer Compute |x, i| bin64(x, i, s64(rem_s64));
    "min.u16" "h=hh" Integer Compute |x, i| bin16(x, i, u16::min);
    "min.s16" "h=hh" Integer Compute |x, i| bin16(x, i, s16(i16::min));
    "min.u32" "r=rr" Integer Compute |x, i| bin32(x, i, u32::min);
    "min.s32" "r=rr" Integer Compute |x, i| bin32(x, i, s32(i32::min));
    "min.relu.s32|min.s32.relu" "r=rr" Integer Compute |x, i| bin32(x, i, s32(|a, b| a.min(b).max(0)));
    "min.u64" "d=dd" Integer Compute |x, i| bin64(x, i, u64::min);
    "min.s64" "d=dd" Integer Compute |x, i| bin64(x, i, s64(i64::min));
    "min.u16x2" "r=rr" Integer Compute |x, i| bin16x2(x, i, u16::min);
    "min.s16x2" "r=rr" Integer Compute |x, i| bin16x2(x, i, s16(i16::min));
    "min.relu.s16x2|min.s16x2.relu" "r=rr" Integer Compute |x, i| bin16x2(x, i, s16(|a, b| a.min(b).max(0)));
    "max.u16" "h=hh" Integer Compute |x, i| bin16(x, i, u16::max);
    "max.s16" "h=hh" Integer Compute |x, i| bin16(x, i, s16(i16::max));
    "max.u32" "r=rr" Integer Compute |x, i| bin32(x, i, u32::max);
    "max.s32" "r=rr" Integer Compute |x, i| bin32(x, i, s32(i32::max));
    "max.relu.s32|max.s32.relu" "r=rr" Integer Compute |x, i| bin32(x, i, s32(|a, b| a.max(b).max(0)));
    "max.u64" "d=dd" Integer Compute |x, i| bin64(x, i, u64::max);
    "max.s64" "d=dd" Integer Compute |x, i| bin64(x, i, s64(i64::max));
    "max.u16x2" "r=rr" Integer Compute |x, i| bin16x2(x, i, u16::max);
    "max.s16x2" "r=rr" Integer Compute |x, i| bin16x2(x, i, s16(i16::max));
    "max.relu.s16x2|max.s16x2.relu" "r=rr" Integer Compute |x, i| bin16x2(x, i, s16(|a, b| a.max(b).max(0)));
    "abs.s16" "h=h" Integer Compute |x, i| un16(x, i, |a| (a as i16).wrapping_abs() as u16);
    "abs.s32" "r=r" Integer Compute |x, i| un32(x, i, |a| (a as i32).wrapping_abs() as u32);
    "abs.s64" "d=d" Integer Compute |x, i| un64(x, i, |a| (a as i64).wrapping_abs() as u64);
    "neg.s16" "h=h" Integer Compute |x, i| un16(x, i, u16::wrapping_neg);
    "neg.s32" "r=r" Integer Compute |x, i| un32(x, i, u32::wrapping_neg);
    "neg.s64" "d=d" Integer Compute |x, i| un64(x, i, u64::wrapping_neg);
    "sad.u16" "h=hhh" Integer Compute |x, i| tri16(x, i, |a, b, c| c.wrapping_add(a.abs_diff(b)));
    "sad.s16" "h=hhh" Integer Compute |x, i| tri16(x, i, |a, b, c| c.wrapping_add((a as i16).abs_diff(b as i16)));
    "sad.u32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| c.wrapping_add(a.abs_diff(b)));
    "sad.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| c.wrapping_add((a as i32).abs_diff(b as i32)));
    "sad.u64" "d=ddd" Integer Compute |x, i| tri64(x, i, |a, b, c| c.wrapping_add(a.abs_diff(b)));
    "sad.s64" "d=ddd" Integer Compute |x, i| tri64(x, i, |a, b, c| c.wrapping_add((a as i64).abs_diff(b as i64)));
    "dp4a.u32.u32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp4a(a, b, c, false, false));
    "dp4a.u32.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp4a(a, b, c, false, true));
    "dp4a.s32.u32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp4a(a, b, c, true, false));
    "dp4a.s32.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp4a(a, b, c, true, true));
    "dp2a.lo.u32.u32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp2a(a, b, c, false, false, 0));
    "dp2a.hi.u32.u32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp2a(a, b, c, false, false, 2));
    "dp2a.lo.s32.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp2a(a, b, c, true, true, 0));
    "dp2a.hi.s32.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp2a(a, b, c, true, true, 2));
    "dp2a.lo.u32.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp2a(a, b, c, false, true, 0));
    "dp2a.hi.u32.s32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp2a(a, b, c, false, true, 2));
    "dp2a.lo.s32.u32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp2a(a, b, c, true, false, 0));
    "dp2a.hi.s32.u32" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| dp2a(a, b, c, true, false, 2));
    "vabsdiff4.u32.u32.u32" "r=rrr" Integer Compute |x, i| bin32(x, i, |a, b| byte_differences(a, b).fold(0, |d, (k, v)| d | v << (8 * k)));
    "vabsdiff4.u32.u32.u32.add" "r=rrr" Integer Compute |x, i| tri32(x, i, |a, b, c| byte_differences(a, b).fold(c, |s, (_, v)| s.wrapping_add(v)));
};
