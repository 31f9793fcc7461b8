//! PTX instructions.
//!
//! The product of bf16 operands is LLVM's own intrinsic. That of f16 operands takes vectors of two halves, which rustc
//! does not pass to an intrinsic, and `ldmatrix` an address in shared memory, which Rust has no type for: both are
//! assembly. Products are declared to depend on their operands alone, and loads on memory, so that unused ones vanish;
//! that neither moves behind a condition is the link stage's work.

use core::arch::asm;

#[repr(C)]
struct Four(f32, f32, f32, f32);

// SAFETY: this is LLVM's own declaration of the intrinsic, which computes with its arguments.
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.mma.m16n8k16.row.col.bf16"]
    #[rustfmt::skip]
    safe fn mma_m16n8k16_bf16(
        a0: u32,
        a1: u32,
        a2: u32,
        a3: u32,
        b0: u32,
        b1: u32,
        c0: f32,
        c1: f32,
        c2: f32,
        c3: f32,
    ) -> Four;
}

#[inline(always)]
pub fn mma_bf16([a0, a1, a2, a3]: [u32; 4], [b0, b1]: [u32; 2], [c0, c1, c2, c3]: [f32; 4]) -> [f32; 4] {
    let Four(d0, d1, d2, d3) = mma_m16n8k16_bf16(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3);
    [d0, d1, d2, d3]
}

#[inline(always)]
pub fn mma_f16([a0, a1, a2, a3]: [u32; 4], [b0, b1]: [u32; 2], [c0, c1, c2, c3]: [f32; 4]) -> [f32; 4] {
    let (d0, d1, d2, d3);
    // SAFETY: the instruction computes with its operands, and touches nothing else.
    unsafe {
        asm!(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \
             {{{d0}, {d1}, {d2}, {d3}}}, {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, {{{c0}, {c1}, {c2}, {c3}}};",
            d0 = lateout(reg32) d0,
            d1 = lateout(reg32) d1,
            d2 = lateout(reg32) d2,
            d3 = lateout(reg32) d3,
            a0 = in(reg32) a0,
            a1 = in(reg32) a1,
            a2 = in(reg32) a2,
            a3 = in(reg32) a3,
            b0 = in(reg32) b0,
            b1 = in(reg32) b1,
            c0 = in(reg32) c0,
            c1 = in(reg32) c1,
            c2 = in(reg32) c2,
            c3 = in(reg32) c3,
            options(pure, nomem, nostack),
        );
    }
    [d0, d1, d2, d3]
}

macro_rules! packs {
    ($($name:ident $instruction:literal;)*) => {$(
        #[inline(always)]
        pub fn $name(low: f32, high: f32) -> u32 {
            let both;
            // SAFETY: the instruction computes with its operands, and touches nothing else.
            unsafe {
                asm!(
                    concat!($instruction, " {both}, {high}, {low};"),
                    both = lateout(reg32) both,
                    high = in(reg32) high,
                    low = in(reg32) low,
                    options(pure, nomem, nostack),
                );
            }
            both
        }
    )*};
}

packs! {
    pack_bf16 "cvt.rn.bf16x2.f32";
    pack_f16 "cvt.rn.f16x2.f32";
}

macro_rules! load_matrices {
    ($form:literal, $row:ident, $($register:ident)*) => {{
        let ($($register),*);
        // SAFETY: the caller vouches for the rows; the instruction reads them, and writes nothing but its registers.
        unsafe {
            asm!(
                "cvta.to.shared.u64 {at}, {row};",
                concat!("ldmatrix.sync.aligned.m8n8.", $form, ".shared.b16 {{", load_matrices!(list $($register)*), "}}, [{at}];"),
                at = out(reg64) _,
                row = in(reg64) $row,
                $($register = lateout(reg32) $register,)*
                options(pure, readonly, nostack),
            );
        }
        [$($register),*]
    }};
    (list $first:ident $($register:ident)*) => {
        concat!("{", stringify!($first), "}", $(", {", stringify!($register), "}"),*)
    };
}

/// `N` matrices of 8 x 8, 2 or 4, of which lane `l` names row `l % 8` of matrix `l / 8`.
///
/// # Safety
/// Each row is 16 bytes of shared memory, valid for reads, at a multiple of 16.
#[inline(always)]
pub unsafe fn ldmatrix<const N: usize, const TRANSPOSED: bool>(row: *const u16) -> [u32; N] {
    const { assert!(N == 2 || N == 4, "two or four matrices are loaded at once") };
    let mut registers = [0u32; N];
    if const { N == 2 } {
        let loaded: [u32; 2] =
            if TRANSPOSED { load_matrices!("x2.trans", row, d0 d1) } else { load_matrices!("x2", row, d0 d1) };
        registers[0] = loaded[0];
        registers[1] = loaded[1];
    } else {
        let loaded: [u32; 4] = if TRANSPOSED {
            load_matrices!("x4.trans", row, d0 d1 d2 d3)
        } else {
            load_matrices!("x4", row, d0 d1 d2 d3)
        };
        registers[0] = loaded[0];
        registers[1] = loaded[1];
        registers[2] = loaded[2];
        registers[3] = loaded[3];
    }
    registers
}
