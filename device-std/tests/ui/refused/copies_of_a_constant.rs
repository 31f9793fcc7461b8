use device_std::device;

const NEGATIVE: i32 = -4;
const ONE: usize = 1;

#[device]
fn constants(n: usize) {
    #[unroll(NEGATIVE)]
    for _ in 0..n {}
    #[unroll(2 * ONE - 1)]
    for _ in 0..n {}
}

#[device]
const fn in_a_constant(n: usize) {
    let mut i = 0;
    #[unroll({ ONE - 1 })]
    while i < n {
        i += 1;
    }
}

fn main() {
    constants(1);
    in_a_constant(1);
}
