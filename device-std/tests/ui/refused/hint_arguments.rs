use device_std::device;

#[device]
fn hints(n: usize) {
    #[nounroll(3)]
    for _ in 0..n {}
    #[nounroll = 1]
    for _ in 0..n {}
    #[nounroll()]
    while n > 3 {}
    #[unroll(1)]
    for _ in 0..n {}
    #[unroll({ 1 })]
    for _ in 0..n {}
    #[unroll(0)]
    for _ in 0..n {}
    #[unroll(1025)]
    for _ in 0..n {}
    #[unroll(-2)]
    for _ in 0..n {}
    #[unroll("4")]
    for _ in 0..n {}
    #[unroll = 4]
    for _ in 0..n {}
    #[unroll()]
    for _ in 0..n {}
    #[unroll(2, 3)]
    for _ in 0..n {}
}

fn main() {
    hints(1);
}
