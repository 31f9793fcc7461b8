//! `#[derive(Plain)]`: a struct is plain if its fields are and no byte lies between them.
//!
//! Both are left to the compiler: each field's type must implement the trait, and a constant assertion holds the sizes
//! of the fields together against the size of the struct. The assertion needs the sizes, so generic structs are
//! refused, and `#[repr(C)]` or `#[repr(transparent)]` is asked for, without which the order of fields is the
//! compiler's choice.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Data, DeriveInput, Error};

/// Expands the derive.
pub fn derive(input: TokenStream) -> TokenStream {
    syn::parse2::<DeriveInput>(input).and_then(expand).unwrap_or_else(Error::into_compile_error)
}

fn expand(input: DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(body) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "`Plain` can be derived for structs only"));
    };
    if !input.generics.params.is_empty() {
        let message =
            "`Plain` cannot be derived for a generic struct: whether there is padding is known for one instance only";
        return Err(Error::new_spanned(&input.generics, message));
    }
    if !has_layout(&input)? {
        let message = "`Plain` needs a layout that is laid down: add `#[repr(C)]`";
        return Err(Error::new_spanned(&input.ident, message));
    }
    let name = &input.ident;
    let span = Span::mixed_site().located_at(name.span());
    let fields = body.fields.iter().map(|field| &field.ty);
    let message =
        format!("`Plain` cannot be derived for `{name}`: it has padding (make it a field, such as `_pad: [u8; 3]`)");
    Ok(quote_spanned! {span=>
        const _: () = {
            const fn size<T: ::device_std::Plain>() -> usize {
                ::core::mem::size_of::<T>()
            }
            assert!(::core::mem::size_of::<#name>() == 0 #(+ size::<#fields>())*, #message);
            // Every field is plain, and there is no byte but theirs.
            unsafe impl ::device_std::Plain for #name {}
        };
    })
}

/// Whether the struct says how it is laid out.
fn has_layout(input: &DeriveInput) -> syn::Result<bool> {
    let mut found = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            // `align(16)` and `packed(2)` have an argument that is not looked at.
            if meta.input.peek(syn::token::Paren) {
                meta.input.parse::<proc_macro2::Group>()?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}
