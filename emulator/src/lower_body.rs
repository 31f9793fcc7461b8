//! A function's body, lowered: scopes and registers, operands, constants, blocks in their order.

use std::collections::HashMap;

use crate::ast::*;
use crate::error::LoadError;
use crate::lower::{Global, Lowering, MAX_FRAME, imm_bits};
use crate::program::*;
use crate::table::{self, Class, Taint};

/// Registers a function may use.
const MAX_REGS: u32 = 1 << 18;

type Res<T> = Result<T, LoadError>;

/// What a name of the function stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sym {
    Reg(Reg),
    /// A variable or parameter in the frame.
    Frame(u32, u32),
    KernelParam(u32),
    Global(Global),
}

/// Names declared between two braces.
#[derive(Default)]
struct Scope<'a> {
    id: u32,
    names: HashMap<&'a str, Sym>,
    /// `%r<9>`: prefix, count, file.
    ranges: Vec<(&'a str, u32, File)>,
    frame_top: u32,
}

/// Where an address operand points.
pub(crate) struct Address {
    pub base: Reg,
    pub offset: i64,
    /// The parameter of the kernel it names, by its offset.
    pub kernel_param: bool,
    /// It names a variable or parameter of the frame.
    pub frame: bool,
}

/// A function's body while it is lowered.
pub(crate) struct Body<'m, 'a> {
    pub l: &'m mut Lowering<'a>,
    index: u32,
    scopes: Vec<Scope<'a>>,
    labels: HashMap<(u32, &'a str), u32>,
    label_at: Vec<Option<u32>>,
    pub prototypes: HashMap<&'a str, (Vec<Var<'a>>, Vec<Var<'a>>)>,
    pub targets: HashMap<&'a str, Vec<&'a str>>,
    target_labels: Vec<u32>,
    code: Vec<Inst>,
    consts: HashMap<(File, Const), Reg>,
    regs: [u32; 3],
    frame_top: u32,
    frame_max: u32,
    loc: Option<(Loc, Option<Loc>)>,
    pub shared: Vec<u32>,
    pub calls: Vec<u32>,
    pub calls_through_register: bool,
}

impl<'m, 'a> Body<'m, 'a> {
    /// Lowers function `index`.
    pub(crate) fn lower(l: &'m mut Lowering<'a>, f: &Function<'a>, index: u32, body: &[Stmt<'a>]) -> Res<()> {
        let formal = l.prog.funcs[index as usize].formal_bytes;
        let mut b = Body {
            index,
            scopes: vec![Scope { frame_top: formal, ..Scope::default() }],
            labels: HashMap::new(),
            label_at: Vec::new(),
            prototypes: HashMap::new(),
            targets: HashMap::new(),
            target_labels: Vec::new(),
            code: Vec::new(),
            consts: HashMap::new(),
            regs: [0; 3],
            frame_top: formal,
            frame_max: formal,
            loc: None,
            shared: Vec::new(),
            calls: Vec::new(),
            calls_through_register: false,
            l,
        };
        b.formals(f);
        b.scan(body)?;
        b.statements(body)?;
        b.finish(f.line)
    }

    fn formals(&mut self, f: &Function<'a>) {
        let func = &self.l.prog.funcs[self.index as usize];
        let formal = f.params.iter().zip(&func.params).chain(f.results.iter().zip(&func.results));
        for (v, p) in formal {
            let sym = if f.entry { Sym::KernelParam(p.offset) } else { Sym::Frame(p.offset, p.bytes) };
            self.scopes[0].names.insert(v.name, sym);
        }
    }

