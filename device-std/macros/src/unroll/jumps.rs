//! The body's own `break` and `continue`, redirected to labelled blocks.
//!
//! ```text
//! 'end: {                  break     => break 'end
//!     'next: { copy }      continue  => break 'next
//!     'next: { copy }
//! }
//! ```
//!
//! Own are those outside all inner loops, and those with the loop's label wherever they are. Closures, `async` and
//! `const` blocks and items keep theirs: no jump leaves them.

use super::foreign::{self, Reader};
use super::input::Input;
use proc_macro2::{Span, TokenTree};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Label, Lifetime, Stmt};

/// Which jumps the body makes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Jumps {
    /// It breaks out of the loop.
    pub breaks: bool,
    /// It goes on with the next turn.
    pub continues: bool,
}

impl Jumps {
    /// Whether there are any.
    pub fn any(self) -> bool {
        self.breaks || self.continues
    }
}

/// The label of the block around all copies.
pub fn end() -> Lifetime {
    Lifetime::new("'unroll_end", Span::mixed_site())
}

/// The label of the block around one copy.
pub fn next() -> Lifetime {
    Lifetime::new("'unroll_next", Span::mixed_site())
}

/// The body's statements with its own jumps redirected, and which there were.
pub fn redirect(input: &Input) -> syn::Result<(Vec<Stmt>, Jumps)> {
    let mut statements = input.body.stmts.clone();
    let mut redirector = Redirector {
        label: input.label.as_ref().map(|label| label.name.ident.to_string()),
        plain: true,
        found: Jumps::default(),
        errors: None,
    };
    redirector.statements(&mut statements);
    match redirector.errors {
        Some(errors) => Err(errors),
        None => Ok((statements, redirector.found)),
    }
}

struct Redirector {
    /// The loop's label, while no inner label of that name hides it.
    label: Option<String>,
    /// Whether a jump without a label is the loop's own here.
    plain: bool,
    found: Jumps,
    errors: Option<syn::Error>,
}

impl Redirector {
    /// Whether a jump to this label is the loop's own.
    fn owns(&self, label: Option<&Lifetime>) -> bool {
        match label {
            Some(label) => self.label.as_ref().is_some_and(|own| label.ident == own),
            None => self.plain,
        }
    }

    /// Visits `what` as the inside of a loop, or of a block, with this label.
    fn inside(&mut self, is_loop: bool, label: Option<&Label>, what: impl FnOnce(&mut Self)) {
        let outer = (self.label.clone(), self.plain);
        if label.is_some_and(|label| self.owns(Some(&label.name))) {
            self.label = None;
        }
        self.plain &= !is_loop;
        what(self);
        (self.label, self.plain) = outer;
    }

    fn report(&mut self, place: Span, message: &str) {
        super::collect(&mut self.errors, syn::Error::new(place, message));
    }
}

impl VisitMut for Redirector {
    fn visit_expr_break_mut(&mut self, jump: &mut syn::ExprBreak) {
        visit_mut::visit_expr_break_mut(self, jump);
        if !self.owns(jump.label.as_ref()) {
            return;
        }
        if jump.expr.is_some() {
            self.report(jump.break_token.span, "a `for` loop has no value, so its `break` takes none");
        }
        self.found.breaks = true;
        jump.label = Some(end());
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        match expression {
            Expr::Continue(jump) if self.owns(jump.label.as_ref()) => {
                self.found.continues = true;
                let (token, label) = (syn::Token![break](jump.continue_token.span), Some(next()));
                let attrs = std::mem::take(&mut jump.attrs);
                *expression = Expr::Break(syn::ExprBreak { attrs, break_token: token, label, expr: None });
            }
            Expr::Verbatim(tokens) => *tokens = foreign::loose(std::mem::take(tokens), self),
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => {}
            _ => visit_mut::visit_expr_mut(self, expression),
        }
    }

    fn visit_expr_for_loop_mut(&mut self, inner: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut inner.expr);
        let label = inner.label.clone();
        self.inside(true, label.as_ref(), |this| this.visit_block_mut(&mut inner.body));
    }

    fn visit_expr_while_mut(&mut self, inner: &mut syn::ExprWhile) {
        let label = inner.label.clone();
        self.inside(true, label.as_ref(), |this| visit_mut::visit_expr_while_mut(this, inner));
    }

    fn visit_expr_loop_mut(&mut self, inner: &mut syn::ExprLoop) {
        let label = inner.label.clone();
        self.inside(true, label.as_ref(), |this| visit_mut::visit_expr_loop_mut(this, inner));
    }

    fn visit_expr_block_mut(&mut self, inner: &mut syn::ExprBlock) {
        let label = inner.label.clone();
        self.inside(false, label.as_ref(), |this| visit_mut::visit_expr_block_mut(this, inner));
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_type_mut(&mut self, _: &mut syn::Type) {}

    fn visit_macro_mut(&mut self, call: &mut syn::Macro) {
        foreign::visit(call, self);
    }
}

impl Reader for Redirector {
    fn loose_token(&mut self, tokens: &[TokenTree], at: usize) -> TokenTree {
        if let TokenTree::Ident(word) = &tokens[at]
            && (word == "break" || word == "continue")
            && (self.plain || self.label.is_some())
        {
            let message = "this may jump out of the loop that `unroll!` takes apart, in a macro call whose tokens read \
                           neither as statements nor as expressions: put the jump outside of it";
            self.report(word.span(), message);
        }
        tokens[at].clone()
    }

    fn statements(&mut self, statements: &mut [Stmt]) {
        statements.iter_mut().for_each(|statement| self.visit_stmt_mut(statement));
    }
}
