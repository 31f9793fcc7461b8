//! One copy of the body: every use of the loop's name replaced by what it stands for.
//!
//! A use is a path expression, a generic argument, a type (where the value names one), the index of a tuple's field,
//! and a part of a paste. Names of fields, methods, labels and pattern bindings are no uses. A binding or an item of
//! the same name in the body stops the replacement for as far as it reaches.

use super::bind::Bindings;
use super::foreign::{self, Reader};
use super::names::{item_names, pattern_names};
use super::value::{Value, unraw};
use hint_syntax::paste::{Chain, Pastes};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, GenericArgument, Macro, Pat, Stmt};

/// The statements with the names replaced.
pub fn copy(body: &[Stmt], bindings: &Bindings, pastes: &mut Pastes) -> syn::Result<Vec<Stmt>> {
    let mut statements = body.to_vec();
    let mut copier = Copier { all: bindings, visible: bindings.clone(), pastes, joins: true, errors: None };
    copier.statements(&mut statements);
    match copier.errors {
        Some(errors) => Err(errors),
        None => Ok(statements),
    }
}

struct Copier<'a> {
    /// What the loop's names stand for.
    all: &'a Bindings,
    /// Those that nothing around the current place binds anew.
    visible: Bindings,
    pastes: &'a mut Pastes,
    /// Whether pastes are joined here; in an inner `unroll!` they are left to it.
    joins: bool,
    errors: Option<syn::Error>,
}

impl Copier<'_> {
    fn report(&mut self, error: syn::Error) {
        super::collect(&mut self.errors, error);
    }

    /// Visits `what` and forgets the bindings made in it.
    fn scope(&mut self, what: impl FnOnce(&mut Self)) {
        let visible = self.visible.clone();
        what(self);
        self.visible = visible;
    }

    fn hide(&mut self, names: &[Ident]) {
        names.iter().for_each(|name| {
            self.visible.remove(&name.to_string());
        });
    }

    /// Visits a pattern, and hides the names that it binds from here on.
    fn binder(&mut self, pattern: &mut Pat) {
        let names = pattern_names(pattern);
        self.visit_pat_mut(pattern);
        self.hide(&names);
    }

    /// What a path of one name, without arguments, stands for.
    fn value(&self, path: &syn::Path) -> Option<(&Value, Span)> {
        let name = path.get_ident()?;
        Some((self.visible.get(&name.to_string())?, name.span()))
    }

    fn type_value(&self, ty: &syn::Type) -> Option<(&Value, Span)> {
        match ty {
            syn::Type::Path(path) if path.qself.is_none() => self.value(&path.path),
            _ => None,
        }
    }

    /// `NAME = i` among generic arguments, where `i` stands for a constant.
    fn associated(&self, named: &syn::AssocType) -> Option<GenericArgument> {
        let (value, span) = self.type_value(&named.ty)?;
        let GenericArgument::Const(value) = value.generic_argument(span) else { return None };
        let syn::AssocType { ident, eq_token, .. } = named.clone();
        Some(GenericArgument::AssocConst(syn::AssocConst { ident, generics: None, eq_token, value }))
    }

    /// A condition, whose `let`s bind in what follows them.
    fn condition(&mut self, condition: &mut Expr) {
        match condition {
            Expr::Binary(chain) if matches!(chain.op, syn::BinOp::And(_)) => {
                self.condition(&mut chain.left);
                self.condition(&mut chain.right);
            }
            Expr::Let(test) => {
                self.visit_expr_mut(&mut test.expr);
                self.binder(&mut test.pat);
            }
            other => self.visit_expr_mut(other),
        }
    }

    /// What follows a function's parameters.
    fn function(&mut self, signature: &syn::Signature, what: impl FnOnce(&mut Self)) {
        let mut names: Vec<Ident> =
            signature.generics.const_params().map(|parameter| parameter.ident.clone()).collect();
        for input in &signature.inputs {
            if let syn::FnArg::Typed(typed) = input {
                names.extend(pattern_names(&typed.pat));
            }
        }
        self.scope(|this| {
            this.hide(&names);
            what(this);
        });
    }

    /// The name that a paste makes; none where it is left to an inner `unroll!`.
    fn joined(&mut self, chain: &Chain) -> syn::Result<Option<Ident>> {
        let Some((first, rest)) = chain.split_first() else { return Ok(None) };
        let names = if self.joins { self.all } else { &self.visible };
        let ours = |part: &TokenTree| matches!(part, TokenTree::Ident(name) if names.contains_key(&name.to_string()));
        let fixed = |part: &TokenTree| self.joins && matches!(part, TokenTree::Literal(_));
        if !rest.iter().any(|part| ours(part) || fixed(part)) {
            let message = "`~` pastes a name of the loop onto another name, and there is none here";
            return if self.joins { Err(syn::Error::new(first.span(), message)) } else { Ok(None) };
        }
        let mut parts = vec![first.clone()];
        for part in rest {
            parts.push(self.part(part)?);
        }
        if !self.joins {
            return Ok(Some(self.pastes.add(parts)));
        }
        let text: String = parts.iter().map(part_text).collect();
        let Ok(mut name) = syn::parse_str::<Ident>(&text) else {
            return Err(syn::Error::new(first.span(), format!("`{text}`, which this pastes together, is no name")));
        };
        name.set_span(first.span());
        Ok(Some(name))
    }

    /// One part of a paste, after its first, with the loop's name replaced.
    fn part(&self, part: &TokenTree) -> syn::Result<TokenTree> {
        let error = |message: &str| syn::Error::new(part.span(), message);
        match part {
            TokenTree::Ident(name) => match self.visible.get(&name.to_string()) {
                Some(value) => value.part(name.span()).map_err(error),
                None if self.joins && self.all.contains_key(&name.to_string()) => {
                    Err(error(&format!("`{name}` is bound anew here, and is no name of the loop any more")))
                }
                None => Ok(part.clone()),
            },
            TokenTree::Literal(literal) => match syn::parse2::<syn::LitInt>(literal.to_token_stream()) {
                Ok(number) => number
                    .base10_digits()
                    .parse()
                    .map(|token: proc_macro2::Literal| token.into())
                    .map_err(|_| error("no number")),
                Err(_) => Err(error("only a whole number or an identifier can be part of a name")),
            },
            other => Ok(other.clone()),
        }
    }
}

