//! Control: branches, calls, barriers, fences, and instructions that change nothing here.

use crate::ast::{Operand, RawInst, Ty};
use crate::block::*;
use crate::error::LoadError;
use crate::exec::{Done, Exec};
use crate::fault::FaultKind;
use crate::lower::Global;
use crate::lower_body::{Body, Sym};
use crate::program::{CallSite, Callee, File, Flow, Inst, Reg};
use crate::table::{Class, Family, Row, Taint, rows};

pub(crate) const ROWS: &[Row] = rows! {
    "trap" "=" Other Nothing |x, _| {
        let lane = x.first();
        x.stop(lane, FaultKind::Trap)
    };
    "membar.cta|membar.gl|membar.sys" "=" Barrier Nothing nothing;
    "nanosleep.u32" "=r" Other Nothing nothing;
    "brkpt" "=" Other Nothing nothing;
    "griddepcontrol.wait|griddepcontrol.launch_dependents" "=" Other Nothing nothing;
};

pub(crate) const FAMILIES: &[Family] = &[
    Family { opcode: "bra", forms: "{.uni}", class: Class::Branch, lower: lower_bra },
    Family { opcode: "brx", forms: ".idx{.uni}", class: Class::Branch, lower: lower_brx },
    Family {
        opcode: "call",
        forms: "{.uni}, of a function or through a register",
        class: Class::Call,
        lower: lower_call,
    },
    Family { opcode: "ret", forms: "{.uni}", class: Class::Branch, lower: lower_end },
    Family { opcode: "exit", forms: "", class: Class::Branch, lower: lower_end },
    Family {
        opcode: "bar",
        forms: "{.cta}.{sync|arrive|red.popc.u32|red.and.pred|red.or.pred}, .warp.sync",
        class: Class::Barrier,
        lower: lower_bar,
    },
    Family {
        opcode: "barrier",
        forms: "{.cta}.{sync|arrive|red.popc.u32|red.and.pred|red.or.pred}{.aligned}",
        class: Class::Barrier,
        lower: lower_bar,
    },
    Family {
        opcode: "fence",
        forms: "{.sc|.acq_rel|.acquire|.release}.{cta|cluster|gpu|sys}, .proxy.*, .mbarrier_init.release.cluster",
        class: Class::Barrier,
        lower: lower_nothing,
    },
    Family { opcode: "pmevent", forms: "{.mask}", class: Class::Other, lower: lower_nothing },
    Family { opcode: "setmaxnreg", forms: ".{inc|dec}.sync.aligned.u32", class: Class::Other, lower: lower_nothing },
];

/// Does nothing.
pub(crate) fn nothing(_: &mut Exec<'_>, _: &Inst) -> Done {
    Ok(())
}

/// Qualifiers of instructions that change nothing.
const NO_MATTER: &[&str] = &[
    "sc",
    "acq_rel",
    "acquire",
    "release",
    "cta",
    "cluster",
    "gpu",
    "sys",
    "proxy",
    "alias",
    "async",
    "async::generic",
    "tensormap::generic",
    "sync_restrict::shared::cta",
    "sync_restrict::shared::cluster",
    "mbarrier_init",
    "global",
    "local",
    "shared::cta",
    "shared::cluster",
    "const",
    "param",
    "tensormap",
    "L1",
    "L2",
    "L2::evict_last",
    "L2::evict_normal",
    "inc",
    "dec",
    "sync",
    "aligned",
    "u32",
    "mask",
];

/// An instruction whose operands do not matter, since it changes nothing that a thread can see here.
pub(crate) fn lower_nothing<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    if mods.iter().any(|m| !NO_MATTER.contains(m)) {
        return b.unknown(raw);
    }
    let i = b.inst(raw, Class::Other, Taint::Nothing, nothing)?;
    b.emit(i);
    Ok(())
}

fn lower_bra<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    if !matches!(mods, [] | ["uni"]) {
        return b.unknown(raw);
    }
    let [Operand::Name(label, 0)] = raw.operands.as_slice() else { return b.bad(raw, "a label is needed") };
    let mut i = b.inst(raw, Class::Branch, Taint::Nothing, nothing)?;
    i.flow = Flow::Branch;
    i.target = b.label(raw, label)?;
    b.emit(i);
    Ok(())
}

fn lower_brx<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    if !matches!(mods, ["idx"] | ["idx", "uni"]) {
        return b.unknown(raw);
    }
    let [index, Operand::Name(list, 0)] = raw.operands.as_slice() else {
        return b.bad(raw, "an index and the label of `.branchtargets` are needed");
    };
    let Some(names) = b.targets.get(list).cloned() else {
        return b.bad(raw, format!("no `.branchtargets` is called `{list}`"));
    };
    let mut labels = Vec::new();
    for n in names {
        labels.push(b.label(raw, n)?);
    }
    let mut i = b.inst(raw, Class::Branch, Taint::Compute, nothing)?;
    i.flow = Flow::Indexed;
    i.a = b.src(raw, index, File::R32, Ty::U32)?;
    i.list = b.target_list(labels);
    b.emit(i);
    Ok(())
}

fn lower_end<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    if !matches!(mods, [] | ["uni"]) || !raw.operands.is_empty() {
        return b.unknown(raw);
    }
    let mut i = b.inst(raw, Class::Branch, Taint::Nothing, nothing)?;
    i.flow = if raw.name.starts_with("exit") { Flow::Exit } else { Flow::Return };
    b.emit(i);
    Ok(())
}

