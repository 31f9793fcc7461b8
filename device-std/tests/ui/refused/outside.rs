use device_std::hint::{nounroll, unroll};

fn statement(n: usize) {
    #[nounroll]
    for _ in 0..n {}
}

fn expression(n: usize) -> usize {
    #[unroll(4)]
    loop {
        break n;
    }
}

#[nounroll]
fn item() {}

fn main() {
    statement(expression(1));
    item();
}
