//! The attribute macros that `device-std` exports.
//!
//! `#[kernel]` and `#[device]` consume the loop hints inside their item before the compiler resolves attributes, so a
//! hint needs no import and no feature. Each hinted loop gets two marker calls that carry its place in the source
//! (`mark`); `kernel` makes the entry point. The grammar of hints is the crate `hint-syntax`.

mod inclusive;
mod kernel;
mod mark;
mod plain;
mod site;
mod slices;
mod unroll;

use proc_macro::TokenStream;
use quote::{ToTokens, quote};

/// Makes a function a GPU entry point and honours the loop hints inside it.
///
/// On a GPU target the function becomes an exported kernel under its own name; on any other target it stays an ordinary
/// function. A kernel is neither generic nor `async` nor `const`, returns nothing and takes no `self` and no `&mut`:
/// every thread of a launch receives the same arguments. A launch passes a slice parameter `&[T]` as two arguments, the
/// device address and the number of elements (`u64` each); the address of an empty slice must not be null either. It
/// passes `device_std`'s `PerThread<'_, T>` and `PerBlock<'_, T>` in the same way.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(arguments.into(), item.into()).into()
}

/// Derives `device_std::Plain` for a struct with `#[repr(C)]`, plain fields and no padding.
#[proc_macro_derive(Plain)]
pub fn plain(input: TokenStream) -> TokenStream {
    plain::derive(input.into()).into()
}

/// Honours the loop hints inside a function, an `impl` block, a trait or an inline module.
///
/// Nothing else changes: not the symbol, not the inlining. On targets that are no GPU, hints do nothing.
#[proc_macro_attribute]
pub fn device(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = refuse_arguments("device", arguments.into()).err();
    let item = match syn::parse::<syn::Item>(item.clone()) {
        Ok(mut item) => {
            collect(&mut errors, mark::loops(&mut item).err());
            item.into_token_stream()
        }
        Err(error) => {
            collect(&mut errors, Some(error));
            item.into()
        }
    };
    with_errors(errors, item).into()
}

/// The hint to keep a loop rolled, which only has a meaning inside a `#[kernel]` or `#[device]` item.
#[proc_macro_attribute]
pub fn nounroll(_arguments: TokenStream, target: TokenStream) -> TokenStream {
    stray("nounroll", target)
}

/// The hint to unroll a loop, which only has a meaning inside a `#[kernel]` or `#[device]` item.
#[proc_macro_attribute]
pub fn unroll(_arguments: TokenStream, target: TokenStream) -> TokenStream {
    stray("unroll", target)
}

/// Writes a loop out while the source is read; exported as `device_std::unroll`, and documented there.
#[proc_macro]
pub fn unroll_copies(tokens: TokenStream) -> TokenStream {
    unroll::expand(tokens.into()).into()
}

/// A hint that reaches the compiler was not consumed, so it stands where it has no meaning.
fn stray(name: &str, target: TokenStream) -> TokenStream {
    let message = format!(
        "`#[{name}]` is a hint for a `for`, `while` or `loop` inside a function with `#[kernel]` or `#[device]`: put one \
         of them on the function around it"
    );
    let error = syn::Error::new(proc_macro2::Span::call_site(), message).into_compile_error();
    let target = proc_macro2::TokenStream::from(target);
    // An expression must stay one expression, or the compiler adds an error about the rest.
    if syn::parse2::<syn::Item>(target.clone()).is_err() && syn::parse2::<syn::Expr>(target.clone()).is_ok() {
        return quote!({ #error #target }).into();
    }
    quote!(#error #target).into()
}

fn refuse_arguments(macro_name: &str, arguments: proc_macro2::TokenStream) -> syn::Result<()> {
    if arguments.is_empty() {
        return Ok(());
    }
    Err(syn::Error::new_spanned(arguments, format!("`#[{macro_name}]` takes no arguments")))
}

fn collect(errors: &mut Option<syn::Error>, more: Option<syn::Error>) {
    match (errors, more) {
        (Some(errors), Some(more)) => errors.combine(more),
        (errors, Some(more)) => *errors = Some(more),
        (_, None) => {}
    }
}

/// The item is kept beside the errors, so that its users do not get errors of their own for a missing name.
fn with_errors(errors: Option<syn::Error>, item: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let errors = errors.map(syn::Error::into_compile_error);
    quote! { #errors #item }
}
