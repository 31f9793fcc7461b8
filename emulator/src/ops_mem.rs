//! Loads and stores.

use crate::ast::{Operand, RawInst, Space, Ty};
use crate::error::LoadError;
use crate::exec::{Done, Exec, LANES};
use crate::lower_body::{Address, Body};
use crate::ops_mov::space;
use crate::program::{File, Inst};
use crate::races::Kind;
use crate::table::{Class, Family, Taint};

pub(crate) const FAMILIES: &[Family] = &[
    Family {
        opcode: "ld",
        forms: "{.weak|.volatile|.relaxed|.acquire}{.scope}{.global|.shared|.local|.const|.param}{.cache}{.v2|.v4|.v8}.{b,u,s 8|16|32|64, f16|bf16|f32|f64}",
        class: Class::Global,
        lower: lower_ld,
    },
    Family { opcode: "ldu", forms: "{.global}{.v2|.v4}.type", class: Class::Global, lower: lower_ld },
    Family {
        opcode: "st",
        forms: "{.weak|.volatile|.relaxed|.release}{.scope}{.global|.shared|.local|.param}{.cache}{.v2|.v4|.v8}.{b,u,s 8|16|32|64, f16|bf16|f32|f64}",
        class: Class::Global,
        lower: lower_st,
    },
    Family {
        opcode: "prefetch",
        forms: "{.global|.local}.{L1|L2}",
        class: Class::Other,
        lower: crate::ops_flow::lower_nothing,
    },
    Family { opcode: "prefetchu", forms: ".L1", class: Class::Other, lower: crate::ops_flow::lower_nothing },
    Family { opcode: "discard", forms: "{.global}.L2", class: Class::Other, lower: crate::ops_flow::lower_nothing },
    Family {
        opcode: "createpolicy",
        forms: ".{fractional|range|cvt}.*.b64: a policy that changes nothing",
        class: Class::Other,
        lower: lower_policy,
    },
    Family {
        opcode: "applypriority",
        forms: "{.global}.L2::evict_normal",
        class: Class::Other,
        lower: crate::ops_flow::lower_nothing,
    },
];

fn lower_policy<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let ([kind, .., "b64"], Some(d)) = (mods, raw.operands.first()) else { return b.unknown(raw) };
    if !matches!(*kind, "fractional" | "range" | "cvt") {
        return b.unknown(raw);
    }
    let mut i = b.inst(raw, Class::Other, Taint::Nothing, |x, i| {
        x.put64(i.d, &[0; LANES]);
        Ok(())
    })?;
    i.d = b.dst(raw, d, File::R64)?;
    b.emit(i);
    Ok(())
}

/// The qualifiers of a load or store.
pub(crate) struct Form {
    pub space: Space,
    pub count: u32,
    pub ty: Ty,
    /// It has an order, so it does not race with atomics.
    pub strong: bool,
}

/// Reads them; scope and cache qualifiers make no difference to one thread at a time.
pub(crate) fn form(mods: &[&str]) -> Option<Form> {
    let mut f = Form { space: Space::Generic, count: 1, ty: Ty::parse(mods.last()?)?, strong: false };
    for m in &mods[..mods.len() - 1] {
        match *m {
            "v2" => f.count = 2,
            "v4" => f.count = 4,
            "v8" => f.count = 8,
            "volatile" | "relaxed" | "acquire" | "release" | "mmio" => f.strong = true,
            "weak" | "cta" | "cluster" | "gpu" | "sys" | "nc" | "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt"
            | "unified" => {}
            m if m.starts_with("L1::") || m.starts_with("L2::") => {}
            m => f.space = space(m)?,
        }
    }
    let bytes = f.ty.bytes() * f.count;
    let known = f.ty != Ty::Pred && f.ty != Ty::B128 && f.ty != Ty::Tf32 && bytes <= 32;
    known.then_some(f)
}

/// The class that accesses to a space count as.
pub(crate) fn class(s: Space) -> Class {
    match s {
        Space::Shared => Class::Shared,
        Space::Local => Class::Local,
        Space::Param => Class::Param,
        _ => Class::Global,
    }
}

/// The space an access is to, its parameter's place resolved.
pub(crate) fn resolve(s: Space, a: &Address) -> Space {
    match s {
        Space::Param if a.frame => Space::Local,
        Space::Param => Space::Generic,
        s => s,
    }
}

