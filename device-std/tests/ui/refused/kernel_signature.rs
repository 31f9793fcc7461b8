use device_std::kernel;

#[kernel]
fn generic<T>(_: T) {}

#[kernel]
fn sized<const N: usize>(_: [f32; N]) {}

#[kernel]
fn anonymous(_: impl Copy) {}

#[kernel]
async fn later() {}

#[kernel]
const fn constant() {}

#[kernel]
fn returning(x: u32) -> u32 {
    x
}

#[kernel]
extern "C" fn foreign() {}

#[kernel]
fn mutable(_: &mut [f32]) {}

#[kernel]
fn hidden(_: (&mut f32, Option<&mut u32>)) {}

#[kernel]
#[unsafe(no_mangle)]
fn renamed() {}

#[kernel(1)]
fn arguments() {}

struct Tile;

impl Tile {
    #[kernel]
    fn method(&self) {}
}

fn main() {
    arguments();
}
