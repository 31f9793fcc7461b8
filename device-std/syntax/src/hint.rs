//! The grammar of a loop hint: `#[nounroll]`, `#[unroll]`, `#[unroll(full)]`, `#[unroll(never)]`, `#[unroll(N)]`.
//!
//! `take` removes the hint from a loop's attributes and says what it asks for; every mistake is an error at the
//! attribute itself. Attribute paths are compared by name (`nounroll`, or `device_std::nounroll` in any depth), since
//! a macro sees tokens and not what they resolve to: a different `unroll` attribute of another crate is taken for
//! ours when it stands on a loop of a device function.

use hint_record::{HintKind, Request};
use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, ExprLit, ExprUnary, Lit, Meta, UnOp};

/// The smallest copy count that `#[unroll(N)]` accepts.
pub const MIN_COPIES: u64 = 2;

/// The largest copy count that `#[unroll(N)]` accepts.
pub const MAX_COPIES: u64 = 1024;

/// What a hint asks for, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It has its meaning by its words alone, or by a literal.
    Known(Request),
    /// So many copies as an expression says, which has its value only in an instance: `#[unroll(N)]`.
    Copies(Box<Expr>),
}

impl Written {
    /// Which hint.
    pub fn kind(&self) -> HintKind {
        match self {
            Written::Known(request) => request.kind(),
            Written::Copies(_) => HintKind::Unroll,
        }
    }

    /// What it asks for, as far as its tokens tell.
    pub fn known(&self) -> Option<Request> {
        match self {
            Written::Known(request) => Some(*request),
            Written::Copies(_) => None,
        }
    }
}

/// One hint, read from one attribute.
#[derive(Debug, Clone)]
pub struct Hint {
    /// What it asks for.
    pub request: Written,
    /// The first and the last token of the attribute, for messages that show all of it.
    pub attribute: (Span, Span),
}

/// Which of the two hint attributes a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    NoUnroll,
    Unroll,
}

impl Name {
    fn of(path: &syn::Path) -> Option<Name> {
        let last = path.segments.last()?;
        if path.segments.len() > 1 && path.segments[0].ident != "device_std" {
            return None;
        }
        match last.ident.to_string().as_str() {
            "nounroll" => Some(Name::NoUnroll),
            "unroll" => Some(Name::Unroll),
            _ => None,
        }
    }

    fn spelling(self) -> &'static str {
        match self {
            Name::NoUnroll => "#[nounroll]",
            Name::Unroll => "#[unroll]",
        }
    }
}

/// The spelling of the hint that an attribute's path names, if it names one.
pub fn spelling(path: &syn::Path) -> Option<&'static str> {
    Name::of(path).map(Name::spelling)
}

/// Removes the hint from a loop's attributes.
///
/// All hints are removed even where this fails, so that a caller can go on and report more than one mistake.
pub fn take(attributes: &mut Vec<Attribute>) -> syn::Result<Option<Hint>> {
    let (hints, others) = std::mem::take(attributes).into_iter().partition(|a| Name::of(a.path()).is_some());
    *attributes = others;
    let hints: Vec<Attribute> = hints;
    let Some(first) = hints.first() else { return Ok(None) };
    let mut outcome = read(first).map(Some);
    for other in &hints[1..] {
        let clash = repeated(first, other);
        match &mut outcome {
            Ok(_) => outcome = Err(clash),
            Err(errors) => errors.combine(clash),
        }
    }
    outcome
}

fn repeated(first: &Attribute, other: &Attribute) -> syn::Error {
    let (Some(first_name), Some(name)) = (Name::of(first.path()), Name::of(other.path())) else {
        return syn::Error::new_spanned(other, "this loop carries two hints: keep one");
    };
    let message = if first_name == name {
        format!("this loop already carries `{}`: a loop takes one hint", name.spelling())
    } else {
        "this loop carries both `#[unroll]` and `#[nounroll]`, which contradict each other: keep one".to_owned()
    };
    syn::Error::new_spanned(other, message)
}