const SPACES: [Space; 6] = [Space::Generic, Space::Global, Space::Shared, Space::Local, Space::Const, Space::Param];

/// The space kept in `Inst::x`.
pub(crate) fn space_of(i: &Inst) -> Space {
    SPACES[(i.x & 7) as usize % SPACES.len()]
}

fn elements<'b, 'a>(op: &'b Operand<'a>) -> Vec<&'b Operand<'a>> {
    match op {
        Operand::Vector(v) => v.iter().collect(),
        op => vec![op],
    }
}

fn holds(file: File, ty: Ty) -> bool {
    match file {
        File::None => true,
        File::R16 => ty.bytes() <= 2,
        File::R32 => ty.bytes() <= 4,
        File::R64 => ty.bytes() <= 8,
        File::Pred => false,
    }
}

fn lower_ld<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let Some(f) = form(mods) else { return b.unknown(raw) };
    // A cache policy may follow the address.
    let [d, a, ..] = raw.operands.as_slice() else { return b.bad(raw, "a register and an address are needed") };
    let a = b.address(raw, a)?;
    let mut regs = Vec::new();
    let ds: Vec<Operand<'a>> = elements(d).into_iter().cloned().collect();
    for d in &ds {
        let r = b.register(raw, d)?;
        if !holds(r.file, f.ty) {
            return b.bad(raw, "a register is too narrow for the type");
        }
        regs.push(r);
    }
    if regs.len() != f.count as usize {
        return b.bad(raw, format!("{} registers are needed, {} are given", f.count, regs.len()));
    }
    let mut i = b.inst(raw, class(f.space), Taint::Own, load)?;
    i.size = f.ty.bytes() as u8;
    i.count = f.count as u8;
    i.a = a.base;
    i.imm = a.offset;
    let sp = if a.kernel_param { Space::Param } else { resolve(f.space, &a) };
    i.x = sp as u32 | if f.ty.signed() { SIGNED } else { 0 } | if f.strong { STRONG } else { 0 };
    i.exec = match (f.count, f.ty.bytes(), regs[0].file) {
        _ if a.kernel_param => load_kernel_param,
        (1, 4, File::R32) => load32,
        (1, 8, File::R64) => load64,
        _ => load,
    };
    i.d = regs[0];
    i.list = b.list(&regs);
    b.emit(i);
    Ok(())
}

const SIGNED: u32 = 1 << 3;
const STRONG: u32 = 1 << 4;

/// What the race detector takes a load or store of shared memory for.
pub(crate) fn race_kind(i: &Inst, write: bool) -> Kind {
    let strong = i.class != Class::Async && i.flow == crate::program::Flow::Plain && i.x & STRONG != 0;
    match (write, strong) {
        (true, false) => Kind::Write,
        (true, true) => Kind::Atomic,
        (false, false) => Kind::Read,
        (false, true) => Kind::StrongRead,
    }
}

fn load32(x: &mut Exec<'_>, i: &Inst) -> Done {
    let addr = x.address(i);
    x.address_taint(i)?;
    x.load(i, space_of(i), &addr, 4)?;
    let v = x.words[0];
    x.put32(i.d, &v);
    x.loaded_taint(i, &addr);
    Ok(())
}

fn load64(x: &mut Exec<'_>, i: &Inst) -> Done {
    let addr = x.address(i);
    x.address_taint(i)?;
    x.load(i, space_of(i), &addr, 8)?;
    let v = std::array::from_fn(|l| u64::from(x.words[0][l]) | u64::from(x.words[1][l]) << 32);
    x.put64(i.d, &v);
    x.loaded_taint(i, &addr);
    Ok(())
}

fn load(x: &mut Exec<'_>, i: &Inst) -> Done {
    let addr = x.address(i);
    x.address_taint(i)?;
    x.load(i, space_of(i), &addr, u32::from(i.size) * u32::from(i.count))?;
    spread(x, i);
    x.loaded_taint(i, &addr);
    Ok(())
}

