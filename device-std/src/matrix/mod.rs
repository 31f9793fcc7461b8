//! Tensor cores: small matrix products of a whole sub-group, operands of 16 bits, sums in single precision.
//!
//! - [`mma`] multiplies a 16 x 16 matrix by a 16 x 8 one and adds a 16 x 8 one (PTX: `mma.sync` m16n8k16). The three
//!   lie in the registers of the sub-group's 32 lanes as **fragments**: [`A`], [`B`] and [`Accumulator`].
//! - [`SharedTile`] is a matrix in shared memory, from which fragments are loaded, transposed or not (`ldmatrix`).
//! - [`wgmma`] multiplies matrices of 64 rows that lie in shared memory, by four sub-groups together (NVIDIA's sm_90a
//!   alone).
//!
//! ```
//! use device_std::matrix::{A, Accumulator, B, mma};
//! use device_std::{host, math::Bf16};
//!
//! // The product of a matrix that holds its column's number, and the first eight columns of the identity.
//! host::launch(1, 32, 0, || {
//!     let a = A::from_fn(|_row, column| Bf16::from_f32(column as f32));
//!     let b = B::from_fn(|row, column| Bf16::from_f32(if row == column { 1.0 } else { 0.0 }));
//!     let product = mma(a, b, Accumulator::ZERO);
//!     product.for_each(|_row, column, value| assert_eq!(value, column as f32));
//! })?;
//! # Ok::<(), host::Error>(())
//! ```
//!
//! # Which lane holds what
//! Each fragment type says it in three formulas: element `i` of a lane is at [`row(i, lane)`](A::row) and
//! [`column(i, lane)`](A::column), and [`holder(row, column)`](A::holder) is the lane, and which of its elements.
//! With `g = lane / 4` and `t = lane % 4`:
//!
//! | fragment | elements a lane | row of element i | column of element i |
//! |---|---|---|---|
//! | [`A`], 16 x 16 | 8 | `g + 8 * (i / 2 % 2)` | `2 * t + i % 2 + 8 * (i / 4)` |
//! | [`B`], 16 x 8 | 4 | `2 * t + i % 2 + 8 * (i / 2)` | `g` |
//! | [`Accumulator`], 16 x 8 | 4 | `g + 8 * (i / 2)` | `2 * t + i % 2` |
//!
//! So two accumulators side by side are held just as an [`A`] is ([`A::from_accumulators`]), and an [`A`] as two [`B`]s
//! of its transpose ([`A::transpose`]): results become operands without leaving their lanes.
//!
//! # What a sum is
//! Products of 16-bit elements are exact. The order in which a GPU adds them, and how it rounds in between, is open:
//! results of different GPUs may differ in their last bits. On the host, the 16 products of an element are added in
//! double precision, in ascending order of `k`, the accumulator last, and the sum is rounded once. The emulator does
//! the same, so both give the same bits. The bits of a NaN are open everywhere.
//!
//! # Where it works
//! On NVIDIA's GPUs from sm_80 on and on the host; code that uses it does not compile for older ones. There is no such
//! module for AMD's. Like all operations of a [sub-group](crate::subgroup), those here are **collective**, and unlike
//! others they need all 32 lanes to exist: where one does not, or does not come, a GPU's result is unspecified, and the
//! host reports it. The link stage makes every such instruction `convergent`, so that the compiler never moves one
//! behind a condition.

mod fragment;
#[cfg(on_host)]
mod host;
#[cfg(target_arch = "nvptx64")]
mod nvptx;
mod tile;
pub mod wgmma;

pub use fragment::{A, Accumulator, B};
pub use tile::SharedTile;

#[cfg(on_host)]
use host as imp;
#[cfg(target_arch = "nvptx64")]
use nvptx as imp;

use crate::Plain;
use crate::math::{Bf16, F16};

mod sealed {
    pub trait Sealed {}
}

/// The formats of operands: [`Bf16`] and [`F16`].
pub trait Element: Plain + sealed::Sealed {
    /// The nearest number, ties to even.
    fn from_f32(value: f32) -> Self;

    /// The same number.
    fn to_f32(self) -> f32;

    /// The number's bits.
    fn to_bits(self) -> u16;

    /// The number with these bits.
    fn from_bits(bits: u16) -> Self;

    /// Both rounded, as a register: `low` is its low half.
    #[doc(hidden)]
    fn pack(low: f32, high: f32) -> u32;

    #[doc(hidden)]
    #[cfg_attr(on_host, track_caller)]
    fn mma(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4];

    /// # Safety
    /// As for [`wgmma::mma_async`]; the descriptors are of matrices with elements of this type.
    #[doc(hidden)]
    #[cfg_attr(on_host, track_caller)]
    unsafe fn wgmma<const TA: bool, const TB: bool>(sums: &mut [f32; 32], a: wgmma::Descriptor, b: wgmma::Descriptor);
}

macro_rules! elements {
    ($($format:ident $mma:ident $wgmma:ident $pack:ident;)*) => {$(
        impl sealed::Sealed for $format {}

        impl Element for $format {
            #[inline(always)]
            fn from_f32(value: f32) -> $format {
                $format::from_f32(value)
            }

            #[inline(always)]
            fn to_f32(self) -> f32 {
                $format::to_f32(self)
            }

            #[inline(always)]
            fn to_bits(self) -> u16 {
                $format::to_bits(self)
            }

            #[inline(always)]
            fn from_bits(bits: u16) -> $format {
                $format::from_bits(bits)
            }

            #[inline(always)]
            fn pack(low: f32, high: f32) -> u32 {
                imp::$pack(low, high)
            }

            #[inline(always)]
            #[cfg_attr(on_host, track_caller)]
            fn mma(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
                imp::$mma(a, b, c)
            }

            #[inline(always)]
            #[cfg_attr(on_host, track_caller)]
            unsafe fn wgmma<const TA: bool, const TB: bool>(
                sums: &mut [f32; 32],
                a: wgmma::Descriptor,
                b: wgmma::Descriptor,
            ) {
                // SAFETY: the caller's promise.
                unsafe { wgmma::imp::$wgmma::<TA, TB>(sums, a, b) };
            }
        }
    )*};
}

elements! {
    Bf16 mma_bf16 product_bf16 pack_bf16;
    F16 mma_f16 product_f16 pack_f16;
}

/// `a * b + c`, by the 32 lanes of the sub-group together.
///
/// # Does not compile
/// For NVIDIA GPUs before sm_80.
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
pub fn mma<T: Element>(a: A<T>, b: B<T>, c: Accumulator) -> Accumulator {
    const {
        assert!(
            cfg!(any(on_host, target_feature = "sm_80")),
            "`mma` needs a GPU from sm_80 on: build with `--arch sm_80`"
        );
    }
    Accumulator(T::mma(a.registers(), b.registers(), c.0))
}
