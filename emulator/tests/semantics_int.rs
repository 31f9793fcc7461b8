//! Integer instructions against host arithmetic.

mod common;

use common::eval;
use proptest::prelude::*;

fn column() -> impl Strategy<Value = Vec<u64>> {
    let one = prop_oneof![
        3 => any::<u64>(),
        1 => (any::<u64>(), 0u32..64).prop_map(|(v, s)| v >> s),
        1 => prop::sample::select(vec![0, 1, u64::MAX, 1 << 31, 1 << 63, i64::MAX as u64, 0x7fff_ffff, 0xffff_ffff, 0x8000, 0x7fff]),
    ];
    prop::collection::vec(one, 64)
}

/// A mnemonic and its meaning in 64-bit terms: operands come masked to their width, results are masked.
type Op = (&'static str, fn(u64, u64, u64) -> u64);

fn agree(reg: &[&str], ops: &[Op], columns: [&[u64]; 3]) -> Result<(), TestCaseError> {
    let mask = |ty: &str| match ty {
        "b16" => 0xffff,
        "b32" => 0xffff_ffff,
        _ => u64::MAX,
    };
    let n = reg.len() - 1;
    let names = ["%v1", "%v1, %v2", "%v1, %v2, %v3"][n - 1];
    let operands: Vec<Vec<u64>> = (0..n).map(|k| columns[k].iter().map(|v| v & mask(reg[k + 1])).collect()).collect();
    for (name, f) in ops {
        let got = eval(&format!("{name} %v0, {names};"), reg, &operands);
        for k in 0..got.len() {
            let v = |j: usize| operands.get(j).map_or(0, |c| c[k]);
            let want = f(v(0), v(1), v(2)) & mask(reg[0]);
            prop_assert_eq!(got[k], want, "{} {:x} {:x} {:x}", name, v(0), v(1), v(2));
        }
    }
    Ok(())
}

fn s(v: u64) -> i64 {
    v as i32 as i64
}

/// A signed operation on both halves of a word.
fn halves(a: u64, b: u64, f: fn(i16, i16) -> i16) -> u64 {
    let one = |a: u64, b: u64| u64::from(f(a as i16, b as i16) as u16);
    one(a, b) | one(a >> 16, b >> 16) << 16
}

fn clamp(v: u64, min: i64, max: i64, bits: u32) -> u64 {
    s(v).clamp(min, max) as u64 & ((1 << bits) - 1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn thirty_two_bits(a in column(), b in column(), c in column()) {
        agree(&["b32", "b32", "b32"], &[
            ("add.s32", |a, b, _| a.wrapping_add(b)),
            ("sub.u32", |a, b, _| a.wrapping_sub(b)),
            ("mul.lo.s32", |a, b, _| a.wrapping_mul(b)),
            ("mul.hi.u32", |a, b, _| (a * b) >> 32),
            ("mul.hi.s32", |a, b, _| ((s(a) * s(b)) >> 32) as u64),
            ("div.u32", |a, b, _| a.checked_div(b).unwrap_or(u64::MAX)),
            ("rem.u32", |a, b, _| a.checked_rem(b).unwrap_or(a)),
            ("div.s32", |a, b, _| if b == 0 { u64::MAX } else { (s(a) / s(b)) as u64 }),
            ("rem.s32", |a, b, _| if b == 0 { a } else { (s(a) % s(b)) as u64 }),
            ("min.s32", |a, b, _| s(a).min(s(b)) as u64),
            ("max.u32", |a, b, _| a.max(b)),
            ("add.sat.s32", |a, b, _| (s(a) + s(b)).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u64),
            ("shl.b32", |a, b, _| if b > 31 { 0 } else { a << b }),
            ("shr.u32", |a, b, _| if b > 31 { 0 } else { a >> b }),
            ("shr.s32", |a, b, _| (s(a) >> b.min(31)) as u64),
            ("mul24.lo.u32", |a, b, _| (a & 0xff_ffff) * (b & 0xff_ffff)),
            ("min.relu.s32", |a, b, _| s(a).min(s(b)).max(0) as u64),
            ("max.s32.relu", |a, b, _| s(a).max(s(b)).max(0) as u64),
            ("max.s16x2.relu", |a, b, _| halves(a, b, |a, b| a.max(b).max(0))),
            ("min.relu.s16x2", |a, b, _| halves(a, b, |a, b| a.min(b).max(0))),
            ("cvt.pack.sat.s16.s32", |a, b, _| clamp(a, -32768, 32767, 16) << 16 | clamp(b, -32768, 32767, 16)),
            ("cvt.pack.sat.u16.s32", |a, b, _| clamp(a, 0, 65535, 16) << 16 | clamp(b, 0, 65535, 16)),
            ("bmsk.clamp.b32", |a, b, _| (0..32).filter(|k| *k >= a && *k < a + b).fold(0, |m, k| m | 1 << k)),
        ], [&a, &b, &c])?;
        agree(&["b32", "b32", "b32", "b32"], &[
            ("mad.lo.u32", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
            ("mad.hi.s32", |a, b, c| (((s(a) * s(b)) >> 32) as u64).wrapping_add(c)),
            ("sad.s32", |a, b, c| c.wrapping_add(s(a).abs_diff(s(b)))),
            ("shf.l.wrap.b32", |a, b, c| ((b << 32 | a) << (c & 31)) >> 32),
            ("shf.r.clamp.b32", |a, b, c| (b << 32 | a) >> c.min(32)),
            ("bfe.u32", |a, b, c| { let (p, n) = (b & 255, c & 255); if p > 31 { 0 } else { a >> p & if n > 31 { !0 } else { (1 << n) - 1 } } }),
            ("bfe.s32", |a, b, c| {
                let (p, n) = (b & 255, c & 255);
                let sign = if n == 0 { 0 } else { a >> (p + n - 1).min(31) & 1 };
                (0..32).fold(0, |d, k| d | if k < n && p + k < 32 { a >> (p + k) & 1 } else { sign } << k)
            }),
            ("prmt.b32", |a, b, c| (0..4).fold(0, |d, k| {
                let (sel, all) = (c >> (4 * k), b << 32 | a);
                let byte = all >> (8 * (sel & 7)) & 255;
                d | if sel & 8 == 0 { byte } else if byte > 127 { 255 } else { 0 } << (8 * k)
            })),
            ("dp4a.s32.u32", |a, b, c| (0..4).fold(c, |d, k| d.wrapping_add(((a >> (8 * k)) as i8 as i64 * (b >> (8 * k) & 255) as i64) as u64))),
            ("mad24.hi.u32", |a, b, c| (((a & 0xff_ffff) * (b & 0xff_ffff)) >> 16).wrapping_add(c)),
            ("mad24.hi.sat.s32", |a, b, c| {
                let low = |v: u64| (v << 40) as i64 >> 40;
                (((low(a) * low(b)) >> 16) as i32).saturating_add(c as i32) as u64
            }),
            ("vabsdiff4.u32.u32.u32", |a, b, _| (0..4).fold(0, |d, k| d | (a >> (8 * k) & 255).abs_diff(b >> (8 * k) & 255) << (8 * k))),
            ("vabsdiff4.u32.u32.u32.add", |a, b, c| (0..4).fold(c, |d, k| d + (a >> (8 * k) & 255).abs_diff(b >> (8 * k) & 255))),
            ("cvt.pack.sat.u8.s32.b32", |a, b, c| c << 16 | clamp(a, 0, 255, 8) << 8 | clamp(b, 0, 255, 8)),
            ("cvt.pack.sat.s8.s32.b32", |a, b, c| c << 16 | clamp(a, -128, 127, 8) << 8 | clamp(b, -128, 127, 8)),
            ("dp2a.lo.s32.u32", |a, b, c| c.wrapping_add((a as i16 as i64 * (b & 255) as i64) as u64).wrapping_add(((a >> 16) as i16 as i64 * (b >> 8 & 255) as i64) as u64)),
            ("dp2a.hi.u32.s32", |a, b, c| c.wrapping_add(((a & 0xffff) as i64 * (b >> 16) as i8 as i64) as u64).wrapping_add(((a >> 16) as i64 * (b >> 24) as i8 as i64) as u64)),
            ("dp2a.hi.u32.u32", |a, b, c| c.wrapping_add((a & 0xffff) * (b >> 16 & 255)).wrapping_add((a >> 16) * (b >> 24))),
        ], [&a, &b, &c])?;
        agree(&["b32", "b32"], &[
            ("not.b32", |a, _, _| !a),
            ("neg.s32", |a, _, _| a.wrapping_neg()),
            ("abs.s32", |a, _, _| s(a).unsigned_abs()),
            ("popc.b32", |a, _, _| u64::from(a.count_ones())),
            ("clz.b32", |a, _, _| u64::from((a as u32).leading_zeros())),
            ("brev.b32", |a, _, _| u64::from((a as u32).reverse_bits())),
            ("bfind.u32", |a, _, _| a.checked_ilog2().map_or(u64::MAX, u64::from)),
            ("bfind.s32", |a, _, _| (if s(a) < 0 { !a & 0xffff_ffff } else { a }).checked_ilog2().map_or(u64::MAX, u64::from)),
            ("bfind.shiftamt.u32", |a, _, _| a.checked_ilog2().map_or(u64::MAX, |p| u64::from(31 - p))),
            ("cnot.b32", |a, _, _| u64::from(a == 0)),
        ], [&a, &b, &c])?;
    }

    #[test]
    fn sixty_four_and_sixteen_bits(a in column(), b in column(), c in column()) {
        agree(&["b64", "b64", "b64"], &[
            ("add.s64", |a, b, _| a.wrapping_add(b)),
            ("mul.lo.u64", |a, b, _| a.wrapping_mul(b)),
            ("mul.hi.u64", |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64),
            ("mul.hi.s64", |a, b, _| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
            ("div.s64", |a, b, _| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 }),
            ("rem.u64", |a, b, _| a.checked_rem(b).unwrap_or(a)),
            ("min.s64", |a, b, _| (a as i64).min(b as i64) as u64),
            ("xor.b64", |a, b, _| a ^ b),
        ], [&a, &b, &c])?;
        agree(&["b64", "b64", "b32"], &[
            ("shl.b64", |a, b, _| if b > 63 { 0 } else { a << b }),
            ("shr.s64", |a, b, _| (a as i64 >> b.min(63)) as u64),
        ], [&a, &b, &c])?;
        agree(&["b64", "b32", "b32"], &[
            ("mul.wide.u32", |a, b, _| a * b),
            ("mul.wide.s32", |a, b, _| (s(a) * s(b)) as u64),
        ], [&a, &b, &c])?;
        agree(&["b64", "b32", "b32", "b64"], &[("mad.wide.s32", |a, b, c| ((s(a) * s(b)) as u64).wrapping_add(c))], [&a, &b, &c])?;
        agree(&["b32", "b64"], &[
            ("popc.b64", |a, _, _| u64::from(a.count_ones())),
            ("clz.b64", |a, _, _| u64::from(a.leading_zeros())),
            ("cvt.u32.u64", |a, _, _| a),
            ("cvt.sat.s32.s64", |a, _, _| (a as i64).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u64),
            ("cvt.sat.u8.s64", |a, _, _| (a as i64).clamp(0, 255) as u64),
            ("cvt.s32.s8", |a, _, _| a as i8 as u64),
            ("cvt.u16.u64", |a, _, _| a & 0xffff),
        ], [&a, &b, &c])?;
        agree(&["b16", "b16", "b16"], &[
            ("add.s16", |a, b, _| a.wrapping_add(b)),
            ("mul.lo.u16", |a, b, _| a * b),
            ("mul.hi.s16", |a, b, _| ((i64::from(a as i16) * i64::from(b as i16)) >> 16) as u64),
            ("div.s16", |a, b, _| if b == 0 { u64::MAX } else { (a as i16).wrapping_div(b as i16) as u64 }),
            ("max.s16", |a, b, _| (a as i16).max(b as i16) as u64),
        ], [&a, &b, &c])?;
        agree(&["b16", "b16", "b32"], &[
            ("shl.b16", |a, b, _| if b > 15 { 0 } else { a << b }),
            ("shr.s16", |a, b, _| (a as i16 >> b.min(15)) as u64),
        ], [&a, &b, &c])?;
        agree(&["b64", "b32"], &[("cvt.s64.s32", |a, _, _| s(a) as u64), ("cvt.u64.u32", |a, _, _| a), ("cvt.s64.s16", |a, _, _| a as i16 as u64)], [&a, &b, &c])?;
    }

    #[test]
    fn carries_make_wider_sums(a in column(), b in column(), c in column(), d in column()) {
        // 128 bits from two 64-bit halves; the low halves' carry reaches the high ones.
        for (name, f) in [("add", u128::wrapping_add as fn(u128, u128) -> u128), ("sub", u128::wrapping_sub)] {
            let text = format!("{{.reg .b64 %lo; {name}.cc.u64 %lo, %v1, %v3; {name}c.u64 %v0, %v2, %v4;}}");
            let got = eval(&text, &["b64"; 5], &[a.clone(), b.clone(), c.clone(), d.clone()]);
            for k in 0..got.len() {
                let wide = |lo: u64, hi: u64| u128::from(hi) << 64 | u128::from(lo);
                prop_assert_eq!(got[k], (f(wide(a[k], b[k]), wide(c[k], d[k])) >> 64) as u64);
            }
        }
    }

    #[test]
    fn carries_make_wider_products(a in column(), b in column(), c in column()) {
        // 64 bits by 64 plus 128 of them, and the carry behind.
        let text = "{.reg .b64 %lo, %hi; mad.lo.cc.u64 %lo, %v1, %v2, %v3; madc.hi.cc.u64 %hi, %v1, %v2, %v3; addc.u64 %v0, %hi, 0;}";
        let got = eval(text, &["b64"; 4], &[a.clone(), b.clone(), c.clone()]);
        let signed = eval("{.reg .b64 %lo; mad.lo.cc.s64 %lo, %v1, %v2, %v3; madc.hi.s64 %v0, %v1, %v2, 0;}", &["b64"; 4], &[a.clone(), b.clone(), c.clone()]);
        for k in 0..got.len() {
            let (sum, carry) = (u128::from(a[k]) * u128::from(b[k])).overflowing_add(u128::from(c[k]) << 64 | u128::from(c[k]));
            prop_assert_eq!(got[k], ((sum >> 64) as u64).wrapping_add(u64::from(carry)));
            let product = (i128::from(a[k] as i64) * i128::from(b[k] as i64)) as u128;
            prop_assert_eq!(signed[k], (product.wrapping_add(u128::from(c[k])) >> 64) as u64);
        }
    }

    #[test]
    fn comparisons_with_second_results_and_combinations(a in column(), b in column(), p in prop::collection::vec(0u64..2, 64)) {
        type Test = fn(u64, u64) -> bool;
        let all: [(&str, &str, Test); 8] = [
            ("lt.s32", "b32", |a, b| s(a) < s(b)), ("hi.u32", "b32", |a, b| a > b), ("ge.u64", "b64", |a, b| a >= b), ("le.s64", "b64", |a, b| a as i64 <= b as i64),
            ("ne.b64", "b64", |a, b| a != b), ("eq.b32", "b32", |a, b| a == b), ("lo.u16", "b16", |a, b| a < b), ("gt.s16", "b16", |a, b| a as i16 > b as i16),
        ];
        for (name, reg, f) in all {
            let (cmp, ty) = name.split_once('.').unwrap();
            let mask = match reg { "b16" => 0xffff, "b32" => 0xffff_ffff, _ => u64::MAX };
            let (a, b): (Vec<u64>, Vec<u64>) = a.iter().zip(&b).map(|(a, b)| (a & mask, b & mask)).unzip();
            let got = eval(&format!("setp.{cmp}.{ty} %v0, %v1, %v2;"), &["pred", reg, reg], &[a.clone(), b.clone()]);
            let other = eval(&format!("{{.reg .pred %q; setp.{cmp}.{ty} %q|%v0, %v1, %v2;}}"), &["pred", reg, reg], &[a.clone(), b.clone()]);
            let and = eval(&format!("setp.{cmp}.and.{ty} %v0, %v1, %v2, !%v3;"), &["pred", reg, reg, "pred"], &[a.clone(), b.clone(), p.clone()]);
            let set = eval(&format!("set.{cmp}.u32.{ty} %v0, %v1, %v2;"), &["b32", reg, reg], &[a.clone(), b.clone()]);
            for k in 0..got.len() {
                let yes = f(a[k], b[k]);
                let want = (u64::from(yes), u64::from(!yes), u64::from(yes && p[k] == 0), if yes { 0xffff_ffff } else { 0 });
                prop_assert_eq!((got[k], other[k], and[k], set[k]), want, "{} {:x} {:x}", name, a[k], b[k]);
            }
        }
    }

    #[test]
    fn packing_and_fields(a in column(), b in column(), pos in 0u64..40, len in 0u64..40) {
        let lo: Vec<u64> = a.iter().map(|v| v & 0xffff_ffff).collect();
        let hi: Vec<u64> = b.iter().map(|v| v & 0xffff_ffff).collect();
        let got = eval("mov.b64 %v0, {%v1, %v2};", &["b64", "b32", "b32"], &[lo.clone(), hi.clone()]);
        let swapped = eval("{.reg .b16 %x, %y; mov.b32 {%x, %y}, %v1; mov.b32 %v0, {%y, %x};}", &["b32", "b32"], std::slice::from_ref(&lo));
        let put = eval(&format!("bfi.b32 %v0, %v1, %v2, {pos}, {len};"), &["b32", "b32", "b32"], &[lo.clone(), hi.clone()]);
        let logic = eval("lop3.b32 %v0, %v1, %v2, %v1, 0x6a;", &["b32", "b32", "b32"], &[lo.clone(), hi.clone()]);
        let flag = |op: &str, q: u32| eval(&format!("{{.reg .pred %q; .reg .b32 %x; setp.eq.u32 %q, {q}, 1; lop3.{op}.b32 %x|%v0, %v1, %v2, %v1, 0xc0, %q;}}"), &["pred", "b32", "b32"], &[lo.clone(), hi.clone()]);
        let (and, or) = (flag("and", 1), flag("or", 0));
        prop_assert_eq!((flag("and", 0), flag("or", 1)), (vec![0; lo.len()], vec![1; lo.len()]));
        for k in 0..got.len() {
            let some = u64::from(lo[k] & hi[k] != 0);
            prop_assert_eq!((and[k], or[k]), (some, some));
            prop_assert_eq!(got[k], hi[k] << 32 | lo[k]);
            prop_assert_eq!(swapped[k], u64::from((lo[k] as u32).rotate_left(16)));
            let field = (0..32).filter(|j| *j >= pos && *j < pos + len).fold(0u64, |m, j| m | 1 << j);
            prop_assert_eq!(put[k], hi[k] & !field | (lo[k] << pos.min(63)) & field);
            // 0x6a is (a & b) ^ c; here c is a.
            prop_assert_eq!(logic[k], (lo[k] & hi[k]) ^ lo[k]);
        }
    }
}
