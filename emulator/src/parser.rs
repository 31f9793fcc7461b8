//! The grammar of a PTX module: directives, variables, functions. Statements are in [`crate::parser_body`].
//!
//! It is written here because no parser on crates.io that was tried takes the modules of `tests/ptx`, from LLVM 22 and
//! nvcc 13: `ptx-ir` 0.1.1 stops at `.noreturn` and at a `.loc` with `inlined_at`, `singe-ptx` 0.1.0-alpha.7 at calls
//! with parameters, and `ptx-parser` 0.1.6 exports no function. This one accepts what those two compilers print and is
//! lenient about order; what an instruction means is checked later, against the table. It uses no recursion that the
//! text controls: operands nest at most [`MAX_NEST`] deep, blocks are flat.

use crate::ast::*;
use crate::error::LoadError;
use crate::lexer::{Lexer, Tok};

/// How deep operands may nest.
pub const MAX_NEST: u32 = 4;

/// Parses a module.
pub fn parse(text: &str) -> Result<Module<'_>, LoadError> {
    Parser { lex: Lexer::new(text) }.module()
}

pub(crate) struct Parser<'a> {
    pub(crate) lex: Lexer<'a>,
}

type Res<T> = Result<T, LoadError>;

impl<'a> Parser<'a> {
    pub(crate) fn fail<T>(&mut self, what: impl Into<String>) -> Res<T> {
        Err(LoadError::syntax(self.lex.line(), what.into()))
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Res<T> {
        let found = match self.lex.peek()? {
            Tok::Word(s) | Tok::Number(s) => format!("`{}`", s.chars().take(60).collect::<String>()),
            Tok::Str(_) => "a string".into(),
            Tok::Punct(c) => format!("`{c}`"),
            Tok::End => "the end of the text".into(),
        };
        self.fail(format!("expected {wanted}, found {found}"))
    }

    pub(crate) fn eat(&mut self, c: char) -> Res<bool> {
        let hit = self.lex.peek()? == Tok::Punct(c);
        if hit {
            self.lex.next()?;
        }
        Ok(hit)
    }

    pub(crate) fn eat_word(&mut self, w: &str) -> Res<bool> {
        let hit = self.lex.peek()? == Tok::Word(w);
        if hit {
            self.lex.next()?;
        }
        Ok(hit)
    }

    pub(crate) fn want(&mut self, c: char) -> Res<()> {
        if self.eat(c)? { Ok(()) } else { self.unexpected(&format!("`{c}`")) }
    }

    pub(crate) fn word(&mut self, wanted: &str) -> Res<&'a str> {
        match self.lex.peek()? {
            Tok::Word(s) => {
                self.lex.next()?;
                Ok(s)
            }
            _ => self.unexpected(wanted),
        }
    }

    pub(crate) fn number(&mut self, wanted: &str) -> Res<u64> {
        match self.lex.peek()? {
            Tok::Number(s) => {
                let line = self.lex.next()?.1;
                match literal(s) {
                    Some(Imm::Int(v)) => Ok(v),
                    _ => Err(LoadError::syntax(line, format!("expected {wanted}, found `{s}`"))),
                }
            }
            _ => self.unexpected(wanted),
        }
    }

    pub(crate) fn small(&mut self, wanted: &str) -> Res<u32> {
        let n = self.number(wanted)?;
        u32::try_from(n).or_else(|_| self.fail(format!("{wanted}: {n} is too large")))
    }

    pub(crate) fn immediate(&mut self) -> Res<Imm> {
        let negative = self.eat('-')?;
        match self.lex.peek()? {
            Tok::Number(s) => {
                let line = self.lex.next()?.1;
                match (literal(s), negative) {
                    (Some(v), false) => Ok(v),
                    (Some(Imm::Int(v)), true) => Ok(Imm::Int(v.wrapping_neg())),
                    (Some(Imm::F32(v)), true) => Ok(Imm::F32(v ^ 1 << 31)),
                    (Some(Imm::F64(v)), true) => Ok(Imm::F64(v ^ 1 << 63)),
                    (None, _) => Err(LoadError::syntax(line, format!("not a number: `{s}`"))),
                }
            }
            _ => self.unexpected("a number"),
        }
    }