/// Reads one hint attribute.
fn read(attribute: &Attribute) -> syn::Result<Hint> {
    let request = match Name::of(attribute.path()) {
        Some(Name::NoUnroll) => read_nounroll(attribute)?,
        Some(Name::Unroll) => read_unroll(attribute)?,
        None => return Err(syn::Error::new_spanned(attribute, "this attribute is no loop hint")),
    };
    Ok(Hint { request, attribute: (attribute.pound_token.span, attribute.bracket_token.span.close()) })
}

fn read_nounroll(attribute: &Attribute) -> syn::Result<Written> {
    match &attribute.meta {
        Meta::Path(_) => Ok(KEPT),
        Meta::List(_) | Meta::NameValue(_) => Err(syn::Error::new_spanned(
            attribute,
            "`#[nounroll]` takes no arguments: it keeps the loop rolled (for a loop of N copies write `#[unroll(N)]`)",
        )),
    }
}

fn read_unroll(attribute: &Attribute) -> syn::Result<Written> {
    let list = match &attribute.meta {
        Meta::Path(_) => return Ok(FULL),
        Meta::List(list) => list,
        Meta::NameValue(_) => return Err(syn::Error::new_spanned(attribute, UNROLL_FORMS)),
    };
    let Argument(expression) = match list.parse_args() {
        Ok(argument) => argument,
        Err(_) => return Err(syn::Error::new_spanned(attribute, UNROLL_FORMS)),
    };
    if let Expr::Path(path) = &expression {
        if path.path.is_ident("full") {
            return Ok(FULL);
        }
        if path.path.is_ident("never") {
            return Ok(KEPT);
        }
    }
    check_literal(&expression).map_err(|message| syn::Error::new_spanned(attribute, message))?;
    Ok(match copies(&expression) {
        Some(copies) => Written::Known(Request::Copies(copies)),
        None => Written::Copies(Box::new(expression)),
    })
}

const KEPT: Written = Written::Known(Request::Nounroll);
const FULL: Written = Written::Known(Request::Full);

const UNROLL_FORMS: &str = "`#[unroll]` takes one constant, as in `#[unroll(4)]` or `#[unroll({ T::TILE })]`, or one of \
     the words `full` and `never`, or nothing";

/// Exactly one expression, a trailing comma allowed.
struct Argument(Expr);

impl Parse for Argument {
    fn parse(input: ParseStream) -> syn::Result<Argument> {
        let expression = input.parse()?;
        let _: Option<syn::Token![,]> = input.parse()?;
        if input.is_empty() { Ok(Argument(expression)) } else { Err(input.error("one argument expected")) }
    }
}

/// Refuses a copy count that is wrong on its face; any other expression is judged once it has a value.
fn check_literal(expression: &Expr) -> Result<(), String> {
    match literal(expression) {
        Literal::None => Ok(()),
        Literal::Copies(1) => {
            Err("`#[unroll(1)]` is one copy of the body, that is, a rolled loop: write `#[nounroll]`".to_owned())
        }
        Literal::Copies(MIN_COPIES..=MAX_COPIES) => Ok(()),
        Literal::Copies(_) | Literal::Other => {
            Err(format!("`#[unroll(N)]` takes a whole number of copies from {MIN_COPIES} to {MAX_COPIES}"))
        }
    }
}

/// The copy count that an argument of `#[unroll]` states as a literal.
fn copies(expression: &Expr) -> Option<u64> {
    match literal(expression) {
        Literal::Copies(copies) => Some(copies),
        Literal::None | Literal::Other => None,
    }
}

/// What an expression is, as far as its tokens tell.
enum Literal {
    /// No literal.
    None,
    /// A whole number; one beyond `u64` counts as its largest.
    Copies(u64),
    /// A literal that is no count.
    Other,
}

