//! One walk over source that finds every hinted loop, takes its hint, and finds every hint that is on no loop.
//!
//! What becomes of a loop is the caller's: the macros replace it, the source scan only writes it down. Nested closures,
//! functions and items belong to the item. The walk also knows whether a loop stands in a **const context** (a const
//! function, a constant, an array length), where no marker can be called and no machine code need ever come of it.
//!
//! What a macro call makes of its tokens is not known here. Where they read as statements, as a list of expressions, or
//! hold a block that does, the loops with hints in them are taken as if they stood in the function; a macro that does
//! something else with them than to run them gets the changed tokens. A name pasted together (`ph~i`) reads as one
//! name. Hints in tokens that read as neither are left for the compiler to refuse.

use crate::hint::{self, Hint};
use crate::paste::{Pastes, regrouped};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Meta, Token};

/// A loop with a hint, as the walk meets it.
#[derive(Debug)]
pub struct Hinted {
    /// The hint, already taken from the loop's attributes.
    pub hint: Hint,
    /// The keyword `for`, `while` or `loop`: the place that a site names.
    pub keyword: Span,
    /// The functions, types and modules around the loop, from the outermost inwards.
    pub path: Vec<String>,
    /// What kind of code the loop stands in.
    pub surroundings: Surroundings,
}

/// What is known of the code at one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// It is evaluated while compiling.
    pub in_const: bool,
    /// An item around it carries `#[kernel]` or `#[device]`. Not set by the attribute whose macro is running, since
    /// that one is no longer in the source that the macro sees.
    pub in_device: bool,
    /// An item around it carries `#[cfg(test)]`.
    pub in_test: bool,
}

/// Source that can be walked: an item, or a file.
pub trait Walkable {
    /// Visits all of it.
    fn accept(&mut self, visitor: &mut dyn VisitMut);
}

impl Walkable for syn::Item {
    fn accept(&mut self, visitor: &mut dyn VisitMut) {
        visitor.visit_item_mut(self);
    }
}

impl Walkable for syn::File {
    fn accept(&mut self, visitor: &mut dyn VisitMut) {
        visitor.visit_file_mut(self);
    }
}

/// Walks `source` and calls `on_loop` for each hinted loop, inner loops before the loops around them.
///
/// Returns all mistakes as one error; loops without a mistake have been handed out all the same.
pub fn walk(source: &mut impl Walkable, on_loop: &mut dyn FnMut(Hinted, &mut Expr)) -> syn::Result<()> {
    let mut walker = Walker {
        on_loop,
        path: Vec::new(),
        surroundings: Surroundings::default(),
        in_macro: false,
        found: 0,
        errors: None,
    };
    source.accept(&mut walker);
    walker.errors.map_or(Ok(()), Err)
}

struct Walker<'a> {
    on_loop: &'a mut dyn FnMut(Hinted, &mut Expr),
    path: Vec<String>,
    surroundings: Surroundings,
    in_macro: bool,
    found: usize,
    errors: Option<syn::Error>,
}

