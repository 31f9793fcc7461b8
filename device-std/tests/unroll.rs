//! `unroll!` does what a `for` loop does, and more where the values are needed as constants.

#![allow(
    clippy::never_loop,
    clippy::possible_missing_else,
    clippy::reversed_empty_ranges,
    clippy::vec_init_then_push,
    clippy::neg_multiply,
    reason = "the loops are as odd as loops may be"
)]

use device_std::{device, kernel, unroll};
use std::collections::BTreeSet;

/// A value that only a constant can select.
struct Lane<const N: usize>;

impl<const N: usize> Lane<N> {
    const WEIGHT: usize = N * N + 1;

    fn number(self) -> usize {
        N
    }
}

struct Signed<const N: i8>;

impl<const N: i8> Signed<N> {
    const VALUE: i8 = N;
}

#[test]
fn the_value_is_a_constant_argument_a_tuple_index_and_a_shift() {
    let t = (1u8, 2u16, 4u32, 8u64);
    let mut seen = Vec::new();
    unroll! { for i in 0..4 {
        let array: [u8; i] = [7; i];
        seen.push((Lane::<i>.number() + Lane::<{ i + 1 }>::WEIGHT, t.i as usize, array.len(), 1usize << i));
    } }
    assert_eq!(seen, [(2, 1, 0, 1), (6, 2, 1, 2), (12, 4, 2, 4), (20, 8, 3, 8)]);
    let mut values = Vec::new();
    unroll! { for i in (2..=-2).step_by(-2) { values.push(Signed::<i>::VALUE); } }
    assert_eq!(values, [2, 0, -2]);
}

/// Each range beside the loop that it stands for.
#[test]
fn ranges_run_as_loops_do() {
    macro_rules! same {
        ($($range:expr),*) => {$({
            let mut unrolled = vec![];
            if false { unrolled.extend($range); }
            unroll! { for i in $range { unrolled.push(i); } }
            let mut looped = Vec::new();
            for i in $range { looped.push(i); }
            assert_eq!(unrolled, looped, stringify!($range));
        })*};
    }
    same!(0..4, 0..=3, 3..3, 4..0, 5..=5, -2..3, (0..8).step_by(3), (0..=9).step_by(3), (0..4).rev(), (0..=3).rev());
    same!((0..9).step_by(2).rev(), (0..9).rev().step_by(2), 250u8..=255, (-128i8..=127).step_by(100), 0x10..0b1_0010);
}

#[test]
fn minted_names_live_on() {
    let x = 10;
    unroll! { for i in 0..3 { let mut ph~i = x + i; } }
    unroll!(for i in 0..3 { ph~i *= 2; let both~i~_done = ph~i + 1; });
    assert_eq!((ph0, ph1, ph2), (20, 22, 24));
    assert_eq!(both0_done + both1_done + both2_done, 69);
}

#[test]
fn names_that_are_not_minted_live_on_too() {
    let last = 1;
    unroll! { for i in 0..3 { let last = last * 2 + i; } }
    assert_eq!(last, 12);
}

#[test]
#[allow(clippy::let_unit_value)]
fn it_can_end_a_block() {
    let mut sum = 0;
    let value = {
        unroll! { for i in 0..4 { sum += i } }
    };
    assert_eq!((sum, value), (6, ()));
}

#[test]
fn tuples_are_spliced_and_taken_apart() {
    let (mut a, mut b) = (1, 2);
    unroll! { for x in (a, b) { x += 10; } }
    assert_eq!((a, b), (11, 12));
    let (low, high) = ([1, 2], [3, 4]);
    let mut seen = Vec::new();
    unroll! { for (s, half, (sign, _)) in ((0, low, (1, "up")), (1, high, (-1, "down"))) {
        let first~s = half[s];
        seen.push(sign * half[s] * Lane::<s>.number() as i32);
    } }
    assert_eq!((first0, first1, seen), (1, 4, vec![0, -4]));
    let mut sizes = Vec::new();
    unroll! { for T in (u8, std::num::NonZeroU32, u128) { sizes.push(size_of::<T>()); } }
    assert_eq!(sizes, [1, 4, 16]);
}

#[test]
fn only_the_loops_own_name_is_replaced() {
    struct S {
        i: usize,
    }
    impl S {
        fn i(&self) -> usize {
            self.i
        }
    }
    let (s, i_other, ph_i) = (S { i: 5 }, 7, 9);
    let mut seen = Vec::new();
    unroll! { for k in 0..2 {
        let made = S { i: k };
        seen.extend([s.i(), s.i, made.i, i_other, ph_i]);
    } }
    assert_eq!(seen, [5, 5, 0, 7, 9, 5, 5, 1, 7, 9]);
}

#[test]
fn shadowing_stops_the_replacement() {
    let mut seen = Vec::new();
    unroll! { for i in 0..2 {
        for i in 10..12 { seen.push(i); }
        let add = |i: i32| i + 100;
        seen.push(add(i));
        if let Some(i) = Some(i + 20) && i > 20 { seen.push(i); } else { seen.push(i + 30); }
        let i = i + 40;
        seen.push(i);
    } }
    assert_eq!(seen, [10, 11, 100, 30, 40, 10, 11, 101, 21, 41]);
}

