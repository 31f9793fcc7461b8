use device_std::kernel;

#[kernel]
fn both(n: usize) {
    #[unroll]
    #[nounroll]
    for _ in 0..n {}
    #[nounroll]
    #[allow(unused_labels)]
    #[unroll(4)]
    'a: loop {
        break;
    }
    #[nounroll]
    #[nounroll]
    for _ in 0..n {}
    #[unroll(2)]
    #[unroll(4)]
    #[unroll(8)]
    for _ in 0..n {}
    #[unroll(never)]
    #[nounroll]
    for _ in 0..n {}
}

fn main() {
    both(1);
}