    /// Finds labels, branch-target lists and prototypes, which may stand after their use.
    fn scan(&mut self, body: &[Stmt<'a>]) -> Res<()> {
        let mut open = vec![0u32];
        let mut next = 0;
        for s in body {
            match s {
                Stmt::Open => {
                    next += 1;
                    open.push(next);
                }
                Stmt::Close => {
                    open.pop();
                }
                Stmt::Label(name, line) => {
                    let scope = open.last().copied().unwrap_or(0);
                    let id = self.label_at.len() as u32;
                    self.label_at.push(None);
                    if self.labels.insert((scope, name), id).is_some() {
                        return Err(LoadError::Symbol {
                            line: *line,
                            what: "label defined twice:",
                            name: (*name).into(),
                        });
                    }
                }
                Stmt::BranchTargets(name, targets, _) => {
                    self.targets.insert(name, targets.clone());
                }
                Stmt::Prototype(name, results, params, _) => {
                    self.prototypes.insert(name, (results.clone(), params.clone()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn statements(&mut self, body: &[Stmt<'a>]) -> Res<()> {
        let mut next = 0;
        for s in body {
            match s {
                Stmt::Open => {
                    next += 1;
                    self.scopes.push(Scope { id: next, frame_top: self.frame_top, ..Scope::default() });
                }
                Stmt::Close => {
                    if self.scopes.len() > 1
                        && let Some(s) = self.scopes.pop()
                    {
                        self.frame_top = s.frame_top;
                    }
                }
                Stmt::Label(name, _) => {
                    if let Some(id) = self.find_label(name) {
                        self.label_at[id as usize] = Some(self.code.len() as u32);
                    }
                }
                Stmt::Reg(ty, names, line) => self.declare_registers(*ty, names, *line)?,
                Stmt::Var(v) => self.declare_variable(v)?,
                Stmt::Loc(l, outer) => self.loc = if l.line == 0 { self.loc } else { Some((*l, *outer)) },
                Stmt::BranchTargets(..) | Stmt::Prototype(..) => {}
                Stmt::Inst(raw) => self.instruction(raw)?,
            }
        }
        Ok(())
    }

    fn declare_registers(&mut self, ty: Ty, names: &[(&'a str, Option<u32>)], line: u32) -> Res<()> {
        let Some(file) = File::of(ty) else {
            return Err(LoadError::syntax(line, "registers of 128 bits are not supported".into()));
        };
        for &(name, count) in names {
            match count {
                Some(n) => {
                    if let Some(s) = self.scopes.last_mut() {
                        s.ranges.push((name, n, file));
                    }
                }
                None => {
                    let r = self.temp(file, line)?;
                    self.bind(name, Sym::Reg(r));
                }
            }
        }
        Ok(())
    }

    fn bind(&mut self, name: &'a str, sym: Sym) {
        if let Some(s) = self.scopes.last_mut() {
            s.names.insert(name, sym);
        }
    }

    fn declare_variable(&mut self, v: &Var<'a>) -> Res<()> {
        if !matches!(v.space, Space::Local | Space::Param) {
            let g = self.l.variable(v)?;
            self.bind(v.name, Sym::Global(g));
            return Ok(());
        }
        let bytes = v.count.unwrap_or(0).saturating_mul(u64::from(v.ty.bytes()));
        let at = u64::from(self.frame_top).next_multiple_of(u64::from(v.align.max(4)));
        let end = at.saturating_add(bytes).next_multiple_of(4);
        if end > MAX_FRAME {
            return Err(LoadError::TooLarge { line: v.line, what: "a function's frame", limit: MAX_FRAME });
        }
        self.frame_top = end as u32;
        self.frame_max = self.frame_max.max(self.frame_top);
        self.bind(v.name, Sym::Frame(at as u32, bytes as u32));
        Ok(())
    }

    /// A fresh register.
    pub(crate) fn temp(&mut self, file: File, line: u32) -> Res<Reg> {
        let slot = match file {
            File::R16 | File::R32 => 0,
            File::R64 => 1,
            File::Pred | File::None => 2,
        };
        if self.regs[slot] >= MAX_REGS {
            return Err(LoadError::TooLarge {
                line,
                what: "a function's number of registers",
                limit: u64::from(MAX_REGS),
            });
        }
        self.regs[slot] += 1;
        Ok(Reg { file, index: self.regs[slot] - 1 })
    }

    /// The register that holds a constant.
    pub(crate) fn constant(&mut self, file: File, c: Const, line: u32) -> Res<Reg> {
        if let Some(&r) = self.consts.get(&(file, c)) {
            return Ok(r);
        }
        let r = self.temp(file, line)?;
        self.consts.insert((file, c), r);
        Ok(r)
    }

    /// What a name stands for.
    pub(crate) fn resolve(&mut self, name: &'a str, line: u32) -> Res<Option<Sym>> {
        for k in (0..self.scopes.len()).rev() {
            if let Some(&s) = self.scopes[k].names.get(name) {
                return Ok(Some(s));
            }
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let number: Option<u32> = name[stem.len()..].parse().ok();
            let hit = self.scopes[k].ranges.iter().find(|r| r.0 == stem && number.is_some_and(|n| n < r.1));
            if let Some(&(_, _, file)) = hit {
                let r = self.temp(file, line)?;
                self.scopes[k].names.insert(name, Sym::Reg(r));
                return Ok(Some(Sym::Reg(r)));
            }
        }
        Ok(self.l.symbols.get(name).map(|&g| Sym::Global(g)))
    }

    fn find_label(&self, name: &str) -> Option<u32> {
        self.scopes.iter().rev().find_map(|s| self.labels.get(&(s.id, name)).copied())
    }

    /// The label a branch names.
    pub(crate) fn label(&self, raw: &RawInst<'_>, name: &str) -> Res<u32> {
        self.find_label(name).ok_or_else(|| LoadError::Symbol { line: raw.line, what: "no label", name: name.into() })
    }

    /// Puts branch targets behind one another; gives where.
    pub(crate) fn target_list(&mut self, labels: Vec<u32>) -> (u32, u32) {
        let at = self.target_labels.len() as u32;
        let n = labels.len() as u32;
        self.target_labels.extend(labels);
        (at, n)
    }

    /// An error about an operand.
    pub(crate) fn bad<T>(&self, raw: &RawInst<'_>, what: impl Into<String>) -> Res<T> {
        Err(LoadError::Operand { line: raw.line, name: raw.name.into(), what: what.into() })
    }

    /// The error for a form that is not known.
    pub(crate) fn unknown<T>(&self, raw: &RawInst<'_>) -> Res<T> {
        Err(LoadError::UnknownInstruction { line: raw.line, name: raw.name.into() })
    }

    /// An operand that must be a register, of any file; `_` is the register that nothing reads.
    pub(crate) fn register(&mut self, raw: &RawInst<'a>, op: &Operand<'a>) -> Res<Reg> {
        let Operand::Name(name, 0) = op else { return self.bad(raw, "this operand must be a register") };
        if *name == "_" {
            return Ok(Reg::SINK);
        }
        match self.resolve(name, raw.line)? {
            Some(Sym::Reg(r)) => Ok(r),
            Some(_) => self.bad(raw, format!("`{name}` is not a register")),
            None => Err(LoadError::Symbol { line: raw.line, what: "no register", name: (*name).into() }),
        }
    }

    /// A register of a given file.
    pub(crate) fn dst(&mut self, raw: &RawInst<'a>, op: &Operand<'a>, file: File) -> Res<Reg> {
        let r = self.register(raw, op)?;
        if r.file != file && r.file != File::None {
            return self.bad(raw, format!("a register of {} is needed, this one has {}", width(file), width(r.file)));
        }
        Ok(r)
    }

    /// An operand that is read: a register of the file, a literal of the type, the address of a variable, or a special
    /// register.
    pub(crate) fn src(&mut self, raw: &RawInst<'a>, op: &Operand<'a>, file: File, ty: Ty) -> Res<Reg> {
        match op {
            Operand::Imm(i) => {
                let bits = imm_bits(*i, ty);
                let bits = match file {
                    File::R16 => bits & 0xffff,
                    File::R32 => bits & 0xffff_ffff,
                    File::Pred => u64::from(bits != 0),
                    _ => bits,
                };
                self.constant(file, Const::Bits(bits), raw.line)
            }
            Operand::Not(p) if file == File::Pred => {
                let a = self.dst(raw, &Operand::Name(p, 0), File::Pred)?;
                let d = self.temp(File::Pred, raw.line)?;
                let mut i = self.inst(raw, Class::Integer, Taint::Nothing, crate::ops_select::not_pred)?;
                (i.d, i.a) = (d, a);
                self.emit(i);
                Ok(d)
            }
            Operand::Name(name, off) => self.named_src(raw, name, *off, file),
            _ => self.bad(raw, "this operand must be a register or a literal"),
        }
    }

    fn named_src(&mut self, raw: &RawInst<'a>, name: &'a str, off: i64, file: File) -> Res<Reg> {
        if name == "WARP_SZ" {
            return self.constant(file, Const::Bits(32), raw.line);
        }
        if let Some(special) = crate::special::find(name) {
            let d = self.temp(special.file(), raw.line)?;
            let mut i = self.inst(raw, Class::Move, Taint::Nothing, crate::special::read)?;
            i.d = d;
            i.x = special as u32;
            self.emit(i);
            return if d.file == file { Ok(d) } else { self.bad(raw, format!("`{name}` has {}", width(d.file))) };
        }
        let c = match self.resolve(name, raw.line)? {
            Some(Sym::Reg(r)) if off == 0 => {
                if r.file != file {
                    let (want, has) = (width(file), width(r.file));
                    return self.bad(raw, format!("an operand of {want} is needed, `{name}` has {has}"));
                }
                return Ok(r);
            }
            Some(Sym::Reg(_)) => return self.bad(raw, "an offset behind a register stands for nothing here"),
            Some(s) => self.symbol(s, off),
            None => return Err(LoadError::Symbol { line: raw.line, what: "nothing is called", name: name.into() }),
        };
        if !matches!(file, File::R32 | File::R64) {
            return self.bad(raw, format!("the address of `{name}` does not fit {}", width(file)));
        }
        self.constant(file, c, raw.line)
    }

    /// The constant that is the address of a symbol.
    pub(crate) fn symbol(&mut self, s: Sym, off: i64) -> Const {
        match s {
            Sym::Frame(at, _) => Const::Local(i64::from(at) + off),
            Sym::KernelParam(at) => Const::KernelParam(i64::from(at) + off),
            Sym::Global(Global::Var(g)) => Const::Global(g, off),
            Sym::Global(Global::Shared(v)) => {
                if !self.shared.contains(&v) {
                    self.shared.push(v);
                }
                Const::Shared(v, off)
            }
            Sym::Global(Global::Func(f)) => {
                if !self.calls.contains(&f) {
                    self.calls.push(f);
                }
                Const::Function(f)
            }
            Sym::Reg(_) => Const::Bits(0),
        }
    }

    /// `[base+offset]`.
    pub(crate) fn address(&mut self, raw: &RawInst<'a>, op: &Operand<'a>) -> Res<Address> {
        let Operand::Address(inner) = op else { return self.bad(raw, "this operand must be an address in brackets") };
        let plain = |base, offset| Address { base, offset, kernel_param: false, frame: false };
        match &**inner {
            Operand::Imm(Imm::Int(v)) => Ok(plain(Reg::SINK, *v as i64)),
            Operand::Name(name, off) => match self.resolve(name, raw.line)? {
                Some(Sym::Reg(r)) if matches!(r.file, File::R32 | File::R64) => Ok(plain(r, *off)),
                Some(Sym::Reg(_)) => self.bad(raw, "an address must be in a register of 32 or 64 bits"),
                Some(Sym::KernelParam(at)) => {
                    Ok(Address { kernel_param: true, ..plain(Reg::SINK, i64::from(at) + off) })
                }
                Some(Sym::Frame(at, _)) => {
                    let base = self.constant(File::R64, Const::Local(0), raw.line)?;
                    Ok(Address { frame: true, ..plain(base, i64::from(at) + off) })
                }
                Some(s) => {
                    let c = self.symbol(s, 0);
                    Ok(plain(self.constant(File::R64, c, raw.line)?, *off))
                }
                None => Err(LoadError::Symbol { line: raw.line, what: "nothing is called", name: (*name).into() }),
            },
            _ => self.bad(raw, "this address is of a form that is not supported"),
        }
    }

    /// Puts registers behind one another; gives where.
    pub(crate) fn list(&mut self, regs: &[Reg]) -> (u32, u32) {
        let at = self.l.prog.lists.len() as u32;
        self.l.prog.lists.extend_from_slice(regs);
        (at, regs.len() as u32)
    }

    /// An instruction with the guard, line and place of `raw`, operands to be filled in.
    pub(crate) fn inst(&mut self, raw: &RawInst<'a>, class: Class, taint: Taint, exec: ExecFn) -> Res<Inst> {
        let (guard, guard_flip) = match raw.guard {
            None => (NONE, 0),
            Some((p, not)) => {
                let r = self.dst(raw, &Operand::Name(p, 0), File::Pred)?;
                (r.index, if not { !0 } else { 0 })
            }
        };
        Ok(Inst {
            exec,
            flow: Flow::Plain,
            class,
            taint,
            size: 0,
            count: 1,
            guard,
            guard_flip,
            d: Reg::SINK,
            d2: Reg::SINK,
            a: Reg::SINK,
            b: Reg::SINK,
            c: Reg::SINK,
            e: Reg::SINK,
            x: 0,
            imm: 0,
            target: 0,
            list: (0, 0),
            flops: 0,
            line: raw.line,
            loc: self.l.loc(self.loc),
            name: self.l.name(raw.name),
        })
    }

    /// Appends an instruction.
    pub(crate) fn emit(&mut self, i: Inst) {
        self.code.push(i);
    }

    fn instruction(&mut self, raw: &RawInst<'a>) -> Res<()> {
        let before = self.code.len();
        self.lowered(raw)?;
        // What computes operands stands before the instruction itself.
        if let Some(last) = self.code[before..].last_mut() {
            last.flops = crate::flops::per_thread(raw.name, raw.operands.len());
        }
        Ok(())
    }

    fn lowered(&mut self, raw: &RawInst<'a>) -> Res<()> {
        if let Some(row) = table::row(raw.name) {
            return self.row(raw, row);
        }
        let mods: Vec<&str> = raw.name.split('.').collect();
        match mods.first().and_then(|m| table::family(m)) {
            Some(f) => (f.lower)(self, raw, &mods[1..]),
            None => self.unknown(raw),
        }
    }

    fn row(&mut self, raw: &RawInst<'a>, row: &table::Row) -> Res<()> {
        let (results, operands) = row.sig.split_once('=').unwrap_or(("", row.sig));
        let want = results.len() + operands.len();
        if raw.operands.len() != want {
            return self.bad(raw, format!("{want} operands are needed, {} are given", raw.operands.len()));
        }
        let mut i = self.inst(raw, row.class, row.taint, row.exec)?;
        let mut ops = raw.operands.iter();
        for (slot, kind) in results.chars().enumerate() {
            let Some(op) = ops.next() else { break };
            let r = self.dst(raw, op, file_of(kind))?;
            if slot == 0 { i.d = r } else { i.d2 = r }
        }
        // The literals of a row are integers except where the mnemonic ends in a float's type.
        let ty = raw.name.rsplit('.').next().and_then(Ty::parse).filter(|t| t.float()).unwrap_or(Ty::B64);
        for (slot, kind) in operands.chars().enumerate() {
            let Some(op) = ops.next() else { break };
            let r = self.src(raw, op, file_of(kind), ty)?;
            *[&mut i.a, &mut i.b, &mut i.c, &mut i.e][slot] = r;
        }
        self.emit(i);
        Ok(())
    }

    fn finish(mut self, line: u32) -> Res<()> {
        // Falling off the end returns.
        let raw = RawInst { guard: None, name: "ret", operands: Vec::new(), line };
        let mut end = self.inst(&raw, Class::Branch, Taint::Nothing, crate::ops_flow::nothing)?;
        end.flow = Flow::Return;
        self.emit(end);
        for at in &mut self.label_at {
            at.get_or_insert(self.code.len() as u32 - 1);
        }
        let start = self.l.prog.code.len() as u32;
        crate::blocks::place(&mut self.l.prog, self.code, &self.label_at, &self.target_labels);
        let f = &mut self.l.prog.funcs[self.index as usize];
        f.start = start;
        (f.regs32, f.regs64, f.preds) = (self.regs[0], self.regs[1], self.regs[2]);
        f.frame_bytes = self.frame_max.next_multiple_of(16);
        f.consts = self.consts.into_iter().map(|(k, r)| (r, k.1)).collect();
        f.shared = self.shared;
        f.calls = self.calls;
        f.calls_through_register = self.calls_through_register;
        Ok(())
    }
}

fn file_of(kind: char) -> File {
    match kind {
        'h' => File::R16,
        'd' => File::R64,
        'p' => File::Pred,
        _ => File::R32,
    }
}

fn width(f: File) -> &'static str {
    match f {
        File::None => "no value",
        File::R16 => "16 bits",
        File::R32 => "32 bits",
        File::R64 => "64 bits",
        File::Pred => "one bit (a predicate)",
    }
}
