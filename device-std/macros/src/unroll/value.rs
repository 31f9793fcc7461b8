//! One value of the loop, and what it looks like in each place where the loop's name can stand.

use proc_macro2::{Literal, Span, TokenTree};
use quote::quote_spanned;
use syn::{Expr, ExprLit, ExprUnary, GenericArgument, Index, Lit, LitInt, Member, UnOp};

/// What the loop's name stands for in one copy.
#[derive(Debug, Clone)]
pub enum Value {
    /// A whole number.
    Integer(Integer),
    /// An element of a tuple, as it is written.
    Expression(Expr),
}

/// A whole number with the type suffix that it was written with, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integer {
    /// The number.
    pub number: i128,
    /// The suffix, empty where there is none.
    pub suffix: String,
}

impl Integer {
    /// The integer literal that an expression is, with or without a minus sign, parentheses aside.
    ///
    /// An error where it is one that does not fit; none where it is no integer literal.
    pub fn read(expression: &Expr) -> syn::Result<Option<Integer>> {
        let (literal, negative) = match unwrapped(expression) {
            Expr::Lit(ExprLit { lit: Lit::Int(literal), attrs }) if attrs.is_empty() => (literal, false),
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match unwrapped(expr) {
                Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => (literal, true),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let Ok(number) = literal.base10_digits().parse::<i128>() else {
            return Err(syn::Error::new(
                literal.span(),
                "this number is too large for `unroll!`, which counts in 128 bits",
            ));
        };
        if matches!(literal.suffix(), "f32" | "f64") {
            return Ok(None);
        }
        Ok(Some(Integer { number: if negative { -number } else { number }, suffix: literal.suffix().to_owned() }))
    }

    /// The number as an expression; `span` is where the name stood.
    pub fn expression(&self, span: Span) -> Expr {
        let span = Span::mixed_site().located_at(span);
        let literal = self.literal(span);
        if self.number < 0 {
            syn::parse_quote_spanned!(span=> (-#literal))
        } else {
            syn::parse_quote_spanned!(span=> #literal)
        }
    }

    /// The number without its sign and with its suffix.
    pub fn literal(&self, span: Span) -> LitInt {
        LitInt::new(&format!("{}{}", self.number.unsigned_abs(), self.suffix), span)
    }
}

/// An expression without the parentheses around it.
pub fn unwrapped(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(inner) if inner.attrs.is_empty() => unwrapped(&inner.expr),
        Expr::Group(inner) => unwrapped(&inner.expr),
        _ => expression,
    }
}

impl Value {
    /// The value of a tuple's element.
    pub fn of(element: &Expr) -> syn::Result<Value> {
        Ok(match Integer::read(element)? {
            Some(integer) => Value::Integer(integer),
            None => Value::Expression(element.clone()),
        })
    }

    /// The value where an expression stands.
    pub fn expression(&self, span: Span) -> Expr {
        match self {
            Value::Integer(integer) => integer.expression(span),
            Value::Expression(expression) if stands_alone(expression) => expression.clone(),
            Value::Expression(expression) => {
                let span = Span::mixed_site().located_at(span);
                syn::parse_quote_spanned!(span=> (#expression))
            }
        }
    }

    /// The value as a generic argument: a constant, or a type where the element reads as a path.
    pub fn generic_argument(&self, span: Span) -> GenericArgument {
        let expression = match self {
            Value::Integer(integer) if integer.number < 0 => {
                let (span, literal) = (Span::mixed_site().located_at(span), integer.literal(span));
                syn::parse_quote_spanned!(span=> -#literal)
            }
            Value::Integer(integer) => integer.expression(span),
            Value::Expression(expression) => unwrapped(expression).clone(),
        };
        match expression {
            Expr::Path(path) => {
                GenericArgument::Type(syn::Type::Path(syn::TypePath { qself: path.qself, path: path.path }))
            }
            Expr::Lit(_) | Expr::Unary(_) | Expr::Block(_) => GenericArgument::Const(expression),
            other => {
                let span = Span::mixed_site().located_at(span);
                GenericArgument::Const(syn::parse_quote_spanned!(span=> { #other }))
            }
        }
    }

    /// The value as the type that it names, if it reads as a path.
    pub fn path(&self) -> Option<&syn::ExprPath> {
        match self {
            Value::Expression(expression) => match unwrapped(expression) {
                Expr::Path(path) => Some(path),
                _ => None,
            },
            Value::Integer(_) => None,
        }
    }

    /// The value as the index of a tuple's field; none where the field is not the loop's business.
    pub fn member(&self, span: Span) -> Option<syn::Result<Member>> {
        let Value::Integer(integer) = self else { return None };
        let index = u32::try_from(integer.number).map(|index| Member::Unnamed(Index { index, span }));
        let message = format!("{} is no index of a tuple", integer.number);
        Some(index.map_err(|_| syn::Error::new(span, message)))
    }

    /// The value as a part of a pasted name.
    pub fn part(&self, span: Span) -> Result<TokenTree, &'static str> {
        match self {
            Value::Integer(integer) if integer.number < 0 => Err("a negative number cannot be part of a name"),
            Value::Integer(integer) => {
                let mut literal = Literal::i128_unsuffixed(integer.number);
                literal.set_span(span);
                Ok(literal.into())
            }
            Value::Expression(_) => match self.path().and_then(|path| path.path.get_ident()) {
                Some(name) => {
                    let mut name = name.clone();
                    name.set_span(span);
                    Ok(name.into())
                }
                None => Err("only a whole number or a single identifier can be part of a name"),
            },
        }
    }
}

/// An identifier's letters, without `r#`.
pub fn unraw(name: &proc_macro2::Ident) -> String {
    syn::ext::IdentExt::unraw(name).to_string()
}

/// Whether an expression means the same wherever an expression can stand.
fn stands_alone(expression: &Expr) -> bool {
    matches!(
        expression,
        Expr::Lit(_)
            | Expr::Path(_)
            | Expr::Paren(_)
            | Expr::Group(_)
            | Expr::Call(_)
            | Expr::MethodCall(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::Tuple(_)
            | Expr::Array(_)
            | Expr::Repeat(_)
            | Expr::Macro(_)
    )
}

/// A guard's operand: the number alone, so that no lint sees a comparison in the user's source.
pub fn guard_operand(integer: &Integer) -> proc_macro2::TokenStream {
    let span = Span::mixed_site();
    let literal = integer.literal(span);
    if integer.number < 0 { quote_spanned!(span=> -#literal) } else { quote_spanned!(span=> #literal) }
}