/// A part of a name, as text.
fn part_text(part: &TokenTree) -> String {
    match part {
        TokenTree::Ident(name) => unraw(name),
        other => other.to_string(),
    }
}

impl VisitMut for Copier<'_> {
    fn visit_ident_mut(&mut self, name: &mut Ident) {
        let Some(chain) = self.pastes.chain(name).cloned() else { return };
        match self.joined(&chain) {
            Ok(Some(joined)) => *name = joined,
            Ok(None) => {}
            Err(error) => self.report(error),
        }
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        let replacement = match expression {
            Expr::Path(path) if path.qself.is_none() => {
                self.value(&path.path).map(|(value, span)| value.expression(span))
            }
            Expr::Verbatim(tokens) => Some(Expr::Verbatim(foreign::loose(std::mem::take(tokens), self))),
            _ => None,
        };
        match replacement {
            Some(replacement) => *expression = replacement,
            None => visit_mut::visit_expr_mut(self, expression),
        }
    }

    fn visit_member_mut(&mut self, member: &mut syn::Member) {
        let syn::Member::Named(name) = &*member else { return };
        match self.visible.get(&name.to_string()).and_then(|value| value.member(name.span())) {
            Some(Ok(index)) => *member = index,
            Some(Err(error)) => self.report(error),
            None => visit_mut::visit_member_mut(self, member),
        }
    }

    /// The name of a field that is set is no use; written for both the field and its value, it is one as the value.
    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        if let syn::Member::Named(name) = &mut field.member {
            if field.colon_token.is_none() && self.visible.contains_key(&name.to_string()) {
                field.colon_token = Some(syn::Token![:](name.span()));
            }
            self.visit_ident_mut(name);
        }
        self.visit_attributes_mut(&mut field.attrs);
        self.visit_expr_mut(&mut field.expr);
    }

    /// Nor is the name of a field in a pattern.
    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        if let syn::Member::Named(name) = &mut field.member {
            self.visit_ident_mut(name);
        }
        self.visit_pat_mut(&mut field.pat);
    }

    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if let Some(path) = self.type_value(ty).and_then(|(value, _)| value.path()) {
            *ty = syn::Type::Path(syn::TypePath { qself: path.qself.clone(), path: path.path.clone() });
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut GenericArgument) {
        let replacement = match argument {
            GenericArgument::Type(ty) => self.type_value(ty).map(|(value, span)| value.generic_argument(span)),
            GenericArgument::AssocType(named) if named.generics.is_none() => self.associated(named),
            _ => None,
        };
        match replacement {
            Some(replacement) => *argument = replacement,
            None => visit_mut::visit_generic_argument_mut(self, argument),
        }
    }

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        self.visit_attributes_mut(&mut local.attrs);
        if let Some(init) = &mut local.init {
            self.visit_local_init_mut(init);
        }
        self.binder(&mut local.pat);
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        self.scope(|this| this.statements(&mut block.stmts));
    }

    fn visit_expr_if_mut(&mut self, branch: &mut syn::ExprIf) {
        self.scope(|this| {
            this.condition(&mut branch.cond);
            this.visit_block_mut(&mut branch.then_branch);
        });
        if let Some((_, otherwise)) = &mut branch.else_branch {
            self.visit_expr_mut(otherwise);
        }
    }

    fn visit_expr_while_mut(&mut self, inner: &mut syn::ExprWhile) {
        if let Some(label) = &mut inner.label {
            self.visit_label_mut(label);
        }
        self.scope(|this| {
            this.condition(&mut inner.cond);
            this.visit_block_mut(&mut inner.body);
        });
    }

    fn visit_expr_for_loop_mut(&mut self, inner: &mut syn::ExprForLoop) {
        if let Some(label) = &mut inner.label {
            self.visit_label_mut(label);
        }
        self.visit_expr_mut(&mut inner.expr);
        self.scope(|this| {
            this.binder(&mut inner.pat);
            this.visit_block_mut(&mut inner.body);
        });
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.scope(|this| {
            this.binder(&mut arm.pat);
            if let Some((_, guard)) = &mut arm.guard {
                this.condition(guard);
            }
            this.visit_expr_mut(&mut arm.body);
        });
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        self.scope(|this| {
            closure.inputs.iter_mut().for_each(|input| this.binder(input));
            this.visit_return_type_mut(&mut closure.output);
            this.visit_expr_mut(&mut closure.body);
        });
    }

    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        let signature = item.sig.clone();
        self.function(&signature, |this| visit_mut::visit_item_fn_mut(this, item));
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut syn::ImplItemFn) {
        let signature = item.sig.clone();
        self.function(&signature, |this| visit_mut::visit_impl_item_fn_mut(this, item));
    }

    fn visit_trait_item_fn_mut(&mut self, item: &mut syn::TraitItemFn) {
        let signature = item.sig.clone();
        self.function(&signature, |this| visit_mut::visit_trait_item_fn_mut(this, item));
    }

    /// The patterns and arms of a `macro_rules!` are its own.
    fn visit_item_macro_mut(&mut self, item: &mut syn::ItemMacro) {
        match &mut item.ident {
            Some(name) => self.visit_ident_mut(name),
            None => visit_mut::visit_item_macro_mut(self, item),
        }
    }

    fn visit_macro_mut(&mut self, call: &mut Macro) {
        self.visit_path_mut(&mut call.path);
        let joins = self.joins;
        self.joins &= !foreign::is_unroll(call);
        self.scope(|this| foreign::visit(call, this));
        self.joins = joins;
    }
}

