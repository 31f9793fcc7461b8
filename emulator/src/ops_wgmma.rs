//! `wgmma`: products of a warpgroup, operands in shared memory behind descriptors, or A in registers.
//!
//! Each warp of the four computes its own sixteen rows when it comes to the instruction, so the group needs no meeting,
//! and `fence`, `commit_group` and `wait_group` have nothing to wait for. **What this cannot see**: a missing fence,
//! commit or wait, accumulators used too early, and shared memory overwritten before the wait.
//!
//! Layouts follow the matrix descriptors of the ISA: rows or columns contiguous, no swizzle or one of 32, 64 or 128
//! bytes, which exclusive-ors address bits 4 to 6 with bits 7 to 9.

use crate::ast::{Operand, RawInst, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec, LANES};
use crate::fault::FaultKind;
use crate::lower_body::Body;
use crate::ops_flow::nothing;
use crate::ops_mma::{fragment, round, value};
use crate::ops_warp::whole_warp;
use crate::program::{File, Inst, Reg};
use crate::races::{Access, Kind};
use crate::shared::HOLE;
use crate::table::{Class, Taint};

const NEGATE_A: u32 = 1;
const NEGATE_B: u32 = 2;
const TRANS_A: u32 = 4;
const TRANS_B: u32 = 8;
const A_IN_REGISTERS: u32 = 16;
const BF16: u32 = 32;
/// Sums are kept as halves, two in a register.
const HALF_SUMS: u32 = 64;

pub(crate) fn lower<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    match mods {
        ["fence" | "commit_group", "sync", "aligned"] | ["wait_group", "sync", "aligned"] => {
            let mut i = b.inst(raw, Class::Tensor, Taint::Nothing, nothing)?;
            whole_warp(&mut i);
            b.emit(i);
            Ok(())
        }
        ["mma_async", "sync", "aligned", size, sums @ ("f32" | "f16"), a, c] if a == c => {
            let n = size.strip_prefix("m64n").and_then(|s| s.strip_suffix("k16")).and_then(|s| s.parse::<usize>().ok());
            let Some(n) = n.filter(|n| n % 8 == 0 && (8..=256).contains(n)) else { return b.unknown(raw) };
            let kinds = match (*a, *sums) {
                ("f16", "f32") => 0,
                ("f16", _) => HALF_SUMS,
                ("bf16", "f32") => BF16,
                _ => return b.unknown(raw),
            };
            lower_product(b, raw, n, kinds)
        }
        _ => b.unknown(raw),
    }
}

fn lower_product<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, n: usize, mut x: u32) -> Result<(), LoadError> {
    let [d, a, bb, scale, rest @ ..] = raw.operands.as_slice() else { return b.bad(raw, "too few operands") };
    let mut regs = fragment(b, raw, d, sums_per_lane(n, x), true)?;
    let in_registers = matches!(a, Operand::Vector(_));
    let mut i = b.inst(raw, Class::Tensor, Taint::Own, exec)?;
    if in_registers {
        regs.extend(fragment(b, raw, a, 4, false)?);
        x |= A_IN_REGISTERS;
    } else {
        i.a = b.src(raw, a, File::R64, Ty::B64)?;
    }
    i.b = b.src(raw, bb, File::R64, Ty::B64)?;
    i.c = b.src(raw, scale, File::Pred, Ty::Pred)?;
    let wants: &[(u64, u32)] = if in_registers {
        &[(u64::MAX, NEGATE_A), (u64::MAX, NEGATE_B), (1, TRANS_B)]
    } else {
        &[(u64::MAX, NEGATE_A), (u64::MAX, NEGATE_B), (1, TRANS_A), (1, TRANS_B)]
    };
    if rest.len() > wants.len() || rest.len() < 2 {
        return b.bad(raw, "the immediate operands are not those of this form");
    }
    for (op, (on, bit)) in rest.iter().zip(wants) {
        let Operand::Imm(crate::ast::Imm::Int(v)) = op else {
            return b.bad(raw, "a scale or a transposition must be a literal");
        };
        if v == on {
            x |= bit;
        }
    }
    whole_warp(&mut i);
    i.list = b.list(&regs);
    i.x = x;
    i.imm = n as i64;
    b.emit(i);
    Ok(())
}

/// Registers of a lane's sums.
fn sums_per_lane(n: usize, x: u32) -> usize {
    if x & HALF_SUMS != 0 { n / 4 } else { n / 2 }
}

/// A matrix descriptor.
struct Matrix {
    base: u64,
    leading: u64,
    stride: u64,
    /// Bytes of a swizzled row; 16 for none.
    row: u64,
}

impl Matrix {
    fn new(desc: u64) -> Matrix {
        let field = |at: u32| (desc >> at & 0x3fff) << 4;
        let row = [16, 128, 64, 32][(desc >> 62) as usize];
        Matrix { base: field(0), leading: field(16), stride: field(32), row }
    }