/// `break`, `continue`, labels and `return`, each beside the loop.
mod jumps {
    use super::*;

    macro_rules! both {
        ($(fn $name:ident($n:ident, $seen:ident) { $($body:tt)* })*) => {$(
            #[test]
            fn $name() {
                fn unrolled($n: usize, $seen: &mut Vec<usize>) -> usize {
                    unroll! { $($body)* }
                    1000
                }
                fn looped($n: usize, $seen: &mut Vec<usize>) -> usize {
                    $($body)*
                    1000
                }
                let mut outcomes = BTreeSet::new();
                for n in 0..6 {
                    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                    assert_eq!(unrolled(n, &mut ours), looped(n, &mut theirs));
                    assert_eq!(ours, theirs);
                    outcomes.insert(ours);
                }
                assert!(outcomes.len() > 1, "the jump never depends on n");
            }
        )*};
    }

    both! {
        fn breaks(n, seen) { for i in 0..4 { if i == n { break; } seen.push(i); } }
        fn continues(n, seen) { for i in 0..4 { if i == n { continue } seen.push(i); } }
        fn both(n, seen) {
            for i in 0..5 {
                let Some(k) = usize::checked_sub(i, n) else { continue };
                seen.push(k);
                if k > 1 { break }
            }
        }
        fn returns(n, seen) { for i in 0..4 { if i == n { return i; } seen.push(i); } }
        fn inner_loops(n, seen) {
            for i in 0..3 {
                for k in 0..5 { if k == n { break } if k == i { continue } seen.push(10 * i + k); }
                let mut k = 0;
                let found = loop { k += 1; if k * k > n { break k; } };
                seen.push(found);
                while k < 9 { k += n + 1; if k % 2 == 0 { continue; } }
                seen.push(k);
            }
        }
        fn own_label(n, seen) {
            'own: for i in 0..4 {
                for k in 0..3 {
                    if k == n { continue 'own; }
                    if i + k == 4 { break 'own; }
                    seen.push(10 * i + k);
                }
            }
        }
        fn label_of_an_inner_loop(n, seen) {
            for i in 0..3 {
                'inner: for k in 0..3 { loop { if k == n { break 'inner; } break; } seen.push(10 * i + k); }
            }
        }
        fn closures_keep_their_own(n, seen) {
            for i in 0..3 {
                let first = |limit: usize| { for k in 0.. { if k * k >= limit { return k; } else { continue } } 0 };
                if first(i) > n { break; }
                seen.push(first(i + n));
            }
        }
        fn in_a_macro_call(n, seen) {
            for i in 0..4 {
                seen.push(if i > 0 { assert!(n < 9); i } else { i });
                drop(vec![if i == n { break } else { i }]);
            }
        }
    }

    #[test]
    fn loops_around_the_macro_are_reached() {
        let mut seen = Vec::new();
        'outer: for n in 0..5 {
            unroll! { for i in 0..3 { if n == 3 { break 'outer } if i == n { continue 'outer; } seen.push((n, i)); } }
        }
        assert_eq!(seen, [(1, 0), (2, 0), (2, 1)]);
    }
}

#[test]
fn nested_loops_know_the_outer_value() {
    let mut seen = Vec::new();
    unroll! { for i in 0..3 {
        unroll! { for j in 0..i {
            let cell~i~_~j = Lane::<{ 10 * i + j }>.number();
            seen.push(cell~i~_~j);
        } }
    } }
    assert_eq!(seen, [10, 20, 21]);
    assert_eq!(cell1_0 + cell2_0 + cell2_1, 51);
}

#[test]
fn jumps_of_nested_loops_stay_apart() {
    let mut seen = Vec::new();
    unroll! { 'outer: for i in 0..4 {
        unroll! { for j in 0..4 {
            if j == i { continue; }
            if j == 3 { break; }
            if i == 2 { continue 'outer; }
            seen.push(10 * i + j);
        } }
        seen.push(i);
    } }
    assert_eq!(seen, [1, 2, 0, 10, 12, 1, 30, 31, 32, 3]);
}

/// The capped form beside the loop that it stands for, for every stop up to the cap.
mod capped {
    use super::*;

    macro_rules! same {
        ($($name:ident($cap:literal, $stops:expr, $n:ident): $range:expr;)*) => {$(
            #[test]
            fn $name() {
                for $n in $stops {
                    let (mut unrolled, mut evaluated) = (Vec::new(), 0);
                    unroll!(cap $cap; for i in $range { unrolled.push(i); evaluated += 1; });
                    let looped: Vec<_> = $range.collect();
                    assert_eq!((unrolled, evaluated), (looped.clone(), looped.len()));
                }
            }
        )*};
    }

    same! {
        exclusive(8, 0usize..=8, n): 0..n;
        inclusive(8, 0usize..=8, n): 1..=n;
        shifted(8, -5i32..=10, n): 3..n - 1;
        stepped(4, 0u32..=10, n): (0..n).step_by(3);
        stepped_inclusive(4, 0i64..=11, n): (2..=n).step_by(3);
        negative(8, -5i8..=4, n): -4..n;
    }

