//! Buffers, arguments, launches: what a host program does with a GPU, on the CPU.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;

use crate::args::{Arg, Scalar, pack};
use crate::block::Worker;
use crate::counts::{Counts, Tally};
use crate::error::LoadError;
use crate::fault::Fault;
use crate::memory::{Memory, Region, WINDOW_BITS};
use crate::program::{Const, File, Inst, Program};
use crate::shared::Layout;
use crate::warp::Warp;

/// A launch that did not start, or a kernel that broke a rule.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// No such kernel in the module.
    #[error("the module has no kernel `{name}`; it has {known}")]
    NoKernel {
        /// The name asked for.
        name: String,
        /// The kernels there are.
        known: String,
    },
    /// Too few or too many arguments.
    #[error("kernel `{kernel}` takes {wanted} arguments, {given} were given")]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// Parameters it has.
        wanted: usize,
        /// Arguments given.
        given: usize,
    },
    /// An argument that does not fit its parameter.
    #[error("argument {index} of kernel `{kernel}`: the parameter is {wanted}, the argument is {given}")]
    ArgumentType {
        /// The kernel.
        kernel: String,
        /// Position, from 0.
        index: usize,
        /// The parameter, in words.
        wanted: String,
        /// The argument, in words.
        given: String,
    },
    /// A grid, block or amount of shared memory that no GPU takes.
    #[error("kernel `{kernel}` cannot be launched so: {what}")]
    Shape {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        what: String,
    },
    /// A buffer of another device, or one that was freed.
    #[error("a buffer that does not belong to this device, or was freed")]
    ForeignBuffer,
    /// A read of a buffer that is not written in full.
    #[error("{name}: byte {at} was never written")]
    Unwritten {
        /// The buffer.
        name: String,
        /// The first such byte.
        at: u64,
    },
    /// The kernel broke a rule while it ran.
    #[error(transparent)]
    Fault(Box<Fault>),
}

impl From<Box<Fault>> for LaunchError {
    fn from(f: Box<Fault>) -> Self {
        LaunchError::Fault(f)
    }
}

/// What is checked and counted while kernels run. Bounds and alignment always are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Report values computed from memory that nothing wrote.
    pub uninitialized: bool,
    /// Report races in shared memory.
    pub races: bool,
    /// Count instructions and traffic.
    pub count: bool,
    /// Let exited threads count as arrived at a barrier, as GPUs since sm_70 do, instead of reporting the barrier.
    pub exited_threads_pass_barriers: bool,
    /// Let a member mask name lanes that never had a thread, as a full mask does in a partial last warp, instead of
    /// reporting it.
    pub masks_may_name_no_thread: bool,
    /// Let a member mask name lanes that have exited, as the ISA does, instead of reporting it.
    pub masks_may_name_exited: bool,
    /// Instructions a warp may execute.
    pub step_limit: u64,
    /// Bytes of local memory a thread may use.
    pub local_limit: u32,
    /// Bytes of shared memory a block may use.
    pub shared_limit: u32,
    /// Cores to use; 0 for all.
    pub threads: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            uninitialized: true,
            races: true,
            count: true,
            exited_threads_pass_barriers: false,
            masks_may_name_no_thread: true,
            masks_may_name_exited: false,
            step_limit: 1 << 32,
            local_limit: 512 << 10,
            shared_limit: 227 << 10,
            threads: 0,
        }
    }
}

impl Config {
    /// No checks but bounds and alignment, no counts: as fast as it gets.
    pub fn unchecked() -> Config {
        Config { uninitialized: false, races: false, count: false, ..Config::default() }
    }
}

/// A loaded PTX module.
#[derive(Clone)]
pub struct Module {
    pub(crate) prog: Arc<Program>,
    id: u64,
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module").field("kernels", &self.kernels().collect::<Vec<_>>()).finish()
    }
}

impl Module {
    /// Parses and decodes PTX text. Every instruction must be known.
    pub fn load(ptx: &str) -> Result<Module, LoadError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let prog = Arc::new(crate::lower::lower(&crate::parse(ptx)?)?);
        Ok(Module { prog, id: NEXT.fetch_add(1, Ordering::Relaxed) })
    }

    /// The kernels' names.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.prog.funcs.iter().filter(|f| f.entry).map(|f| f.name.as_str())
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Result<Kernel, LaunchError> {
        match self.prog.funcs.iter().position(|f| f.entry && f.name == name) {
            Some(n) => Ok(Kernel { module: self.clone(), index: n as u32 }),
            None => {
                let known: Vec<&str> = self.kernels().collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                Err(LaunchError::NoKernel { name: name.into(), known })
            }
        }
    }
}

