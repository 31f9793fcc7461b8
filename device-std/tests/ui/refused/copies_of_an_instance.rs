use device_std::device;

trait Tiled {
    const TILE: usize;
}

struct Tile<const N: usize>;

impl<const N: usize> Tiled for Tile<N> {
    const TILE: usize = N;
}

#[device]
fn tiled<T: Tiled>(n: usize) {
    #[unroll({ T::TILE })]
    for _ in 0..n {}
}

fn main() {
    tiled::<Tile<4>>(1);
    tiled::<Tile<1>>(1);
    tiled::<Tile<1025>>(1);
}