    /// Address of the 16-bit element at row or column `r` and depth `k`.
    fn element(&self, r: u64, k: u64, transposed: bool) -> u64 {
        let w = self.row;
        let at = match (w, transposed) {
            (16, false) => r / 8 * self.stride + k / 8 * self.leading + r % 8 * 16 + k % 8 * 2,
            (_, false) => r / 8 * self.stride + r % 8 * w + k * 2,
            (16, true) => r / 8 * self.stride + k / 8 * self.leading + k % 8 * 16 + r % 8 * 2,
            (_, true) => r / (w / 2) * self.leading + r % (w / 2) * 2 + k / 8 * self.stride + k % 8 * w,
        };
        let a = self.base + at;
        let bits = (w / 16 - 1) << 4;
        a ^ (a >> 3 & bits)
    }
}

/// Reads a 16-bit element of shared memory with the checks of a load.
fn read(x: &mut Exec<'_>, addr: u64) -> Result<u32, crate::exec::Stopped> {
    let w = (addr / 4) as usize;
    let written = x.sh.written.get(w).copied().unwrap_or(HOLE);
    if written & HOLE != 0 || addr + 2 > u64::from(x.sh.bytes) {
        let place = x.env.layout.describe(addr);
        return x.stop(0, FaultKind::OutOfBounds { bytes: 2, place });
    }
    if x.env.track && written >> (addr % 4) & 3 != 3 {
        let (place, loaded_at) = (x.env.layout.describe(addr), x.prog.code[x.pc as usize].line);
        return x.stop(0, FaultKind::Uninitialized { place, loaded_at });
    }
    if x.env.races {
        let a = Access { kind: Kind::Read, tid: x.w.index * 32, pc: x.pc, same_value: false };
        if let Some(c) = x.sh.races.access(w, 3 << (addr % 4), a) {
            let other_line = x.prog.code.get(c.pc as usize).map_or(0, |i| i.line);
            let place = x.env.layout.describe(addr);
            let kind = FaultKind::Race { this: "read", place, other: c.kind.word(), other_thread: c.tid, other_line };
            return x.stop(0, kind);
        }
    }
    Ok(x.sh.words[w] >> (addr % 4 * 8) & 0xffff)
}

fn exec(x: &mut Exec<'_>, i: &Inst) -> Done {
    let prog = x.prog;
    let regs = prog.list(i);
    let n = i.imm as usize;
    let ty = if i.x & BF16 != 0 { Ty::Bf16 } else { Ty::F16 };
    let (d, a_regs): (&[Reg], &[Reg]) = regs.split_at(sums_per_lane(n, i.x));
    for r in a_regs {
        x.reject(*r)?;
    }
    let mut a = [[0f64; 16]; 16];
    let first_row = u64::from(x.w.index % 4) * 16;
    if i.x & A_IN_REGISTERS != 0 {
        for (k, r) in a_regs.iter().enumerate() {
            let v = x.get32(*r);
            for l in 0..LANES {
                for h in 0..2 {
                    a[l / 4 + 8 * (k % 2)][2 * (l % 4) + h + 8 * (k / 2)] = value(ty, v[l] >> (16 * h) & 0xffff);
                }
            }
        }
    } else {
        let m = Matrix::new(x.get64(i.a)[0]);
        for r in 0..16 {
            for k in 0..16 {
                let at = m.element(first_row + r, k, i.x & TRANS_A != 0);
                a[r as usize][k as usize] = value(ty, read(x, at)?);
            }
        }
    }
    let m = Matrix::new(x.get64(i.b)[0]);
    let mut b = vec![[0f64; 16]; n];
    for (c, col) in b.iter_mut().enumerate() {
        for k in 0..16 {
            let at = m.element(c as u64, k, i.x & TRANS_B != 0);
            col[k as usize] = value(ty, read(x, at)?);
        }
    }
    let sign = if (i.x & NEGATE_A != 0) != (i.x & NEGATE_B != 0) { -1.0 } else { 1.0 };
    let keep = x.pred(i.c) & 1 != 0;
    for (e, r) in d.iter().enumerate() {
        if keep {
            x.reject(*r)?;
        }
        let old = x.get32(*r);
        let value = |l: usize, e: usize, old: f64| {
            let (row, col) = (l / 4 + 8 * (e / 2 % 2), 8 * (e / 4) + 2 * (l % 4) + e % 2);
            let sum = (0..16).fold(0.0, |s, k| s + a[row][k] * b[col][k]);
            sign * sum + if keep { old } else { 0.0 }
        };
        let o = std::array::from_fn(|l| {
            if i.x & HALF_SUMS == 0 {
                return round(Ty::F32, value(l, e, f64::from(f32::from_bits(old[l]))));
            }
            let half = |h: usize| {
                let before = crate::ops_mma::value(Ty::F16, old[l] >> (16 * h) & 0xffff);
                round(Ty::F16, value(l, 2 * e + h, before)) << (16 * h)
            };
            half(0) | half(1)
        });
        x.put32(*r, &o);
        x.set_taint(*r, None);
    }
    Ok(())
}