/// A kernel of a module.
#[derive(Debug, Clone)]
pub struct Kernel {
    module: Module,
    index: u32,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.func().name
    }

    /// Its parameters, each as PTX declares it (`.u32`, `.b64 pointer`, `.b8[24]`).
    pub fn parameters(&self) -> Vec<String> {
        self.func().params.iter().map(crate::args::describe).collect()
    }

    pub(crate) fn func(&self) -> &crate::program::Func {
        &self.module.prog.funcs[self.index as usize]
    }
}

/// The shape of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
}

impl Shape {
    /// `grid` blocks of `block` threads in one dimension.
    pub fn line(grid: u32, block: u32) -> Shape {
        Shape { grid: [grid, 1, 1], block: [block, 1, 1], shared_bytes: 0 }
    }

    /// The same with dynamic shared memory.
    pub fn with_shared(self, bytes: u32) -> Shape {
        Shape { shared_bytes: bytes, ..self }
    }
}

/// A typed buffer of a device.
#[derive(Debug)]
pub struct Buffer<T> {
    address: u64,
    len: usize,
    device: u64,
    of: PhantomData<T>,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Buffer<T> {}

impl<T> Buffer<T> {
    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its address in the kernels' generic address space, for structures that hold pointers.
    pub fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn device(&self) -> u64 {
        self.device
    }
}

/// The result of a launch.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// What it cost; empty when counting is off.
    pub counts: Counts,
    /// Bytes of shared memory a block used.
    pub shared_bytes: u32,
}

/// Memory, and the cores that run kernels.
pub struct Device {
    config: Config,
    mem: Memory,
    globals: HashMap<u64, Vec<u64>>,
    id: u64,
}

impl Default for Device {
    fn default() -> Self {
        Device::new(Config::default())
    }
}

/// What a launch holds constant.
pub(crate) struct Env<'a> {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub kernel: u32,
    pub layout: Layout,
    pub params: &'a [u8],
    pub globals: &'a [u64],
    pub dynamic_shared: u32,
    pub step_limit: u64,
    pub local_limit: u32,
    pub track: bool,
    pub races: bool,
    pub exited_pass: bool,
    pub no_thread_passes: bool,
    pub exited_lanes_pass: bool,
    /// First block that faulted, and the one this core runs, so that later blocks stop.
    pub first_fault: &'a AtomicU64,
    pub running: AtomicU64,
}

impl Env<'_> {
    /// Threads of a block.
    pub(crate) fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Lanes of a warp that a warp instruction may name though they never come. One for the whole warp needs it whole.
    pub(crate) fn excused(&self, w: &Warp, inst: &Inst) -> u32 {
        if inst.e.file == File::None {
            return 0;
        }
        let no_thread = if self.no_thread_passes { !w.exists } else { 0 };
        let exited = if self.exited_lanes_pass { w.exited & w.exists } else { 0 };
        no_thread | exited
    }

    /// Whether an earlier block faulted, so that this one no longer matters.
    pub(crate) fn cancelled(&self) -> bool {
        self.first_fault.load(Ordering::Relaxed) < self.running.load(Ordering::Relaxed)
    }
}

