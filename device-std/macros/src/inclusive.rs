//! Under `#[unroll]`, an inclusive range that is written as one becomes a counted one.
//!
//! LLVM does not see the number of turns of `a..=b` in many loops; `device_std`'s `counted` module says why, and what
//! takes the range's place. Seen are `a..=b`, with or without parentheses, and `(a..=b)` followed by `.rev()`,
//! `.step_by(k)`, or both in this order. A range that comes from a variable or a function stays what it is.

use proc_macro2::Span;
use quote::quote_spanned;
use syn::{Expr, ExprRange, RangeLimits};

/// Replaces the range in the iterator expression of a `for` loop, where there is one.
pub fn lower(iterator: &mut Expr) {
    let Some(range) = find(iterator) else { return };
    let span = Span::mixed_site();
    let Expr::Range(written) = &*range else { return };
    *range = Expr::Verbatim(quote_spanned! {span=>
        { use ::device_std::marker::Uncounted as _; ::device_std::marker::Inclusive(#written).counted() }
    });
}

/// The place of the range: the expression itself, or what `rev` and `step_by` are called on.
fn find(iterator: &mut Expr) -> Option<&mut Expr> {
    let receiver = match call(iterator) {
        None => return inclusive(iterator),
        Some("step_by") => {
            let receiver = receiver(iterator)?;
            if call(receiver) == Some("rev") { self::receiver(receiver)? } else { receiver }
        }
        Some(_) => receiver(iterator)?,
    };
    inclusive(receiver)
}

/// The method of a call that a counted range answers itself.
fn call(expression: &Expr) -> Option<&'static str> {
    let Expr::MethodCall(call) = expression else { return None };
    let method = [("rev", 0), ("step_by", 1)]
        .into_iter()
        .find(|(name, arguments)| call.method == name && call.args.len() == *arguments && call.turbofish.is_none())?;
    Some(method.0)
}

fn receiver(call: &mut Expr) -> Option<&mut Expr> {
    match call {
        Expr::MethodCall(call) => Some(&mut call.receiver),
        _ => None,
    }
}

/// The inclusive range with both ends that an expression is, parentheses aside.
fn inclusive(expression: &mut Expr) -> Option<&mut Expr> {
    if is_inclusive(expression) {
        return Some(expression);
    }
    match expression {
        Expr::Paren(inner) if inner.attrs.is_empty() => inclusive(&mut inner.expr),
        Expr::Group(inner) => inclusive(&mut inner.expr),
        _ => None,
    }
}

fn is_inclusive(expression: &Expr) -> bool {
    matches!(expression, Expr::Range(ExprRange { start: Some(_), end: Some(_), limits: RangeLimits::Closed(_), .. }))
}

#[cfg(test)]
mod tests {
    use super::{find, lower};
    use quote::ToTokens;
    use syn::Expr;

    #[test]
    fn ranges_are_found_where_they_are_written() {
        for source in ["a..=b", "(0..=3)", "(0..=3).rev()", "((a)..=b).step_by(2)", "(a..=b).rev().step_by(k + 1)"] {
            let mut expression: Expr = syn::parse_str(source).expect("an expression");
            assert!(find(&mut expression).is_some(), "{source}");
        }
    }

    #[test]
    fn everything_else_is_left_alone() {
        for source in
            ["a..b", "..=b", "range", "(a..=b).step_by(2).rev()", "(a..=b).map(f)", "(a..=b).rev().rev()", "[0..=3]"]
        {
            let mut expression: Expr = syn::parse_str(source).expect("an expression");
            let before = expression.to_token_stream().to_string();
            lower(&mut expression);
            assert_eq!(expression.to_token_stream().to_string(), before);
        }
    }
}
