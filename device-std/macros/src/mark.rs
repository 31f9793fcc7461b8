//! A hinted loop becomes a block that marks it twice, before the loop and first in its body:
//!
//! ```text
//! #[nounroll]                      {
//! 'a: for x in xs {                    enter(SITE);
//!     work(x);             =>          'a: for x in xs {
//! }                                        body(SITE, FACTOR);
//!                                          work(x);
//!                                      }
//!                                  }
//! ```
//!
//! The block has the loop's value and its other attributes. The calls exist on GPU targets only; elsewhere only the
//! loop is left. Both markers are opaque functions that the link stage erases. Their spans carry the place of the loop
//! keyword, so that a compiler message about the marker shows the loop, and the hygiene of this macro, so that lints on
//! the user's code pass them over. In a const context nothing is marked: markers cannot be called there.

use crate::{inclusive, site};
use hint_record::Request;
use hint_syntax::{Hint, Hinted, Written};
use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::quote_spanned;
use syn::{Expr, Item, Stmt};

/// Marks every hinted loop of an item.
pub fn loops(item: &mut Item) -> syn::Result<()> {
    hint_syntax::walk(item, &mut mark)
}

/// `target_arch` of the GPUs that markers exist on, as a `cfg` predicate.
pub fn on_gpu(span: Span) -> TokenStream {
    quote_spanned!(span=> any(target_arch = "nvptx64", target_arch = "amdgpu"))
}

