//! One operation of `device-std` in each kernel, so that the code it becomes can be read: `snapshots/tests/pieces`.
//!
//! Every kernel runs in one block of one dimension. It takes the address of the threads' values, where its operation asks
//! for it a number that all threads have in common, and the address of the results: one each for a thread.

#![cfg_attr(any(target_arch = "nvptx64", target_arch = "amdgpu"), no_std, feature(abi_gpu_kernel))]

pub mod arithmetic;
pub mod exchange;
pub mod memory;
pub mod registers;

/// Makes kernels: `name(value: from, number…) -> to = result`.
macro_rules! pieces {
    ($($(#[$doc:meta])* $name:ident($value:ident: $from:ty $(, $number:ident: $type:ty)*) -> $to:ty = $result:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `x` has a value for each thread, and `y` a place for each.
        #[device_std::kernel]
        pub unsafe fn $name(x: *const $from, $($number: $type,)* y: *mut $to) {
            let thread = device_std::thread::thread_idx_x() as usize;
            // SAFETY: the caller's promise.
            let $value = unsafe { *x.add(thread) };
            let result: $to = $result;
            // SAFETY: as above, and no other thread has this place.
            unsafe { *y.add(thread) = result };
        }
    )*};
}

pub(crate) use pieces;
