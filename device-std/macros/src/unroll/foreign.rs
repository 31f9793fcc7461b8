//! The tokens of other macros' calls, read as far as they can be.
//!
//! What a macro does with its tokens is not known. Where they read as statements or as a list of expressions, they are
//! visited as such, with scopes; else the same is tried for each group in them, and the tokens between are handed out
//! one by one. Tokens in which nothing changed stay exactly as they were.

use hint_syntax::paste::regrouped;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut;
use syn::{Expr, Macro, Stmt, Token};

/// A visitor that also takes tokens which read as nothing known.
pub trait Reader: VisitMut {
    /// One token with the tokens around it; a group is only handed out here after its inside has been visited.
    fn loose_token(&mut self, tokens: &[TokenTree], at: usize) -> TokenTree;

    /// Statements that share one scope.
    fn statements(&mut self, statements: &mut [Stmt]);
}

/// Visits the tokens of a macro call.
pub fn visit(call: &mut Macro, reader: &mut impl Reader) {
    let (cap, rest) = if is_unroll(call) { split_cap(&call.tokens) } else { (TokenStream::new(), call.tokens.clone()) };
    let read = tokens(rest, reader);
    call.tokens = quote!(#cap #read);
}

/// Whether a call is one of `unroll!` itself, as far as its name tells.
pub fn is_unroll(call: &Macro) -> bool {
    call.path.segments.last().is_some_and(|last| last.ident == "unroll" || last.ident == "unroll_copies")
}

/// The statements in a call of `unroll!`; none where they do not parse.
pub fn unrolled(call: &Macro) -> Vec<Stmt> {
    syn::Block::parse_within.parse2(split_cap(&call.tokens).1).unwrap_or_default()
}

/// `cap N;` apart from the loop.
fn split_cap(tokens: &TokenStream) -> (TokenStream, TokenStream) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_capped = matches!(tokens.first(), Some(TokenTree::Ident(word)) if word == "cap");
    let semicolon = tokens.iter().position(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';'));
    match semicolon {
        Some(at) if is_capped => (tokens[..=at].iter().cloned().collect(), tokens[at + 1..].iter().cloned().collect()),
        _ => (TokenStream::new(), tokens.into_iter().collect()),
    }
}

/// Visits tokens as what they read as.
pub fn tokens(tokens: TokenStream, reader: &mut impl Reader) -> TokenStream {
    if let Ok(mut statements) = syn::Block::parse_within.parse2(tokens.clone()) {
        let before = quote!(#(#statements)*);
        reader.statements(&mut statements);
        return changed(tokens, before, quote!(#(#statements)*));
    }
    if let Ok(mut list) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone()) {
        let before = list.to_token_stream();
        list.iter_mut().for_each(|one| argument(one, reader));
        return changed(tokens, before, list.into_token_stream());
    }
    loose(tokens, reader)
}

/// Visits an argument; of a named one, as `name = x`, only what is passed.
fn argument(argument: &mut Expr, reader: &mut impl Reader) {
    match argument {
        Expr::Assign(named) if matches!(*named.left, Expr::Path(_)) => reader.visit_expr_mut(&mut named.right),
        other => reader.visit_expr_mut(other),
    }
}

/// Visits tokens that read as nothing known.
pub fn loose(tokens: TokenStream, reader: &mut impl Reader) -> TokenStream {
    let mut visited: Vec<TokenTree> = Vec::new();
    for token in tokens {
        visited.push(match token {
            TokenTree::Group(group) => TokenTree::Group(regrouped(&group, self::tokens(group.stream(), reader))),
            other => other,
        });
    }
    (0..visited.len()).map(|at| reader.loose_token(&visited, at)).collect()
}

/// The new tokens where they differ from how the old ones are printed, and else the old ones.
fn changed(original: TokenStream, before: TokenStream, after: TokenStream) -> TokenStream {
    if before.to_string() == after.to_string() { original } else { after }
}