fn mark(hinted: Hinted, expression: &mut Expr) {
    let span = Span::mixed_site().located_at(hinted.keyword);
    let check = factor_check(&hinted.hint);
    if hinted.surroundings.in_const {
        wrap(span, check, expression);
        return;
    }
    if let (Some(Request::Full), Expr::ForLoop(inner)) = (hinted.hint.request.known(), &mut *expression) {
        inclusive::lower(&mut inner.expr);
    }
    let gpu = on_gpu(span);
    let site = site::of(hinted.hint.request.kind(), hinted.keyword).to_string();
    let factor = factor(&hinted.hint, span);
    let enter = quote_spanned!(span=> #[cfg(#gpu)] ::device_std::marker::__latch_loop_enter(#site););
    let body = quote_spanned!(span=> #[cfg(#gpu)] ::device_std::marker::__latch_loop_body(#site, #factor););
    if let (Some(block), Ok(body)) = (loop_body(expression), syn::parse2::<Stmt>(body)) {
        block.stmts.insert(0, body);
    }
    wrap(span, quote_spanned!(span=> #check #enter), expression);
}

/// Puts a loop into a block, after the given statements; the loop's attributes move to the block.
fn wrap(span: Span, before: TokenStream, expression: &mut Expr) {
    let attributes = match expression {
        Expr::ForLoop(inner) => std::mem::take(&mut inner.attrs),
        Expr::While(inner) => std::mem::take(&mut inner.attrs),
        Expr::Loop(inner) => std::mem::take(&mut inner.attrs),
        _ => Vec::new(),
    };
    let block = quote_spanned!(span=> #(#attributes)* { #before #expression });
    *expression = Expr::Verbatim(block);
}

fn loop_body(expression: &mut Expr) -> Option<&mut syn::Block> {
    match expression {
        Expr::ForLoop(inner) => Some(&mut inner.body),
        Expr::While(inner) => Some(&mut inner.body),
        Expr::Loop(inner) => Some(&mut inner.body),
        _ => None,
    }
}

/// The number that the body marker carries, as a literal where it is known by now.
fn factor(hint: &Hint, span: Span) -> TokenStream {
    match &hint.request {
        Written::Known(request) => {
            let number = request.marker_number();
            quote_spanned!(span=> #number)
        }
        Written::Copies(copies) => evaluated(copies, hint),
    }
}

/// A statement that checks a computed factor on every target, also where no marker carries it.
fn factor_check(hint: &Hint) -> TokenStream {
    match &hint.request {
        Written::Copies(copies) => {
            let span = Span::mixed_site();
            let value = evaluated(copies, hint);
            quote_spanned!(span=> let _: u64 = #value;)
        }
        Written::Known(_) => TokenStream::new(),
    }
}

/// An expression evaluated in each instance of the function around it, and refused there where it is no copy count.
///
/// The call's first and last token have the attribute's place, so that the refusal shows the whole attribute.
fn evaluated(copies: &Expr, hint: &Hint) -> TokenStream {
    let (first, last) = hint.attribute;
    let (first, last) = (Span::mixed_site().located_at(first), Span::mixed_site().located_at(last));
    let copies = without_braces(copies);
    let mut argument = Group::new(Delimiter::Parenthesis, quote_spanned!(first=> (#copies) as u64));
    argument.set_span(last);
    quote_spanned!(first=> const { ::device_std::marker::copies #argument })
}

/// `{ T::TILE }` as `T::TILE`, since braces around one expression draw a lint.
fn without_braces(expression: &Expr) -> &Expr {
    let Expr::Block(block) = expression else { return expression };
    match &block.block.stmts[..] {
        [Stmt::Expr(inner, None)] if block.attrs.is_empty() && block.label.is_none() => inner,
        _ => expression,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::{ToTokens, quote};
    use syn::parse_quote;

    /// Marks an item and holds the result against what is expected, with sites cut to their kind.
    fn assert_marked(mut item: Item, expected: TokenStream) {
        loops(&mut item).expect("well-formed hints");
        let marked = item.to_token_stream().to_string();
        let words: Vec<String> = marked.split(' ').map(without_place).collect();
        assert_eq!(words.join(" "), expected.to_string());
    }

    fn without_place(word: &str) -> String {
        match (word.split_once('|'), word.rsplit_once('"')) {
            (Some((kind, _)), Some((_, rest))) => format!("{kind}\"{rest}"),
            _ => word.to_owned(),
        }
    }

    fn enter(kind: &str) -> TokenStream {
        quote!(#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))] ::device_std::marker::__latch_loop_enter(#kind);)
    }

    fn body(kind: &str, factor: TokenStream) -> TokenStream {
        quote!(
            #[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
            ::device_std::marker::__latch_loop_body(#kind, #factor);
        )
    }

    #[test]
    fn label_attributes_and_value_stay() {
        let (enter, body) = (enter("nounroll"), body("nounroll", quote!(1u64)));
        assert_marked(
            parse_quote!(
                fn f() -> u32 {
                    #[allow(unused)]
                    #[nounroll]
                    'a: loop {
                        break 'a 3;
                    }
                }
            ),
            quote!(fn f() -> u32 { #[allow(unused)] { #enter 'a: loop { #body break 'a 3; } } }),
        );
    }

    #[test]
    fn both_loops_of_a_nest_are_marked() {
        let (outer, outer_body) = (enter("unroll"), body("unroll", quote!(4u64)));
        let (inner, inner_body) = (enter("unroll"), body("unroll", quote!(0u64)));
        assert_marked(
            parse_quote!(
                fn f() {
                    #[unroll(4)]
                    while a {
                        #[unroll]
                        for x in xs {
                            g(x)
                        }
                    }
                }
            ),
            quote!(fn f() { { #outer while a { #outer_body { #inner for x in xs { #inner_body g(x) } } } } }),
        );
    }

    #[test]
    fn a_computed_factor_is_checked_on_every_target() {
        let copies = quote!(const { ::device_std::marker::copies((T::TILE) as u64) });
        let (enter, body) = (enter("unroll"), body("unroll", copies.clone()));
        assert_marked(
            parse_quote!(
                fn f<T: Tiled>() {
                    #[unroll({ T::TILE })]
                    for x in xs {}
                }
            ),
            quote!(fn f<T: Tiled>() { { let _: u64 = #copies; #enter for x in xs { #body } } }),
        );
    }

    #[test]
    fn in_a_const_context_the_loop_is_left_alone() {
        assert_marked(
            parse_quote!(
                const fn f() {
                    #[nounroll]
                    while a {
                        g()
                    }
                }
            ),
            quote!(
                const fn f() {
                    {
                        while a {
                            g()
                        }
                    }
                }
            ),
        );
    }

    #[test]
    fn only_full_unrolling_counts_the_range() {
        let (enter, body) = (enter("unroll"), body("unroll", quote!(0u64)));
        let counted = quote!({
            use ::device_std::marker::Uncounted as _;
            ::device_std::marker::Inclusive(a..=b).counted()
        });
        assert_marked(
            parse_quote!(
                fn f() {
                    #[unroll]
                    for i in (a..=b).rev() {}
                }
            ),
            quote!(fn f() { { #enter for i in (#counted).rev() { #body } } }),
        );
        let (enter, body) = (self::enter("unroll"), self::body("unroll", quote!(4u64)));
        assert_marked(
            parse_quote!(
                fn f() {
                    #[unroll(4)]
                    for i in a..=b {}
                }
            ),
            quote!(fn f() { { #enter for i in a..=b { #body } } }),
        );
    }

    #[test]
    fn methods_of_an_impl_block_are_marked() {
        let (enter, body) = (enter("nounroll"), body("nounroll", quote!(1u64)));
        assert_marked(
            parse_quote!(
                impl<T> Tile<T> {
                    fn f(&self) {
                        #[nounroll]
                        for x in self {}
                    }
                }
            ),
            quote!(impl<T> Tile<T> { fn f(&self) { { #enter for x in self { #body } } } }),
        );
    }

    #[test]
    fn tokens_of_a_macro_call_are_marked() {
        let (enter, body) = (enter("nounroll"), body("nounroll", quote!(1u64)));
        assert_marked(
            parse_quote!(
                fn f() {
                    own!(cap 16; for i in 0..n { #[nounroll] loop {} });
                }
            ),
            quote!(
                fn f() {
                    own!(cap 16; for i in 0..n { { #enter loop { #body } } });
                }
            ),
        );
    }

    #[test]
    fn a_macro_keeps_attributes_of_its_own() {
        let (enter, body) = (enter("nounroll"), body("nounroll", quote!(1u64)));
        assert_marked(
            parse_quote!(
                fn f() {
                    own! { #[unroll] tiles; #[nounroll] loop {} }
                }
            ),
            quote!(
                fn f() {
                    own! { #[unroll] tiles; { #enter loop { #body } } }
                }
            ),
        );
    }
}
