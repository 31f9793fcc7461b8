//! `#[kernel]`: one function becomes two items, an exported entry point on GPU targets and a plain function elsewhere.
//!
//! Everything that would make a kernel unsound or meaningless is refused, each at its own place: arguments arrive by
//! value in every thread, so a `&mut` would be held by all of them at once; nothing can be returned; an entry point has
//! one symbol, so it cannot be generic. What the macro cannot see (the layout of argument types, whether a type alias
//! hides a `&mut`) is not checked. A parameter that is a slice, a `PerThread` or a `PerBlock` becomes two, see
//! `slices`.

use crate::{collect, mark, refuse_arguments, slices, with_errors};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::visit::{self, Visit};
use syn::{Error, Item, ItemFn, ReturnType, Signature};

/// Expands the attribute; where the item is refused, it is left as an ordinary function beside the errors.
pub fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = refuse_arguments("kernel", arguments).err();
    let mut parsed = match syn::parse2::<Item>(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            collect(&mut errors, Some(error));
            return with_errors(errors, item);
        }
    };
    collect(&mut errors, mark::loops(&mut parsed).err());
    let Item::Fn(function) = &parsed else {
        collect(&mut errors, Some(Error::new_spanned(&parsed, "`#[kernel]` goes on a function")));
        return with_errors(errors, parsed.into_token_stream());
    };
    collect(&mut errors, refuse(function));
    if errors.is_some() { with_errors(errors, parsed.into_token_stream()) } else { entry_point(function) }
}

/// The entry point for GPU targets, and the function for all others.
fn entry_point(function: &ItemFn) -> TokenStream {
    let span = Span::mixed_site().located_at(function.sig.ident.span());
    let gpu = mark::on_gpu(span);
    let host = function;
    // A private kernel has no caller on a host. Nothing is allowed for a public one, where a crate may forbid allowing.
    let unused = match function.vis {
        syn::Visibility::Public(_) => None,
        _ => Some(quote_spanned!(span=> #[allow(dead_code)])),
    };
    let mut device = function.clone();
    device.sig.abi =
        Some(syn::Abi { extern_token: syn::Token![extern](span), name: Some(syn::LitStr::new("gpu-kernel", span)) });
    slices::split(&mut device);
    // The lints ask for arguments with a C layout; what else is passed is the business of whoever launches the kernel.
    quote_spanned! {span=>
        #[cfg(#gpu)]
        #[unsafe(no_mangle)]
        #[allow(improper_ctypes_definitions, improper_gpu_kernel_arg)]
        #device
        #[cfg(not(#gpu))]
        #unused
        #host
    }
}

/// All reasons why a function can be no kernel, as one error.
fn refuse(function: &ItemFn) -> Option<Error> {
    let signature = &function.sig;
    let mut errors = None;
    for error in [qualifiers(signature), generics(signature), arguments(signature), result(signature), symbol(function)]
    {
        collect(&mut errors, error);
    }
    errors
}

fn qualifiers(signature: &Signature) -> Option<Error> {
    if let Some(token) = &signature.constness {
        return Some(Error::new_spanned(token, "a kernel cannot be `const`: it runs on the GPU only"));
    }
    if let Some(token) = &signature.asyncness {
        return Some(Error::new_spanned(token, "a kernel cannot be `async`: a GPU thread runs it to its end"));
    }
    if let Some(abi) = &signature.abi {
        return Some(Error::new_spanned(abi, "`#[kernel]` chooses the calling convention: remove this one"));
    }
    let variadic = signature.variadic.as_ref()?;
    Some(Error::new_spanned(variadic, "a kernel cannot be variadic: a launch passes a fixed list of arguments"))
}

fn generics(signature: &Signature) -> Option<Error> {
    let parameter = signature.generics.params.iter().find(|one| !matches!(one, syn::GenericParam::Lifetime(_)))?;
    let message = "a kernel cannot be generic: it is one symbol in the GPU module (write a generic `#[device]` function \
                   and one kernel for each instance)";
    Some(Error::new_spanned(parameter, message))
}

fn result(signature: &Signature) -> Option<Error> {
    match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) if matches!(&**ty, syn::Type::Tuple(tuple) if tuple.elems.is_empty()) => None,
        ReturnType::Type(_, ty) => Some(Error::new_spanned(
            ty,
            "a kernel returns nothing: write results through a `PerThread<'_, T>` or `*mut T` parameter",
        )),
    }
}

