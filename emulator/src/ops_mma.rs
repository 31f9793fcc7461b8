//! Tensor cores: `mma.sync`, `ldmatrix`, `stmatrix`; `wgmma` is in [`crate::ops_wgmma`].
//!
//! The ISA leaves the order and the precision of the sums open. Here the products, which are exact, are added in f64 in
//! the order of k, the accumulator last, and rounded once; a GPU's last bits may differ.

use crate::ast::{Operand, RawInst, Space, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec, L32, LANES};
use crate::lower_body::Body;
use crate::ops_float::format;
use crate::ops_warp::whole_warp;
use crate::program::{File, Inst, Reg};
use crate::softfloat::{F64, Round};
use crate::table::{Class, Family, Row, Taint};

pub(crate) const ROWS: &[Row] = &[];

pub(crate) const FAMILIES: &[Family] = &[
    Family {
        opcode: "mma",
        forms: ".sync.aligned.{m16n8k16|m16n8k8|m16n8k4}.row.col.{f32|f16}.{f16|bf16|tf32}.{f16|bf16|tf32}.{f32|f16}",
        class: Class::Tensor,
        lower: lower_mma,
    },
    Family {
        opcode: "ldmatrix",
        forms: ".sync.aligned.m8n8.{x1|x2|x4}{.trans}{.shared}.b16",
        class: Class::Shared,
        lower: lower_matrix,
    },
    Family {
        opcode: "stmatrix",
        forms: ".sync.aligned.m8n8.{x1|x2|x4}{.trans}{.shared}.b16",
        class: Class::Shared,
        lower: lower_matrix,
    },
    Family { opcode: "movmatrix", forms: ".sync.aligned.m8n8.trans.b16", class: Class::Tensor, lower: lower_movmatrix },
    Family {
        opcode: "wgmma",
        forms: ".mma_async.sync.aligned.m64n{8…256}k16.{f32|f16}.{f16|bf16}.{f16|bf16}, .fence, .commit_group, .wait_group",
        class: Class::Tensor,
        lower: crate::ops_wgmma::lower,
    },
];

/// A value of a 16- or 32-bit input format as a double.
pub(crate) fn value(ty: Ty, bits: u32) -> f64 {
    let bits = if ty == Ty::Tf32 { bits & !0x1fff } else { bits };
    f64::from_bits(format(ty).to(F64, u64::from(bits), Round::Nearest))
}

/// Registers of one matrix operand.
pub(crate) fn fragment<'a>(
    b: &mut Body<'_, 'a>,
    raw: &RawInst<'a>,
    op: &Operand<'a>,
    n: usize,
    write: bool,
) -> Result<Vec<Reg>, LoadError> {
    let Operand::Vector(v) = op else { return b.bad(raw, "a matrix operand must be registers in braces") };
    if v.len() != n {
        return b.bad(raw, format!("a matrix operand needs {n} registers, {} are given", v.len()));
    }
    let mut out = Vec::new();
    for r in v {
        out.push(if write { b.dst(raw, r, File::R32)? } else { b.src(raw, r, File::R32, Ty::F32)? });
    }
    Ok(out)
}

/// The sizes of an `mma`: k, and registers of A, B, C and D.
struct Shape {
    k: usize,
    input: Ty,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
}

fn mma_shape(mods: &[&str]) -> Option<Shape> {
    let ["sync", "aligned", size, "row", "col", d, a, b, c] = mods else { return None };
    if a != b {
        return None;
    }
    let input = Ty::parse(a)?;
    let k = match (*size, input) {
        ("m16n8k16", Ty::F16 | Ty::Bf16) => 16,
        ("m16n8k8", Ty::F16 | Ty::Bf16 | Ty::Tf32) => 8,
        ("m16n8k4", Ty::Tf32) => 4,
        _ => return None,
    };
    let acc = |t: &str| match (t, input) {
        ("f32", _) => Some(4),
        ("f16", Ty::F16) => Some(2),
        _ => None,
    };
    let per = if input == Ty::Tf32 { 1 } else { 2 };
    Some(Shape { k, input, a: k / 4 / per * 2, b: k / 4 / per, c: acc(c)?, d: acc(d)? })
}

