use device_std::{device, kernel};

#[kernel]
#[nounroll]
fn on_statements(n: usize) {
    #[nounroll]
    let mut sum = 0;
    #[unroll]
    {
        sum += 1;
    }
    #[nounroll]
    if n > 1 {
        sum += 1;
    }
    let add = #[nounroll]
    |x: usize| x + n;
    sum += #[unroll(2)]
    add(1);
    match sum {
        #[nounroll]
        0 => {}
        _ => {}
    }
    #[nounroll]
    fn inner() {}
    inner();
    #[nounroll]
    assert!(sum > 0);
    #[cfg_attr(debug_assertions, nounroll)]
    for _ in 0..n {}
}

#[device]
struct Tile {
    #[nounroll]
    width: usize,
}

fn main() {
    on_statements(Tile { width: 1 }.width);
}
