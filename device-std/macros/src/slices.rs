//! A kernel's slice parameter becomes a pointer and a length on the GPU, and the slice is made first in the body.
//!
//! Left to the compiler, `&[T]` is one 16-byte parameter on NVPTX and its pointer an integer, so that LLVM no longer
//! knows it to be global memory: all loads through it come out generic (`ld` for `ld.global`). As parameters of their
//! own the two are also passed alike on NVPTX and AMDGPU. Split are parameters whose type is written as `&[T]` or as a
//! path to `PerThread` or `PerBlock`; in a tuple, a struct or behind a type alias they stay as they are. A type of
//! another library with that name is an error that names the missing trait.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, PatType, Type};

/// The parameter types, apart from slices, that are made from a pointer and a length.
const OUTPUTS: [&str; 2] = ["PerThread", "PerBlock"];

/// Splits the slice parameters of a kernel's GPU version.
pub fn split(kernel: &mut ItemFn) {
    let inputs = std::mem::take(&mut kernel.sig.inputs);
    let mut bindings = Vec::new();
    for (index, input) in inputs.into_iter().enumerate() {
        match input {
            FnArg::Typed(typed) => match Halves::of(index, &typed.ty) {
                Some(halves) => {
                    bindings.push(halves.binding(&typed));
                    kernel.sig.inputs.extend(halves.parameters);
                }
                None => kernel.sig.inputs.push(FnArg::Typed(typed)),
            },
            receiver => kernel.sig.inputs.push(receiver),
        }
    }
    kernel.block.stmts.splice(0..0, bindings);
}

/// The pointer and length parameters for one slice, and the expression that makes the slice of them.
struct Halves {
    parameters: [FnArg; 2],
    whole: TokenStream,
}

impl Halves {
    /// The halves of a parameter of type `ty`, if it is split.
    fn of(index: usize, ty: &Type) -> Option<Halves> {
        let span = Span::mixed_site().located_at(ty.span());
        let pointer = format_ident!("slice_{index}", span = span);
        let length = format_ident!("slice_{index}_len", span = span);
        let (pointer_type, whole) = if let Some(element) = element(ty) {
            // Sound where a `&[T]` argument is: the launch passes the address and length of elements that nothing
            // writes meanwhile. `from_raw_parts` would do the same, with a call to check its arguments in dev builds.
            (
                quote_spanned!(span=> *const #element),
                quote_spanned!(span=> &*::core::ptr::slice_from_raw_parts(#pointer, #length)),
            )
        } else if is_output(ty) {
            // Sound because each thread comes by here once; the launch vouches for the buffer.
            let from_launch = quote_spanned!(span=> <#ty as ::device_std::memory::FromLaunch>);
            (
                quote_spanned!(span=> *mut #from_launch::Element),
                quote_spanned!(span=> #from_launch::from_launch(#pointer, #length)),
            )
        } else {
            return None;
        };
        let parameters = [
            syn::parse_quote_spanned!(span=> #pointer: #pointer_type),
            syn::parse_quote_spanned!(span=> #length: usize),
        ];
        Some(Halves { parameters, whole })
    }

    /// The statement that makes the parameter of its halves.
    fn binding(&self, PatType { attrs, pat, ty, .. }: &PatType) -> syn::Stmt {
        let (span, whole) = (Span::mixed_site().located_at(ty.span()), &self.whole);
        syn::parse_quote_spanned!(span=> #(#attrs)* let #pat: #ty = unsafe { #whole };)
    }
}

/// The element type of a shared slice.
fn element(ty: &Type) -> Option<&Type> {
    let Type::Reference(reference) = ty else { return None };
    let Type::Slice(slice) = &*reference.elem else { return None };
    reference.mutability.is_none().then_some(&*slice.elem)
}

/// Whether a type is written as one of the library's output parameters.
fn is_output(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| OUTPUTS.iter().any(|output| last.ident == output)))
}

#[cfg(test)]
mod tests {
    use super::split;
    use quote::{ToTokens, quote};
    use syn::{ItemFn, parse_quote};

    #[test]
    fn a_slice_becomes_pointer_and_length_in_place() {
        let mut kernel: ItemFn = parse_quote!(
            fn k<'a>(n: u32, mut xs: &'a [[f32; 2]], out: *mut f32, ys: (&[u8], u8)) {
                work()
            }
        );
        split(&mut kernel);
        let expected = quote! {
            fn k<'a>(n: u32, slice_1: *const [f32; 2], slice_1_len: usize, out: *mut f32, ys: (&[u8], u8)) {
                let mut xs: &'a [[f32; 2]] = unsafe { &*::core::ptr::slice_from_raw_parts(slice_1, slice_1_len) };
                work()
            }
        };
        assert_eq!(kernel.into_token_stream().to_string(), expected.to_string());
    }

    #[test]
    fn an_output_becomes_pointer_and_length_in_place() {
        let mut kernel: ItemFn = parse_quote!(
            fn k(mut out: memory::PerThread<'_, f32, 4>, n: u32) {}
        );
        split(&mut kernel);
        let expected = quote! {
            fn k(
                slice_0: *mut <memory::PerThread<'_, f32, 4> as ::device_std::memory::FromLaunch>::Element,
                slice_0_len: usize,
                n: u32
            ) {
                let mut out: memory::PerThread<'_, f32, 4> = unsafe {
                    <memory::PerThread<'_, f32, 4> as ::device_std::memory::FromLaunch>::from_launch(slice_0, slice_0_len)
                };
            }
        };
        assert_eq!(kernel.into_token_stream().to_string(), expected.to_string());
    }
}
