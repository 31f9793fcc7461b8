//! The recurrence as it is defined, token by token.
//!
//! Four lanes share a row of the state and hold it in registers, so a token costs four passes over the registers and two
//! sums over four lanes. Nothing but the inputs is read and nothing but the outputs written, and blocks do not depend on
//! each other: the honest baseline, and the better choice where tokens are few.
//!
//! # How
//! Lane `l` of a row has the elements `32 m + 8 l` to `32 m + 8 l + 7` for every `m`, 16 bytes of a 16-bit format at once.
//! A sum over the row is made of eight partial sums a lane, which [`StridedReduce`] then adds as a tree, and an xor
//! butterfly over the four lanes.
//!
//! # When it is wrong
//! `dk` beyond the number in the kernel's name. Rows beyond `dv` are left out by whole sub-groups, as `dv` is a multiple
//! of 8, and a sub-group has 8 rows.

use crate::{Element, Head, Tensors, entries};
use device_std::math::{self, Bf16, F16};
use device_std::reduce::StridedReduce;
use device_std::subgroup::{self, Native, Segments};
use device_std::{block, device, thread};

/// Threads of a block.
pub const THREADS: u32 = 128;
/// Lanes that share a row.
const LANES: u32 = 4;
/// Rows of the state that a block works on.
pub const ROWS: u32 = THREADS / LANES;
/// Neighbouring elements of a row in one lane.
const GROUP: usize = 8;
/// From one group of a lane to its next.
const STEP: usize = GROUP * LANES as usize;

entries! {
    /// Keys of up to 64 single-precision elements.
    gdn_recurrent_f32_64: f32 => run::<f32, 2>;
    /// Keys of up to 128 single-precision elements.
    gdn_recurrent_f32_128: f32 => run::<f32, 4>;
    /// Keys of up to 256 single-precision elements.
    gdn_recurrent_f32_256: f32 => run::<f32, 8>;
    /// Keys of up to 64 half-precision elements.
    gdn_recurrent_f16_64: F16 => run::<F16, 2>;
    /// Keys of up to 128 half-precision elements.
    gdn_recurrent_f16_128: F16 => run::<F16, 4>;
    /// Keys of up to 256 half-precision elements.
    gdn_recurrent_f16_256: F16 => run::<F16, 8>;
    /// Keys of up to 64 bfloat16 elements.
    gdn_recurrent_bf16_64: Bf16 => run::<Bf16, 2>;
    /// Keys of up to 128 bfloat16 elements.
    gdn_recurrent_bf16_128: Bf16 => run::<Bf16, 4>;
    /// Keys of up to 256 bfloat16 elements.
    gdn_recurrent_bf16_256: Bf16 => run::<Bf16, 8>;
}

/// The elements of a row, or of a key, that one lane holds.
type Part<const GROUPS: usize> = [[f32; GROUP]; GROUPS];

/// One launch, for keys of at most `32 * GROUPS` elements.
#[inline(always)]
unsafe fn run<T: Element, const GROUPS: usize>(tensors: &Tensors<T>) {
    // SAFETY: the caller's promise.
    let head = unsafe { tensors.head() };
    let row = thread::block_idx_y() * ROWS + block::thread_index() / LANES;
    if row >= tensors.dv {
        return;
    }
    // SAFETY: the row is one of the state's, and `dk` has been told apart.
    unsafe {
        if tensors.dk as usize == STEP * GROUPS {
            row_of_tokens::<T, GROUPS, true>(&head, row as usize, tensors.dk as usize);
        } else {
            row_of_tokens::<T, GROUPS, false>(&head, row as usize, tensors.dk as usize);
        }
    }
}