impl Walker<'_> {
    fn report(&mut self, error: syn::Error) {
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
    }

    /// Walks `what` with the surroundings changed.
    fn within(&mut self, change: impl FnOnce(&mut Surroundings), what: impl FnOnce(&mut Self)) {
        let outer = self.surroundings;
        change(&mut self.surroundings);
        what(self);
        self.surroundings = outer;
    }

    /// Walks `what` as code that is evaluated while compiling.
    fn constant(&mut self, what: impl FnOnce(&mut Self)) {
        self.within(|surroundings| surroundings.in_const = true, what);
    }

    /// Walks `what` as the inside of an item called `name` with these attributes.
    fn item(&mut self, name: String, attributes: &[Attribute], what: impl FnOnce(&mut Self)) {
        self.path.push(name);
        let (device, test) = (attributes.iter().any(is_device), attributes.iter().any(is_test));
        let mark = |surroundings: &mut Surroundings| {
            surroundings.in_device |= device;
            surroundings.in_test |= test;
        };
        self.within(mark, what);
        self.path.pop();
    }

    /// Walks `what` as the inside of a function; its body is const or not whatever is around it.
    fn function(&mut self, signature: &syn::Signature, attributes: &[Attribute], what: impl FnOnce(&mut Self)) {
        let is_const = signature.constness.is_some();
        let name = signature.ident.to_string();
        self.item(name, attributes, |walker| walker.within(|surroundings| surroundings.in_const = is_const, what));
    }

    /// Walks the tokens of a macro call; the changed tokens where a hinted loop was found in them.
    fn tokens(&mut self, tokens: &TokenStream) -> Option<TokenStream> {
        if !mentions_hint(tokens) {
            return None;
        }
        let found = self.found;
        let walked = if let Ok(mut statements) = syn::Block::parse_within.parse2(tokens.clone()) {
            statements.iter_mut().for_each(|statement| self.visit_stmt_mut(statement));
            quote!(#(#statements)*)
        } else if let Ok(mut list) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone()) {
            list.iter_mut().for_each(|expression| self.visit_expr_mut(expression));
            quote!(#list)
        } else {
            tokens.clone().into_iter().map(|token| self.token(token)).collect()
        };
        (self.found > found).then_some(walked)
    }

    fn token(&mut self, token: TokenTree) -> TokenTree {
        let TokenTree::Group(group) = token else { return token };
        let Some(inner) = self.tokens(&group.stream()) else { return TokenTree::Group(group) };
        TokenTree::Group(regrouped(&group, inner))
    }

    fn take(&mut self, attributes: &mut Vec<Attribute>) -> Option<Hint> {
        hint::take(attributes).unwrap_or_else(|error| {
            self.report(error);
            None
        })
    }
}

/// Whether the name of a hint is anywhere in the tokens: most macro calls need no parsing.
fn mentions_hint(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(name) => hint::spelling(&syn::Path::from(name)).is_some(),
        TokenTree::Group(group) => mentions_hint(&group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// The attributes and the keyword of a loop.
fn loop_parts(expression: &mut Expr) -> Option<(&mut Vec<Attribute>, Span)> {
    match expression {
        Expr::ForLoop(inner) => Some((&mut inner.attrs, inner.for_token.span)),
        Expr::While(inner) => Some((&mut inner.attrs, inner.while_token.span)),
        Expr::Loop(inner) => Some((&mut inner.attrs, inner.loop_token.span)),
        _ => None,
    }
}

impl VisitMut for Walker<'_> {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        let hinted =
            loop_parts(expression).and_then(|(attributes, keyword)| self.take(attributes).map(|hint| (hint, keyword)));
        visit_mut::visit_expr_mut(self, expression);
        if let Some((hint, keyword)) = hinted {
            let hinted = Hinted { hint, keyword, path: self.path.clone(), surroundings: self.surroundings };
            self.found += 1;
            (self.on_loop)(hinted, expression);
        }
    }

    /// Loops have given up their hints before this sees them: a hint met here is on something else.
    ///
    /// In a macro call an attribute of that name may be the macro's own, and the compiler judges it if it is not.
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        if self.in_macro {
            return;
        }
        attributes.retain(|attribute| match misplaced(attribute) {
            Some(error) => {
                self.report(error);
                false
            }
            None => true,
        });
    }

    fn visit_macro_mut(&mut self, call: &mut syn::Macro) {
        if !mentions_hint(&call.tokens) {
            return;
        }
        let outer = std::mem::replace(&mut self.in_macro, true);
        let mut pastes = Pastes::default();
        if let Some(tokens) = self.tokens(&pastes.hide(call.tokens.clone())) {
            call.tokens = pastes.restore(tokens);
        }
        self.in_macro = outer;
    }

    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        let (signature, attributes) = (item.sig.clone(), item.attrs.clone());
        self.function(&signature, &attributes, |walker| visit_mut::visit_item_fn_mut(walker, item));
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut syn::ImplItemFn) {
        let (signature, attributes) = (item.sig.clone(), item.attrs.clone());
        self.function(&signature, &attributes, |walker| visit_mut::visit_impl_item_fn_mut(walker, item));
    }

    fn visit_trait_item_fn_mut(&mut self, item: &mut syn::TraitItemFn) {
        let (signature, attributes) = (item.sig.clone(), item.attrs.clone());
        self.function(&signature, &attributes, |walker| visit_mut::visit_trait_item_fn_mut(walker, item));
    }

    fn visit_item_impl_mut(&mut self, item: &mut syn::ItemImpl) {
        let attributes = item.attrs.clone();
        self.item(type_name(&item.self_ty), &attributes, |walker| visit_mut::visit_item_impl_mut(walker, item));
    }

    fn visit_item_trait_mut(&mut self, item: &mut syn::ItemTrait) {
        let attributes = item.attrs.clone();
        self.item(item.ident.to_string(), &attributes, |walker| visit_mut::visit_item_trait_mut(walker, item));
    }

    fn visit_item_mod_mut(&mut self, item: &mut syn::ItemMod) {
        let attributes = item.attrs.clone();
        self.item(item.ident.to_string(), &attributes, |walker| visit_mut::visit_item_mod_mut(walker, item));
    }

    fn visit_item_const_mut(&mut self, item: &mut syn::ItemConst) {
        self.constant(|walker| visit_mut::visit_item_const_mut(walker, item));
    }

    fn visit_impl_item_const_mut(&mut self, item: &mut syn::ImplItemConst) {
        self.constant(|walker| visit_mut::visit_impl_item_const_mut(walker, item));
    }

    fn visit_trait_item_const_mut(&mut self, item: &mut syn::TraitItemConst) {
        self.constant(|walker| visit_mut::visit_trait_item_const_mut(walker, item));
    }

    fn visit_item_static_mut(&mut self, item: &mut syn::ItemStatic) {
        self.constant(|walker| visit_mut::visit_item_static_mut(walker, item));
    }

    fn visit_expr_const_mut(&mut self, block: &mut syn::ExprConst) {
        self.constant(|walker| visit_mut::visit_expr_const_mut(walker, block));
    }

    fn visit_type_array_mut(&mut self, array: &mut syn::TypeArray) {
        self.visit_type_mut(&mut array.elem);
        self.constant(|walker| walker.visit_expr_mut(&mut array.len));
    }

    fn visit_expr_repeat_mut(&mut self, repeat: &mut syn::ExprRepeat) {
        self.visit_attributes_mut(&mut repeat.attrs);
        self.visit_expr_mut(&mut repeat.expr);
        self.constant(|walker| walker.visit_expr_mut(&mut repeat.len));
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut syn::GenericArgument) {
        self.constant(|walker| visit_mut::visit_generic_argument_mut(walker, argument));
    }

    fn visit_variant_mut(&mut self, variant: &mut syn::Variant) {
        self.constant(|walker| visit_mut::visit_variant_mut(walker, variant));
    }

    /// A closure's body runs when it is called, also where the closure itself is made in a constant.
    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        let is_const = closure.constness.is_some();
        let change = |surroundings: &mut Surroundings| surroundings.in_const = is_const;
        self.within(change, |walker| visit_mut::visit_expr_closure_mut(walker, closure));
    }
}

