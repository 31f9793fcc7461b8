use device_std::unroll;

fn main() {
    let t = (1, 2);
    unroll! { for i in -1..2 { let ph~i = 0; } }
    unroll! { for i in 0..2 { let ph~j = 0; } }
    unroll! { for x in (t.0, 1) { let ph~x = 0; } }
    unroll! { for i in 0..2 { let i = i + 1; let ph~i = 0; } }
    unroll! { for i in -1..2 { t.i; } }
    unroll! { for i in 0..2 { const K: usize = i; } }
    unroll! { for i in 0..2 { use std::{fmt, mem::{self as m~i}}; } }
}
