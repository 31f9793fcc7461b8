//! Functions with hinted loops beside twins without hints: on a host they must compute the same.
//!
//! Included by one test per edition, since blocks and their temporaries differ between editions.

use device_std::{device, kernel};

/// Makes the functions with a hint on every loop, and the same functions without, each in a module of their own.
macro_rules! twins {
    ($($hint:tt)*) => {
        pub mod hinted {
            #[allow(unused_imports)]
            use super::*;
            bodies! { [$($hint)*] #[device] }
        }
        pub mod plain {
            bodies! { [] #[allow(dead_code)] }
        }
    };
}

macro_rules! bodies {
    ([$($hint:tt)*] $(#[$outer:meta])*) => {
        $(#[$outer])*
        pub fn range(n: u32) -> Vec<u32> {
            let mut seen = vec![];
            $($hint)*
            for i in 0..n {
                if i % 3 == 1 {
                    continue;
                }
                seen.push(i);
            }
            seen
        }

        $(#[$outer])*
        pub fn labelled(n: u32) -> Vec<(u32, u32)> {
            let mut seen = vec![];
            $($hint)*
            'outer: for i in 0..n {
                $($hint)*
                for j in 0..=i {
                    if j == 3 {
                        continue 'outer;
                    }
                    if i == 6 {
                        break 'outer;
                    }
                    seen.push((i, j));
                }
            }
            seen
        }

        $(#[$outer])*
        pub fn value(n: u32) -> u32 {
            let mut i = 0;
            let found = $($hint)*
            'a: loop {
                i += 1;
                $($hint)*
                while i % 7 != 0 {
                    i += 1;
                    if i > n {
                        break 'a i;
                    }
                }
            };
            found * 2
        }

        $(#[$outer])*
        pub fn while_let(n: u32) -> u32 {
            let mut stack: Vec<u32> = (0..n).collect();
            let mut sum = 0;
            $($hint)*
            while let Some(top) = stack.pop() {
                sum = u32::wrapping_mul(sum, 31) + top;
            }
            sum
        }

        $(#[$outer])*
        pub fn closure(n: u32) -> u32 {
            let count = |limit: u32| {
                let mut turns = 0;
                $($hint)*
                for _ in (1..=limit).rev().step_by(2) {
                    turns += 1;
                }
                turns
            };
            count(n) + count(255)
        }

        $(#[$outer])*
        pub fn arms(n: u32) -> u32 {
            let mut i = n;
            match n % 3 {
                0 => $($hint)*
                while i > 2 {
                    i -= 2;
                },
                1 => {
                    fn nested(n: u32) -> u32 {
                        let mut product = 1u32;
                        $($hint)*
                        for i in (1..=n).step_by(3) {
                            product = product.wrapping_mul(i);
                        }
                        product
                    }
                    i = nested(n);
                }
                _ => i = if n > 5 { $($hint)* loop { i /= 2; if i < 3 { break i } } } else { 7 },
            }
            i
        }

        $(#[$outer])*
        pub fn tail(n: u32) -> u32 {
            let mut i = 0;
            $($hint)*
            loop {
                i += 1;
                if i * i > n {
                    return i;
                }
            }
        }

        /// The lock's guard is a temporary of the iterator expression.
        $(#[$outer])*
        pub fn temporaries(n: u32) -> u32 {
            let shared = std::sync::Mutex::new(vec![1, 2, n]);
            let mut sum = 0;
            $($hint)*
            for x in shared.lock().unwrap().iter() {
                sum += x;
            }
            let mut left = shared.lock().unwrap().len();
            $($hint)*
            while shared.lock().unwrap().pop().is_some() {
                left -= 1;
            }
            sum + left as u32
        }
    };
}

pub mod rolled {
    use super::*;
    twins!(#[nounroll]);
}

pub mod full {
    use super::*;
    twins!(#[unroll]);
}

pub mod partial {
    use super::*;
    twins!(#[unroll(4)]);
}

pub mod computed {
    use super::*;
    const COPIES: u8 = 8;
    twins!(#[unroll(COPIES / 2)]);
}

macro_rules! assert_twins {
    ($($module:ident: $($function:ident)*;)*) => {$($(
        for n in 0..40 {
            assert_eq!($module::hinted::$function(n), $module::plain::$function(n), "{}({n})", stringify!($function));
        }
    )*)*};
}

#[test]
fn hinted_functions_compute_what_their_twins_do() {
    assert_twins! {
        rolled: range labelled value while_let closure arms tail temporaries;
        full: range labelled value while_let closure arms tail temporaries;
        partial: range labelled value while_let closure arms tail temporaries;
        computed: range labelled value while_let closure arms tail temporaries;
    }
}

struct Tile<const N: usize>([u32; N]);

#[device]
impl<const N: usize> Tile<N> {
    fn sum(&self) -> u32 {
        let mut sum = 0;
        #[unroll(N)]
        for x in self.0 {
            sum += x;
        }
        sum
    }
}

#[device]
trait Fold {
    fn values(&self) -> Vec<u32>;

    fn fold(&self) -> u32 {
        let mut sum = 0;
        #[nounroll]
        for x in self.values() {
            sum = sum * 10 + x;
        }
        sum
    }
}

impl<const N: usize> Fold for Tile<N> {
    fn values(&self) -> Vec<u32> {
        self.0.to_vec()
    }
}

#[device]
mod inline {
    pub fn count(n: u32) -> u32 {
        let mut turns = 0;
        #[unroll]
        for _ in 1..=n {
            turns += 1;
        }
        turns
    }
}

#[test]
fn whole_blocks_and_modules_can_be_device_code() {
    let tile = Tile([1, 2, 3, 4]);
    assert_eq!((tile.sum(), tile.fold(), inline::count(5)), (10, 1234, 5));
}

#[kernel]
unsafe fn scale(xs: &[f32], factor: f32, out: *mut f32) {
    let i = device_std::thread::global_x() as usize;
    #[nounroll]
    for i in (i..xs.len()).step_by(8) {
        // SAFETY: the test passes an `out` as long as `xs`, and each thread writes its own element.
        unsafe { *out.add(i) = xs[i] * factor };
    }
}

#[test]
fn a_kernel_runs_on_the_host_thread_by_thread() {
    use device_std::thread::host::{Position, at};
    let xs = [1.0, 2.0, 3.0, 4.0, 5.0];
    let mut out = [0.0f32; 5];
    let pointer = out.as_mut_ptr();
    for block in 0..2 {
        for thread in 0..4 {
            let position = Position {
                thread_idx: [thread, 0, 0],
                block_idx: [block, 0, 0],
                block_dim: [4, 1, 1],
                grid_dim: [2, 1, 1],
            };
            // SAFETY: `out` is as long as `xs`.
            at(position, || unsafe { scale(&xs, 2.0, pointer) });
        }
    }
    assert_eq!(out, [2.0, 4.0, 6.0, 8.0, 10.0]);
}
