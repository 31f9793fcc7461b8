//! One small trait to run kernels with, [`Launcher`], and three things that implement it.
//!
//! | launcher | runs kernels on | to have it |
//! |---|---|---|
//! | [`Emulator`] | the CPU, checked and counted | always there |
//! | `Cudarc` | a GPU, through a driver that is opened at run time | feature `cudarc` |
//! | `Cust` | a GPU, for programs that use Rust-CUDA's host crate already | feature `cust`, and CUDA to link with |
//!
//! A host program is written once for all of them, against the trait:
//!
//! ```
//! use launch::{Arg, Emulator, Error, Launcher, Shape};
//!
//! const PTX: &str = "
//!     .version 8.0
//!     .target sm_80
//!     .address_size 64
//!     .visible .entry scale(.param .u64 .ptr x, .param .f32 by) {
//!         .reg .b64 %d<3>; .reg .f32 %f<3>; .reg .b32 %r<2>;
//!         ld.param.u64 %d1, [x];
//!         ld.param.f32 %f1, [by];
//!         mov.u32 %r1, %tid.x;
//!         mad.wide.u32 %d2, %r1, 4, %d1;
//!         ld.global.f32 %f2, [%d2];
//!         mul.rn.f32 %f2, %f2, %f1;
//!         st.global.f32 [%d2], %f2;
//!         ret;
//!     }";
//!
//! fn scaled<L: Launcher>(gpu: &L, x: &[f32], by: f32) -> Result<Vec<f32>, Error> {
//!     let module = gpu.load(PTX)?;
//!     let scale = gpu.kernel(&module, "scale")?;
//!     let buffer = gpu.upload(x)?;
//!     let shape = Shape::line(1, x.len() as u32);
//!     // SAFETY: each thread of the only block works on an element of its own, and `x` has as many as there are threads.
//!     unsafe { gpu.launch(&scale, shape, &[buffer.arg(), Arg::from(by)]) }?;
//!     gpu.download(&buffer)
//! }
//!
//! let gpu = Emulator::new("sm_90")?;
//! assert_eq!(scaled(&gpu, &[1.0, 2.0, 3.0], 0.5)?, [0.5, 1.0, 1.5]);
//! let report = gpu.last_report().expect("the launch succeeded");
//! assert_eq!(report.counts.total.global_bytes, 24);
//!
//! // A mistake is one sentence, before anything runs.
//! let error = scaled(&gpu, &[0.0; 2000], 1.0).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "kernel `scale` cannot be launched so: a block of 2000 threads; it takes 1 to 1024"
//! );
//! # Ok::<(), Error>(())
//! ```
//!
//! # What it is not
//! Launches wait for their kernel, so that an error is that of the launch that made it, and there are no streams. On a
//! GPU a kernel that breaks a rule of memory leaves the driver unusable for the rest of the process: find such faults
//! on the emulator.

mod arg;
mod buffer;
mod check;
#[cfg(any(feature = "cudarc", feature = "cust"))]
mod driver;
mod emulated;
mod error;
mod launcher;
#[cfg(feature = "cudarc")]
mod with_cudarc;
#[cfg(feature = "cust")]
mod with_cust;

pub use arg::{Address, Arg};
pub use buffer::Buffer;
pub use device_std::Plain;
pub use emulated::{EmulatedKernel, EmulatedMemory, EmulatedModule, Emulator};
pub use emulator::{Config, Report, Shape};
pub use error::Error;
pub use launcher::{Device, Launcher};
#[cfg(feature = "cudarc")]
pub use with_cudarc::{Cudarc, CudarcKernel, CudarcMemory, CudarcModule};
#[cfg(feature = "cust")]
pub use with_cust::{Cust, CustKernel, CustMemory, CustModule};
