//! The machine code of a build, and what of it messages speak of: loops and costly instructions with their source lines.
//!
//! Lines are known where the build kept them (`--lines`); else every list of lines is empty, and nothing else changes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sass::{AssembleOptions, Frame, Function, Nvdisasm, Program, Ptxas, SymbolKind};

use crate::build::{Arch, Built};
use crate::setup::CudaTools;

/// What ptxas made of a build.
#[derive(Debug)]
pub struct MachineCode {
    /// The figures.
    pub report: sass::Report,
    /// Every kernel's loops and costly instructions.
    pub kernels: Vec<KernelCode>,
    /// Is the source line of any instruction known?
    pub has_lines: bool,
}

/// What messages may want to show of one kernel, with all that it can call.
#[derive(Debug)]
pub struct KernelCode {
    /// The symbol.
    pub name: String,
    /// Its loops, function by function, outer loops first.
    pub loops: Vec<MachineLoop>,
    /// Instructions that a budget may forbid.
    pub costs: Vec<Cost>,
}

/// A loop of the machine code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineLoop {
    /// The symbol of its function, as in the PTX.
    pub function: String,
    /// The first instruction's address.
    pub header: u64,
    /// The addresses of the jumps back.
    pub latches: Vec<u64>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// Where the jumps back were written.
    pub lines: Vec<SourceLine>,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    /// The file, as debug information names it: a full path.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
}

/// An instruction that costs more than it seems to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// What it does.
    pub kind: CostKind,
    /// Where it was written; the innermost place first.
    pub lines: Vec<SourceLine>,
}

/// What a costly instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CostKind {
    /// Loads from local memory.
    LocalLoad,
    /// Stores to local memory.
    LocalStore,
    /// Calls a device function.
    Call,
    /// Calls ptxas's own arithmetic.
    HelperCall,
}

impl MachineCode {
    /// Assembles and disassembles what a build made.
    pub fn of(cuda: &CudaTools, built: &Built, arch: &Arch, with_lines: bool) -> Result<MachineCode> {
        let options = AssembleOptions { line_info: with_lines, ..AssembleOptions::default() };
        let cubin = Ptxas::new(&cuda.ptxas)
            .assemble(&built.ptx, arch.name(), &options)
            .with_context(|| format!("ptxas refuses {}", built.ptx.display()))?;
        let module = Nvdisasm::new(&cuda.nvdisasm).disassemble(&cubin)?;
        let program = Program::of(&module);
        let report = sass::Report::of(&cubin, &program)?;
        let mut instructions = module.sections.iter().flat_map(|section| &section.instructions);
        let has_lines = instructions.any(|instruction| instruction.source.is_some());
        Ok(MachineCode {
            report,
            kernels: program.kernels().map(|kernel| KernelCode::of(&kernel)).collect(),
            has_lines,
        })
    }

    /// The loops of a function of the PTX that were written at a line: the most that one kernel's copy of it has, or that all
    /// kernels have where ptxas has inlined it everywhere.
    pub fn loops_at(&self, function: &str, line: &SourceLine) -> usize {
        let at_line = |found: &&MachineLoop| found.lines.iter().any(|own| own.is(line));
        let in_copy = |kernel: &KernelCode| {
            let own = kernel.loops.iter().filter(|found| found.function == function);
            own.filter(at_line).count()
        };
        let most = self.kernels.iter().map(in_copy).max().unwrap_or(0);
        let anywhere = || self.kernels.iter().flat_map(|kernel| &kernel.loops).filter(at_line).count();
        if most > 0 { most } else { anywhere() }
    }
}

impl KernelCode {
    fn of(kernel: &sass::Kernel<'_, '_>) -> KernelCode {
        let functions: Vec<&Function<'_>> = kernel.functions().collect();
        let own = functions.iter().filter(|function| !function.is_helper());
        let loops = own.flat_map(|function| function.loops.iter().map(|found| machine_loop(kernel, function, found)));
        KernelCode { name: kernel.name().to_owned(), loops: loops.collect(), costs: costs(kernel) }
    }
}

fn machine_loop(kernel: &sass::Kernel<'_, '_>, function: &Function<'_>, found: &sass::Loop<'_>) -> MachineLoop {
    let jumps = found.latches.iter().filter_map(|latch| found.instructions.iter().find(|i| i.address == *latch));
    let mut lines: Vec<SourceLine> = jumps.filter_map(|jump| jump.source.as_ref()).flat_map(lines_of).collect();
    lines.dedup();
    MachineLoop {
        function: function.symbol.short_name(kernel.name()).to_owned(),
        header: found.header,
        latches: found.latches.clone(),
        depth: found.depth,
        lines,
    }
}

fn costs(kernel: &sass::Kernel<'_, '_>) -> Vec<Cost> {
    let instructions = kernel.instructions();
    let access = |instruction: &&sass::Instruction| {
        let kind = match instruction.mnemonic() {
            "LDL" => CostKind::LocalLoad,
            "STL" => CostKind::LocalStore,
            _ => return None,
        };
        Some(Cost { kind, lines: instruction.source.as_ref().map(lines_of).unwrap_or_default() })
    };
    let mut costs: Vec<Cost> = instructions.iter().filter_map(access).collect();
    for call in kernel.calls() {
        let kind = match call.callees.as_slice() {
            [only] => match kernel.callee(*only).symbol.kind {
                SymbolKind::Kernel | SymbolKind::Device => CostKind::Call,
                SymbolKind::Arithmetic => CostKind::HelperCall,
                SymbolKind::Support => continue,
            },
            _ => CostKind::Call,
        };
        let at = instructions.iter().find(|instruction| instruction.address == call.address);
        let source = at.and_then(|instruction| instruction.source.as_ref());
        costs.push(Cost { kind, lines: source.map(lines_of).unwrap_or_default() });
    }
    costs
}

fn lines_of(source: &sass::Source) -> Vec<SourceLine> {
    source.frames().iter().map(SourceLine::of).collect()
}

impl SourceLine {
    fn of(frame: &Frame) -> SourceLine {
        SourceLine { file: PathBuf::from(&*frame.file), line: frame.line }
    }

    /// Are both the same line of the same file, whatever links lead to it?
    pub fn is(&self, other: &SourceLine) -> bool {
        self.line == other.line && is_same_file(&self.file, &other.file)
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    // The last step is the cheapest to compare, and says no for nearly every pair.
    one.file_name() == other.file_name()
        && (one == other
            || one.canonicalize().ok().is_some_and(|one| other.canonicalize().is_ok_and(|other| one == other)))
}