/// The variables a call passes, as places in the caller's frame.
fn passed<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, list: &[Operand<'a>]) -> Result<Vec<(u32, u32)>, LoadError> {
    let mut out = Vec::new();
    for op in list {
        match op {
            Operand::Name("_", 0) => {}
            Operand::Name(name, 0) => match b.resolve(name, raw.line)? {
                Some(Sym::Frame(at, bytes)) => out.push((at, bytes)),
                _ => {
                    return b.bad(
                        raw,
                        format!("`{name}` is not a `.param` variable; registers as arguments are not supported"),
                    );
                }
            },
            _ => return b.bad(raw, "an argument must be a `.param` variable"),
        }
    }
    Ok(out)
}

fn lower_call<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    if !matches!(mods, [] | ["uni"]) {
        return b.unknown(raw);
    }
    let mut ops = raw.operands.as_slice();
    let mut results = Vec::new();
    if let [Operand::List(l), rest @ ..] = ops {
        results = passed(b, raw, l)?;
        ops = rest;
    }
    let [Operand::Name(name, 0), rest @ ..] = ops else { return b.bad(raw, "a function or a register is needed") };
    let (args, proto) = match rest {
        [Operand::List(l), rest @ ..] => (passed(b, raw, l)?, rest.first()),
        rest => (Vec::new(), rest.first()),
    };
    let mut i = b.inst(raw, Class::Call, Taint::Own, nothing)?;
    i.flow = Flow::Call;
    let callee = match b.resolve(name, raw.line)? {
        Some(Sym::Global(Global::Func(f))) => {
            check_call(b, raw, f, &args, &results)?;
            if !b.calls.contains(&f) {
                b.calls.push(f);
            }
            Callee::Function(f)
        }
        Some(Sym::Reg(r)) if r.file == File::R64 => {
            if proto.is_none() {
                return b.bad(raw, "a call through a register needs a prototype");
            }
            i.a = r;
            b.calls_through_register = true;
            Callee::Register
        }
        _ => return Err(LoadError::Symbol { line: raw.line, what: "no function", name: (*name).into() }),
    };
    i.x = b.l.prog.calls.len() as u32;
    b.l.prog.calls.push(CallSite { callee, args, results });
    b.emit(i);
    Ok(())
}

fn check_call<'a>(
    b: &Body<'_, 'a>,
    raw: &RawInst<'a>,
    f: u32,
    args: &[(u32, u32)],
    results: &[(u32, u32)],
) -> Result<(), LoadError> {
    let func = &b.l.prog.funcs[f as usize];
    let same = |p: &[crate::program::Param], a: &[(u32, u32)]| {
        p.len() == a.len() && p.iter().zip(a).all(|(p, a)| p.bytes == a.1)
    };
    if func.entry {
        return b.bad(raw, "a kernel cannot be called");
    }
    if !same(&func.params, args) || !(same(&func.results, results) || results.is_empty()) {
        return b.bad(raw, format!("the arguments or results do not fit `{}`", func.name));
    }
    Ok(())
}

fn lower_bar<'a>(b: &mut Body<'_, 'a>, raw: &RawInst<'a>, mods: &[&str]) -> Result<(), LoadError> {
    if mods == ["warp", "sync"] {
        let [mask] = raw.operands.as_slice() else { return b.bad(raw, "a mask is needed") };
        let mut i = b.inst(raw, Class::Barrier, Taint::Compute, warp_barrier)?;
        i.flow = Flow::Warp;
        i.e = b.src(raw, mask, File::R32, Ty::B32)?;
        i.target = i.name;
        b.emit(i);
        return Ok(());
    }
    let mods: Vec<&str> = mods.iter().copied().filter(|m| *m != "cta" && *m != "aligned").collect();
    let kind = match mods.as_slice() {
        ["sync"] => BAR_SYNC,
        ["arrive"] => BAR_ARRIVE,
        ["red", "popc", "u32"] => BAR_POPC,
        ["red", "and", "pred"] => BAR_AND,
        ["red", "or", "pred"] => BAR_OR,
        _ => return b.unknown(raw),
    };
    let mut i = b.inst(raw, Class::Barrier, Taint::Compute, nothing)?;
    i.flow = Flow::Barrier;
    i.x = kind;
    let mut ops = raw.operands.as_slice();
    if kind >= BAR_POPC {
        let ([d, rest @ .., p], file) = (ops, if kind == BAR_POPC { File::R32 } else { File::Pred }) else {
            return b.bad(raw, "a result, a barrier and a predicate are needed");
        };
        i.d = b.dst(raw, d, file)?;
        i.c = b.src(raw, p, File::Pred, Ty::Pred)?;
        ops = rest;
    }
    let (a, n) = match ops {
        [a] => (a, None),
        [a, n] => (a, Some(n)),
        _ => return b.bad(raw, "a barrier's number, and perhaps a count of threads, are needed"),
    };
    i.a = b.src(raw, a, File::R32, Ty::U32)?;
    i.b = match n {
        Some(n) => b.src(raw, n, File::R32, Ty::U32)?,
        None => Reg::SINK,
    };
    if kind == BAR_ARRIVE && n.is_none() {
        return b.bad(raw, "`arrive` needs a count of threads");
    }
    b.emit(i);
    Ok(())
}

fn warp_barrier(x: &mut Exec<'_>, _: &Inst) -> Done {
    if x.env.races {
        x.sh.races.warp_barrier(x.w.index as usize, x.mask, x.w.exists);
    }
    Ok(())
}
