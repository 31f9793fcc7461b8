//! The machine code of a build: its figures, its loops and costly instructions with their source lines, and what became
//! of every loop of the PTX.
//!
//! What is looked at is the code that is shipped. Beside it ptxas makes a witness, the same code with the line of the
//! PTX that each instruction was made of ([`sass::Witness`]); from these [`sass::tie`] tells of every PTX loop what is
//! left of it, and the locations that the compiler had put into the PTX lead on to the source.
//!
//! PTX for debugging is not optimized by ptxas. It is assembled as it is, and nothing is said of its loops.
//!
//! When it is wrong: see [`sass::tie`]. A source line is where the compiler says that an instruction was written, no
//! more.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sass::{AssembleOptions, Frame, Function, Program, PtxModule, SplitPtx, SymbolKind, TiedKernel, Witness};
use serde::{Deserialize, Serialize};

use crate::assembly::Assembler;
use crate::build::{Arch, Built, Profile};

/// To be raised when something else is read from the same code.
const STEP: &str = "machine code 2";

/// What ptxas made of a build.
#[derive(Debug, Serialize, Deserialize)]
pub struct MachineCode {
    /// The figures.
    pub report: sass::Report,
    /// Every kernel's loops and costly instructions.
    pub kernels: Vec<KernelCode>,
    /// Is the source line of any instruction known, and wanted?
    pub has_lines: bool,
    /// Is it told of every loop of the PTX what became of it?
    pub is_tied: bool,
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
    /// What became of the loops of the PTX that the kernel is made of.
    pub fates: Vec<Fate>,
}

/// What became of a loop of the PTX in one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fate {
    /// The symbol of its function in the PTX.
    pub function: String,
    /// The labels of its header.
    pub labels: Vec<String>,
    /// What is left of it.
    pub verdict: Verdict,
    /// How many turns of it one turn of the machine code's loop makes at most; 0 where no loop is left.
    pub copies: u32,
    /// The loops of the machine code that it has made, by position in [`KernelCode::loops`].
    pub loops: Vec<usize>,
}

/// What is left of a loop of the PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// A loop.
    Alive,
    /// No loop.
    Gone,
    /// That cannot be told.
    NotProved,
}

/// A loop of the machine code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineLoop {
    /// The symbol of its function, as in the PTX.
    pub function: String,
    /// The section of the machine code that it stands in.
    pub section: String,
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
    /// Assembles and disassembles what a build made. Source lines are left out of messages where they are not wanted.
    pub fn of(
        assembler: &Assembler,
        built: &Built,
        arch: &Arch,
        profile: Profile,
        wants_lines: bool,
    ) -> Result<MachineCode> {
        let mut code = match profile {
            Profile::Release => {
                assembler.found(STEP, &built.text, arch, || MachineCode::tied(assembler, &built.text, arch))
            }
            Profile::Dev => {
                assembler.found(STEP, &built.text, arch, || MachineCode::untied(assembler, &built.text, arch))
            }
        }?;
        if !wants_lines {
            code.forget_lines();
        }
        Ok(code)
    }

    fn tied(assembler: &Assembler, text: &str, arch: &Arch) -> Result<MachineCode> {
        let split = sass::split(&sass::one_statement_a_line(text));
        let ptx = PtxModule::parse(&split.code).context("the PTX cannot be read")?;
        let Witness { cubin, module } = assembler.witness(&split.code, arch, &AssembleOptions::default())?;
        let program = Program::of(&module);
        let report = sass::Report::of(&cubin, &program)?;
        let tied = sass::tie(&ptx, &program);
        let lines = |instruction: &sass::Instruction| lines_in(&split, instruction.ptx_line);
        let mut code = MachineCode::read(report, &program, &lines);
        for (kernel, tied) in code.kernels.iter_mut().zip(&tied) {
            kernel.fates = fates(&ptx, tied, &kernel.loops);
        }
        code.is_tied = true;
        Ok(code)
    }

    fn untied(assembler: &Assembler, text: &str, arch: &Arch) -> Result<MachineCode> {
        let options = AssembleOptions { line_info: true, ..AssembleOptions::default() };
        let cubin = assembler.cubin(text, arch, &options)?;
        let module = assembler.disassemble(&cubin)?;
        let program = Program::of(&module);
        let lines = |instruction: &sass::Instruction| instruction.source.as_ref().map(lines_of).unwrap_or_default();
        Ok(MachineCode::read(sass::Report::of(&cubin, &program)?, &program, &lines))
    }

    fn read(report: sass::Report, program: &Program<'_>, lines: &Lines<'_>) -> MachineCode {
        let kernels: Vec<KernelCode> = program.kernels().map(|kernel| KernelCode::of(&kernel, lines)).collect();
        let instructions = program.kernels().flat_map(|kernel| kernel.instructions());
        let written: BTreeSet<SourceLine> = instructions.flat_map(lines).collect();
        MachineCode { report, kernels, has_lines: !written.is_empty(), is_tied: false, written }
    }

    /// Made by hand, for tests.
    #[cfg(test)]
    pub fn of_kernels(kernels: Vec<KernelCode>, has_lines: bool) -> MachineCode {
        let report = sass::Report { arch: "sm_90".to_owned(), kernels: Vec::new(), warnings: Vec::new() };
        MachineCode { report, kernels, has_lines, is_tied: true, written: BTreeSet::new() }
    }

    /// Was any instruction written in these lines of a file?
    pub fn has_code_of(&self, file: &Path, lines: RangeInclusive<u32>) -> bool {
        self.written.iter().any(|written| lines.contains(&written.line) && is_same_file(&written.file, file))
    }

    fn forget_lines(&mut self) {
        self.has_lines = false;
        for kernel in &mut self.kernels {
            kernel.costs.iter_mut().for_each(|cost| cost.lines.clear());
            kernel.loops.iter_mut().for_each(|found| found.jumps_written.clear());
        }
    }
}

