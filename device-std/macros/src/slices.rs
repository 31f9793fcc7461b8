//! A kernel's slice parameter becomes a pointer and a length on the GPU, and the slice is made first in the body.
//!
//! Left to the compiler, `&[T]` is one 16-byte parameter on NVPTX and its pointer an integer, so that LLVM no longer knows
//! it to be global memory: all loads through it come out generic (`ld` for `ld.global`). As parameters of their own the
//! two are also passed alike on NVPTX and AMDGPU. Only parameters whose type is written as `&[T]` are split; a slice
//! within a tuple, a struct or behind a type alias stays as it is.

use proc_macro2::Span;
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, PatType, Type};

/// Splits the slice parameters of a kernel's GPU version.
pub fn split(kernel: &mut ItemFn) {
    let inputs = std::mem::take(&mut kernel.sig.inputs);
    let mut bindings = Vec::new();
    for (index, input) in inputs.into_iter().enumerate() {
        match input {
            FnArg::Typed(typed) if element(&typed.ty).is_some() => {
                let (parameters, binding) = halves(index, typed);
                kernel.sig.inputs.extend(parameters);
                bindings.push(binding);
            }
            other => kernel.sig.inputs.push(other),
        }
    }
    kernel.block.stmts.splice(0..0, bindings);
}

/// The pointer and length parameters for one slice, and the statement that makes the slice of them.
fn halves(index: usize, slice: PatType) -> ([FnArg; 2], syn::Stmt) {
    let PatType { attrs, pat, ty, .. } = slice;
    let span = Span::mixed_site().located_at(ty.span());
    let pointer = format_ident!("slice_{index}", span = span);
    let length = format_ident!("slice_{index}_len", span = span);
    let element = element(&ty);
    let parameters =
        [syn::parse_quote_spanned!(span=> #pointer: *const #element), syn::parse_quote_spanned!(span=> #length: usize)];
    // Sound where a `&[T]` argument is: the launch passes the address and length of elements that nothing writes meanwhile.
    // `from_raw_parts` would do the same, with a call to check its arguments in dev builds.
    let make = quote_spanned!(span=> unsafe { &*::core::ptr::slice_from_raw_parts(#pointer, #length) });
    (parameters, syn::parse_quote_spanned!(span=> #(#attrs)* let #pat: #ty = #make;))
}

/// The element type of a shared slice.
fn element(ty: &Type) -> Option<Type> {
    let Type::Reference(reference) = ty else { return None };
    let Type::Slice(slice) = &*reference.elem else { return None };
    reference.mutability.is_none().then(|| (*slice.elem).clone())
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
}
