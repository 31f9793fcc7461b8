//! The grammar of a function's body: labels, declarations, instructions and their operands.

use crate::ast::*;
use crate::error::LoadError;
use crate::lexer::Tok;
use crate::parser::{MAX_NEST, Parser};

type Res<T> = Result<T, LoadError>;

impl<'a> Parser<'a> {
    /// The statements up to the brace that closes the function.
    pub(crate) fn body(&mut self) -> Res<Vec<Stmt<'a>>> {
        let mut out = Vec::new();
        let mut depth = 0u32;
        loop {
            let line = self.lex.line();
            match self.lex.peek()? {
                Tok::Punct('{') => {
                    self.lex.next()?;
                    depth += 1;
                    out.push(Stmt::Open);
                }
                Tok::Punct('}') => {
                    self.lex.next()?;
                    if depth == 0 {
                        return Ok(out);
                    }
                    depth -= 1;
                    out.push(Stmt::Close);
                }
                Tok::Punct('@') => {
                    self.lex.next()?;
                    let inverted = self.eat('!')?;
                    let p = self.word("a predicate")?;
                    let name = self.word("an instruction")?;
                    out.push(self.instruction(name, Some((p, inverted)), line)?);
                }
                Tok::Punct(';') => {
                    self.lex.next()?;
                }
                Tok::Word(w) => {
                    self.lex.next()?;
                    self.statement(w, line, &mut out)?;
                }
                Tok::End => return self.fail("the text ends inside a function"),
                _ => return self.fail("expected a statement"),
            }
        }
    }

    fn statement(&mut self, w: &'a str, line: u32, out: &mut Vec<Stmt<'a>>) -> Res<()> {
        match w {
            ".reg" => {
                let ty = self.word("a type")?;
                out.push(self.registers(ty, line)?);
            }
            // nvcc's headers write the two words without a blank.
            _ if w.starts_with(".reg.") => out.push(self.registers(&w[4..], line)?),
            ".loc" => out.push(self.loc()?),
            ".pragma" => self.pragma()?,
            ".local" | ".shared" | ".param" | ".global" | ".const" => {
                let mut vars = Vec::new();
                self.variables(w, line, false, &mut vars)?;
                out.extend(vars.into_iter().map(Stmt::Var));
            }
            _ if self.eat(':')? => self.labelled(w, line, out)?,
            _ if w.starts_with('.') => {
                return Err(LoadError::syntax(line, format!("the directive `{w}` is not supported")));
            }
            _ => out.push(self.instruction(w, None, line)?),
        }
        Ok(())
    }

    fn labelled(&mut self, label: &'a str, line: u32, out: &mut Vec<Stmt<'a>>) -> Res<()> {
        if self.eat_word(".branchtargets")? {
            let mut targets = vec![self.word("a label")?];
            while self.eat(',')? {
                targets.push(self.word("a label")?);
            }
            self.want(';')?;
            out.push(Stmt::BranchTargets(label, targets, line));
        } else if self.eat_word(".callprototype")? {
            let results = self.params()?;
            if self.word("`_`")? != "_" {
                return self.fail("a prototype has `_` in place of a name");
            }
            let params = self.params()?;
            while let Tok::Word(w) = self.lex.peek()? {
                if w != ".noreturn" {
                    return self.fail(format!("`{w}` is not supported in a prototype"));
                }
                self.lex.next()?;
            }
            self.want(';')?;
            out.push(Stmt::Prototype(label, results, params, line));
        } else if self.eat_word(".calltargets")? {
            while self.lex.next()?.0 != Tok::Punct(';') {
                if self.lex.peek()? == Tok::End {
                    return self.fail("`.calltargets` without `;`");
                }
            }
        } else {
            out.push(Stmt::Label(label, line));
        }
        Ok(())
    }

    fn registers(&mut self, w: &str, line: u32) -> Res<Stmt<'a>> {
        let Some(ty) = w.strip_prefix('.').and_then(Ty::parse) else {
            return self.fail(format!("`{w}` is not a register type"));
        };
        let mut names = Vec::new();
        loop {
            let name = self.word("a register")?;
            let count = if self.eat('<')? {
                let n = self.small("a count of registers")?;
                self.want('>')?;
                Some(n)
            } else {
                None
            };
            names.push((name, count));
            if !self.eat(',')? {
                break;
            }
        }
        self.want(';')?;
        Ok(Stmt::Reg(ty, names, line))
    }

    fn loc(&mut self) -> Res<Stmt<'a>> {
        let here = self.place()?;
        let mut outer = None;
        while self.eat(',')? {
            match self.word("`function_name` or `inlined_at`")? {
                "function_name" => {
                    self.word("a label")?;
                    self.offset()?;
                }
                "inlined_at" => outer = Some(self.place()?),
                w => return self.fail(format!("`{w}` is not part of `.loc`")),
            }
        }
        Ok(Stmt::Loc(here, outer))
    }

    fn place(&mut self) -> Res<Loc> {
        Ok(Loc { file: self.small("a file number")?, line: self.small("a line")?, column: self.small("a column")? })
    }

    fn instruction(&mut self, name: &'a str, guard: Option<(&'a str, bool)>, line: u32) -> Res<Stmt<'a>> {
        let mut operands = Vec::new();
        if !self.eat(';')? {
            loop {
                let op = self.operand(0)?;
                operands.push(op);
                if operands.len() > 4096 {
                    return self.fail("too many operands");
                }
                if self.eat(';')? {
                    break;
                }
                if !self.eat(',')? {
                    return self.fail(format!("expected `,` or `;` after an operand of `{name}`"));
                }
            }
        }
        Ok(Stmt::Inst(RawInst { guard, name, operands, line }))
    }

    fn operand(&mut self, depth: u32) -> Res<Operand<'a>> {
        if depth > MAX_NEST {
            return self.fail("operands nest too deep");
        }
        match self.lex.peek()? {
            Tok::Punct('{') => {
                self.lex.next()?;
                Ok(Operand::Vector(self.list('}', depth)?))
            }
            Tok::Punct('(') => {
                self.lex.next()?;
                Ok(Operand::List(self.list(')', depth)?))
            }
            Tok::Punct('[') => {
                self.lex.next()?;
                let mut inner = self.operand(depth + 1)?;
                if self.eat(',')? {
                    let mut parts = vec![inner];
                    parts.extend(self.list(']', depth)?);
                    inner = Operand::Vector(parts);
                } else if !self.eat(']')? {
                    return self.fail("expected `]` after an address");
                }
                Ok(Operand::Address(Box::new(inner)))
            }
            Tok::Punct('!') => {
                self.lex.next()?;
                Ok(Operand::Not(self.word("a predicate")?))
            }
            Tok::Word(w) => {
                self.lex.next()?;
                if w == "generic" && self.eat('(')? {
                    let n = self.word("a symbol")?;
                    self.want(')')?;
                    return Ok(Operand::Name(n, self.offset()?));
                }
                if self.eat('|')? {
                    return Ok(Operand::Pair(w, self.word("a second result")?));
                }
                Ok(Operand::Name(w, self.offset()?))
            }
            _ => self.immediate().map(Operand::Imm),
        }
    }

    fn list(&mut self, close: char, depth: u32) -> Res<Vec<Operand<'a>>> {
        let mut out = Vec::new();
        while !self.eat(close)? {
            let op = self.operand(depth + 1)?;
            out.push(op);
            if out.len() > 4096 {
                return self.fail("too many operands in a list");
            }
            if !self.eat(',')? && self.lex.peek()? != Tok::Punct(close) {
                return self.fail(format!("expected `,` or `{close}` in a list of operands"));
            }
        }
        Ok(out)
    }
}
