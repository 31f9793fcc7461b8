//! Output of which each thread owns a part.

use device_std::kernel;
use device_std::memory::PerThread;

/// `out[i] = xs[i] * xs[i]`, by however many threads there are.
#[kernel]
pub fn square(xs: &[f32], mut out: PerThread<'_, f32>) {
    let mut index = out.index();
    let threads = device_std::memory::grid_threads();
    for element in out.elements() {
        if let Some(x) = xs.get(index) {
            *element = x * x;
        }
        index += threads;
    }
}

/// `out[i] = factor * xs[i]`, four elements a thread.
#[kernel]
pub fn scale_tiles(xs: &[f32], factor: f32, mut out: PerThread<'_, f32, 4>) {
    let first = 4 * out.index();
    if let (Some(tile), Some([a, b, c, d])) = (out.tile(), xs.get(first..first + 4)) {
        *tile = [factor * a, factor * b, factor * c, factor * d];
    }
}
