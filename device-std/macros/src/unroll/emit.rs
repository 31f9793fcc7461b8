//! The copies put together.
//!
//! Without a cap and without jumps they stand one after the other, in the scope around the macro:
//! `let mut ph0 = x; let mut ph1 = x;`. With jumps, each is a block in a block (see `jumps`). With a cap, each is
//! behind a guard:
//!
//! ```text
//! {
//!     let stop = n;
//!     if 0 < stop { copy of 0 }
//!     if 1 < stop { copy of 1 }
//! }
//! ```
//!
//! The guards compare literals with one variable, so that with a stop from a const generic LLVM folds them all: the PTX
//! of a kernel that calls `fn f<const N: usize>` with such a loop `for i in 0..N` has no `setp` and no branch.
//!
//! A body's last expression without a semicolon gets one; it is made to be `()`, as the body of a `for` must be.

use super::bind::{Bindings, bind};
use super::capped::CappedRange;
use super::input::{Cap, Input};
use super::jumps::{self, Jumps, redirect};
use super::names::{Apart, check_apart, check_shared};
use super::substitute::copy;
use super::value::{Integer, Value, guard_operand};
use hint_syntax::paste::Pastes;
use proc_macro2::{Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Stmt};

/// All copies, one for each value.
pub fn all(input: &Input, values: &[Value], pastes: &mut Pastes) -> syn::Result<TokenStream> {
    let (body, jumps) = redirect(input)?;
    if jumps.any() {
        check_apart(&body, Apart::Jumps, pastes)?;
    } else {
        check_shared(&body, pastes)?;
    }
    let mut copies = Vec::new();
    for bindings in bindings(input, values)? {
        let copy = copy(&body, &bindings, pastes)?;
        copies.push(if jumps.any() { block(&copy, jumps) } else { spliced(copy) });
    }
    let copies = quote!(#(#copies)*);
    Ok(if jumps.any() { enclosed(copies, jumps) } else { copies })
}

/// The copies of the capped form.
pub fn capped(input: &Input, cap: &Cap, range: &CappedRange, pastes: &mut Pastes) -> syn::Result<TokenStream> {
    let (body, jumps) = redirect(input)?;
    check_apart(&body, Apart::Guards, pastes)?;
    let values: Vec<Value> = range.values.iter().cloned().map(Value::Integer).collect();
    let span = Span::mixed_site();
    let mut copies = TokenStream::new();
    for (value, bindings) in range.values.iter().zip(bindings(input, &values)?) {
        let guard = guard(range, value);
        let copy = block(&copy(&body, &bindings, pastes)?, jumps);
        copies.extend(quote_spanned!(span=> if #guard #copy));
    }
    let (stop, check) = (&range.stop, check(cap, range));
    let stop = quote_spanned!(span=> let stop = #stop; #check);
    Ok(enclosed(quote!(#stop #copies), jumps))
}

/// What the pattern's names stand for in each copy.
fn bindings(input: &Input, values: &[Value]) -> syn::Result<Vec<Bindings>> {
    values.iter().map(|value| bind(&input.pattern, value)).collect()
}

/// Whether a value is within the range.
fn guard(range: &CappedRange, value: &Integer) -> TokenStream {
    let (span, value) = (Span::mixed_site(), guard_operand(value));
    match (range.descending, range.inclusive) {
        (false, false) => quote_spanned!(span=> #value < stop),
        (false, true) => quote_spanned!(span=> #value <= stop),
        (true, false) => quote_spanned!(span=> #value > stop),
        (true, true) => quote_spanned!(span=> #value >= stop),
    }
}

/// The check of `cap N checked`: that the first value without a copy is not within the range.
fn check(cap: &Cap, range: &CappedRange) -> Option<TokenStream> {
    if !cap.checked {
        return None;
    }
    let span = Span::mixed_site();
    let beyond = Literal::i128_suffixed(range.beyond.saturating_abs());
    let beyond = if range.beyond < 0 { quote_spanned!(span=> -#beyond) } else { quote_spanned!(span=> #beyond) };
    let outside = match (range.descending, range.inclusive) {
        (false, false) => quote_spanned!(span=> #beyond >= stop as i128),
        (false, true) => quote_spanned!(span=> #beyond > stop as i128),
        (true, false) => quote_spanned!(span=> #beyond <= stop as i128),
        (true, true) => quote_spanned!(span=> #beyond < stop as i128),
    };
    let message = format!("`unroll!`: the range has more values than its cap of {}", cap.copies);
    Some(quote_spanned!(span=> ::core::assert!(#outside, #message);))
}

/// A copy as a block, with the label that its `continue`s go to.
fn block(copy: &[Stmt], jumps: Jumps) -> TokenStream {
    let span = Span::mixed_site();
    let block = quote_spanned!(span=> { #(#copy)* });
    if !jumps.continues {
        return block;
    }
    let next = jumps::next();
    quote_spanned!(span=> { #next: #block })
}

/// All copies as a block, with the label that their `break`s go to.
fn enclosed(copies: TokenStream, jumps: Jumps) -> TokenStream {
    let span = Span::mixed_site();
    let label = jumps.breaks.then(jumps::end);
    let label = label.map(|label| quote_spanned!(span=> #label:));
    quote_spanned!(span=> #label { #copies })
}

/// A copy as statements that others can follow.
fn spliced(mut copy: Vec<Stmt>) -> TokenStream {
    let last = match copy.pop() {
        Some(Stmt::Expr(Expr::Macro(call), None)) => quote!(#call;),
        Some(Stmt::Expr(last, None)) if !is_statement(&last) => {
            let span = Span::mixed_site();
            quote_spanned!(span=> let (): () = #last;)
        }
        last => quote!(#last),
    };
    quote!(#(#copy)* #last)
}

/// Whether an expression needs no semicolon to be a statement.
fn is_statement(expression: &Expr) -> bool {
    matches!(
        expression,
        Expr::If(_)
            | Expr::Match(_)
            | Expr::ForLoop(_)
            | Expr::While(_)
            | Expr::Loop(_)
            | Expr::Block(_)
            | Expr::Unsafe(_)
            | Expr::Const(_)
            | Expr::TryBlock(_)
    )
}
