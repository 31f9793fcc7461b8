//! The machine code of a build, and what of it messages speak of: loops and costly instructions with their source lines.
//!
//! Lines are known where the build kept them (`--lines`); else every list of lines is empty, and nothing else changes.
//!
//! A loop belongs to the hint at whose line its jumps back were written: the linker has given them that line
//! (`nounroll_metadata::place_latches`). Newer architectures have a jump for all threads of a warp at once, and ptxas knows no
//! line of it. So a loop whose jumps lead to no hint belongs to the first hint whose line any of its own instructions has, those
//! of inner loops aside; the linker has given that line to the loop's condition.
//!
//! When it is wrong: two loops in one line count as one hint's; and a loop whose condition is gone, on such an architecture, can
//! be taken for an inner one's.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::Result;
use sass::{AssembleOptions, Cubin, Frame, Function, Program, SymbolKind};
use serde::{Deserialize, Serialize};

use crate::assembly::Assembler;
use crate::build::Arch;

/// What ptxas made of a build.
#[derive(Debug, Serialize, Deserialize)]
pub struct MachineCode {
    /// The figures.
    pub report: sass::Report,
    /// Every kernel's loops and costly instructions.
    pub kernels: Vec<KernelCode>,
    /// Is the source line of any instruction known?
    pub has_lines: bool,
    /// The source lines of all instructions.
    written: BTreeSet<SourceLine>,
}

/// What messages may want to show of one kernel, with all that it can call.
#[derive(Debug, Serialize, Deserialize)]
pub struct KernelCode {
    /// The symbol.
    pub name: String,
    /// Its loops, function by function, outer loops first.
    pub loops: Vec<MachineLoop>,
    /// Instructions that a budget may forbid.
    pub costs: Vec<Cost>,
}

/// A loop of the machine code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineLoop {
    /// The symbol of its function, as in the PTX.
    pub function: String,
    /// The first instruction's address.
    pub header: u64,
    /// The last instruction's address.
    pub last: u64,
    /// The addresses of the jumps back.
    pub latches: Vec<u64>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// Where the jumps back were written.
    pub jumps_written: Vec<SourceLine>,
    /// Where any of its instructions were written, those of the loops inside it aside.
    own_written: Vec<SourceLine>,
    /// The line of the hint that it belongs to.
    pub hint: Option<SourceLine>,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceLine {
    /// The file, as debug information names it: a full path.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
}

/// An instruction that costs more than it seems to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// What it does.
    pub kind: CostKind,
    /// Where it was written; the innermost place first.
    pub lines: Vec<SourceLine>,
}

/// What a costly instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    pub fn of(assembler: &Assembler, ptx: &str, arch: &Arch, with_lines: bool) -> Result<MachineCode> {
        let options = AssembleOptions { line_info: with_lines, ..AssembleOptions::default() };
        let cubin = assembler.cubin(ptx, arch, &options)?;
        assembler.found("machine code", &cubin, || MachineCode::read(assembler, &cubin))
    }

    fn read(assembler: &Assembler, cubin: &Cubin) -> Result<MachineCode> {
        let module = assembler.disassemble(cubin)?;
        let program = Program::of(&module);
        let report = sass::Report::of(cubin, &program)?;
        let instructions = module.sections.iter().flat_map(|section| &section.instructions);
        let written: BTreeSet<SourceLine> = instructions.filter_map(|i| i.source.as_ref()).flat_map(lines_of).collect();
        let kernels = program.kernels().map(|kernel| KernelCode::of(&kernel)).collect();
        Ok(MachineCode { report, kernels, has_lines: !written.is_empty(), written })
    }

    /// Made by hand, for tests.
    #[cfg(test)]
    pub fn of_kernels(kernels: Vec<KernelCode>, has_lines: bool) -> MachineCode {
        let report = sass::Report { arch: "sm_90".to_owned(), kernels: Vec::new(), warnings: Vec::new() };
        MachineCode { report, kernels, has_lines, written: BTreeSet::new() }
    }

    /// Was any instruction written in these lines of a file?
    pub fn has_code_of(&self, file: &Path, lines: RangeInclusive<u32>) -> bool {
        self.written.iter().any(|written| lines.contains(&written.line) && is_same_file(&written.file, file))
    }

    /// Says of every loop which of the hints at these lines it belongs to.
    pub fn attribute(&mut self, hints: &[SourceLine]) {
        let mut hints = hints.to_vec();
        hints.sort();
        for found in self.kernels.iter_mut().flat_map(|kernel| &mut kernel.loops) {
            let written_in =
                |lines: &[SourceLine]| hints.iter().find(|hint| lines.iter().any(|line| line.is(hint))).cloned();
            found.hint = written_in(&found.jumps_written).or_else(|| written_in(&found.own_written));
        }
    }

    /// The loops of a function of the PTX that belong to the hint at a line: as many as one kernel's copy of it has at least, or
    /// all kernels together where ptxas has inlined the function everywhere.
    pub fn loops_of_hint(&self, function: &str, line: &SourceLine) -> usize {
        let at_line = |found: &&MachineLoop| found.hint.as_ref().is_some_and(|hint| hint.is(line));
        let in_copy = |kernel: &KernelCode| {
            let mut copy = kernel.loops.iter().filter(|found| found.function == function).peekable();
            copy.peek()?;
            Some(copy.filter(at_line).count())
        };
        let fewest = self.kernels.iter().filter_map(in_copy).min();
        fewest.unwrap_or_else(|| self.kernels.iter().flat_map(|kernel| &kernel.loops).filter(at_line).count())
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
    let inner = function.loops.iter().filter(|other| other.depth > found.depth);
    let in_inner: BTreeSet<u64> = inner.flat_map(|inner| &inner.instructions).map(|i| i.address).collect();
    let written = |wanted: &dyn Fn(&sass::Instruction) -> bool| {
        let instructions = found.instructions.iter().filter(|instruction| wanted(instruction));
        let lines: BTreeSet<SourceLine> = instructions.filter_map(|i| i.source.as_ref()).flat_map(lines_of).collect();
        lines.into_iter().collect::<Vec<_>>()
    };
    MachineLoop {
        function: function.symbol.short_name(kernel.name()).to_owned(),
        header: found.header,
        last: found.instructions.iter().map(|instruction| instruction.address).max().unwrap_or(found.header),
        latches: found.latches.clone(),
        depth: found.depth,
        jumps_written: written(&|instruction| found.latches.contains(&instruction.address)),
        own_written: written(&|instruction| !in_inner.contains(&instruction.address)),
        hint: None,
    }
}