fn lower_mma<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let Some(s) = mma_shape(mods) else { return b.unknown(raw) };
    let [d, a, bb, c] = raw.operands.as_slice() else { return b.bad(raw, "4 operands are needed") };
    let mut regs = fragment(b, raw, d, s.d, true)?;
    regs.extend(fragment(b, raw, a, s.a, false)?);
    regs.extend(fragment(b, raw, bb, s.b, false)?);
    regs.extend(fragment(b, raw, c, s.c, false)?);
    let mut i = b.inst(raw, Class::Tensor, Taint::Own, exec_mma)?;
    whole_warp(&mut i);
    i.list = b.list(&regs);
    i.count = s.k as u8;
    i.x = s.input as u32 | (s.d as u32) << 8 | (s.c as u32) << 12;
    b.emit(i);
    Ok(())
}

fn input_type(code: u32) -> Ty {
    [Ty::F16, Ty::Bf16].into_iter().find(|t| *t as u32 == code).unwrap_or(Ty::Tf32)
}

fn exec_mma(x: &mut Exec<'_>, i: &Inst) -> Done {
    let prog = x.prog;
    let regs = prog.list(i);
    let (nd, nc) = ((i.x >> 8 & 15) as usize, (i.x >> 12 & 15) as usize);
    let (input, k) = (input_type(i.x & 0xff), usize::from(i.count));
    let per = if input == Ty::Tf32 { 1 } else { 2 };
    let (na, nb) = (k / 4 / per * 2, k / 4 / per);
    for r in &regs[nd..] {
        x.reject(*r)?;
    }
    let get = |x: &Exec<'_>, from: usize, n: usize| -> Vec<L32> {
        regs[from..from + n].iter().map(|r| x.get32(*r)).collect()
    };
    let (a, b, c) = (get(x, nd, na), get(x, nd + na, nb), get(x, nd + na + nb, nc));
    let (mut ma, mut mb) = ([[0f64; 16]; 16], [[0f64; 8]; 16]);
    for l in 0..LANES {
        let (g, t) = (l / 4, l % 4);
        for (n, reg) in a.iter().enumerate() {
            for h in 0..per {
                ma[g + 8 * (n % 2)][per * t + h + 4 * per * (n / 2)] = value(input, reg[l] >> (16 * h) & width(per));
            }
        }
        for (n, reg) in b.iter().enumerate() {
            for h in 0..per {
                mb[per * t + h + 4 * per * n][g] = value(input, reg[l] >> (16 * h) & width(per));
            }
        }
    }
    let mut out = vec![[0u32; LANES]; nd];
    for l in 0..LANES {
        let (g, t) = (l / 4, l % 4);
        for e in 0..4 {
            let (row, col) = (g + 8 * (e / 2), 2 * t + e % 2);
            let acc =
                if nc == 4 { value(Ty::F32, c[e][l]) } else { value(Ty::F16, c[e / 2][l] >> (16 * (e % 2)) & 0xffff) };
            let sum = (0..k).fold(0.0, |s, j| s + ma[row][j] * mb[j][col]) + acc;
            if nd == 4 {
                out[e][l] = round(Ty::F32, sum);
            } else {
                out[e / 2][l] |= round(Ty::F16, sum) << (16 * (e % 2));
            }
        }
    }
    for (r, v) in regs[..nd].iter().zip(&out) {
        x.put32(*r, v);
        x.set_taint(*r, None);
    }
    Ok(())
}

fn width(per: usize) -> u32 {
    if per == 1 { !0 } else { 0xffff }
}

/// A sum as the bits of an accumulator.
pub(crate) fn round(ty: Ty, v: f64) -> u32 {
    F64.to(format(ty), v.to_bits(), Round::Nearest) as u32
}

fn lower_matrix<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let ["sync", "aligned", "m8n8", count, rest @ ..] = mods else { return b.unknown(raw) };
    let n = match *count {
        "x1" => 1,
        "x2" => 2,
        "x4" => 4,
        _ => return b.unknown(raw),
    };
    let (trans, rest) = match rest {
        ["trans", rest @ ..] => (1u32, rest),
        rest => (0, rest),
    };
    let space = match rest {
        ["shared" | "shared::cta", "b16"] => Space::Shared,
        ["b16"] => Space::Generic,
        _ => return b.unknown(raw),
    };
    let [first, second] = raw.operands.as_slice() else { return b.bad(raw, "2 operands are needed") };
    let loads = raw.name.starts_with("ldmatrix");
    let (regs, addr) = if loads { (first, second) } else { (second, first) };
    let list = fragment(b, raw, regs, n, loads)?;
    let a = b.address(raw, addr)?;
    let mut i = b.inst(raw, Class::Shared, Taint::Own, if loads { exec_ldmatrix } else { exec_stmatrix })?;
    whole_warp(&mut i);
    i.a = a.base;
    i.imm = a.offset;
    i.list = b.list(&list);
    i.count = n as u8;
    i.x = trans | if space == Space::Shared { 2 } else { 0 };
    b.emit(i);
    Ok(())
}