/// Where an instruction was written; the innermost place first.
type Lines<'a> = dyn Fn(&sass::Instruction) -> Vec<SourceLine> + 'a;

impl KernelCode {
    fn of(kernel: &sass::Kernel<'_, '_>, lines: &Lines<'_>) -> KernelCode {
        let functions: Vec<&Function<'_>> = kernel.functions().collect();
        let own = functions.iter().filter(|function| !function.is_helper());
        let of_function = |function: &&Function<'_>| {
            function.loops.iter().map(|found| machine_loop(kernel, function, found, lines)).collect::<Vec<_>>()
        };
        let loops = own.flat_map(of_function).collect();
        KernelCode { name: kernel.name().to_owned(), loops, costs: costs(kernel, lines), fates: Vec::new() }
    }

    /// What became of a loop of the PTX; none where no code of its function is in this kernel.
    pub fn fate(&self, function: &str, label: &str) -> Option<&Fate> {
        self.fates.iter().find(|fate| fate.function == function && fate.labels.iter().any(|own| own == label))
    }
}

fn machine_loop(
    kernel: &sass::Kernel<'_, '_>,
    function: &Function<'_>,
    found: &sass::Loop<'_>,
    lines: &Lines<'_>,
) -> MachineLoop {
    let jumps = found.instructions.iter().filter(|instruction| found.latches.contains(&instruction.address));
    let written: BTreeSet<SourceLine> = jumps.flat_map(|instruction| lines(instruction)).collect();
    MachineLoop {
        function: function.symbol.short_name(kernel.name()).to_owned(),
        section: function.section.name.clone(),
        header: found.header,
        last: found.instructions.iter().map(|instruction| instruction.address).max().unwrap_or(found.header),
        latches: found.latches.clone(),
        depth: found.depth,
        jumps_written: written.into_iter().collect(),
    }
}

fn fates(ptx: &PtxModule, tied: &TiedKernel<'_>, loops: &[MachineLoop]) -> Vec<Fate> {
    let fate = |found: &sass::TiedLoop| {
        let function = found.ptx_function(ptx);
        let mut made: Vec<usize> = found.instances.iter().filter_map(|instance| outermost(loops, instance)).collect();
        made.sort_unstable();
        made.dedup();
        Fate {
            function: function.name.clone(),
            labels: function.get(found.id).labels().to_vec(),
            verdict: match found.verdict {
                sass::Verdict::Alive => Verdict::Alive,
                sass::Verdict::Gone => Verdict::Gone,
                sass::Verdict::NotProved => Verdict::NotProved,
            },
            copies: found.copies(),
            loops: made,
        }
    };
    tied.loops.iter().map(fate).collect()
}

/// The natural loop that an instance is: the outermost whose header is one of its blocks.
fn outermost(loops: &[MachineLoop], instance: &sass::Instance) -> Option<usize> {
    let is_in =
        |found: &MachineLoop| found.section == instance.section && instance.blocks.binary_search(&found.header).is_ok();
    let inside = loops.iter().enumerate().filter(|(_, found)| is_in(found));
    inside.min_by_key(|(_, found)| found.depth).map(|(at, _)| at)
}

/// Each instruction once, also where two functions share code.
fn costs(kernel: &sass::Kernel<'_, '_>, lines: &Lines<'_>) -> Vec<Cost> {
    let mut costs = BTreeMap::new();
    for function in kernel.functions() {
        for block in 0..function.graph.blocks.len() {
            for instruction in function.code(block) {
                if let Some(kind) = cost_kind(kernel, function, instruction) {
                    let cost = Cost { kind, lines: lines(instruction) };
                    costs.insert((&function.section.name, instruction.address), cost);
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

/// Where the statement on a line of the split PTX was written.
fn lines_in(split: &SplitPtx, line: Option<u32>) -> Vec<SourceLine> {
    let location = line.and_then(|line| split.location(line));
    let frames = location.into_iter().flat_map(|location| location.frames());
    let line = |frame: &sass::Location| {
        let file = split.file(frame.file)?;
        (frame.line > 0).then(|| SourceLine { file: PathBuf::from(file), line: frame.line })
    };
    frames.filter_map(line).collect()
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

    fn found(header: u64, depth: u32) -> MachineLoop {
        MachineLoop {
            function: "k".to_owned(),
            section: ".text.k".to_owned(),
            header,
            last: header + 0x40,
            latches: Vec::new(),
            depth,
            jumps_written: Vec::new(),
        }
    }

    #[test]
    fn an_instance_is_the_outermost_loop_that_starts_in_it() {
        let loops = [found(0x10, 1), found(0x40, 2), found(0x80, 3)];
        let instance = |section: &str, blocks: &[u64]| sass::Instance {
            copies: 1,
            section: section.to_owned(),
            blocks: blocks.to_vec(),
        };
        assert_eq!(outermost(&loops, &instance(".text.k", &[0x40, 0x60, 0x80])), Some(1));
        assert_eq!(outermost(&loops, &instance(".text.k", &[0x60])), None);
        assert_eq!(outermost(&loops, &instance(".text.other", &[0x40])), None);
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