fn literal(expression: &Expr) -> Literal {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => {
            int.base10_parse().map_or(Literal::Copies(u64::MAX), Literal::Copies)
        }
        Expr::Lit(_) => Literal::Other,
        Expr::Paren(inner) => literal(&inner.expr),
        Expr::Group(inner) => literal(&inner.expr),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match literal(expr) {
            Literal::None => Literal::None,
            Literal::Copies(_) | Literal::Other => Literal::Other,
        },
        Expr::Block(block) if block.attrs.is_empty() && block.label.is_none() => match &block.block.stmts[..] {
            [syn::Stmt::Expr(inner, None)] => literal(inner),
            _ => Literal::None,
        },
        _ => Literal::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn request(attribute: Attribute) -> Result<Written, String> {
        read(&attribute).map(|hint| hint.request).map_err(|error| error.to_string())
    }

    #[test]
    fn the_words_of_the_grammar() {
        assert_eq!(request(parse_quote!(#[nounroll])), Ok(KEPT));
        assert_eq!(request(parse_quote!(#[unroll(never)])), Ok(KEPT));
        assert_eq!(request(parse_quote!(#[unroll])), Ok(FULL));
        assert_eq!(request(parse_quote!(#[unroll(full)])), Ok(FULL));
        assert_eq!(request(parse_quote!(#[unroll(4)])), Ok(Written::Known(Request::Copies(4))));
        assert_eq!(
            request(parse_quote!(#[unroll({ T::TILE })])),
            Ok(Written::Copies(Box::new(parse_quote!({ T::TILE }))))
        );
        assert_eq!(request(parse_quote!(#[unroll(N * 2,)])), Ok(Written::Copies(Box::new(parse_quote!(N * 2)))));
    }

    #[test]
    fn a_constant_may_be_called_full_when_in_braces() {
        assert_eq!(request(parse_quote!(#[unroll({ full })])), Ok(Written::Copies(Box::new(parse_quote!({ full })))));
    }

    #[test]
    fn the_range_of_copies_is_closed_at_both_ends() {
        for good in ["2", "0x10", "1024", "{ 3 }", "(1_000)"] {
            let expression: Expr = syn::parse_str(good).expect("an expression");
            assert!(request(parse_quote!(#[unroll(#expression)])).is_ok(), "{good}");
        }
        for bad in ["0", "1", "{ 1 }", "1025", "-2", "2.0", "true", "\"4\"", "340282366920938463463374607431768211456"]
        {
            let expression: Expr = syn::parse_str(bad).expect("an expression");
            assert!(request(parse_quote!(#[unroll(#expression)])).is_err(), "{bad}");
        }
    }

    #[test]
    fn one_copy_points_to_nounroll() {
        let message = request(parse_quote!(#[unroll(1)])).expect_err("one copy is refused");
        assert!(message.contains("#[nounroll]"), "{message}");
    }

    #[test]
    fn wrong_forms_are_refused() {
        for bad in
            ["nounroll(3)", "nounroll = 1", "nounroll()", "unroll()", "unroll = 4", "unroll(4, 5)", "unroll[4 5]"]
        {
            let meta: Meta = syn::parse_str(bad).expect("a meta item");
            assert!(request(parse_quote!(#[#meta])).is_err(), "{bad}");
        }
    }

    #[test]
    fn take_leaves_other_attributes() {
        let mut attributes: Vec<Attribute> = vec![
            parse_quote!(#[allow(unused)]),
            parse_quote!(#[device_std::unroll(4)]),
            parse_quote!(#[other::unroll]),
        ];
        let hint = take(&mut attributes).expect("one hint").expect("a hint");
        assert_eq!(hint.request, Written::Known(Request::Copies(4)));
        assert_eq!(attributes, [parse_quote!(#[allow(unused)]), parse_quote!(#[other::unroll])]);
    }

    #[test]
    fn two_hints_are_refused_and_both_taken() {
        let mut both: Vec<Attribute> = vec![parse_quote!(#[unroll]), parse_quote!(#[nounroll])];
        assert!(take(&mut both).expect_err("a contradiction").to_string().contains("contradict"));
        assert!(both.is_empty());
        let mut twice: Vec<Attribute> = vec![parse_quote!(#[nounroll]), parse_quote!(#[nounroll])];
        assert!(take(&mut twice).expect_err("a repetition").to_string().contains("already"));
    }
}
