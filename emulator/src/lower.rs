//! From the parsed module to the decoded one: symbols, variables, initial values, and each function through [`Body`].

use std::collections::HashMap;

use crate::ast::*;
use crate::error::LoadError;
use crate::lower_body::Body;
use crate::program::*;

/// Limit on the initialized or zeroed storage of a module's variables.
const MAX_GLOBAL: u64 = 1 << 30;
/// Limit on a function's frame and on shared variables.
pub(crate) const MAX_FRAME: u64 = 1 << 24;

/// What a name of the module stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Global {
    Var(u32),
    Shared(u32),
    Func(u32),
}

/// The module while it is lowered.
pub(crate) struct Lowering<'a> {
    pub prog: Program,
    pub symbols: HashMap<&'a str, Global>,
    names: HashMap<String, u32>,
    locs: HashMap<(Loc, Option<Loc>), u32>,
    global_bytes: u64,
}

/// Lowers a module.
pub(crate) fn lower(m: &Module<'_>) -> Result<Program, LoadError> {
    let mut l = Lowering {
        prog: Program {
            code: Vec::new(),
            lists: Vec::new(),
            targets: Vec::new(),
            funcs: Vec::new(),
            globals: Vec::new(),
            shared: Vec::new(),
            calls: Vec::new(),
            locs: Vec::new(),
            files: m.files.iter().map(|(k, v)| (*k, (*v).to_owned())).collect(),
            names: Vec::new(),
        },
        symbols: HashMap::new(),
        names: HashMap::new(),
        locs: HashMap::new(),
        global_bytes: 0,
    };
    for v in &m.vars {
        l.declare(v)?;
    }
    for f in &m.functions {
        l.declare_function(f)?;
    }
    for v in &m.vars {
        l.initialize(v)?;
    }
    for f in &m.functions {
        if let (Some(body), Some(&Global::Func(n))) = (&f.body, l.symbols.get(f.name)) {
            Body::lower(&mut l, f, n, body)?;
        }
    }
    Ok(l.prog)
}

impl<'a> Lowering<'a> {
    pub(crate) fn name(&mut self, n: &str) -> u32 {
        if let Some(&k) = self.names.get(n) {
            return k;
        }
        let k = self.prog.names.len() as u32;
        self.prog.names.push(n.to_owned());
        self.names.insert(n.to_owned(), k);
        k
    }

    pub(crate) fn loc(&mut self, l: Option<(Loc, Option<Loc>)>) -> u32 {
        let Some(l) = l else { return NONE };
        if let Some(&k) = self.locs.get(&l) {
            return k;
        }
        let k = self.prog.locs.len() as u32;
        self.prog.locs.push(l);
        self.locs.insert(l, k);
        k
    }

    /// Gives a module-scope variable, or one of a function, its place.
    pub(crate) fn variable(&mut self, v: &Var<'a>) -> Result<Global, LoadError> {
        let bytes = v.count.unwrap_or(0).saturating_mul(u64::from(v.ty.bytes()));
        if v.space == Space::Shared {
            if bytes > MAX_FRAME {
                return Err(LoadError::TooLarge { line: v.line, what: "a shared variable", limit: MAX_FRAME });
            }
            self.prog.shared.push(SharedVar {
                name: v.name.to_owned(),
                bytes: bytes as u32,
                align: v.align,
                dynamic: v.count.is_none(),
            });
            return Ok(Global::Shared(self.prog.shared.len() as u32 - 1));
        }
        let external = v.external || v.count.is_none();
        if !external {
            self.global_bytes = self.global_bytes.saturating_add(bytes);
        }
        if self.global_bytes > MAX_GLOBAL {
            return Err(LoadError::TooLarge { line: v.line, what: "the storage of variables", limit: MAX_GLOBAL });
        }
        self.prog.globals.push(GlobalVar {
            name: v.name.to_owned(),
            bytes,
            writable: v.space == Space::Global,
            external,
            init: Vec::new(),
            relocs: Vec::new(),
        });
        Ok(Global::Var(self.prog.globals.len() as u32 - 1))
    }

    fn declare(&mut self, v: &Var<'a>) -> Result<(), LoadError> {
        let known = self.symbols.get(v.name).copied();
        if let Some(Global::Var(n)) = known {
            // A declaration and its definition are one variable.
            let g = &mut self.prog.globals[n as usize];
            if v.external {
                return Ok(());
            }
            if g.external {
                g.external = false;
                g.bytes = v.count.unwrap_or(0).saturating_mul(u64::from(v.ty.bytes()));
                self.global_bytes = self.global_bytes.saturating_add(g.bytes);
                if self.global_bytes > MAX_GLOBAL {
                    return Err(LoadError::TooLarge {
                        line: v.line,
                        what: "the storage of variables",
                        limit: MAX_GLOBAL,
                    });
                }
                return Ok(());
            }
        }
        if known.is_some() {
            return Err(LoadError::Symbol { line: v.line, what: "declared twice:", name: v.name.into() });
        }
        let g = self.variable(v)?;
        self.symbols.insert(v.name, g);
        Ok(())
    }

