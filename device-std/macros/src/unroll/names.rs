//! Declarations that the copies could not keep apart, and names that would be gone where they are wanted.
//!
//! Copies that share the scope around the macro cannot each declare the same item. Copies with a block of their own
//! (behind the guards of the capped form, or around jumps) keep what they declare to themselves, so a pasted name that
//! is declared there is of no use.

use super::foreign;
use hint_syntax::paste::Pastes;
use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Item, Stmt, UseTree};

/// Why copies have blocks of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apart {
    /// Each is behind a guard.
    Guards,
    /// The body has jumps of its own.
    Jumps,
}

/// Refuses a body that declares an item of one and the same name in every copy.
pub fn check_shared(body: &[Stmt], pastes: &Pastes) -> syn::Result<()> {
    for statement in body {
        let Stmt::Item(item) = statement else { continue };
        if let Some(name) = item_names(item).into_iter().find(|name| pastes.chain(name).is_none()) {
            let message = format!(
                "the copies of an `unroll!` share one scope, where `{name}` would be declared by each of them: paste \
                 its name (`{name}~i`), or put the body into a block of its own"
            );
            return Err(syn::Error::new(name.span(), message));
        }
    }
    Ok(())
}

/// Refuses a body whose copies have blocks of their own and declare pasted names.
pub fn check_apart(body: &[Stmt], why: Apart, pastes: &Pastes) -> syn::Result<()> {
    let Some(name) = body.iter().find_map(|statement| declared(statement, pastes)) else { return Ok(()) };
    let message = match why {
        Apart::Guards => {
            "a copy of a capped `unroll!` stands behind a guard, and a pasted name declared in it ends there: \
             declare it before, as `unroll! { for i in 0..16 { let mut ph~i = 0; } }`, and assign to it here"
        }
        Apart::Jumps => {
            "an `unroll!` whose body has a `break` or `continue` of its own puts each copy into a block, where a \
             pasted name declared in it ends: declare it in an `unroll!` without jumps before, and assign to it here"
        }
    };
    Err(syn::Error::new(name.span(), message))
}

/// A pasted name that a statement declares for those after it.
fn declared(statement: &Stmt, pastes: &Pastes) -> Option<Ident> {
    match statement {
        Stmt::Local(local) => pattern_names(&local.pat).into_iter().find(|name| pastes.chain(name).is_some()),
        Stmt::Item(item) => item_names(item).into_iter().find(|name| pastes.chain(name).is_some()),
        Stmt::Macro(call) if foreign::is_unroll(&call.mac) => {
            let inner = foreign::unrolled(&call.mac);
            let [Stmt::Expr(syn::Expr::ForLoop(inner), _)] = &inner[..] else { return None };
            inner.body.stmts.iter().find_map(|statement| declared(statement, pastes))
        }
        _ => None,
    }
}

/// The names that a pattern binds.
pub fn pattern_names(pattern: &syn::Pat) -> Vec<Ident> {
    struct Names(Vec<Ident>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, name: &'ast syn::PatIdent) {
            self.0.push(name.ident.clone());
            visit::visit_pat_ident(self, name);
        }

        fn visit_expr(&mut self, _: &'ast syn::Expr) {}
    }
    let mut names = Names(Vec::new());
    names.visit_pat(pattern);
    names.0
}

/// The names that an item declares in the scope it stands in.
pub fn item_names(item: &Item) -> Vec<Ident> {
    let mut names = match item {
        Item::Const(item) => vec![item.ident.clone()],
        Item::Enum(item) => vec![item.ident.clone()],
        Item::Fn(item) => vec![item.sig.ident.clone()],
        Item::Mod(item) => vec![item.ident.clone()],
        Item::Static(item) => vec![item.ident.clone()],
        Item::Struct(item) => vec![item.ident.clone()],
        Item::Trait(item) => vec![item.ident.clone()],
        Item::TraitAlias(item) => vec![item.ident.clone()],
        Item::Type(item) => vec![item.ident.clone()],
        Item::Union(item) => vec![item.ident.clone()],
        Item::Use(item) => use_names(&item.tree, None),
        _ => Vec::new(),
    };
    names.retain(|name| name != "_");
    names
}

/// The names that an import brings into scope; `within` is the path's last step before the tree.
fn use_names(tree: &UseTree, within: Option<&Ident>) -> Vec<Ident> {
    match tree {
        UseTree::Path(path) => use_names(&path.tree, Some(&path.ident)),
        UseTree::Name(name) if name.ident == "self" => within.cloned().into_iter().collect(),
        UseTree::Name(name) => vec![name.ident.clone()],
        UseTree::Rename(rename) => vec![rename.rename.clone()],
        UseTree::Group(group) => group.items.iter().flat_map(|tree| use_names(tree, within)).collect(),
        UseTree::Glob(_) => Vec::new(),
    }
}