/// All tokens, for one row of the state. `WHOLE` says that keys fill the registers.
#[device]
#[inline(always)]
unsafe fn row_of_tokens<T: Element, const GROUPS: usize, const WHOLE: bool>(head: &Head<T>, row: usize, dk: usize) {
    let lanes = subgroup::segments::<LANES>();
    let first = GROUP * lanes.lane() as usize;
    let mut state = [[0.0; GROUP]; GROUPS];
    if !head.state_in.is_null() {
        // SAFETY: the row's elements are there, in groups of 8 that start at multiples of 8.
        state = unsafe { part::<f32, GROUPS, WHOLE>(head.state_in.add(row * dk), first, dk) };
    }
    let (mut q, mut k) = (head.q, head.k);
    let (mut v, mut y) = (head.v.wrapping_add(row), head.y.wrapping_add(row));
    let (mut g, mut beta) = (head.g, head.beta);
    let mut token = 0;
    #[nounroll]
    while token < head.tokens {
        // SAFETY: all pointers are at a token of the sequence.
        let (key, query) = unsafe { (part::<T, GROUPS, WHOLE>(k, first, dk), part::<T, GROUPS, WHOLE>(q, first, dk)) };
        // SAFETY: as above.
        let (gate, weight, value) = unsafe { (*g, *beta, (*v).to_f32()) };
        scale(&mut state, gate);
        let delta = weight * (value - dot(lanes, &state, &key));
        add_scaled(&mut state, delta, &key);
        let output = dot(lanes, &state, &query);
        if lanes.lane() == 0 {
            // SAFETY: the element is the row's own at this token.
            unsafe { *y = T::from_f32(output) };
        }
        (q, k) = (q.wrapping_add(head.key_stride), k.wrapping_add(head.key_stride));
        (v, y) = (v.wrapping_add(head.value_stride), y.wrapping_add(head.value_stride));
        (g, beta) = (g.wrapping_add(head.heads), beta.wrapping_add(head.heads));
        token += 1;
    }
    // SAFETY: the row is this segment's alone.
    unsafe { store::<GROUPS, WHOLE>(head.state_out.add(row * dk), first, dk, &state) };
}

/// The lane's elements of `dk` neighbours, with zeros where there are none.
#[device]
#[inline(always)]
unsafe fn part<T: Element, const GROUPS: usize, const WHOLE: bool>(
    from: *const T,
    first: usize,
    dk: usize,
) -> Part<GROUPS> {
    let mut part = [[0.0; GROUP]; GROUPS];
    #[unroll]
    for m in 0..GROUPS {
        let at = STEP * m + first;
        if WHOLE || at < dk {
            // SAFETY: `dk` is a multiple of 8, so the whole group is there, at a multiple of 8 elements.
            part[m] = unsafe { T::load_eight(from.add(at)) };
        }
    }
    part
}

/// Stores the lane's elements of a row.
#[device]
#[inline(always)]
unsafe fn store<const GROUPS: usize, const WHOLE: bool>(to: *mut f32, first: usize, dk: usize, part: &Part<GROUPS>) {
    #[unroll]
    for m in 0..GROUPS {
        let at = STEP * m + first;
        if WHOLE || at < dk {
            let [a, b, c, d, e, f, g, h] = part[m];
            // SAFETY: as for loads.
            unsafe {
                f32::store_four(to.add(at), [a, b, c, d]);
                f32::store_four(to.add(at + 4), [e, f, g, h]);
            }
        }
    }
}

/// `state *= factor`.
#[device]
#[inline(always)]
fn scale<const GROUPS: usize>(state: &mut Part<GROUPS>, factor: f32) {
    #[unroll]
    for m in 0..GROUPS {
        #[unroll]
        for e in 0..GROUP {
            state[m][e] *= factor;
        }
    }
}

/// `state += factor * key`.
#[device]
#[inline(always)]
fn add_scaled<const GROUPS: usize>(state: &mut Part<GROUPS>, factor: f32, key: &Part<GROUPS>) {
    #[unroll]
    for m in 0..GROUPS {
        #[unroll]
        for e in 0..GROUP {
            state[m][e] = math::fma(factor, key[m][e], state[m][e]);
        }
    }
}

/// The sum of products over the row, in all its lanes.
#[device]
#[inline(always)]
fn dot<const GROUPS: usize>(lanes: Segments<Native>, a: &Part<GROUPS>, b: &Part<GROUPS>) -> f32 {
    let mut sums = [0.0; GROUP];
    #[unroll]
    for m in 0..GROUPS {
        #[unroll]
        for e in 0..GROUP {
            sums[e] = math::fma(a[m][e], b[m][e], sums[e]);
        }
    }
    let [own] = sums.strided_reduce(|a, b| a + b);
    lanes.reduce(own, |a, b| a + b)
}