    fn declare_function(&mut self, f: &Function<'a>) -> Result<(), LoadError> {
        if let Some(&g) = self.symbols.get(f.name) {
            let twice = LoadError::Symbol { line: f.line, what: "declared twice:", name: f.name.into() };
            let Global::Func(n) = g else { return Err(twice) };
            let defined = self.prog.funcs[n as usize].start == 0;
            if f.body.is_some() {
                if defined {
                    return Err(twice);
                }
                self.prog.funcs[n as usize] = signature(f)?;
            }
            return Ok(());
        }
        self.symbols.insert(f.name, Global::Func(self.prog.funcs.len() as u32));
        self.prog.funcs.push(signature(f)?);
        Ok(())
    }

    /// Bytes and addresses of an initial value.
    fn initialize(&mut self, v: &Var<'a>) -> Result<(), LoadError> {
        let Some(&Global::Var(n)) = self.symbols.get(v.name) else {
            return if v.init.is_empty() {
                Ok(())
            } else {
                Err(LoadError::Symbol {
                    line: v.line,
                    what: "shared memory has no initial value:",
                    name: v.name.into(),
                })
            };
        };
        let size = v.ty.bytes() as usize;
        let (mut init, mut relocs) = (Vec::new(), Vec::new());
        for item in &v.init {
            let at = init.len() as u64;
            let (name, off, mask) = match item {
                Init::Imm(imm) => {
                    init.extend_from_slice(&imm_bits(*imm, v.ty).to_le_bytes()[..size.min(8)]);
                    init.resize(at as usize + size, 0);
                    continue;
                }
                Init::Address(name, off) => (*name, *off, 0),
                Init::AddressByte(name, off, mask) => (*name, *off, *mask),
            };
            init.resize(at as usize + size, 0);
            let value = match self.symbols.get(name) {
                Some(&Global::Var(g)) => Const::Global(g, off),
                Some(&Global::Func(f)) => Const::Function(f),
                _ => {
                    return Err(LoadError::Symbol { line: v.line, what: "no variable or function", name: name.into() });
                }
            };
            let shift = if mask == 0 { 0 } else { mask.trailing_zeros() & !7 };
            relocs.push(Reloc { at, bytes: (size as u32).min(8), shift, value });
        }
        let g = &mut self.prog.globals[n as usize];
        if init.len() as u64 > g.bytes {
            return Err(LoadError::Symbol {
                line: v.line,
                what: "more initial values than elements:",
                name: v.name.into(),
            });
        }
        g.init = init;
        g.relocs = relocs;
        Ok(())
    }
}

/// The bits a literal has as a value of a type.
pub(crate) fn imm_bits(i: Imm, ty: Ty) -> u64 {
    match (i, ty) {
        (Imm::Int(v), _) if !ty.float() => v,
        (Imm::Int(v), Ty::F64) => (v as i64 as f64).to_bits(),
        (Imm::Int(v), Ty::F32) => u64::from((v as i64 as f32).to_bits()),
        (Imm::Int(v), _) => v,
        (Imm::F32(b), Ty::F64 | Ty::B64) => f64::from(f32::from_bits(b)).to_bits(),
        (Imm::F32(b), _) => u64::from(b),
        (Imm::F64(b), Ty::F32 | Ty::B32) => u64::from((f64::from_bits(b) as f32).to_bits()),
        (Imm::F64(b), _) => b,
    }
}

fn layout(vars: &[Var<'_>], mut at: u64) -> Result<(Vec<Param>, u64), LoadError> {
    let mut out = Vec::new();
    for v in vars {
        let bytes = v.count.unwrap_or(0).saturating_mul(u64::from(v.ty.bytes()));
        if bytes > MAX_FRAME || at > MAX_FRAME {
            return Err(LoadError::TooLarge { line: v.line, what: "a parameter", limit: MAX_FRAME });
        }
        at = at.next_multiple_of(u64::from(v.align.max(1)));
        out.push(Param { ty: v.ty, bytes: bytes as u32, array: v.array, pointer: v.pointer, offset: at as u32 });
        at += bytes;
    }
    Ok((out, at))
}

fn signature(f: &Function<'_>) -> Result<Func, LoadError> {
    // Parameters of device functions live in the frame, in whole words.
    let words = |vars: &[Var<'_>], at| {
        let vars: Vec<Var<'_>> = vars.iter().cloned().map(|v| Var { align: v.align.max(4), ..v }).collect();
        layout(&vars, at)
    };
    let (params, mid) = if f.entry { layout(&f.params, 0)? } else { words(&f.params, 0)? };
    let (results, end) = words(&f.results, mid.next_multiple_of(4))?;
    let formal = if f.entry { 0 } else { end.next_multiple_of(8) };
    Ok(Func {
        name: f.name.to_owned(),
        entry: f.entry,
        start: if f.body.is_some() { 0 } else { NONE },
        params,
        results,
        param_bytes: mid as u32,
        regs32: 0,
        regs64: 0,
        preds: 0,
        frame_bytes: formal as u32,
        formal_bytes: formal as u32,
        consts: Vec::new(),
        shared: Vec::new(),
        calls: Vec::new(),
        calls_through_register: false,
        max_threads: f.max_threads,
    })
}
