//! The trait, and what a device says of itself.

use std::sync::atomic::{AtomicU64, Ordering};

use device_std::Plain;

use crate::{Arg, Buffer, Error, Shape};

/// A device that runs kernels, and waits for each to end.
///
/// All methods check what they are given, with the same words on every launcher; see [`Error`]. Buffers, modules and
/// kernels keep what they need of their device alive, and are freed when dropped.
///
/// Buffers of different kinds of launchers have different types:
///
/// ```
/// # use launch::{Buffer, Emulator, Error, Launcher};
/// fn of_its_own<L: Launcher>(gpu: &L, buffer: &Buffer<L, f32>) -> Result<Vec<f32>, Error> {
///     gpu.download(buffer)
/// }
/// ```
/// ```compile_fail,E0308
/// # use launch::{Buffer, Emulator, Error, Launcher};
/// fn of_the_emulator<L: Launcher>(gpu: &L, buffer: &Buffer<Emulator, f32>) -> Result<Vec<f32>, Error> {
///     gpu.download(buffer)
/// }
/// ```
///
/// Those of two launchers of one kind are told apart when they are used: [`Error::ForeignBuffer`].
pub trait Launcher: Sized {
    /// Memory of the device, freed when dropped.
    type Memory;
    /// A loaded module.
    type Module;
    /// A kernel of a loaded module.
    type Kernel;

    /// The device.
    fn device(&self) -> &Device;

    /// Loads PTX text.
    fn load(&self, ptx: &str) -> Result<Self::Module, Error>;

    /// The kernel of that name.
    fn kernel(&self, module: &Self::Module, name: &str) -> Result<Self::Kernel, Error>;

    /// A buffer that holds `data`.
    fn upload<T: Plain>(&self, data: &[T]) -> Result<Buffer<Self, T>, Error>;

    /// A buffer of `len` elements that nothing wrote yet.
    fn allocate<T: Plain>(&self, len: usize) -> Result<Buffer<Self, T>, Error>;

    /// What a buffer holds.
    ///
    /// The emulator refuses a buffer that is not written in full ([`Error::Unwritten`]); on a GPU such elements have
    /// any value.
    fn download<T: Plain>(&self, buffer: &Buffer<Self, T>) -> Result<Vec<T>, Error>;

    /// Runs a kernel to its end.
    ///
    /// A kernel's `&[T]` and `PerThread` are two arguments, [`Buffer::slice`]; a `*const T` or `*mut T` is one. Where
    /// the module's parameters are known, arguments are checked against them.
    ///
    /// # Safety
    /// The kernel's own conditions hold for these arguments and this shape. In particular its parameters are those of
    /// the arguments, it stays within the buffers it is given, no other launch is using those that it writes, and an
    /// address among the numbers leads to memory that the kernel may use. On the emulator every breach but a wrong
    /// result is an error, and `Emulator::run` needs no `unsafe`.
    unsafe fn launch(&self, kernel: &Self::Kernel, shape: Shape, args: &[Arg<'_, Self>]) -> Result<(), Error>;

    /// Runs a kernel `repeats` times, and once before, and gives the milliseconds of each by the device's clock, in
    /// order.
    ///
    /// Launches follow one another without a pause and find the caches as the last one left them. `None` on a launcher
    /// without a clock, which checks everything and launches nothing.
    ///
    /// # Safety
    /// As for [`Launcher::launch`], and the kernel may run any number of times on the same buffers.
    unsafe fn time(
        &self,
        kernel: &Self::Kernel,
        shape: Shape,
        args: &[Arg<'_, Self>],
        repeats: u32,
    ) -> Result<Option<Vec<f32>>, Error>;
}

/// What a launcher's device is.
#[derive(Debug)]
#[non_exhaustive]
pub struct Device {
    /// Its name: `NVIDIA H200`, `emulator`.
    pub name: String,
    /// Its architecture: `sm_90`.
    pub arch: String,
    /// The most bytes of shared memory that a block may have, static and dynamic together.
    pub shared_limit: u32,
    /// Tells launchers apart.
    pub(crate) id: u64,
}

impl Device {
    /// A device unlike any other.
    #[must_use]
    pub fn new(name: String, arch: String, shared_limit: u32) -> Device {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Device { name, arch, shared_limit, id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}
