//! The kernels on a device, and calls of them.

use crate::inputs::Inputs;
use crate::plan::Kernel;
use crate::problem::{Outputs, Sizes};
use crate::{Element, Error};
use launch::{Arg, Buffer, Launcher, Shape};

/// The kernels of the crate `gdn`, loaded on a device.
#[derive(Debug)]
pub struct Kernels<L: Launcher> {
    launcher: L,
    module: L::Module,
}

impl<L: Launcher> Kernels<L> {
    /// Loads them from their PTX, which `cargo latch build -p gdn` makes.
    pub fn load(launcher: L, ptx: &str) -> Result<Kernels<L>, Error> {
        let module = launcher.load(ptx)?;
        Ok(Kernels { launcher, module })
    }

    /// What they run on.
    pub fn launcher(&self) -> &L {
        &self.launcher
    }

    /// Checks the arguments of a call and copies them to the device.
    pub fn prepare<T: Element>(&self, inputs: &Inputs<'_, T>) -> Result<Call<'_, L, T>, Error> {
        let checked = inputs.check()?;
        let (launcher, sizes) = (&self.launcher, checked.sizes);
        Ok(Call {
            kernels: self,
            q: launcher.upload(checked.q)?,
            k: launcher.upload(checked.k)?,
            v: launcher.upload(checked.v)?,
            g: launcher.upload(checked.g)?,
            beta: launcher.upload(checked.beta)?,
            state_in: checked.state.map(|state| launcher.upload(state)).transpose()?,
            y: launcher.allocate(sizes.values())?,
            state_out: launcher.allocate(sizes.states())?,
            starts: launcher.upload(&sizes.starts())?,
            sizes,
        })
    }
}

/// The arguments of a call, on the device.
pub struct Call<'a, L: Launcher, T> {
    kernels: &'a Kernels<L>,
    sizes: Sizes,
    q: Buffer<L, T>,
    k: Buffer<L, T>,
    v: Buffer<L, T>,
    g: Buffer<L, f32>,
    beta: Buffer<L, f32>,
    state_in: Option<Buffer<L, f32>>,
    y: Buffer<L, T>,
    state_out: Buffer<L, f32>,
    starts: Buffer<L, u32>,
}

impl<L: Launcher, T: Element> Call<'_, L, T> {
    /// The kernel that the device is best served with.
    pub fn choose(&self) -> Kernel {
        Kernel::choose(&self.sizes, T::FORMAT, self.kernels.launcher.device().shared_limit.into())
    }

    /// Fills what the kernels write with NaN, so that what they leave out shows on a GPU. (The emulator tells without.)
    pub fn poison(&mut self) -> Result<(), Error> {
        let launcher = &self.kernels.launcher;
        self.y = launcher.upload(&vec![T::from_f32(f32::NAN); self.sizes.values()])?;
        self.state_out = launcher.upload(&vec![f32::NAN; self.sizes.states()])?;
        Ok(())
    }

    /// Runs a kernel and brings its outputs back.
    pub fn run(&self, kernel: Kernel) -> Result<Outputs<T>, Error> {
        let launcher = &self.kernels.launcher;
        let (function, shape) = self.function(kernel)?;
        // SAFETY: the plan is one for these sizes, and the buffers are as long as the sizes ask; nothing else uses the
        // outputs.
        unsafe { launcher.launch(&function, shape, &self.args()) }?;
        Ok(Outputs { y: launcher.download(&self.y)?, state: launcher.download(&self.state_out)? })
    }

    /// The milliseconds of each of several runs; none on a device without a clock.
    pub fn time(&self, kernel: Kernel, repeats: u32) -> Result<Option<Vec<f32>>, Error> {
        let (function, shape) = self.function(kernel)?;
        // SAFETY: as for a run; a kernel reads nothing that it writes.
        Ok(unsafe { self.kernels.launcher.time(&function, shape, &self.args(), repeats) }?)
    }

    fn function(&self, kernel: Kernel) -> Result<(L::Kernel, Shape), Error> {
        let plan = kernel.plan(&self.sizes, T::FORMAT)?;
        let function = self.kernels.launcher.kernel(&self.kernels.module, &plan.entry)?;
        Ok((function, Shape { grid: plan.grid, block: plan.block, shared_bytes: plan.shared_bytes }))
    }

    fn args(&self) -> [Arg<'_, L>; 13] {
        let sizes = &self.sizes;
        [
            self.q.arg(),
            self.k.arg(),
            self.v.arg(),
            self.g.arg(),
            self.beta.arg(),
            self.state_in.as_ref().map_or(Arg::Null, Buffer::arg),
            self.y.arg(),
            self.state_out.arg(),
            self.starts.arg(),
            sizes.heads.into(),
            sizes.key_heads.into(),
            sizes.dk.into(),
            sizes.dv.into(),
        ]
    }
}

impl<T: Element> Outputs<T> {
    /// The same in single precision.
    pub fn to_f32(&self) -> Outputs {
        Outputs { y: self.y.iter().map(|y| y.to_f32()).collect(), state: self.state.clone() }
    }
}

/// Computes the gated delta rule: outputs and last states.
///
/// The arguments are checked, copied to the device, and computed by the kernel that suits them and the device best. With
/// [`Kernels::prepare`] they stay there for several runs.
pub fn gated_delta_rule<L: Launcher, T: Element>(
    kernels: &Kernels<L>,
    inputs: &Inputs<'_, T>,
) -> Result<Outputs<T>, Error> {
    let call = kernels.prepare(inputs)?;
    call.run(call.choose())
}
