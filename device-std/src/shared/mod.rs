//! Shared memory: arrays that the threads of a block have in common.
//!
//! - [`shared!`](crate::shared!) is an array of a size that is known while compiling. A block has at most 48 KB of
//!   these.
//! - [`dynamic`] is what the launch was asked to add, up to the [`limits`] of the architecture.
//!
//! ```
//! use device_std::{block, host, shared};
//!
//! host::launch(1, 64, 0, || {
//!     let tile = shared!([u32; 64]);
//!     let thread = block::thread_index() as usize;
//!     // SAFETY: each thread writes its own element, and reads after the barrier, when nothing is written any more.
//!     unsafe { tile.write(thread, 3 * thread as u32) };
//!     block::barrier();
//!     assert_eq!(unsafe { tile.read(63 - thread) }, 3 * (63 - thread as u32));
//! })?;
//! # Ok::<(), host::Error>(())
//! ```
//!
//! # Which array is which
//! Each `shared!` in the source is an array of its own, and in a generic function one for each instance (a Rust
//! `static` would be one for all of them). Coming by the same place again, in a loop or by another call, gives the same
//! array. Where two crates make the same instance of a third crate's function, each may have its own: hand the
//! [`Shared`] from function to function rather than asking for it twice. No name is involved, so nothing can clash.
//!
//! Nothing is stored in shared memory when a block starts: what was not written must not be read. (The host fills it
//! with ones: floats are NaN there.)
//!
//! # How an array gets its memory
//! A Rust static cannot be in shared memory, so arrays are made at link. Each instance of [`shared!`](crate::shared!)
//! is a function of this module that is never inlined (`Marker::array`) and calls a marker,
//!
//! ```text
//! __latch_shared_array(bytes: u64, align: u64) -> *mut u8      both constants, bytes > 0
//! __latch_shared_dynamic() -> *mut u8
//! ```
//!
//! declared in Rust's ABI and never defined. The link stage, before any optimization, replaces
//! - each call of the first by the address (`addrspacecast` to the generic address space) of an internal global in the
//!   shared address space, `[bytes x i8] undef` with that alignment: **one global for each function that holds such a
//!   call**, whichever function calls that one. It may then drop `noinline` from the function;
//! - each call of the second by the address of one external global of the module, `[0 x i8]`, aligned to 16 bytes.

mod pointer;

pub use crate::limits::{LIMITS, Limits, STATIC_LIMIT, limits};
pub use pointer::Shared;

/// An array, or any other value without drop glue, in shared memory: `shared!([f32; 256])`.
///
/// Gives a [`Shared`] of that type. With `align = N` (a power of two of at most 128) its address is a multiple of at
/// least `N`: `shared!([f32; TILE], align = 16)`. The type may name generic parameters. See
/// [`shared`](mod@crate::shared) for which arrays are the same.
#[macro_export]
macro_rules! shared {
    ($type:ty) => {
        $crate::shared::place::<$type, 1, _>(|| ())
    };
    ($type:ty, align = $align:expr) => {
        $crate::shared::place::<$type, { $align }, _>(|| ())
    };
}

/// The most that can be asked for with `align`.
const MAX_ALIGN: usize = 128;

/// What `shared!` expands to. `Site` is the type of a closure, which no other place or instance has.
#[doc(hidden)]
#[inline(always)]
pub fn place<T, const ALIGN: usize, Site: Fn()>(_: Site) -> Shared<T> {
    const {
        assert!(ALIGN.is_power_of_two() && ALIGN <= MAX_ALIGN, "`align` is a power of two of at most 128");
        assert!(align_of::<T>() <= MAX_ALIGN, "shared memory is aligned to at most 128 bytes");
        assert!(!core::mem::needs_drop::<T>(), "nothing in shared memory is ever dropped");
        assert!(size_of::<T>() <= STATIC_LIMIT, "static shared memory ends at 48 KB: use `shared::dynamic`");
    }
    if size_of::<T>() == 0 {
        return Shared::new(core::ptr::without_provenance_mut(MAX_ALIGN));
    }
    Shared::new(imp::array::<T, ALIGN, Site>().cast())
}

/// The dynamic shared memory of the block, as a slice of as many whole `T` as there are.
///
/// All calls give the same memory, which starts at a multiple of 16 bytes. Use [`Shared::split_at`] and
/// [`Shared::cast`] to divide it among arrays of several types.
#[inline(always)]
pub fn dynamic<T>() -> Shared<[T]> {
    const {
        assert!(align_of::<T>() <= 16, "dynamic shared memory is aligned to 16 bytes");
        assert!(size_of::<T>() > 0, "a slice of nothing needs no memory");
    }
    let (start, bytes) = imp::dynamic();
    Shared::new(core::ptr::slice_from_raw_parts_mut(start.cast(), bytes / size_of::<T>()))
}

/// The bytes of dynamic shared memory that the launch has given the block.
#[inline(always)]
pub fn dynamic_bytes() -> usize {
    imp::dynamic().1
}

#[cfg(not(on_host))]
mod imp {
    // SAFETY: no definition exists, and none is ever called: the link stage replaces the calls before code is
    // generated.
    unsafe extern "Rust" {
        safe fn __latch_shared_array(bytes: u64, align: u64) -> *mut u8;
        safe fn __latch_shared_dynamic() -> *mut u8;
    }

    /// The memory of one array. The instance of this function is what tells arrays apart, so it must stay a function.
    #[inline(never)]
    pub fn array<T, const ALIGN: usize, Site>() -> *mut u8 {
        let align = const { if ALIGN > align_of::<T>() { ALIGN as u64 } else { align_of::<T>() as u64 } };
        __latch_shared_array(const { size_of::<T>() as u64 }, align)
    }

    #[inline(always)]
    pub fn dynamic() -> (*mut u8, usize) {
        (__latch_shared_dynamic(), dynamic_bytes() as usize)
    }

    #[cfg(target_arch = "nvptx64")]
    use dynamic_smem_size as dynamic_bytes;

    #[cfg(target_arch = "nvptx64")]
    // SAFETY: this is LLVM's own declaration of the intrinsic, which reads a special register.
    unsafe extern "unadjusted" {
        #[link_name = "llvm.nvvm.read.ptx.sreg.dynamic_smem_size"]
        safe fn dynamic_smem_size() -> u32;
    }

    /// The dispatch packet of the HSA runtime (`hsa_kernel_dispatch_packet_t`) has the bytes of both kinds from byte
    /// 28.
    #[cfg(target_arch = "amdgpu")]
    #[inline(always)]
    fn dynamic_bytes() -> u32 {
        let packet = core::intrinsics::gpu::amdgpu_dispatch_ptr().cast::<u32>();
        // SAFETY: the packet is 64 bytes, aligned to 64, and outlives the launch.
        let both = unsafe { *packet.add(7) };
        both.wrapping_sub(core::arch::amdgpu::groupstaticsize())
    }
}

#[cfg(on_host)]
mod imp {
    use crate::stand_in;

    pub fn array<T, const ALIGN: usize, Site>() -> *mut u8 {
        stand_in::shared_array(typeid::of::<(Site, T)>(), size_of::<T>())
    }

    pub fn dynamic() -> (*mut u8, usize) {
        stand_in::shared_dynamic()
    }
}
