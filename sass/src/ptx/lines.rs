//! PTX with at most one instruction on a line, by white space alone.
//!
//! The compiler prints one statement on a line; inline assembly has as many there as its author liked:
//!
//! ```text
//! { .reg .pred p; setp.ne.b32 p, %r1, 0; @p trap; }
//! ```
//!
//! ptxas knows a machine instruction by the line on which its statement begins. The code that it makes does not depend
//! on white space. Declarations, braces and labels make no code and stay where they are.

use std::borrow::Cow;

use super::scan::{Piece, Pieces, comment_length};

/// Begins a new line before every instruction that stands behind another one on its line. Text that is in order comes
/// back as it is.
pub fn one_statement_a_line(text: &str) -> Cow<'_, str> {
    let breaks = breaks(text);
    if breaks.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + breaks.len() * 2);
    let mut done = 0;
    for at in breaks {
        result.push_str(text[done..at].trim_end_matches([' ', '\t']));
        result.push_str("\n\t");
        done = at;
    }
    result.push_str(&text[done..]);
    Cow::Owned(result)
}

/// Where new lines are to begin.
fn breaks(text: &str) -> Vec<usize> {
    let mut pieces = Pieces::new(text);
    let mut breaks = Vec::new();
    let mut last_taken = 0;
    loop {
        let before = pieces.rest();
        let Some((line, piece)) = pieces.next() else { return breaks };
        let Piece::Text { text: found, last_line } = piece else { continue };
        if found.starts_with('.') {
            continue;
        }
        if line == last_taken {
            breaks.push(text.len() - before.len() + blank_length(before));
        }
        last_taken = last_line;
    }
}

/// How long the white space and comments are that the text begins with.
fn blank_length(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        let skipped = if blank > 0 { blank } else { comment_length(rest) };
        if skipped == 0 {
            return at;
        }
        at += skipped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_order_is_left_alone() {
        for text in ["", "a;\n\tb;\n", "{ .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd1; }\n", "L: a; // b; c;\n", "a /*;*/;"]
        {
            assert!(matches!(one_statement_a_line(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn every_instruction_gets_a_line() {
        let lines = |text| one_statement_a_line(text).into_owned();
        assert_eq!(lines("{ .reg .pred p; a p, 1; @p trap; }\n"), "{ .reg .pred p; a p, 1;\n\t@p trap; }\n");
        assert_eq!(lines("a;b;c;"), "a;\n\tb;\n\tc;");
        assert_eq!(lines("a; L: b; /* x */ c;\n"), "a; L:\n\tb; /* x */\n\tc;\n");
        assert_eq!(lines("a\n b; c;"), "a\n b;\n\tc;");
        assert_eq!(lines("mov {a,b}, c; d;"), "mov {a,b}, c;\n\td;");
    }
}
