//! Gated DeltaNet for prefill: the delta rule with a decay gate, over packed sequences.
//!
//! A head's state `S` is a matrix of `dv` rows and `dk` columns. Every token decays it by its gate `g`, replaces a part
//! `beta` of what the state holds for the key by the token's value, and reads the state by its query:
//!
//! ```text
//! D = g S;   delta = beta (v - D k);   S = D + delta (x) k;   y = S q
//! ```
//!
//! - [`recurrent`] does just that, token by token.
//! - [`wy`] takes chunks of 16, 32 or 64 tokens and turns the steps of a chunk into products of small matrices.
//! - [`mma`] does that on tensor cores, for keys of 128 elements of 16 bits.
//!
//! # What every kernel takes
//! Pointers and sizes, in this order; all arrays are dense and row-major, and begin at multiples of 16 bytes.
//!
//! | argument | shape | type |
//! |---|---|---|
//! | `q`, `k` | `[tokens, key_heads, dk]` | the kernel's element type |
//! | `v` | `[tokens, heads, dv]` | element |
//! | `g`, `beta` | `[tokens, heads]` | f32 |
//! | `state_in` | `[sequences, heads, dv, dk]`, or null for zeros | f32 |
//! | `y` | `[tokens, heads, dv]`, written | element |
//! | `state_out` | `[sequences, heads, dv, dk]`, written | f32 |
//! | `starts` | `[sequences + 1]`: the first token of each sequence, and the end of the last | u32 |
//! | `heads`, `key_heads`, `dk`, `dv` | sizes; `heads` is a multiple of `key_heads` | u32 |
//!
//! `g` is the factor itself, not its logarithm; any finite number will do, 0 and negative ones too. Several heads share
//! a key head: head `h` has the keys and queries of `h / (heads / key_heads)`. Gates are single precision whatever the
//! elements are: bfloat16 has no number between 0.996 and 1.
//!
//! A block works on one head of one sequence, `block_idx.x = sequence * heads + head`, and on some rows of the state,
//! those of tile `block_idx.y`. Sequences may be empty; their state is copied. `dk` and `dv` are multiples of 8.
//!
//! # When it is wrong
//! Nothing here checks a size: `gated_delta::gated_delta_rule` does, before it launches. A NaN or an infinity spreads to
//! the other tokens of its chunk, also to earlier ones, where the recurrence has it in later tokens alone.

#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), no_std, feature(abi_gpu_kernel))]
#![allow(clippy::too_many_arguments)]
// Several arrays are gone through by one number, which unrolling makes a constant.
#![allow(clippy::needless_range_loop)]

mod element;
pub mod mma;
pub mod recurrent;
mod tensors;
pub mod wy;

pub use element::{Element, Half};
pub use tensors::{Head, Tensors};

/// The entry points of a kernel: one for each element type and each size that is known while compiling.
///
/// `name: function::<types and sizes>` makes a kernel that gathers its arguments and calls `function(tensors)`.
macro_rules! entries {
    ($($(#[$doc:meta])* $name:ident: $element:ty => $run:expr;)+) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The arguments are as the crate says, and nothing else uses `y` and `state_out`.
        #[device_std::kernel]
        pub unsafe fn $name(
            q: *const $element,
            k: *const $element,
            v: *const $element,
            g: *const f32,
            beta: *const f32,
            state_in: *const f32,
            y: *mut $element,
            state_out: *mut f32,
            starts: *const u32,
            heads: u32,
            key_heads: u32,
            dk: u32,
            dv: u32,
        ) {
            let tensors = $crate::Tensors { q, k, v, g, beta, state_in, y, state_out, starts, heads, key_heads, dk, dv };
            // SAFETY: the caller's promise.
            unsafe { $run(&tensors) };
        }
    )+};
}
pub(crate) use entries;
