//! Dynamic shared memory.

use device_std::memory::PerThread;
use device_std::{block, kernel, shared};

/// How many bytes of dynamic shared memory the block has.
#[kernel]
pub fn dynamic_size(mut out: PerThread<'_, u64>) {
    if let Some(element) = out.element() {
        *element = shared::dynamic_bytes() as u64;
    }
}

/// Dynamic memory divided into `u64`s and bytes: `out[i]` is ten times the next thread's number plus the one after's.
///
/// The launch gives 9 bytes for each thread of a block.
#[kernel]
pub fn dynamic_parts(mut out: PerThread<'_, u64>) {
    let (thread, threads) = (block::thread_index() as usize, block::threads() as usize);
    let (wide, narrow) = shared::dynamic::<u8>().split_at(8 * threads);
    let wide = wide.cast::<u64>();
    // SAFETY: each thread writes elements of its own, and all read after the barrier.
    unsafe { wide.write(thread, 10 * thread as u64) };
    // SAFETY: as above.
    unsafe { narrow.write(thread, thread as u8) };
    block::barrier();
    // SAFETY: as above.
    let sum = unsafe { wide.read((thread + 1) % threads) + u64::from(narrow.read((thread + 2) % threads)) };
    if let Some(element) = out.element() {
        *element = sum;
    }
}