/// Each instruction once, also where two functions share code.
fn costs(kernel: &sass::Kernel<'_, '_>) -> Vec<Cost> {
    let mut costs = BTreeMap::new();
    for function in kernel.functions() {
        for block in 0..function.graph.blocks.len() {
            for instruction in function.code(block) {
                if let Some(kind) = cost_kind(kernel, function, instruction) {
                    let lines = instruction.source.as_ref().map(lines_of).unwrap_or_default();
                    costs.insert((&function.section.name, instruction.address), Cost { kind, lines });
                }
            }
        }
    }
    costs.into_values().collect()
}

fn cost_kind(
    kernel: &sass::Kernel<'_, '_>,
    function: &Function<'_>,
    instruction: &sass::Instruction,
) -> Option<CostKind> {
    match instruction.mnemonic() {
        "LDL" => return Some(CostKind::LocalLoad),
        "STL" => return Some(CostKind::LocalStore),
        _ => {}
    }
    let call = function.calls.iter().find(|call| call.address == instruction.address)?;
    match call.callees.as_slice() {
        [only] => match kernel.callee(*only).symbol.kind {
            SymbolKind::Kernel | SymbolKind::Device => Some(CostKind::Call),
            SymbolKind::Arithmetic => Some(CostKind::HelperCall),
            SymbolKind::Support => None,
        },
        _ => Some(CostKind::Call),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u32) -> SourceLine {
        SourceLine { file: PathBuf::from("/src/lib.rs"), line: number }
    }

    fn found(function: &str, jumps: &[u32], own: &[u32]) -> MachineLoop {
        let lines = |numbers: &[u32]| numbers.iter().map(|number| line(*number)).collect();
        MachineLoop {
            function: function.to_owned(),
            header: 0,
            last: 0,
            latches: Vec::new(),
            depth: 1,
            jumps_written: lines(jumps),
            own_written: lines(own),
            hint: None,
        }
    }

    fn code(kernels: &[(&str, &[MachineLoop])]) -> MachineCode {
        let kernel = |(name, loops): &(&str, &[MachineLoop])| KernelCode {
            name: (*name).to_owned(),
            loops: loops.to_vec(),
            costs: Vec::new(),
        };
        let mut code = MachineCode::of_kernels(kernels.iter().map(kernel).collect(), true);
        code.attribute(&[line(20), line(10)]);
        code
    }

    #[test]
    fn a_loop_belongs_to_the_hint_where_its_jump_back_was_written() {
        let code = code(&[("k", &[found("k", &[20], &[10, 20, 21]), found("k", &[30], &[30])])]);
        assert_eq!((code.loops_of_hint("k", &line(20)), code.loops_of_hint("k", &line(10))), (1, 0));
    }

    #[test]
    fn where_the_jump_has_no_line_the_first_hint_among_the_loops_lines_has_it() {
        let code = code(&[("k", &[found("k", &[25], &[12, 20, 10])])]);
        assert_eq!((code.loops_of_hint("k", &line(10)), code.loops_of_hint("k", &line(20))), (1, 0));
    }

    #[test]
    fn every_copy_of_a_function_must_have_its_loops() {
        let loops = [found("f", &[10], &[]), found("f", &[10], &[])];
        let code = code(&[("a", &loops), ("b", &[found("f", &[10], &[]), found("f", &[11], &[])])]);
        assert_eq!(code.loops_of_hint("f", &line(10)), 1);
        assert_eq!(code.loops_of_hint("inlined_by_ptxas", &line(10)), 3);
    }

    #[test]
    fn one_line_is_known_by_several_paths() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("lib.rs");
        std::fs::write(&file, "").expect("written");
        let detour = folder.path().join(".").join("..").join(folder.path().file_name().expect("a name")).join("lib.rs");
        let at = |file: &Path, line| SourceLine { file: file.to_owned(), line };
        assert!(at(&file, 3).is(&at(&detour, 3)));
        assert!(!at(&file, 3).is(&at(&file, 4)));
        assert!(!at(&file, 3).is(&at(Path::new("/nowhere/lib.rs"), 3)));
    }
}
