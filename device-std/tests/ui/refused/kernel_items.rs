use device_std::kernel;

#[kernel]
struct Tile;

#[kernel]
mod kernels {
    fn inner() {}
}

trait Run {
    #[kernel]
    fn run();
}

fn main() {}
