//! Static shared arrays.

use device_std::memory::PerThread;
use device_std::shared::Shared;
use device_std::{Plain, block, kernel, shared, thread};

/// The most threads of a block.
pub const BLOCK: usize = 256;

/// Each block's part of `xs`, turned around. All blocks are full, and `xs` has an element for each thread.
#[kernel]
pub fn reverse(xs: &[f32], mut out: PerThread<'_, f32>) {
    let tile = shared!([f32; BLOCK]);
    let (thread, last) = (block::thread_index() as usize, block::threads() as usize - 1);
    if let Some(x) = xs.get(out.index()) {
        // SAFETY: each thread writes an element of its own, and all read after the barrier.
        unsafe { tile.write(thread, *x) };
    }
    block::barrier();
    if let Some(element) = out.element() {
        // SAFETY: as above; with full blocks every element was written.
        *element = unsafe { tile.read(last - thread) };
    }
}

/// `out[i]` is the sum of three rotations of the block's thread numbers: by 1 as `u32`, by 2 as `f32`, by 3 as `[u8; 4]`.
///
/// The three arrays have the same size and come from one generic function, and all are in use at once.
#[kernel]
pub fn instances(mut out: PerThread<'_, u32>) {
    let thread = block::thread_index();
    let numbers = staged(thread);
    let floats = staged(thread as f32);
    let bytes = staged(thread.to_le_bytes());
    block::barrier();
    let from = |by: u32| (thread.wrapping_add(by) % block::threads()) as usize;
    // SAFETY: every thread has written its element of each array, and nothing is written after the barrier.
    let sum = unsafe { numbers.read(from(1)) + floats.read(from(2)) as u32 + u32::from_le_bytes(bytes.read(from(3))) };
    if let Some(element) = out.element() {
        *element = sum;
    }
}

/// An array of the block, with each thread's value in its place.
#[inline(always)]
fn staged<T: Plain>(value: T) -> Shared<[T; BLOCK]> {
    let array = shared!([T; BLOCK]);
    // SAFETY: each thread writes an element of its own, before anyone reads.
    unsafe { array.write(block::thread_index() as usize, value) };
    array
}

/// The rows and columns of a tile in [`transpose`].
pub const TILE: usize = 16;

/// `out`, transposed: square matrices whose side is a multiple of [`TILE`], one block of `TILE` x `TILE` threads a tile.
///
/// # Safety
/// `out` has room for as many elements as `xs` has, and the launch has a thread for each of them.
#[kernel]
pub unsafe fn transpose(xs: &[f32], out: *mut f32) {
    // One column more than needed keeps the elements of a column in different banks.
    let tile = shared!([[f32; TILE + 1]; TILE]);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let side = thread::grid_dim_x() as usize * TILE;
    let (left, top) = (thread::block_idx_x() as usize * TILE, thread::block_idx_y() as usize * TILE);
    if let Some(element) = xs.get((top + y) * side + left + x) {
        // SAFETY: each thread writes an element of its own, and all read after the barrier.
        unsafe { tile.at(y).write(x, *element) };
    }
    block::barrier();
    // SAFETY: the index is one of a matrix as large as `xs`, and no other thread's.
    unsafe { *out.add((left + y) * side + top + x) = tile.at(x).read(y) };
}

/// Sixteen bytes that are moved at once.
#[derive(Debug, Clone, Copy, Plain)]
#[repr(C, align(16))]
struct Four([f32; 4]);

/// Each thread's four elements go to its neighbour, by the address of one array for both: it is aligned for vectors.
#[kernel]
pub fn vectors(xs: &[f32], mut out: PerThread<'_, f32, 4>) {
    let array = shared!([f32; 4 * BLOCK], align = 16);
    let fours = array.as_slice().cast::<Four>();
    let thread = block::thread_index() as usize;
    let mut four = Four([0.0; 4]);
    for (at, element) in four.0.iter_mut().enumerate() {
        *element = xs.get(4 * out.index() + at).copied().unwrap_or(0.0);
    }
    // SAFETY: each thread writes an element of its own, and all read after the barrier.
    unsafe { fours.write(thread, four) };
    block::barrier();
    // SAFETY: as above.
    let next = unsafe { fours.read((thread + 1) % block::threads() as usize) };
    if let Some(tile) = out.tile() {
        *tile = next.0;
    }
}