/// Parameters of a kernel: the same for all lanes.
fn load_kernel_param(x: &mut Exec<'_>, i: &Inst) -> Done {
    let n = usize::from(i.size) * usize::from(i.count);
    let params = x.env.params;
    let Some(bytes) = usize::try_from(i.imm).ok().and_then(|at| params.get(at..at.checked_add(n)?)) else {
        let place = format!("byte {} of the kernel's parameters ({} bytes)", i.imm, params.len());
        let lane = x.first();
        return x.stop(lane, crate::fault::FaultKind::OutOfBounds { bytes: n as u32, place });
    };
    for k in 0..n.div_ceil(4) {
        let mut word = [0; 4];
        let part = &bytes[4 * k..n.min(4 * k + 4)];
        word[..part.len()].copy_from_slice(part);
        x.words[k] = [u32::from_le_bytes(word); LANES];
    }
    x.any_unwritten = false;
    spread(x, i);
    if x.w.taints.any() {
        x.loaded_taint(i, &[0; LANES]);
    }
    Ok(())
}

/// Distributes the words loaded over the registers.
fn spread(x: &mut Exec<'_>, i: &Inst) {
    let prog = x.prog;
    let size = usize::from(i.size);
    for (k, r) in prog.list(i).iter().enumerate() {
        let at = k * size;
        let o = std::array::from_fn(|l| {
            let low = u64::from(x.words[at / 4][l]) >> (8 * (at % 4));
            match (size, i.x & SIGNED != 0) {
                (1, false) => low & 0xff,
                (1, true) => low as i8 as u64,
                (2, false) => low & 0xffff,
                (2, true) => low as i16 as u64,
                (4, false) => low,
                (4, true) => low as i32 as u64,
                _ => low | u64::from(x.words[at / 4 + 1][l]) << 32,
            }
        });
        x.put_any(*r, &o);
    }
}

fn lower_st<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    let Some(f) = form(mods) else { return b.unknown(raw) };
    let [a, s, ..] = raw.operands.as_slice() else { return b.bad(raw, "an address and a register are needed") };
    let a = b.address(raw, a)?;
    if a.kernel_param || f.space == Space::Const {
        return b.bad(raw, "this space cannot be written");
    }
    let mut regs = Vec::new();
    let ss: Vec<Operand<'a>> = elements(s).into_iter().cloned().collect();
    for s in &ss {
        let file = File::of(f.ty).unwrap_or(File::R32);
        let wider = matches!(s, Operand::Name(..));
        let r = if wider && let Ok(r) = b.register(raw, s) { r } else { b.src(raw, s, file, f.ty)? };
        if !holds(r.file, f.ty) || r.file == File::None {
            return b.bad(raw, "a register is too narrow for the type");
        }
        regs.push(r);
    }
    if regs.len() != f.count as usize {
        return b.bad(raw, format!("{} registers are needed, {} are given", f.count, regs.len()));
    }
    let mut i = b.inst(raw, class(f.space), Taint::Own, store)?;
    i.size = f.ty.bytes() as u8;
    i.count = f.count as u8;
    i.a = a.base;
    i.imm = a.offset;
    i.x = resolve(f.space, &a) as u32 | if f.strong { STRONG } else { 0 };
    if f.count == 1 && f.ty.bytes() == 4 && regs[0].file == File::R32 {
        i.exec = store32;
    }
    i.list = b.list(&regs);
    i.b = regs[0];
    b.emit(i);
    Ok(())
}

fn store32(x: &mut Exec<'_>, i: &Inst) -> Done {
    let addr = x.address(i);
    x.words[0] = x.get32(i.b);
    x.address_taint(i)?;
    x.stored_taint(i);
    x.store(i, space_of(i), &addr, 4)
}

fn store(x: &mut Exec<'_>, i: &Inst) -> Done {
    let addr = x.address(i);
    gather(x, i);
    x.address_taint(i)?;
    x.stored_taint(i);
    x.store(i, space_of(i), &addr, u32::from(i.size) * u32::from(i.count))
}

/// Collects the registers' values into words.
pub(crate) fn gather(x: &mut Exec<'_>, i: &Inst) {
    let prog = x.prog;
    let size = usize::from(i.size);
    let words = (size * usize::from(i.count)).div_ceil(4);
    x.words[..words].fill([0; LANES]);
    for (k, r) in prog.list(i).iter().enumerate() {
        let v = x.get_any(*r);
        let at = k * size;
        for l in 0..LANES {
            match size {
                8 => {
                    x.words[at / 4][l] = v[l] as u32;
                    x.words[at / 4 + 1][l] = (v[l] >> 32) as u32;
                }
                4 => x.words[at / 4][l] = v[l] as u32,
                n => x.words[at / 4][l] |= (v[l] as u32 & ((1 << (8 * n)) - 1)) << (8 * (at % 4)),
            }
        }
    }
}
