//! Reductions of a thread's own values, in registers, with a tree that is part of the contract.
//!
//! [`StridedReduce`] folds an array of N values into S accumulators, each over every S-th value: `out[a]` is `op` over
//! `w[a]`, `w[a + S]`, `w[a + 2 S]`, … How the values of one accumulator are grouped decides the bits of a
//! floating-point sum, so it is pinned: with n = N / S leaves and the fan-out F, each level takes F neighbours at a
//! time, the last group of a level as many as are left, until one value remains; a group is folded from the left. With
//! F = 2 that is the balanced pairwise tree of depth ⌈log₂ n⌉:
//!
//! ```text
//! n = 4, F = 2     op(op(1, 2), op(3, 4))
//! n = 5, F = 2     op(op(op(1, 2), op(3, 4)), 5)
//! n = 8, F = 3     op(op(g(1, 2, 3), g(4, 5, 6)), op(7, 8))       g(a, b, c) = op(op(a, b), c)
//! ```
//!
//! **How.** The tree is computed as a list of steps while compiling (`Plan`): step e is `w[to] = op(w[to], w[from])`.
//! An `unroll!` writes the steps out, so that every index is a literal in the code that LLVM gets. No loop, closure or
//! indexed array is left that could end up in local memory or as a call. Beyond 255 steps the list is walked by a loop,
//! as so many values do not stay in registers anyway.
//!
//! **When it is wrong.** `op` is called N - S times, and LLVM decides whether to inline it; a large one that is a
//! function of its own stays a call unless it is `#[inline(always)]`. A fan-out other than 2 is another association, so
//! another result for floating-point sums.

use crate::unroll;

/// Arrays that can be reduced by strides.
pub trait StridedReduce<T: Copy>: sealed::Sealed {
    /// Folds the values into S accumulators by a balanced pairwise tree each.
    ///
    /// `out[a]` is `op` over `self[a]`, `self[a + S]`, `self[a + 2 S]`, …, grouped two by two as the
    /// [module](self) says. In what order the calls for different groups are made is not specified. N is the length of
    /// the array.
    ///
    /// # Does not compile
    /// Where S is 0, or N is 0 or no multiple of S.
    ///
    /// ```
    /// use device_std::reduce::StridedReduce;
    ///
    /// let [even, odd] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].strided_reduce(|a, b| a + b);
    /// assert_eq!((even, odd), (9.0, 12.0));
    /// assert_eq!([3, 1, 2].strided_reduce::<1>(u32::max), [3]);
    /// ```
    fn strided_reduce<const S: usize>(self, op: impl Fn(T, T) -> T) -> [T; S];

    /// Folds the values into S accumulators by a tree of fan-out F each.
    ///
    /// As [`strided_reduce`](Self::strided_reduce), with groups of F. With F = 3 and a minimum or maximum of `f32` (the
    /// standard library's or [`math`](crate::math)'s), each full group is one three-input instruction on NVIDIA GPUs
    /// from sm_100 on, where PTX is of version 8.8 or later, and on AMD's. Only for an `op` that is exactly associative
    /// (maximum, minimum, integers) is the result that of every other fan-out.
    ///
    /// # Does not compile
    /// Where S is 0, N is 0 or no multiple of S, or F is below 2.
    ///
    /// ```
    /// use device_std::reduce::StridedReduce;
    ///
    /// let scores = [0.5_f32, -1.0, 3.0, 2.0, 0.0, 1.0];
    /// assert_eq!(scores.strided_reduce_by::<2, 3>(f32::max), [3.0, 2.0]);
    /// ```
    fn strided_reduce_by<const S: usize, const F: usize>(self, op: impl Fn(T, T) -> T) -> [T; S];
}

mod sealed {
    pub trait Sealed {}

    impl<T, const N: usize> Sealed for [T; N] {}
}

impl<T: Copy, const N: usize> StridedReduce<T> for [T; N] {
    #[inline(always)]
    fn strided_reduce<const S: usize>(self, op: impl Fn(T, T) -> T) -> [T; S] {
        const { check_shape(N, S, 2) };
        reduce::<T, N, S, 2>(self, op)
    }

