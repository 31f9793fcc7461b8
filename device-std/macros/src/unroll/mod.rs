//! `unroll!`: a loop written out while the source is read, one copy of its body for each value.
//!
//! The steps, one file each:
//! 1. `input` reads the macro's own grammar: the cap, the label, the loop;
//! 2. `values` turns the iterator into the list of values, `capped` that of the capped form into a first value and a
//!    step;
//! 3. `bind` lays the pattern over each value: which name stands for what in this copy;
//! 4. `jumps` redirects the body's own `break`s and `continue`s to labelled blocks;
//! 5. `names` looks for declarations that the copies could not keep apart, or that would not outlive them;
//! 6. `substitute` makes the copies, and `emit` puts them together.
//!
//! It is wrong in one way by design: whether a name in another macro's tokens is the loop's name cannot be known where
//! those tokens read neither as statements nor as expressions; every occurrence is replaced there (`foreign`).
//!
//! All that stands in no one's source (labels, guards, the literals themselves) has this macro's hygiene, so that it
//! meets no name of the user's and lints pass it over. Everything else keeps the span and hygiene it was written with;
//! a pasted name has those of its first part.

mod bind;
mod capped;
mod emit;
mod foreign;
mod input;
mod jumps;
mod names;
mod substitute;
mod value;
mod values;

use hint_syntax::paste::Pastes;
use input::Input;
use proc_macro2::TokenStream;

/// The most copies that one `unroll!` makes, so that a slip of the pen does not stop the compiler.
pub const MAX_COPIES: u64 = hint_syntax::MAX_COPIES;

/// Expands the macro, or says where and why it cannot.
pub fn expand(tokens: TokenStream) -> TokenStream {
    let mut pastes = Pastes::default();
    let hidden = pastes.hide(tokens);
    match try_expand(hidden, &mut pastes) {
        Ok(copies) => pastes.restore(copies),
        Err(error) => error.into_compile_error(),
    }
}

fn try_expand(tokens: TokenStream, pastes: &mut Pastes) -> syn::Result<TokenStream> {
    let input: Input = syn::parse2(tokens)?;
    match &input.cap {
        Some(cap) => {
            let range = capped::read(&input.iterator, cap)?;
            emit::capped(&input, cap, &range, pastes)
        }
        None => {
            let values = values::read(&input.iterator)?;
            emit::all(&input, &values, pastes)
        }
    }
}

/// Adds an error to those there are.
fn collect(errors: &mut Option<syn::Error>, error: syn::Error) {
    crate::collect(errors, Some(error));
}

#[cfg(test)]
mod tests;