    fn module(mut self) -> Res<Module<'a>> {
        let mut m = Module::default();
        loop {
            match self.lex.peek()? {
                Tok::End => break,
                Tok::Word(w) => self.item(w, &mut m)?,
                _ => return self.unexpected("a directive"),
            }
        }
        if m.version == (0, 0) {
            return self.fail("no `.version` directive: this is not a PTX module");
        }
        Ok(m)
    }

    fn item(&mut self, w: &'a str, m: &mut Module<'a>) -> Res<()> {
        match w {
            ".version" => {
                self.lex.next()?;
                m.version = self.version()?;
            }
            ".target" => {
                self.lex.next()?;
                m.target = self.word("a target")?;
                while self.eat(',')? {
                    self.word("a target")?;
                }
            }
            ".address_size" => {
                self.lex.next()?;
                if self.number("an address size")? != 64 {
                    return self.fail("only `.address_size 64` is supported");
                }
            }
            ".file" => {
                self.lex.next()?;
                self.file(m)?;
            }
            ".section" | ".loc" | ".pragma" => self.skip_debug(w)?,
            ".alias" => return self.fail("`.alias` is not supported"),
            // Debug sections may be followed by a label that marks their end.
            _ if w.starts_with('$') => {
                self.lex.next()?;
                self.want(':')?;
            }
            _ => self.declaration(m)?,
        }
        Ok(())
    }

    fn version(&mut self) -> Res<(u32, u32)> {
        match self.lex.next()? {
            (Tok::Number(s), line) => s
                .split_once('.')
                .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)))
                .filter(|v| *v != (0, 0))
                .ok_or_else(|| LoadError::syntax(line, format!("not a version: `{s}`"))),
            (_, line) => Err(LoadError::syntax(line, "expected a version such as 7.8".into())),
        }
    }

    fn file(&mut self, m: &mut Module<'a>) -> Res<()> {
        let n = self.small("a file number")?;
        let Tok::Str(name) = self.lex.peek()? else { return self.unexpected("a file name") };
        self.lex.next()?;
        m.files.insert(n, name);
        while self.eat(',')? {
            self.number("a time or size")?;
        }
        Ok(())
    }

    /// Skips a `.section` with its braces, or a directive that ends with its line.
    fn skip_debug(&mut self, w: &str) -> Res<()> {
        let line = self.lex.line();
        self.lex.next()?;
        if w != ".section" {
            while self.lex.line() == line && self.lex.peek()? != Tok::End {
                self.lex.next()?;
            }
            return Ok(());
        }
        while !self.eat('{')? {
            if self.lex.next()?.0 == Tok::End {
                return self.unexpected("`{`");
            }
        }
        let mut depth = 1u32;
        while depth > 0 {
            match self.lex.next()?.0 {
                Tok::Punct('{') => depth += 1,
                Tok::Punct('}') => depth -= 1,
                Tok::End => return self.unexpected("`}`"),
                _ => {}
            }
        }
        Ok(())
    }

    fn declaration(&mut self, m: &mut Module<'a>) -> Res<()> {
        let mut external = false;
        loop {
            let line = self.lex.line();
            match self.lex.peek()? {
                Tok::Word(".extern") => external = true,
                Tok::Word(".visible" | ".weak" | ".common") => {}
                Tok::Word(".entry") => {
                    self.lex.next()?;
                    let f = self.function(true, line)?;
                    m.functions.push(f);
                    return Ok(());
                }
                Tok::Word(".func") => {
                    self.lex.next()?;
                    let f = self.function(false, line)?;
                    m.functions.push(f);
                    return Ok(());
                }
                Tok::Word(w @ (".global" | ".const" | ".shared")) => {
                    self.lex.next()?;
                    return self.variables(w, line, external, &mut m.vars);
                }
                Tok::Word(w) => return self.fail(format!("the directive `{w}` is not supported")),
                _ => return self.unexpected("a declaration"),
            }
            self.lex.next()?;
        }
    }

    /// `.space [.align n] .type name[n] = init, name…;`
    pub(crate) fn variables(&mut self, space: &str, line: u32, external: bool, out: &mut Vec<Var<'a>>) -> Res<()> {
        let mut v = self.var_head(space, line)?;
        loop {
            let mut one = v.clone();
            one.external = external;
            self.var_name(&mut one)?;
            if self.eat('=')? {
                self.initializer(&mut one.init)?;
            }
            if one.array && one.count.is_none() && !one.init.is_empty() {
                one.count = Some(one.init.len() as u64);
            }
            out.push(one);
            if !self.eat(',')? {
                break;
            }
            v.line = self.lex.line();
        }
        self.want(';')
    }

    fn var_head(&mut self, space: &str, line: u32) -> Res<Var<'a>> {
        let space = match space {
            ".global" => Space::Global,
            ".const" => Space::Const,
            ".shared" | ".shared::cta" => Space::Shared,
            ".local" => Space::Local,
            ".param" => Space::Param,
            ".reg" => Space::Generic,
            w => return Err(LoadError::syntax(line, format!("`{w}` is not a state space"))),
        };
        let mut v = Var {
            name: "",
            space,
            ty: Ty::B8,
            align: 0,
            count: Some(1),
            array: false,
            pointer: false,
            external: false,
            init: Vec::new(),
            line,
        };
        loop {
            let w = self.word("a type")?;
            match w {
                ".align" => v.align = self.alignment()?,
                ".ptr" => v.pointer = true,
                ".global" | ".const" | ".shared" | ".local" | ".param" | ".generic" if v.pointer => {}
                ".attribute" => return self.fail("`.attribute` is not supported"),
                ".v2" | ".v4" => v.count = Some(if w == ".v2" { 2 } else { 4 }),
                _ => match w.strip_prefix('.').and_then(Ty::parse) {
                    Some(ty) => {
                        v.ty = ty;
                        break;
                    }
                    None => return Err(LoadError::syntax(line, format!("`{w}` is not a type"))),
                },
            }
        }
        // A parameter's `.ptr` attributes stand after the type.
        while v.space == Space::Param && matches!(self.lex.peek()?, Tok::Word(w) if w.starts_with('.')) {
            match self.word("an attribute")? {
                ".ptr" => v.pointer = true,
                ".align" => {
                    self.alignment()?;
                }
                ".global" | ".const" | ".shared" | ".local" | ".generic" => {}
                w => return self.fail(format!("`{w}` is not an attribute of a parameter")),
            }
        }
        let vector = v.count.unwrap_or(1);
        v.align = v.align.max(if v.align == 0 { v.ty.bytes() * vector as u32 } else { 1 });
        Ok(v)
    }

    fn alignment(&mut self) -> Res<u32> {
        let a = self.small("an alignment")?;
        if !a.is_power_of_two() || a > 1 << 16 {
            return self.fail(format!("not an alignment: {a}"));
        }
        Ok(a)
    }

    fn var_name(&mut self, v: &mut Var<'a>) -> Res<()> {
        v.line = self.lex.line();
        v.name = self.word("a name")?;
        while self.eat('[')? {
            v.array = true;
            if self.eat(']')? {
                v.count = None;
                continue;
            }
            let n = self.number("an array size")?;
            self.want(']')?;
            v.count = match v.count.and_then(|c| c.checked_mul(n)) {
                Some(c) if c < 1 << 40 => Some(c),
                _ => return self.fail("an array size that no memory holds"),
            };
        }
        Ok(())
    }

    /// `{1, generic(x)+4, {2, 3}}` or one value. Nested braces are flattened.
    fn initializer(&mut self, out: &mut Vec<Init<'a>>) -> Res<()> {
        let mut depth = 0u32;
        loop {
            if self.eat('{')? {
                depth += 1;
                if depth > 1024 {
                    return self.fail("initializers nest too deep");
                }
            } else if self.eat('}')? {
                depth = match depth.checked_sub(1) {
                    Some(d) => d,
                    None => return self.unexpected("a value"),
                };
            } else if !self.eat(',')? {
                let item = self.init_value()?;
                out.push(item);
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn init_value(&mut self) -> Res<Init<'a>> {
        if let Tok::Word(w) = self.lex.peek()? {
            self.lex.next()?;
            let name = if w == "generic" && self.eat('(')? {
                let n = self.word("a symbol")?;
                self.want(')')?;
                n
            } else {
                w
            };
            return Ok(Init::Address(name, self.offset()?));
        }
        let v = self.immediate()?;
        match v {
            // `0xFF(x)`: one byte of the address, named by a mask.
            Imm::Int(mask) if self.eat('(')? => {
                let mut name = self.word("a symbol")?;
                if name == "generic" && self.eat('(')? {
                    name = self.word("a symbol")?;
                    let off = self.offset()?;
                    self.want(')')?;
                    self.want(')')?;
                    return Ok(Init::AddressByte(name, off, mask));
                }
                let off = self.offset()?;
                self.want(')')?;
                Ok(Init::AddressByte(name, off, mask))
            }
            v => Ok(Init::Imm(v)),
        }
    }

    /// `+4`, `-4`, `+-4` or nothing.
    pub(crate) fn offset(&mut self) -> Res<i64> {
        let mut total = 0i64;
        loop {
            let minus = match self.lex.peek()? {
                Tok::Punct('+') => {
                    self.lex.next()?;
                    self.eat('-')?
                }
                Tok::Punct('-') => {
                    self.lex.next()?;
                    true
                }
                _ => return Ok(total),
            };
            let n = self.number("an offset")? as i64;
            total = if minus { total.wrapping_sub(n) } else { total.wrapping_add(n) };
        }
    }

    pub(crate) fn params(&mut self) -> Res<Vec<Var<'a>>> {
        let mut out = Vec::new();
        if !self.eat('(')? {
            return Ok(out);
        }
        while !self.eat(')')? {
            let line = self.lex.line();
            let space = self.word("a state space")?;
            let mut v = self.var_head(space, line)?;
            if self.lex.peek()? != Tok::Punct(',') && self.lex.peek()? != Tok::Punct(')') {
                self.var_name(&mut v)?;
            }
            out.push(v);
            if !self.eat(',')? && self.lex.peek()? != Tok::Punct(')') {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(out)
    }

    fn function(&mut self, entry: bool, line: u32) -> Res<Function<'a>> {
        let results = self.params()?;
        let name = self.word("a function's name")?;
        let params = self.params()?;
        let mut f = Function { name, entry, results, params, max_threads: None, body: None, line };
        loop {
            match self.lex.peek()? {
                Tok::Punct(';') => {
                    self.lex.next()?;
                    return Ok(f);
                }
                Tok::Punct('{') => {
                    self.lex.next()?;
                    f.body = Some(self.body()?);
                    return Ok(f);
                }
                Tok::Word(w @ (".maxntid" | ".reqntid")) => {
                    self.lex.next()?;
                    f.max_threads = Some((self.dims()?, w == ".reqntid"));
                }
                Tok::Word(".noreturn" | ".explicitcluster" | ".blocksareclusters") => {
                    self.lex.next()?;
                }
                Tok::Word(
                    ".minnctapersm"
                    | ".maxnreg"
                    | ".maxnctapersm"
                    | ".maxclusterrank"
                    | ".reqnctapercluster"
                    | ".abi_preserve"
                    | ".abi_preserve_control",
                ) => {
                    self.lex.next()?;
                    self.dims()?;
                }
                Tok::Word(".pragma") => {
                    self.lex.next()?;
                    self.pragma()?;
                }
                _ => return self.unexpected("`{` or `;`"),
            }
        }
    }

    pub(crate) fn pragma(&mut self) -> Res<()> {
        loop {
            match self.lex.next()? {
                (Tok::Str(_), _) => {}
                (_, line) => return Err(LoadError::syntax(line, "`.pragma` takes strings".into())),
            }
            if !self.eat(',')? {
                return self.want(';');
            }
        }
    }

    fn dims(&mut self) -> Res<[u32; 3]> {
        let mut d = [1; 3];
        d[0] = self.small("a number")?;
        for slot in &mut d[1..] {
            if !self.eat(',')? {
                break;
            }
            *slot = self.small("a number")?;
        }
        Ok(d)
    }
}

/// The value of a numeric literal.
pub(crate) fn literal(s: &str) -> Option<Imm> {
    let t = s.strip_suffix('U').unwrap_or(s);
    let (head, tail) = t.split_at(t.len().min(2));
    match head {
        "0x" | "0X" => u64::from_str_radix(tail, 16).ok().map(Imm::Int),
        "0b" | "0B" => u64::from_str_radix(tail, 2).ok().map(Imm::Int),
        "0f" | "0F" if tail.len() == 8 => u32::from_str_radix(tail, 16).ok().map(Imm::F32),
        "0d" | "0D" if tail.len() == 16 => u64::from_str_radix(tail, 16).ok().map(Imm::F64),
        _ if t.contains(['.', 'e', 'E']) => t.parse::<f64>().ok().map(|v| Imm::F64(v.to_bits())),
        _ if t.len() > 1 && t.starts_with('0') => u64::from_str_radix(&t[1..], 8).ok().map(Imm::Int),
        _ => t.parse().ok().map(Imm::Int),
    }
}