    #[inline(always)]
    fn strided_reduce_by<const S: usize, const F: usize>(self, op: impl Fn(T, T) -> T) -> [T; S] {
        const { check_shape(N, S, F) };
        reduce::<T, N, S, F>(self, op)
    }
}

/// The reduction of a shape that has been checked.
#[inline(always)]
fn reduce<T: Copy, const N: usize, const S: usize, const F: usize>(
    mut values: [T; N],
    op: impl Fn(T, T) -> T,
) -> [T; S] {
    let steps = Plan::<N, S, F>::COUNT;
    // Only the branch whose condition holds becomes code: the others are gone before LLVM sees the function.
    if const { Plan::<N, S, F>::COUNT <= 15 } {
        unroll!(cap 15; for e in 0..steps { apply(&mut values, &op, const { Plan::<N, S, F>::step(e) }); });
    } else if const { Plan::<N, S, F>::COUNT <= 63 } {
        unroll!(cap 63; for e in 0..steps { apply(&mut values, &op, const { Plan::<N, S, F>::step(e) }); });
    } else if const { Plan::<N, S, F>::COUNT <= 255 } {
        unroll!(cap 255; for e in 0..steps { apply(&mut values, &op, const { Plan::<N, S, F>::step(e) }); });
    } else {
        Plan::<N, S, F>::STEPS.iter().take(steps).for_each(|&step| apply(&mut values, &op, step));
    }
    // A copy of the front, which no loop is needed for.
    match values.first_chunk() {
        Some(accumulators) => *accumulators,
        None => unreachable!("a shape with S > N does not compile"),
    }
}

/// Refuses a shape while compiling.
#[track_caller]
const fn check_shape(n: usize, s: usize, f: usize) {
    assert!(s != 0, "a strided reduction to no values: S must be at least 1");
    assert!(n != 0, "a strided reduction of no values: N must be at least S");
    assert!(n.is_multiple_of(s), "a strided reduction of N values to S: N must be a multiple of S");
    assert!(f >= 2, "a strided reduction in groups of F: F must be at least 2");
}

/// One step: the value in the second place is folded into that in the first.
#[inline(always)]
fn apply<T: Copy, const N: usize>(values: &mut [T; N], op: &impl Fn(T, T) -> T, (to, from): (usize, usize)) {
    values[to] = op(values[to], values[from]);
}

/// The steps of one reduction.
struct Plan<const N: usize, const S: usize, const F: usize>;

impl<const N: usize, const S: usize, const F: usize> Plan<N, S, F> {
    /// How many steps there are; none in a shape that `check_shape` refuses.
    const COUNT: usize = if S == 0 || !N.is_multiple_of(S) || F < 2 { 0 } else { N.saturating_sub(S) };

    /// The steps, level by level, and in each level from the first leaf to the last, all accumulators by turns.
    ///
    /// A node of the tree is kept in the place of its first leaf. On the level where nodes are `distance` leaves apart,
    /// leaf `j` is a node if `distance` divides it, and the first of its group if `F * distance` does, too; if not, it
    /// is folded into the first. The places after `COUNT` are of no account.
    const STEPS: [(usize, usize); N] = {
        let mut steps = [(0, 0); N];
        let (mut count, mut distance) = (0, 1);
        while count < Self::COUNT {
            let mut j = distance;
            while j < N / S {
                let to_first = j / distance % F * distance;
                let mut a = 0;
                while to_first != 0 && a < S {
                    steps[count] = ((j - to_first) * S + a, j * S + a);
                    count += 1;
                    a += 1;
                }
                j += distance;
            }
            distance = distance.saturating_mul(F);
        }
        steps
    };

    /// One step; anything beyond the last.
    const fn step(e: usize) -> (usize, usize) {
        if e < Self::COUNT { Self::STEPS[e] } else { (0, 0) }
    }
}
