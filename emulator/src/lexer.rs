//! Tokens of PTX text, each with its line.
//!
//! A *word* is a run of letters, digits, `_ $ % .` and `::`, so a whole mnemonic (`ld.global.b32`), a directive
//! (`.reg`), a register (`%r1`, `%tid.x`) and a qualifier such as `.shared::cta` are one token each. Comments are
//! skipped. The lexer borrows from the text and never looks further ahead than one token; bytes that are no PTX give an
//! error.

use crate::error::LoadError;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tok<'a> {
    /// A mnemonic, a directive, a register, a label or a qualifier.
    Word(&'a str),
    /// A literal that starts with a digit.
    Number(&'a str),
    /// The text between double quotes.
    Str(&'a str),
    /// One character of punctuation.
    Punct(char),
    /// The end of the text.
    End,
}

/// A position in PTX text.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    peeked: Option<(Tok<'a>, u32)>,
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of `text`.
    pub fn new(text: &'a str) -> Self {
        Lexer { text, at: 0, line: 1, peeked: None }
    }

    /// The next token and its line, consumed.
    pub fn next(&mut self) -> Result<(Tok<'a>, u32), LoadError> {
        match self.peeked.take() {
            Some(t) => Ok(t),
            None => self.scan(),
        }
    }

    /// The next token, left in place.
    pub fn peek(&mut self) -> Result<Tok<'a>, LoadError> {
        if self.peeked.is_none() {
            self.peeked = Some(self.scan()?);
        }
        Ok(self.peeked.map_or(Tok::End, |t| t.0))
    }

    /// The line of the next token.
    pub fn line(&mut self) -> u32 {
        match self.peek() {
            Ok(_) => self.peeked.map_or(self.line, |t| t.1),
            Err(_) => self.line,
        }
    }

    fn scan(&mut self) -> Result<(Tok<'a>, u32), LoadError> {
        self.skip_blank()?;
        let rest = &self.text[self.at..];
        let line = self.line;
        let Some(c) = rest.chars().next() else { return Ok((Tok::End, line)) };
        let tok = match c {
            '0'..='9' => Tok::Number(self.take(number_len(rest))),
            '"' => self.string(rest)?,
            c if is_word(c as u32) => Tok::Word(self.take(word_len(rest))),
            '(' | ')' | '{' | '}' | '[' | ']' | '<' | '>' | ',' | ';' | ':' | '=' | '+' | '-' | '!' | '|' | '@'
            | '*' | '/' | '~' | '&' | '^' | '?' => {
                self.at += 1;
                Tok::Punct(c)
            }
            c => return Err(LoadError::syntax(line, format!("a character that PTX does not use: {c:?}"))),
        };
        Ok((tok, line))
    }

    fn take(&mut self, n: usize) -> &'a str {
        let s = &self.text[self.at..self.at + n];
        self.at += n;
        s
    }

    fn string(&mut self, rest: &'a str) -> Result<Tok<'a>, LoadError> {
        let body = &rest[1..];
        match body.find(['"', '\n']) {
            Some(n) if body.as_bytes()[n] == b'"' => {
                self.at += n + 2;
                Ok(Tok::Str(&body[..n]))
            }
            _ => Err(LoadError::syntax(self.line, "a string without its closing quote".into())),
        }
    }

    fn skip_blank(&mut self) -> Result<(), LoadError> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b'\n') => {
                    self.line = self.line.saturating_add(1);
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => self.at += 1,
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'/') => {
                    while bytes.get(self.at).is_some_and(|&b| b != b'\n') {
                        self.at += 1;
                    }
                }
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'*') => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), LoadError> {
        let start = self.line;
        let body = &self.text[self.at + 2..];
        let Some(n) = body.find("*/") else {
            return Err(LoadError::syntax(start, "a comment without its end `*/`".into()));
        };
        let lines = body.as_bytes()[..n].iter().filter(|&&b| b == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.at += n + 4;
        Ok(())
    }
}

fn is_word(c: u32) -> bool {
    matches!(char::from_u32(c), Some('a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$' | '%' | '.'))
}

/// Length of the word at the start of `s`; `::` belongs to it, a single `:` ends it.
fn word_len(s: &str) -> usize {
    let b = s.as_bytes();
    let mut n = 0;
    while n < b.len() {
        if is_word(u32::from(b[n])) {
            n += 1;
        } else if b[n] == b':' && b.get(n + 1) == Some(&b':') && b.get(n + 2).is_some_and(u8::is_ascii_alphanumeric) {
            n += 2;
        } else {
            break;
        }
    }
    n
}

/// Length of the number at the start of `s`, with an exponent's sign.
fn number_len(s: &str) -> usize {
    let b = s.as_bytes();
    let radix_prefix = b.len() > 1 && b[0] == b'0' && b[1].is_ascii_alphabetic();
    let mut n = 0;
    while n < b.len() {
        let exponent = !radix_prefix && matches!(b[n], b'+' | b'-') && n > 0 && matches!(b[n - 1], b'e' | b'E');
        if b[n].is_ascii_alphanumeric() || b[n] == b'.' || exponent {
            n += 1;
        } else {
            break;
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(s: &str) -> Vec<Tok<'_>> {
        let mut l = Lexer::new(s);
        let mut v = Vec::new();
        while let Ok((t, _)) = l.next() {
            if t == Tok::End {
                break;
            }
            v.push(t);
        }
        v
    }

    #[test]
    fn mnemonics_labels_and_numbers() {
        use Tok::*;
        assert_eq!(
            all("$L1: ld.shared::cta.b32 %r1, [%rd1+-4]; // c\n/* x\n */ 0f3F800000 1.5e-3"),
            [
                Word("$L1"),
                Punct(':'),
                Word("ld.shared::cta.b32"),
                Word("%r1"),
                Punct(','),
                Punct('['),
                Word("%rd1"),
                Punct('+'),
                Punct('-'),
                Number("4"),
                Punct(']'),
                Punct(';'),
                Number("0f3F800000"),
                Number("1.5e-3"),
            ]
        );
    }

    #[test]
    fn lines_are_counted_through_comments() {
        let mut l = Lexer::new("a\n/*\n\n*/ b");
        assert_eq!(l.next().unwrap(), (Tok::Word("a"), 1));
        assert_eq!(l.next().unwrap(), (Tok::Word("b"), 4));
    }

    #[test]
    fn unfinished_strings_and_comments_are_errors() {
        for s in ["\"abc", "/* abc", "\u{1f600}"] {
            assert!(Lexer::new(s).next().is_err(), "{s}");
        }
    }
}