/// A type as one step of a path: its last name, without generic arguments.
fn type_name(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default(),
        other => other.to_token_stream().to_string(),
    }
}

/// The error for a hint that is on no loop, and for one that is hidden from the macros.
fn misplaced(attribute: &Attribute) -> Option<syn::Error> {
    if let Some(spelling) = hint::spelling(attribute.path()) {
        let message = format!("`{spelling}` is a hint for a loop: put it on a `for`, `while` or `loop`");
        return Some(syn::Error::new_spanned(attribute, message));
    }
    let hidden = conditional(attribute).iter().any(|meta| hint::spelling(meta.path()).is_some());
    let message = "a loop hint cannot come from `cfg_attr`: write the hint itself, and write the loop twice, under \
                   opposite `#[cfg]`s, where only one of them is to have it";
    hidden.then(|| syn::Error::new_spanned(attribute, message))
}

/// The attributes that a `cfg_attr` may add.
fn conditional(attribute: &Attribute) -> Vec<Meta> {
    let Meta::List(list) = &attribute.meta else { return Vec::new() };
    if !list.path.is_ident("cfg_attr") {
        return Vec::new();
    }
    let metas = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    metas.map(|metas| metas.into_iter().skip(1).collect()).unwrap_or_default()
}

fn is_device(attribute: &Attribute) -> bool {
    let names_device =
        |path: &syn::Path| path.segments.last().is_some_and(|last| last.ident == "kernel" || last.ident == "device");
    names_device(attribute.path()) || conditional(attribute).iter().any(|meta| names_device(meta.path()))
}

fn is_test(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    list.path.is_ident("cfg") && list.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
}