impl Reader for Copier<'_> {
    /// Every name of the loop is a use here, unless it is a label, a step of a path, a field that is set, or a named
    /// argument.
    fn loose_token(&mut self, tokens: &[TokenTree], at: usize) -> TokenTree {
        let TokenTree::Ident(name) = &tokens[at] else { return tokens[at].clone() };
        let mut name = name.clone();
        self.visit_ident_mut(&mut name);
        let punct = |offset: isize| match at.checked_add_signed(offset).and_then(|at| tokens.get(at)) {
            Some(TokenTree::Punct(punct)) => punct.as_char(),
            _ => ' ',
        };
        let in_path = (punct(-2), punct(-1)) == (':', ':') || (punct(1), punct(2)) == (':', ':');
        let is_set = punct(1) == ':' || (punct(1) == '=' && !matches!(punct(2), '=' | '>'));
        let is_other = in_path || is_set || matches!(punct(-1), '\'' | '$');
        match self.visible.get(&name.to_string()) {
            Some(value) if !is_other => loose_value(value, name.span(), punct(-1) == '.'),
            _ => TokenTree::Ident(name),
        }
    }

    fn statements(&mut self, statements: &mut [Stmt]) {
        for statement in &*statements {
            if let Stmt::Item(item) = statement {
                self.hide(&item_names(item));
            }
        }
        statements.iter_mut().for_each(|statement| self.visit_stmt_mut(statement));
    }
}

/// A value among tokens that read as nothing: a group without delimiters, so that it stays one thing.
fn loose_value(value: &Value, span: Span, is_member: bool) -> TokenTree {
    let tokens = match value.member(span) {
        Some(Ok(member)) if is_member => member.to_token_stream(),
        _ => value.expression(span).to_token_stream(),
    };
    let mut only = tokens.clone().into_iter();
    match (only.next(), only.next()) {
        (Some(token), None) => token,
        _ => TokenTree::Group(Group::new(Delimiter::None, tokens)),
    }
}
