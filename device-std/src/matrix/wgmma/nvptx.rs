//! PTX instructions: assembly, since LLVM has no intrinsic for them.
//!
//! The products write registers after their instruction, which no compiler expects. So all sums are operands of the
//! fence, of each product, and of an empty piece of assembly after the wait: between the first and the last, the
//! compiler has no reason to touch them. Where it does all the same, ptxas sees it, waits in between, and says so
//! (C7510, C7514 and their like).

use core::arch::asm;

/// Where an operand is, as the instruction takes it: address, distance of neighbours in depth and of neighbouring
/// lines, each in units of 16 bytes and 14 bits; no swapping of address bits.
#[derive(Debug, Clone, Copy)]
pub struct Descriptor(u64);

impl Descriptor {
    #[inline(always)]
    pub fn new(start: *const u8, depth_distance: u32, line_distance: u32) -> Descriptor {
        let at: u64;
        // SAFETY: the instruction computes with its operand.
        unsafe {
            asm!("cvta.to.shared.u64 {at}, {start};", at = lateout(reg64) at, start = in(reg64) start, options(pure, nomem, nostack));
        }
        let field = |bytes: u64| bytes.wrapping_shr(4) & 0x3fff;
        let (depth, line) = (field(u64::from(depth_distance)), field(u64::from(line_distance)));
        Descriptor(field(at) | depth.wrapping_shl(16) | line.wrapping_shl(32))
    }
}

#[inline(always)]
pub fn publish() {
    // SAFETY: a fence has no precondition.
    unsafe { asm!("fence.proxy.async.shared::cta;", options(nostack)) };
}

/// Assembly with all sums as operands `d0` to `d31`.
macro_rules! with_sums {
    ($sums:ident, [$($text:expr),*], $($rest:tt)*) => {
        asm!(
            $($text,)*
            d0 = inout(reg32) $sums[0],
            d1 = inout(reg32) $sums[1],
            d2 = inout(reg32) $sums[2],
            d3 = inout(reg32) $sums[3],
            d4 = inout(reg32) $sums[4],
            d5 = inout(reg32) $sums[5],
            d6 = inout(reg32) $sums[6],
            d7 = inout(reg32) $sums[7],
            d8 = inout(reg32) $sums[8],
            d9 = inout(reg32) $sums[9],
            d10 = inout(reg32) $sums[10],
            d11 = inout(reg32) $sums[11],
            d12 = inout(reg32) $sums[12],
            d13 = inout(reg32) $sums[13],
            d14 = inout(reg32) $sums[14],
            d15 = inout(reg32) $sums[15],
            d16 = inout(reg32) $sums[16],
            d17 = inout(reg32) $sums[17],
            d18 = inout(reg32) $sums[18],
            d19 = inout(reg32) $sums[19],
            d20 = inout(reg32) $sums[20],
            d21 = inout(reg32) $sums[21],
            d22 = inout(reg32) $sums[22],
            d23 = inout(reg32) $sums[23],
            d24 = inout(reg32) $sums[24],
            d25 = inout(reg32) $sums[25],
            d26 = inout(reg32) $sums[26],
            d27 = inout(reg32) $sums[27],
            d28 = inout(reg32) $sums[28],
            d29 = inout(reg32) $sums[29],
            d30 = inout(reg32) $sums[30],
            d31 = inout(reg32) $sums[31],
            $($rest)*
        )
    };
}

/// Names every sum in a comment, as assembly must name all its operands.
macro_rules! named {
    () => {
        "// {d0} {d1} {d2} {d3} {d4} {d5} {d6} {d7} {d8} {d9} {d10} {d11} {d12} {d13} {d14} {d15} \
         {d16} {d17} {d18} {d19} {d20} {d21} {d22} {d23} {d24} {d25} {d26} {d27} {d28} {d29} {d30} {d31}"
    };
}

#[inline(always)]
pub unsafe fn fence(sums: &mut [f32; 32]) {
    // SAFETY: the caller's promise; the sums stay as they are.
    unsafe { with_sums!(sums, ["wgmma.fence.sync.aligned;", named!()], options(nostack)) };
}

macro_rules! products {
    ($($name:ident $format:literal;)*) => {$(
        #[inline(always)]
        pub unsafe fn $name<const TA: bool, const TB: bool>(sums: &mut [f32; 32], a: Descriptor, b: Descriptor) {
            // SAFETY: the caller's promise. That the sums are written later is no concern of the compiler: nobody reads
            // them before the wait has handed them back.
            unsafe {
                with_sums!(
                    sums,
                    [
                        "{{",
                        ".reg .pred keep;",
                        "setp.eq.u32 keep, 0, 0;",
                        concat!(
                            "wgmma.mma_async.sync.aligned.m64n64k16.f32.", $format, ".", $format,
                            " {{{d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, {d7}, {d8}, {d9}, {d10}, {d11}, {d12}, {d13}, \
                            {d14}, {d15}, {d16}, {d17}, {d18}, {d19}, {d20}, {d21}, {d22}, {d23}, {d24}, {d25}, {d26}, \
                            {d27}, {d28}, {d29}, {d30}, {d31}}}, {a}, {b}, keep, 1, 1, {ta}, {tb};"
                        ),
                        "}}"
                    ],
                    a = in(reg64) a.0,
                    b = in(reg64) b.0,
                    ta = const TA as u32,
                    tb = const TB as u32,
                    options(nostack),
                );
            }
        }
    )*};
}

products! {
    product_bf16 "bf16";
    product_f16 "f16";
}

#[inline(always)]
pub unsafe fn commit_group() {
    // SAFETY: the caller's promise.
    unsafe { asm!("wgmma.commit_group.sync.aligned;", options(nostack)) };
}

#[inline(always)]
pub unsafe fn wait_group<const PENDING: u32>(sums: &mut [f32; 32]) {
    // SAFETY: (both) the caller's promise; after the wait, the sums are what the products have made of them.
    unsafe { asm!("wgmma.wait_group.sync.aligned {pending};", pending = const PENDING, options(nostack)) };
    // SAFETY: as above.
    unsafe { with_sums!(sums, [named!()], options(nostack)) };
}
