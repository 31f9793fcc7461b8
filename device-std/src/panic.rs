//! A panic on the GPU stops the launch.
//!
//! The handler traps at once. It neither prints nor loops: formatting would pull in code and stack, and an endless loop
//! would count among the loops of the kernel's machine code.

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: `trap` has no precondition; it ends the launch with an error.
    unsafe {
        core::arch::nvptx::trap()
    }
    #[cfg(target_arch = "amdgpu")]
    core::intrinsics::abort()
}
