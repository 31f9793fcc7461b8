//! The resource figures that `ptxas -v` prints.
//!
//! ```text
//! ptxas info    : Compiling entry function 'k' for 'sm_90'
//! ptxas info    : Function properties for k
//!     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//! ptxas info    : Used 25 registers, used 1 barriers, 40 bytes cumulative stack size, 1024 bytes smem
//! ptxas info    : Function properties for f
//!     32 bytes stack frame, 32 bytes spill stores, 32 bytes spill loads
//! ```
//!
//! How ptxas keeps its books (seen with release 13.5 on sm_75 to sm_120a):
//!
//! - it compiles every device function anew for each kernel that can call it, and prints that copy's properties behind
//!   the kernel's;
//! - `Used … registers` and `smem` are the kernel's with everything it can call;
//! - stack frame and spills are of the one function alone, so a kernel's spills are a sum; the registers that a device
//!   function saves for its caller count as its spills;
//! - the cumulative stack size is that of the deepest chain of calls; it is left out where no stack is used, and with
//!   recursion, where a warning says that the size cannot be determined. Then the frames, each once, are a lower bound;
//! - the frames of functions outside the PTX (`vprintf`) count as nothing.

use serde::{Deserialize, Serialize};

/// The figures of one run of ptxas.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Resources {
    /// In the order of ptxas's report.
    pub kernels: Vec<KernelResources>,
}

/// The figures of one kernel.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelResources {
    /// Registers of a thread, callees included.
    pub registers: u32,
    /// Named barriers.
    pub barriers: u32,
    /// Static shared memory, callees included.
    pub shared_bytes: u32,
    /// Stack of a thread, callees included, where ptxas tells it.
    pub cumulative_stack_bytes: Option<u32>,
    /// The kernel alone.
    pub own: FunctionResources,
    /// The device functions compiled with it.
    pub callees: Vec<FunctionResources>,
}

/// The figures of one function, without what it calls.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FunctionResources {
    /// The symbol, as in the PTX.
    pub name: String,
    /// Stack frame.
    pub stack_frame_bytes: u32,
    /// Bytes that spill code writes.
    pub spill_store_bytes: u32,
    /// Bytes that spill code reads.
    pub spill_load_bytes: u32,
}

impl Resources {
    /// Reads ptxas's report. Lines that are no figures are passed over.
    pub fn parse(report: &str) -> Resources {
        let mut resources = Resources::default();
        // Figures belong to the function that the last such line named: the kernel itself or one behind it.
        let mut in_callee = false;
        for line in report.lines() {
            if let Some(name) = between(line, "Compiling entry function '", "' for '") {
                let own = FunctionResources { name: name.to_owned(), ..FunctionResources::default() };
                resources.kernels.push(KernelResources { own, ..KernelResources::default() });
            }
            let Some(kernel) = resources.kernels.last_mut() else { continue };
            if let Some((_, name)) = line.split_once("Function properties for ") {
                in_callee = name.trim() != kernel.own.name;
                if in_callee {
                    kernel.callees.push(FunctionResources { name: name.trim().to_owned(), ..Default::default() });
                }
            } else if let Some((_, figures)) = line.split_once(": Used ") {
                kernel.read_usage(figures);
            } else if line.contains(" bytes stack frame") {
                let function = if in_callee { kernel.callees.last_mut() } else { Some(&mut kernel.own) };
                function.into_iter().for_each(|function| function.read_properties(line));
            }
        }
        resources
    }

    /// The figures of a kernel.
    pub fn kernel(&self, name: &str) -> Option<&KernelResources> {
        self.kernels.iter().find(|kernel| kernel.own.name == name)
    }
}

impl KernelResources {
    /// Spill stores plus spill loads of the kernel and everything it can call.
    pub fn spill_bytes(&self) -> u32 {
        self.functions().map(|function| function.spill_store_bytes + function.spill_load_bytes).sum()
    }

