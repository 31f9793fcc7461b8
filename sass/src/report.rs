//! The figures of every kernel, in the words of the audit report.

use serde::{Deserialize, Serialize};

use crate::{Cubin, Error, Kernel, Message, Program, Result, SymbolKind, Total};

/// Every kernel of a cubin.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// What the cubin is for, such as `sm_120a`.
    pub arch: String,
    /// In the order of the names.
    pub kernels: Vec<KernelReport>,
    /// What ptxas said that the user should see.
    pub warnings: Vec<Message>,
}

/// One kernel with everything that it can call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelReport {
    /// As in the PTX.
    pub name: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Spill stores plus spill loads.
    pub spill_bytes: u32,
    /// Stack of a thread.
    pub stack_bytes: u32,
    /// Static shared memory of a block.
    pub shared_bytes: u32,
    /// What the disassembly shows.
    pub sass: Counts,
    /// What the audit report leaves out.
    pub extra: Extra,
}

/// What the disassembly shows; the crate's documentation says what counts as what.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// Natural loops of the kernel and its device functions.
    pub loops: usize,
    /// Instructions that can be reached.
    pub instructions: usize,
    /// `LDG` and the generic `LD`.
    pub global_loads: usize,
    /// `STG` and the generic `ST`.
    pub global_stores: usize,
    /// `LDL`.
    pub local_loads: usize,
    /// `STL`.
    pub local_stores: usize,
    /// Calls to device functions.
    pub calls: usize,
    /// Calls to ptxas's own arithmetic.
    pub helper_calls: usize,
}

/// What the audit report leaves out.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Extra {
    /// Natural loops inside ptxas's own functions.
    pub helper_loops: usize,
    /// Calls to ptxas's functions that are no arithmetic.
    pub support_calls: usize,
    /// Indirect jumps whose targets are unknown: `loops` may be too high.
    pub unresolved_jumps: usize,
    /// A cycle with two entries: it is no natural loop, and not in `loops`.
    pub irreducible: bool,
    /// The kernel recurses: `stack_bytes` may be too low.
    pub stack_is_lower_bound: bool,
}

impl Report {
    /// Puts ptxas's figures and the disassembly's together.
    ///
    /// # Errors
    /// [`Error::NoFigures`] if ptxas's report left a kernel out.
    pub fn of(cubin: &Cubin, program: &Program<'_>) -> Result<Report> {
        let report = |kernel: Kernel<'_, '_>| {
            let callees = kernel.functions().skip(1).map(|function| function.symbol.short_name(kernel.name()));
            let total = cubin.resources.total(kernel.name(), callees).filter(|total| total.registers > 0);
            let total = total.ok_or_else(|| Error::NoFigures { kernel: kernel.name().to_owned() })?;
            Ok(KernelReport::of(&kernel, &total))
        };
        let mut kernels = program.kernels().map(report).collect::<Result<Vec<_>>>()?;
        kernels.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Report { arch: cubin.arch.clone(), kernels, warnings: cubin.warnings().cloned().collect() })
    }

    /// The kernel with a name.
    pub fn kernel(&self, name: &str) -> Option<&KernelReport> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

impl KernelReport {
    fn of(kernel: &Kernel<'_, '_>, total: &Total) -> KernelReport {
        KernelReport {
            name: kernel.name().to_owned(),
            registers: total.registers,
            spill_bytes: total.spill_bytes,
            stack_bytes: total.stack_bytes,
            shared_bytes: total.shared_bytes,
            sass: Counts::of(kernel),
            extra: Extra { stack_is_lower_bound: total.stack_is_lower_bound, ..Extra::of(kernel) },
        }
    }
}

impl Counts {
    /// Counts in the disassembly of `kernel`.
    pub fn of(kernel: &Kernel<'_, '_>) -> Counts {
        let instructions = kernel.instructions();
        let count = |mnemonics: &[&str]| instructions.iter().filter(|i| mnemonics.contains(&i.mnemonic())).count();
        let calls = CallCounts::of(kernel);
        Counts {
            loops: kernel.loops().len(),
            instructions: instructions.len(),
            global_loads: count(&["LDG", "LD"]),
            global_stores: count(&["STG", "ST"]),
            local_loads: count(&["LDL"]),
            local_stores: count(&["STL"]),
            calls: calls.device,
            helper_calls: calls.arithmetic,
        }
    }
}

impl Extra {
    /// Looks at the disassembly of `kernel`, which does not tell whether it recurses.
    pub fn of(kernel: &Kernel<'_, '_>) -> Extra {
        Extra {
            helper_loops: kernel.helper_loops().len(),
            support_calls: CallCounts::of(kernel).support,
            unresolved_jumps: kernel.functions().map(|function| function.graph.unresolved_jumps).sum(),
            irreducible: kernel.functions().any(|function| function.irreducible),
            stack_is_lower_bound: false,
        }
    }
}

/// Calls by what they go to.
#[derive(Default)]
struct CallCounts {
    device: usize,
    arithmetic: usize,
    support: usize,
}

impl CallCounts {
    fn of(kernel: &Kernel<'_, '_>) -> CallCounts {
        let mut counts = CallCounts::default();
        for call in kernel.calls() {
            let kind = match call.callees.as_slice() {
                [only] => kernel.callee(*only).symbol.kind,
                // Outside the cubin, or through a register, which never holds a helper.
                _ => SymbolKind::Device,
            };
            match kind {
                SymbolKind::Kernel | SymbolKind::Device => counts.device += 1,
                SymbolKind::Arithmetic => counts.arithmetic += 1,
                SymbolKind::Support => counts.support += 1,
            }
        }
        counts
    }
}