    #[test]
    fn descending() {
        for stop in -3..=9 {
            let (mut to, mut before) = (Vec::new(), Vec::new());
            unroll!(cap 12; for i in (8..=stop).step_by(-1) { to.push(i); });
            unroll!(cap 6; for i in (8..stop).step_by(-2) { before.push(i); });
            assert_eq!(to, (stop..=8).rev().collect::<Vec<_>>());
            assert_eq!(before, (stop + 1..=8).rev().step_by(2).collect::<Vec<_>>());
        }
        let mut unsigned = Vec::new();
        for stop in 0u8..=4 {
            unroll!(cap 100; for i in (3u8..=stop).step_by(-1) { unsigned.push(i); });
        }
        assert_eq!(unsigned, [3, 2, 1, 0, 3, 2, 1, 3, 2, 3]);
    }

    #[test]
    fn the_stop_is_evaluated_once_and_before_the_first_copy() {
        let mut calls = 0;
        let mut stop = || {
            calls += 1;
            3
        };
        let mut seen = Vec::new();
        unroll!(cap 8; for i in 0..stop() { seen.push(i); });
        assert_eq!((calls, seen), (1, vec![0, 1, 2]));
        let mut n = 2;
        unroll!(cap 8; for _ in 0..n { n += 1; });
        assert_eq!(n, 4);
    }

    #[test]
    fn beyond_the_cap_there_is_nothing() {
        let mut seen = Vec::new();
        let n = 100;
        unroll!(cap 3; for i in 0..n { seen.push(i); });
        assert_eq!(seen, [0, 1, 2]);
    }

    #[test]
    fn a_checked_cap_accepts_what_fits() {
        for n in 0u8..=3 {
            let mut seen = Vec::new();
            unroll!(cap 3 checked; for i in 0..n { seen.push(i); });
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
        unroll!(cap 256 checked; for i in 0u8..=255 { let _: u8 = i; });
    }

    #[test]
    #[should_panic(expected = "more values than its cap of 3")]
    fn a_checked_cap_refuses_what_does_not() {
        let n = 4;
        unroll!(cap 3 checked; for i in 0..n { assert!(i < 3); });
    }

    #[test]
    #[should_panic(expected = "more values than its cap of 3")]
    fn a_checked_cap_refuses_the_last_value_of_an_inclusive_range() {
        let n = 3u64;
        unroll!(cap 3 checked; for _ in 0..=n {});
    }

    #[test]
    fn minted_names_are_declared_before() {
        fn phases<const N: usize>() -> [usize; 4] {
            unroll! { for i in 0..4 { let mut ph~i = 0; } }
            unroll!(cap 4; for i in 0..N { if i == 2 { continue; } ph~i += i + 1; });
            [ph0, ph1, ph2, ph3]
        }
        assert_eq!((phases::<0>(), phases::<2>(), phases::<4>()), ([0; 4], [1, 2, 0, 0], [1, 2, 0, 4]));
    }

    #[test]
    fn jumps_work_behind_guards() {
        let mut seen = Vec::new();
        let n = 6;
        unroll!(cap 8; 'own: for i in 0..n {
            loop { if i == 1 { continue 'own; } if i == 4 { break 'own; } break; }
            seen.push(i);
        });
        assert_eq!(seen, [0, 2, 3]);
    }
}

/// Names from the caller of a macro and from the macro itself are apart, pasted or not.
#[test]
fn hygiene_is_that_of_the_first_part() {
    macro_rules! mint {
        ($ph:ident) => {
            unroll! { for i in 0..2 { let $ph~i = i + 1; let hidden~i = i; } }
            assert_eq!(hidden0 + hidden1, 1);
        };
    }
    let hidden1 = "mine";
    mint!(ph);
    let stop = 2;
    let mut sum = 0;
    unroll!(cap 4; for i in 0..stop + 1 { sum += stop + i; });
    assert_eq!((ph0, ph1, hidden1, sum), (1, 2, "mine", 9));
}

#[kernel]
unsafe fn hinted(xs: &[u32], out: *mut u32) {
    unroll! { for i in 0..2 {
        let mut sum~i = 0;
        #[nounroll]
        for x in xs {
            if *x == i { continue; }
            sum~i += x << i;
        }
    } }
    // SAFETY: the test passes a place for two numbers.
    unsafe { (*out, *out.add(1)) = (sum0, sum1) };
}

#[device]
fn hinted_behind_guards<const N: usize>(xs: &[u32]) -> u32 {
    let mut sum = 0;
    unroll!(cap 4; for i in 0..N { #[unroll] for x in xs { sum += x << i; } });
    sum
}

#[test]
fn loops_in_the_body_may_have_hints() {
    let mut out = [0; 2];
    // SAFETY: `out` has place for two numbers.
    unsafe { hinted(&[0, 1, 2, 3], out.as_mut_ptr()) };
    assert_eq!(out, [6, 10]);
    assert_eq!(hinted_behind_guards::<3>(&[1, 2]), 21);
}