    /// Stack of a thread; see [`KernelResources::stack_is_lower_bound`].
    pub fn stack_bytes(&self) -> u32 {
        self.cumulative_stack_bytes.unwrap_or_else(|| self.frames())
    }

    /// Does the kernel recurse, so that its stack may be larger than [`KernelResources::stack_bytes`]?
    pub fn stack_is_lower_bound(&self) -> bool {
        self.cumulative_stack_bytes.is_none() && self.frames() > 0
    }

    fn frames(&self) -> u32 {
        self.functions().map(|function| function.stack_frame_bytes).sum()
    }

    fn functions(&self) -> impl Iterator<Item = &FunctionResources> {
        std::iter::once(&self.own).chain(&self.callees)
    }

    /// Reads `25 registers, used 1 barriers, 40 bytes cumulative stack size, 1024 bytes smem`.
    fn read_usage(&mut self, figures: &str) {
        for (number, what) in numbers(figures) {
            match what {
                "registers" => self.registers = number,
                "barriers" => self.barriers = number,
                "bytes smem" => self.shared_bytes = number,
                "bytes cumulative stack size" => self.cumulative_stack_bytes = Some(number),
                _ => {} // constant banks, textures, surfaces
            }
        }
    }
}

impl FunctionResources {
    /// Reads `32 bytes stack frame, 32 bytes spill stores, 32 bytes spill loads`.
    fn read_properties(&mut self, figures: &str) {
        for (number, what) in numbers(figures) {
            match what {
                "bytes stack frame" => self.stack_frame_bytes = number,
                "bytes spill stores" => self.spill_store_bytes = number,
                "bytes spill loads" => self.spill_load_bytes = number,
                _ => {}
            }
        }
    }
}

/// The parts of `7 apples, used 3 pears` as numbers with their names.
fn numbers(figures: &str) -> impl Iterator<Item = (u32, &str)> {
    figures.split(',').filter_map(|part| {
        let part = part.trim();
        let (number, what) = part.strip_prefix("used ").unwrap_or(part).split_once(' ')?;
        Some((number.parse().ok()?, what.trim()))
    })
}

fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    line.split_once(before)?.1.rsplit_once(after).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
ptxas info    : 20 bytes gmem, 24 bytes cmem[4]
ptxas info    : Compiling entry function 'calls' for 'sm_80'
ptxas info    : Function properties for calls
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 25 registers, used 2 barriers, 40 bytes cumulative stack size, 1024 bytes smem, 372 bytes cmem[0]
ptxas info    : Compile time = 2.685 ms
ptxas info    : Function properties for outer
    32 bytes stack frame, 28 bytes spill stores, 32 bytes spill loads
ptxas info    : Function properties for inner
    8 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'recurses' for 'sm_80'
ptxas info    : Function properties for recurses
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 364 bytes cmem[0]
ptxas info    : Function properties for inner
    24 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads
";

    #[test]
    fn a_kernel_has_the_spills_of_what_it_calls_and_ptxas_s_own_stack_size() {
        let resources = Resources::parse(REPORT);
        let kernel = resources.kernel("calls").expect("the kernel");
        assert_eq!((kernel.registers, kernel.barriers, kernel.shared_bytes), (25, 2, 1024));
        assert_eq!(kernel.spill_bytes(), 28 + 32 + 4);
        assert_eq!((kernel.stack_bytes(), kernel.stack_is_lower_bound()), (40, false));
    }

    #[test]
    fn with_recursion_the_frames_are_a_lower_bound() {
        let resources = Resources::parse(REPORT);
        let kernel = resources.kernel("recurses").expect("the kernel");
        assert_eq!((kernel.stack_bytes(), kernel.stack_is_lower_bound()), (40, true));
        assert_eq!(kernel.spill_bytes(), 40);
        assert_eq!(kernel.callees.len(), 1, "the copy of `inner` in the other kernel is not this one's");
    }

    #[test]
    fn an_empty_report_has_no_kernels() {
        assert_eq!(Resources::parse("ptxas info    : 0 bytes gmem\n").kernels, []);
    }
}