fn arguments(signature: &Signature) -> Option<Error> {
    let mut refused = Refused::default();
    for input in &signature.inputs {
        match input {
            syn::FnArg::Receiver(receiver) => {
                let message = "a kernel cannot be a method: a launch passes no `self`";
                collect(&mut refused.errors, Some(Error::new_spanned(receiver, message)));
            }
            syn::FnArg::Typed(typed) => refused.visit_type(&typed.ty),
        }
    }
    refused.errors
}

/// Finds the types that no kernel parameter may hold.
#[derive(Default)]
struct Refused {
    errors: Option<Error>,
}

impl<'ast> Visit<'ast> for Refused {
    fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
        if reference.mutability.is_some() {
            let message = "a kernel parameter cannot hold a `&mut`: every thread of the launch would hold the same one, \
                           which is undefined behaviour (take `PerThread<'_, T>`, which gives each thread elements of its own, or a \
                           raw pointer, `*mut T`, and its length)";
            collect(&mut self.errors, Some(Error::new_spanned(reference, message)));
        }
        visit::visit_type_reference(self, reference);
    }

    fn visit_type_impl_trait(&mut self, generic: &'ast syn::TypeImplTrait) {
        let message = "a kernel cannot be generic, and `impl Trait` makes it so: name the type";
        collect(&mut self.errors, Some(Error::new_spanned(generic, message)));
    }

    /// A function pointer's own parameters are not held by the threads.
    fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
}

/// Refuses attributes that name the symbol, since the kernel's name is its symbol.
fn symbol(function: &ItemFn) -> Option<Error> {
    let names_symbol = |path: &syn::Path| path.is_ident("no_mangle") || path.is_ident("export_name");
    let attribute = function.attrs.iter().find(|attribute| {
        let inner = match &attribute.meta {
            syn::Meta::List(list) if list.path.is_ident("unsafe") => list.parse_args::<syn::Meta>().ok(),
            _ => None,
        };
        names_symbol(attribute.path()) || inner.is_some_and(|meta| names_symbol(meta.path()))
    })?;
    Some(Error::new_spanned(attribute, "`#[kernel]` names the symbol after the function: remove this attribute"))
}

#[cfg(test)]
mod tests {
    use super::expand;
    use quote::quote;

    #[test]
    fn a_kernel_is_one_item_on_gpus_and_another_on_hosts() {
        let expanded = expand(
            quote!(),
            quote!(
                #[cold]
                pub unsafe fn k(n: u32, out: *mut f32) {
                    work()
                }
            ),
        );
        let expected = quote! {
            #[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
            #[unsafe(no_mangle)]
            #[allow(improper_ctypes_definitions, improper_gpu_kernel_arg)]
            #[cold]
            pub unsafe extern "gpu-kernel" fn k(n: u32, out: *mut f32) { work() }
            #[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
            #[cold]
            pub unsafe fn k(n: u32, out: *mut f32) { work() }
        };
        assert_eq!(expanded.to_string(), expected.to_string());
    }

    #[test]
    fn only_a_private_kernel_may_be_unused_on_hosts() {
        assert!(
            expand(
                quote!(),
                quote!(
                    pub(crate) fn k() {}
                )
            )
            .to_string()
            .contains("dead_code")
        );
        assert!(
            !expand(
                quote!(),
                quote!(
                    pub fn k() {}
                )
            )
            .to_string()
            .contains("dead_code")
        );
    }

    #[test]
    fn a_variadic_kernel_is_refused() {
        let expanded = expand(
            quote!(),
            quote!(
                unsafe fn k(_: u32, ...) {}
            ),
        )
        .to_string();
        assert!(expanded.contains("a kernel cannot be variadic"), "{expanded}");
    }

    #[test]
    fn an_explicit_unit_result_is_none() {
        assert!(
            !expand(
                quote!(),
                quote!(
                    fn k() -> () {}
                )
            )
            .to_string()
            .contains("compile_error")
        );
    }

    #[test]
    fn what_a_function_pointer_takes_is_its_own_business() {
        assert!(
            !expand(
                quote!(),
                quote!(
                    fn k(f: fn(&mut u32)) {}
                )
            )
            .to_string()
            .contains("compile_error")
        );
    }
}