impl Device {
    /// A device with no buffers.
    pub fn new(config: Config) -> Device {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Device { config, mem: Memory::default(), globals: HashMap::new(), id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// What is checked and counted.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What is checked and counted from now on.
    pub fn config_mut(&mut self) -> &mut Config {
        &mut self.config
    }

    /// A buffer that holds `data`.
    pub fn buffer<T: Scalar>(&mut self, data: &[T]) -> Buffer<T> {
        let mut bytes = Vec::with_capacity(size_of_val(data));
        data.iter().for_each(|v| v.put(&mut bytes));
        let name = self.name::<T>(data.len());
        self.add(Region::with(name, &bytes, true), data.len())
    }

    /// A buffer that nothing wrote yet: reading it is a fault.
    pub fn uninit<T: Scalar>(&mut self, len: usize) -> Buffer<T> {
        let name = self.name::<T>(len);
        self.add(Region::blank(name, (len * T::BYTES) as u64, true), len)
    }

    /// A buffer of these bytes under a name of the caller's, which faults say.
    pub fn named(&mut self, name: String, content: &[u8]) -> Buffer<u8> {
        self.add(Region::with(name, content, true), content.len())
    }

    /// A buffer of so many bytes that nothing wrote yet, under a name of the caller's.
    pub fn named_uninit(&mut self, name: String, bytes: usize) -> Buffer<u8> {
        self.add(Region::blank(name, bytes as u64, true), bytes)
    }

    fn name<T: Scalar>(&self, len: usize) -> String {
        format!("a buffer of {len} {}", T::NAME)
    }

    fn add<T>(&mut self, r: Region, len: usize) -> Buffer<T> {
        Buffer { address: self.mem.add(r), len, device: self.id, of: PhantomData }
    }

    /// The contents of a buffer, whether written or not.
    pub fn read<T: Scalar>(&self, b: &Buffer<T>) -> Result<Vec<T>, LaunchError> {
        let r = self.region(b)?;
        Ok(r.bytes().chunks_exact(T::BYTES).map(T::take).collect())
    }

    /// The contents of a buffer; an error if some of it was never written.
    pub fn read_written<T: Scalar>(&self, b: &Buffer<T>) -> Result<Vec<T>, LaunchError> {
        let r = self.region(b)?;
        match r.first_unwritten() {
            Some(at) => Err(LaunchError::Unwritten { name: r.name.clone(), at }),
            None => self.read(b),
        }
    }

    /// Overwrites the start of a buffer.
    pub fn write<T: Scalar>(&mut self, b: &Buffer<T>, data: &[T]) -> Result<(), LaunchError> {
        self.region(b)?;
        let mut bytes = Vec::with_capacity(size_of_val(data));
        data.iter().for_each(|v| v.put(&mut bytes));
        match self.mem.find_mut(b.address) {
            Some(r) if bytes.len() as u64 <= r.len => {
                r.fill(0, &bytes);
                Ok(())
            }
            _ => Err(LaunchError::ForeignBuffer),
        }
    }

    /// Frees a buffer. A kernel that still uses it faults.
    pub fn free<T>(&mut self, b: Buffer<T>) -> Result<(), LaunchError> {
        self.region(&b)?;
        if let Some(r) = self.mem.find_mut(b.address) {
            r.free();
        }
        Ok(())
    }

    fn region<T>(&self, b: &Buffer<T>) -> Result<&Region, LaunchError> {
        self.mem.find(b.address).filter(|r| r.live && b.device == self.id).ok_or(LaunchError::ForeignBuffer)
    }

    /// The contents of a module's variable.
    pub fn variable(&mut self, module: &Module, name: &str) -> Option<Vec<u8>> {
        let n = module.prog.globals.iter().position(|g| g.name == name)?;
        self.instantiate(module);
        let at = *self.globals.get(&module.id)?.get(n)?;
        self.mem.find(at).map(Region::bytes)
    }

    /// Gives the module's variables their storage, once.
    fn instantiate(&mut self, module: &Module) {
        if self.globals.contains_key(&module.id) {
            return;
        }
        let prog = &module.prog;
        let at: Vec<u64> = prog
            .globals
            .iter()
            .map(|g| {
                let name = format!("variable `{}`", g.name);
                let mut bytes = g.init.clone();
                bytes.resize(if g.external { 0 } else { g.bytes as usize }, 0);
                self.mem.add(Region::with(name, &bytes, g.writable))
            })
            .collect();
        for (g, &base) in prog.globals.iter().zip(&at) {
            for r in &g.relocs {
                let value = match r.value {
                    Const::Global(v, off) => at[v as usize].wrapping_add(off as u64),
                    Const::Function(f) => crate::memory::CODE_WINDOW << WINDOW_BITS | u64::from(f),
                    _ => 0,
                };
                let bytes = (value >> r.shift).to_le_bytes();
                if let Some(region) = self.mem.find_mut(base) {
                    region.fill(r.at, &bytes[..r.bytes as usize]);
                }
            }
        }
        self.globals.insert(module.id, at);
    }

    /// Runs a kernel to its end.
    pub fn launch(&mut self, kernel: &Kernel, shape: Shape, args: &[Arg]) -> Result<Report, LaunchError> {
        let params = pack(kernel.func(), args, self.id)?;
        let used = self.check_shape(kernel, &shape)?;
        self.instantiate(&kernel.module);
        let prog = &*kernel.module.prog;
        let watch = self.config.uninitialized || self.config.races;
        let layout = Layout::new(prog, &used, shape.shared_bytes, watch);
        if layout.used > self.config.shared_limit {
            return Err(LaunchError::Shape {
                kernel: kernel.name().into(),
                what: format!("{} bytes of shared memory, the limit is {}", layout.used, self.config.shared_limit),
            });
        }
        let shared_bytes = layout.used;
        let tally = self.run(kernel, shape, layout, &params)?;
        let counts = tally.map(|t| Counts::collect(prog, &t)).unwrap_or_default();
        Ok(Report { counts, shared_bytes })
    }

    /// Checks grid, block and shared memory; gives the shared variables the kernel can reach.
    fn check_shape(&self, kernel: &Kernel, s: &Shape) -> Result<Vec<u32>, LaunchError> {
        let fail = |what: String| Err(LaunchError::Shape { kernel: kernel.name().into(), what });
        let threads = s.block.iter().try_fold(1u32, |a, &b| a.checked_mul(b));
        match threads {
            Some(1..=1024) => {}
            Some(n) => return fail(format!("{n} threads a block; it takes 1 to 1024")),
            None => return fail("more threads a block than 1024".into()),
        }
        if s.block[2] > 64 {
            return fail(format!("a block of depth {}; the limit is 64", s.block[2]));
        }
        if s.grid.contains(&0) || s.grid[0] > 0x7fff_ffff || s.grid[1] > 65535 || s.grid[2] > 65535 {
            return fail(format!("a grid of {:?}; the limits are 2^31 - 1, 65535 and 65535", s.grid));
        }
        if let Some((max, exact)) = kernel.func().max_threads {
            let most: u64 = max.iter().map(|&d| u64::from(d)).product();
            if exact && s.block != max || u64::from(threads.unwrap_or(0)) > most {
                return fail(format!("the kernel is compiled for blocks of {max:?}"));
            }
        }
        let prog = &kernel.module.prog;
        let mut seen = vec![false; prog.funcs.len()];
        let mut stack = vec![kernel.index];
        let mut shared = Vec::new();
        while let Some(f) = stack.pop() {
            if std::mem::replace(&mut seen[f as usize], true) {
                continue;
            }
            let func = &prog.funcs[f as usize];
            shared.extend(&func.shared);
            stack.extend(&func.calls);
            if func.calls_through_register {
                stack.extend((0..prog.funcs.len() as u32).filter(|&g| !prog.funcs[g as usize].entry));
            }
        }
        shared.sort_unstable();
        shared.dedup();
        Ok(shared)
    }

    fn run(&self, kernel: &Kernel, s: Shape, layout: Layout, params: &[u8]) -> Result<Option<Tally>, LaunchError> {
        let prog = &*kernel.module.prog;
        let c = &self.config;
        let blocks: u64 = s.grid.iter().map(|&d| u64::from(d)).product();
        let first_fault = AtomicU64::new(u64::MAX);
        let next = AtomicU64::new(0);
        let env = |layout: Layout| Env {
            grid: s.grid,
            block: s.block,
            kernel: kernel.index,
            layout,
            params,
            globals: &self.globals[&kernel.module.id],
            dynamic_shared: s.shared_bytes,
            step_limit: c.step_limit,
            local_limit: c.local_limit,
            track: c.uninitialized,
            races: c.races,
            exited_pass: c.exited_threads_pass_barriers,
            no_thread_passes: c.masks_may_name_no_thread,
            exited_lanes_pass: c.masks_may_name_exited,
            first_fault: &first_fault,
            running: AtomicU64::new(0),
        };
        let work = || {
            let mut worker = Worker::new(c.count.then(|| Tally::new(prog.code.len())));
            let env = env(layout.clone());
            let mut fault = None;
            loop {
                let b = next.fetch_add(1, Ordering::Relaxed);
                if b >= blocks || b > first_fault.load(Ordering::Relaxed) {
                    if let Some(t) = &mut worker.tally {
                        t.finish();
                    }
                    return (worker.tally, fault);
                }
                env.running.store(b, Ordering::Relaxed);
                let [x, y] = [u64::from(s.grid[0]), u64::from(s.grid[1])];
                let block = [(b % x) as u32, (b / x % y) as u32, (b / x / y) as u32];
                if let Err(f) = worker.block(prog, &env, &self.mem, block) {
                    first_fault.fetch_min(b, Ordering::Relaxed);
                    fault = Some((b, f));
                }
            }
        };
        let cores = match c.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let cores = cores.min(usize::try_from(blocks).unwrap_or(usize::MAX));
        let results: Vec<_> = if cores <= 1 {
            vec![work()]
        } else {
            std::thread::scope(|scope| {
                let handles: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
                handles.into_iter().filter_map(|h| h.join().ok()).collect()
            })
        };
        let mut total: Option<Tally> = None;
        let mut faults = Vec::new();
        for (tally, fault) in results {
            faults.extend(fault);
            match (&mut total, tally) {
                (Some(t), Some(more)) => t.add(&more),
                (t, more) => *t = more,
            }
        }
        // The lowest block's fault is the same in every run, however the cores took turns.
        match faults.into_iter().min_by_key(|f| f.0) {
            Some((_, f)) => Err(f.into()),
            None => Ok(total),
        }
    }
}