fn lower_movmatrix<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let (["sync", "aligned", "m8n8", "trans", "b16"], [d, a]) = (mods, raw.operands.as_slice()) else {
        return b.unknown(raw);
    };
    let mut i = b.inst(raw, Class::Tensor, Taint::Compute, exec_movmatrix)?;
    whole_warp(&mut i);
    i.d = b.dst(raw, d, File::R32)?;
    i.a = b.src(raw, a, File::R32, Ty::B32)?;
    b.emit(i);
    Ok(())
}

/// Lane `4 r + c / 2` holds row r, columns c and c + 1.
fn exec_movmatrix(x: &mut Exec<'_>, i: &Inst) -> Done {
    let a = x.get32(i.a);
    let half = |row: usize, col: usize| a[4 * row + col / 2] >> (16 * (col % 2)) & 0xffff;
    let o = std::array::from_fn(|l| half(2 * (l % 4), l / 4) | half(2 * (l % 4) + 1, l / 4) << 16);
    x.put32(i.d, &o);
    Ok(())
}

fn matrix_space(i: &Inst) -> Space {
    if i.x & 2 != 0 { Space::Shared } else { Space::Generic }
}

/// Lane `8 m + r` gives the address of row r of matrix m: 16 bytes.
fn exec_ldmatrix(x: &mut Exec<'_>, i: &Inst) -> Done {
    let n = usize::from(i.count);
    let addr = x.address(i);
    x.address_taint(i)?;
    let all = x.mask;
    x.set_mask(((1u64 << (8 * n)) - 1) as u32);
    let loaded = x.load(i, matrix_space(i), &addr, 16);
    if loaded.is_ok() && x.any_unwritten {
        let lane = (0..8 * n).find(|&l| (0..4).any(|k| x.unwritten[k][l] != 0)).unwrap_or(0);
        let place = x.env.layout.describe(addr[lane] & 0xffff_ffff);
        return x.stop(lane, crate::fault::FaultKind::Uninitialized { place, loaded_at: i.line });
    }
    x.set_mask(all);
    loaded?;
    let prog = x.prog;
    for (m, r) in prog.list(i).iter().enumerate() {
        let o = std::array::from_fn(|l| {
            if i.x & 1 == 0 {
                return x.words[l % 4][8 * m + l / 4];
            }
            let half = |h: usize| {
                let (row, col) = (2 * (l % 4) + h, l / 4);
                x.words[col / 2][8 * m + row] >> (16 * (col % 2)) & 0xffff
            };
            half(0) | half(1) << 16
        });
        x.put32(*r, &o);
        x.set_taint(*r, None);
    }
    Ok(())
}

fn exec_stmatrix(x: &mut Exec<'_>, i: &Inst) -> Done {
    let n = usize::from(i.count);
    let addr = x.address(i);
    x.address_taint(i)?;
    let prog = x.prog;
    let mut words = [[0u32; LANES]; 4];
    for (m, r) in prog.list(i).iter().enumerate() {
        x.reject(*r)?;
        let v = x.get32(*r);
        for l in 0..LANES {
            for h in 0..2 {
                let half = v[l] >> (16 * h) & 0xffff;
                let (row, col) = if i.x & 1 == 0 { (l / 4, 2 * (l % 4) + h) } else { (2 * (l % 4) + h, l / 4) };
                words[col / 2][8 * m + row] |= half << (16 * (col % 2));
            }
        }
    }
    x.words[..4].copy_from_slice(&words);
    x.any_unwritten = false;
    let all = x.mask;
    x.set_mask(((1u64 << (8 * n)) - 1) as u32);
    let stored = x.store(i, matrix_space(i), &addr, 16);
    x.set_mask(all);
    stored
}
