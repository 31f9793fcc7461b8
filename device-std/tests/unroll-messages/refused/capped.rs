use device_std::unroll;

const CAP: usize = 16;

fn main() {
    let n = 4;
    unroll!(cap CAP; for i in 0..n {});
    unroll!(cap 0; for i in 0..n {});
    unroll!(cap 16, for i in 0..n {});
    unroll!(cap 16; for i in n..8 {});
    unroll!(cap 16; for i in (0..n).step_by(n) {});
    unroll!(cap 16; for i in (0..n).step_by(0) {});
    unroll!(cap 16; for i in (0..n).rev() {});
    unroll!(cap 16; for x in (n, n) {});
    unroll!(cap 16; for x in [n] {});
    unroll!(cap 16; for i in 0..n { let ph~i = 0; });
    unroll!(cap 4; for i in (170141183460469231731687303715884105727..n) {});
}
