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
//! - optimizing, it compiles every device function anew for each kernel that can call it, and prints that copy's
//!   properties behind the kernel's; for debugging, it compiles each once, and prints it anywhere;
//! - `Used … registers` and `smem` are the kernel's with everything it can call;
//! - stack frame and spills are of the one function alone, so a kernel's spills are a sum; the registers that a device
//!   function saves for its caller count as its spills;
//! - the cumulative stack size is that of the deepest chain of calls; it is left out where no stack is used, and with
//!   recursion, where a warning says that the size cannot be determined. Then the frames, each once, are a lower bound;
//! - ptxas's own helpers and functions outside the PTX (`vprintf`) are not listed, and their frames count as nothing.
//!
//! So who is called must be known from elsewhere: [`Resources::total`] is told.

use serde::{Deserialize, Serialize};

/// The figures of one run of ptxas.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Resources {
    /// In the order of ptxas's report.
    pub kernels: Vec<KernelResources>,
    /// Device functions, or copies of them, in the order of ptxas's report.
    pub functions: Vec<FunctionResources>,
}

/// What ptxas says of one kernel.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelResources {
    /// The kernel alone.
    pub own: FunctionResources,
    /// Registers of a thread, callees included.
    pub registers: u32,
    /// Named barriers.
    pub barriers: u32,
    /// Static shared memory, callees included.
    pub shared_bytes: u32,
    /// Stack of a thread, callees included, where ptxas tells it.
    pub cumulative_stack_bytes: Option<u32>,
}

/// The figures of one function, without what it calls.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FunctionResources {
    /// The symbol, as in the PTX.
    pub name: String,
    /// The kernel behind which it is listed; a kernel's is its own name.
    pub kernel: Option<String>,
    /// Stack frame.
    pub stack_frame_bytes: u32,
    /// Bytes that spill code writes.
    pub spill_store_bytes: u32,
    /// Bytes that spill code reads.
    pub spill_load_bytes: u32,
}

/// The figures of a kernel with everything that it can call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Total {
    /// Registers of a thread.
    pub registers: u32,
    /// Static shared memory of a block.
    pub shared_bytes: u32,
    /// Spill stores plus spill loads.
    pub spill_bytes: u32,
    /// Stack of a thread.
    pub stack_bytes: u32,
    /// Does the kernel recurse, so that its stack may be larger?
    pub stack_is_lower_bound: bool,
}

impl Resources {
    /// Reads ptxas's report. Lines that are no figures are passed over.
    pub fn parse(report: &str) -> Resources {
        let mut resources = Resources::default();
        // Whom the figures to come belong to.
        let mut of_kernel = false;
        for line in report.lines() {
            if let Some(name) = between(line, "Compiling entry function '", "' for '") {
                resources
                    .kernels
                    .push(KernelResources { own: FunctionResources::new(name, name), ..Default::default() });
            } else if let Some((_, name)) = line.split_once("Function properties for ") {
                of_kernel = resources.start_function(name.trim());
            } else if let Some((_, figures)) = line.split_once(": Used ") {
                resources.kernels.last_mut().into_iter().for_each(|kernel| kernel.read_usage(figures));
            } else if line.contains(" bytes stack frame") {
                let kernel = resources.kernels.last_mut().map(|kernel| &mut kernel.own);
                let function = if of_kernel { kernel } else { resources.functions.last_mut() };
                function.into_iter().for_each(|function| function.read_properties(line));
            }
        }
        resources
    }

    /// Is it the kernel just begun? If not, begins a device function.
    fn start_function(&mut self, name: &str) -> bool {
        let kernel = self.kernels.last().map(|kernel| kernel.own.name.as_str());
        if kernel == Some(name) {
            return true;
        }
        let function =
            FunctionResources { kernel: kernel.map(str::to_owned), name: name.to_owned(), ..Default::default() };
        self.functions.push(function);
        false
    }

    /// What ptxas says of a kernel.
    pub fn kernel(&self, name: &str) -> Option<&KernelResources> {
        self.kernels.iter().find(|kernel| kernel.own.name == name)
    }

    /// What ptxas says of a device function: of the copy for `kernel`, or else of the only one.
    pub fn function(&self, kernel: &str, name: &str) -> Option<&FunctionResources> {
        let named = || self.functions.iter().filter(|function| function.name == name);
        named().find(|function| function.kernel.as_deref() == Some(kernel)).or_else(|| named().next())
    }

    /// The figures of a kernel that can call `callees`. Those that ptxas does not list count as nothing.
    pub fn total<'a>(&self, kernel: &str, callees: impl IntoIterator<Item = &'a str>) -> Option<Total> {
        let found = self.kernel(kernel)?;
        let callees = callees.into_iter().filter_map(|name| self.function(kernel, name));
        let (mut frames, mut spill_bytes) = (0, 0);
        for function in std::iter::once(&found.own).chain(callees) {
            frames += function.stack_frame_bytes;
            spill_bytes += function.spill_store_bytes + function.spill_load_bytes;
        }
        Some(Total {
            registers: found.registers,
            shared_bytes: found.shared_bytes,
            spill_bytes,
            stack_bytes: found.cumulative_stack_bytes.unwrap_or(frames),
            stack_is_lower_bound: found.cumulative_stack_bytes.is_none() && frames > 0,
        })
    }
}

impl KernelResources {
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
    fn new(name: &str, kernel: &str) -> FunctionResources {
        FunctionResources { name: name.to_owned(), kernel: Some(kernel.to_owned()), ..Default::default() }
    }

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
ptxas info    : Function properties for early
    0 bytes stack frame, 1 bytes spill stores, 1 bytes spill loads
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

    fn total(kernel: &str, callees: &[&str]) -> Total {
        Resources::parse(REPORT).total(kernel, callees.iter().copied()).expect("the kernel")
    }

    #[test]
    fn a_kernel_has_the_spills_of_what_it_calls_and_ptxas_s_own_stack_size() {
        let kernel = total("calls", &["outer", "inner"]);
        assert_eq!((kernel.registers, kernel.shared_bytes), (25, 1024));
        assert_eq!(kernel.spill_bytes, 28 + 32 + 4);
        assert_eq!((kernel.stack_bytes, kernel.stack_is_lower_bound), (40, false));
        assert_eq!(Resources::parse(REPORT).kernel("calls").map(|kernel| kernel.barriers), Some(2));
    }

    #[test]
    fn with_recursion_the_frames_are_a_lower_bound() {
        let kernel = total("recurses", &["inner"]);
        assert_eq!((kernel.stack_bytes, kernel.stack_is_lower_bound), (16 + 24, true));
        assert_eq!(kernel.spill_bytes, 40, "those of its own copy");
    }

    #[test]
    fn a_function_compiled_once_is_found_wherever_it_stands() {
        let kernel = total("recurses", &["early", "outer", "not_listed"]);
        assert_eq!(kernel.spill_bytes, 2 + 28 + 32);
    }

    #[test]
    fn an_empty_report_has_no_kernels() {
        assert_eq!(Resources::parse("ptxas info    : 0 bytes gmem\n"), Resources::default());
    }
}
