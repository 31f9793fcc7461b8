//! The loop's pattern laid over a value: names, `_`, and tuples of these over tuples as they are written.

use super::value::Value;
use std::collections::BTreeMap;
use syn::{Expr, Pat, PatIdent};

/// What each name of the pattern stands for in one copy.
pub type Bindings = BTreeMap<String, Value>;

/// What the pattern's names stand for.
pub fn bind(pattern: &Pat, value: &Value) -> syn::Result<Bindings> {
    let mut bindings = Bindings::new();
    lay(pattern, value, &mut bindings)?;
    Ok(bindings)
}

fn lay(pattern: &Pat, value: &Value, bindings: &mut Bindings) -> syn::Result<()> {
    match pattern {
        Pat::Wild(_) => Ok(()),
        Pat::Paren(inner) => lay(&inner.pat, value, bindings),
        Pat::Ident(PatIdent { by_ref: None, mutability: None, subpat: None, ident, .. }) => {
            match bindings.insert(ident.to_string(), value.clone()) {
                Some(_) => Err(syn::Error::new_spanned(ident, "this name is bound twice in one pattern")),
                None => Ok(()),
            }
        }
        Pat::Tuple(names) => {
            let Value::Expression(Expr::Tuple(parts)) = value else {
                let message =
                    "a tuple of names needs a tuple to take apart in each value: `for (s, t) in ((0, a), (1, b))`";
                return Err(syn::Error::new_spanned(place(pattern, value), message));
            };
            if parts.elems.len() != names.elems.len() {
                let (parts_count, names_count) = (parts.elems.len(), names.elems.len());
                let message = format!("{names_count} names for a tuple of {parts_count}");
                return Err(syn::Error::new_spanned(parts, message));
            }
            names.elems.iter().zip(&parts.elems).try_for_each(|(name, part)| lay(name, &Value::of(part)?, bindings))
        }
        _ => {
            let message = "the pattern of an `unroll!` is a name, `_`, or a tuple of these: a name is replaced by \
                           its value, so it can be neither `mut` nor `ref`";
            Err(syn::Error::new_spanned(pattern, message))
        }
    }
}

/// Where a value is written, or the pattern if it is written nowhere.
fn place<'a>(pattern: &'a Pat, value: &'a Value) -> &'a dyn quote::ToTokens {
    match value {
        Value::Expression(expression) => expression,
        Value::Integer(_) => pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::bind;
    use crate::unroll::value::Value;
    use quote::ToTokens;
    use syn::parse::Parser;

    fn bound(pattern: &str, value: &str) -> Result<Vec<(String, String)>, String> {
        let pattern = syn::Pat::parse_single.parse_str(pattern).expect("a pattern");
        let value = Value::of(&syn::parse_str(value).expect("an expression")).expect("a value");
        let bindings = bind(&pattern, &value).map_err(|error| error.to_string())?;
        let text = |value: Value| value.expression(proc_macro2::Span::call_site()).to_token_stream().to_string();
        Ok(bindings.into_iter().map(|(name, value)| (name, text(value))).collect())
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn names_take_the_parts_of_a_tuple() {
        assert_eq!(bound("x", "(0, a)"), Ok(pairs(&[("x", "(0 , a)")])));
        assert_eq!(bound("(s, _, (t))", "(-1u8, b, a + 1)"), Ok(pairs(&[("s", "(- 1u8)"), ("t", "(a + 1)")])));
        assert_eq!(bound("(a, (b, c))", "(x[0], (2, f()))"), Ok(pairs(&[("a", "x [0]"), ("b", "2"), ("c", "f ()")])));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(bound("(a, b)", "(1, 2, 3)").expect_err("too long").contains("2 names for a tuple of 3"));
        assert!(bound("(a, b)", "pair").expect_err("no tuple").contains("take apart"));
        assert!(bound("(a, b)", "3").expect_err("no tuple").contains("take apart"));
        assert!(bound("(a, a)", "(1, 2)").expect_err("twice").contains("twice"));
        for pattern in ["mut a", "ref a", "a @ 3", "Some(a)", "[a, b]", "S { a }", "3"] {
            assert!(bound(pattern, "x").expect_err("refused").contains("neither `mut` nor `ref`"), "{pattern}");
        }
    }
}
