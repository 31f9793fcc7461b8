use device_std::unroll;

fn main() {
    let (n, xs) = (4, [1, 2]);
    unroll! { for i in 0..n {} }
    unroll! { for i in xs.iter() {} }
    unroll! { for i in [1, 2] {} }
    unroll! { for i in 0.. {} }
    unroll! { for i in 0..2 * 2 {} }
    unroll! { for i in (0..4).step_by(0) {} }
    unroll! { for i in (0..4).step_by(n) {} }
    unroll! { for i in (0..8).rev().step_by(-2) {} }
    unroll! { for i in 0u8..4u16 {} }
    unroll! { for i in 0..1_000_000 {} }
    unroll! { for (a, b) in ((1, 2), (3, 4, 5)) {} }
    unroll! { for (a, b) in ((1, 2), xs) {} }
    unroll! { for mut i in 0..4 {} }
}
