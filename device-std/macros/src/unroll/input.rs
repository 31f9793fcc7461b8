//! The grammar of `unroll!`: `[cap N [checked];] ['label:] for PATTERN in ITERATOR { BODY }`.

use super::MAX_COPIES;
use proc_macro2::Ident;
use syn::parse::{Parse, ParseStream};
use syn::{Block, Expr, Label, LitInt, Pat, Token};

/// What the macro was given.
#[derive(Debug)]
pub struct Input {
    /// The cap, in the capped form.
    pub cap: Option<Cap>,
    /// The loop's label.
    pub label: Option<Label>,
    /// The loop's pattern.
    pub pattern: Pat,
    /// What the loop runs over.
    pub iterator: Expr,
    /// What the loop repeats.
    pub body: Block,
}

/// The words before the semicolon of the capped form.
#[derive(Debug)]
pub struct Cap {
    /// The most copies there are.
    pub copies: u64,
    /// Whether a range with more values is to panic.
    pub checked: bool,
}

const FORMS: &str = "`unroll!` takes one `for` loop, as in `unroll! { for i in 0..4 { … } }`, or with a cap, as in \
     `unroll!(cap 16; for i in 0..n { … });`";

impl Parse for Input {
    fn parse(input: ParseStream) -> syn::Result<Input> {
        let cap = if peeks_word(input, "cap") { Some(input.parse()?) } else { None };
        // `#[kernel]` and `#[device]` have turned a loop with a hint into a block.
        if input.peek(Token![#]) || input.peek(syn::token::Brace) {
            let message = "the loop of an `unroll!` takes no attributes and no loop hint: it is no loop any more \
                           once it is written out (hints on the loops in its body are honoured)";
            return Err(input.error(message));
        }
        let label = if input.peek(syn::Lifetime) { Some(input.parse()?) } else { None };
        if !input.peek(Token![for]) {
            return Err(input.error(FORMS));
        }
        let _: Token![for] = input.parse()?;
        let pattern = Pat::parse_single(input)?;
        let _: Token![in] = input.parse()?;
        let iterator = Expr::parse_without_eager_brace(input)?;
        let body = input.parse()?;
        if !input.is_empty() {
            return Err(input.error(format!("nothing may follow the loop: {FORMS}")));
        }
        Ok(Input { cap, label, pattern, iterator, body })
    }
}

impl Parse for Cap {
    fn parse(input: ParseStream) -> syn::Result<Cap> {
        let _: Ident = input.parse()?;
        let message =
            format!("the cap is the largest number of copies, a literal from 1 to {MAX_COPIES}, as in `cap 16;`");
        let Ok(copies) = input.parse::<LitInt>() else { return Err(input.error(message)) };
        let number = copies.base10_parse().unwrap_or(0);
        if !(1..=MAX_COPIES).contains(&number) {
            return Err(syn::Error::new(copies.span(), message));
        }
        let checked = peeks_word(input, "checked");
        if checked {
            let _: Ident = input.parse()?;
        }
        if !input.peek(Token![;]) {
            return Err(input
                .error("a semicolon stands between the cap and the loop: `cap 16; for …` or `cap 16 checked; for …`"));
        }
        let _: Token![;] = input.parse()?;
        Ok(Cap { copies: number, checked })
    }
}

/// Whether the next token is this word, which is no keyword.
pub fn peeks_word(input: ParseStream, word: &str) -> bool {
    input.fork().parse::<Ident>().is_ok_and(|next| next == word)
}
