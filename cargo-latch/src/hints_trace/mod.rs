//! One hint after the other, from its source line to the addresses of its loops in the machine code.
//!
//! | line | from |
//! |---|---|
//! | `source` | the file |
//! | `MIR` | notes of the plugin: header, jumps back before, latch after; in the MIR mode only |
//! | `LLVM` | the linker's report: header and single latch before optimization |
//! | `optimized` | the same: headers of the loops left |
//! | `PTX` | the same: labels of the loops that are made of the hint's, and whether they have the pragma ([`ptx`]) |
//! | `SASS` | what became of these in the machine code ([`crate::audit::machine`]), with addresses |
//!
//! For AMD's GPUs the last two are left out: nothing comes after the optimizer that would unroll a loop.
//!
//! A kernel's hints are those of every function that it could call before optimization ([`reach`]).

pub mod ptx;
mod reach;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use anyhow::Result;
use hint_record::stages::{OPTIMIZED, RESOLVED};
use hint_record::{HintRecord, MirLoop, PtxLoop, Request, Site, Status};

use crate::assembly::Assembler;
use crate::audit::machine::{Fate, KernelCode, MachineCode, MachineLoop, SourceLine, Verdict};
use crate::audit::{line_of, machine_code};
use crate::build::{Arch, Builder, Built, Intermediates, Mode, Unit};
use crate::diagnose::{reasons, shown};
use crate::kernel_crate::KernelCrate;
use crate::target::Target;
use ptx::PragmaLabel;

/// Every hint of a kernel, followed. The build must have kept its source lines, and what lies on the way.
pub fn follow(
    builder: &Builder,
    Unit { kernels, arch }: Unit<'_>,
    built: &Built,
    keep: &Intermediates,
    kernel: &str,
) -> Result<String> {
    let (resolved, target) = (keep.after(RESOLVED)?, arch.target());
    let (left, labels) = match target {
        Target::Nvptx => (reach::ptx_functions(&built.code), ptx::pragma_labels(&built.code)),
        Target::Amdgcn => (reach::llvm_functions(&keep.after(OPTIMIZED)?), Vec::new()),
    };
    let way = Way {
        builder,
        built,
        target,
        functions: reach::from(&reach::llvm_functions(&resolved), kernel),
        labels,
        functions_left: reach::from(&left, kernel),
        code: code(builder, kernels, built, arch)?,
    };
    Ok(way.text(kernel, arch))
}

fn code(builder: &Builder, kernels: &KernelCrate, built: &Built, arch: &Arch) -> Result<Option<MachineCode>> {
    let Ok(cuda) = &builder.tools().cuda else { return Ok(None) };
    if arch.target() == Target::Amdgcn {
        return Ok(None);
    }
    let assembler = Assembler::with(cuda, &builder.tools().home)?;
    machine_code(builder, &assembler, kernels, arch, built).map(Some)
}

/// All that is known of one kernel's way.
struct Way<'a> {
    builder: &'a Builder,
    built: &'a Built,
    target: Target,
    /// What the kernel could call before optimization, itself included.
    functions: BTreeSet<String>,
    labels: Vec<PragmaLabel>,
    /// What the kernel can call in the PTX, or in AMD's code, itself included.
    functions_left: BTreeSet<String>,
    code: Option<MachineCode>,
}

impl Way<'_> {
    fn text(&self, kernel: &str, arch: &Arch) -> String {
        let own = self.built.report.hints.iter().filter(|record| self.functions.contains(&record.symbol));
        let mut sites: Vec<Site> = own.map(|record| record.site.clone()).collect();
        sites.sort_by(|one, other| {
            let place = |site: &Site| (site.package.clone(), site.file.clone(), site.line, site.column);
            place(one).cmp(&place(other))
        });
        sites.dedup();
        let count = match sites.len() {
            0 => "no hints".to_owned(),
            1 => "1 hint".to_owned(),
            count => format!("{count} hints"),
        };
        let hints: Vec<String> = sites.iter().map(|site| self.hint(site, kernel)).collect();
        format!("{kernel} for {arch}: {count}\n{}", hints.concat())
    }

    fn hint(&self, site: &Site, kernel: &str) -> String {
        let line = line_of(self.builder, site);
        let file = line.as_ref().map_or(site.file.clone(), |line| shown(&line.file, self.builder.workspace.root()));
        let is_own = |record: &&HintRecord| record.site == *site && self.functions.contains(&record.symbol);
        let records: Vec<&HintRecord> = self.built.report.hints.iter().filter(is_own).collect();
        let mut text = format!("\n{file}:{}:{} #[{}]\n", site.line, site.column, request(site, &records));
        row(&mut text, "source", &[source(line.as_ref())]);
        row(&mut text, "MIR", &self.mir(site));
        row(&mut text, "LLVM", &records.iter().flat_map(|record| llvm(record)).collect::<Vec<_>>());
        row(&mut text, "optimized", &self.optimized(&records));
        if self.target == Target::Nvptx {
            row(&mut text, "PTX", &self.ptx(&records));
            row(&mut text, "SASS", &self.sass(&records, kernel));
        }
        text
    }

    fn mir(&self, site: &Site) -> Vec<String> {
        if self.builder.mode() == Mode::Llvm {
            return vec!["not resolved on MIR; `--hints mir` does".to_owned()];
        }
        let names: BTreeSet<String> = self.functions.iter().map(|symbol| last_name(&demangled(symbol))).collect();
        let own = |found: &&MirLoop| found.site == *site && names.contains(&last_name(&found.function));
        let loops: Vec<String> = self.built.mir_loops.iter().filter(own).map(mir).collect();
        if loops.is_empty() { vec!["no loop".to_owned()] } else { loops }
    }

    fn optimized(&self, records: &[&HintRecord]) -> Vec<String> {
        let left = records.iter().flat_map(|record| &record.left);
        let own = left.filter(|left| self.functions_left.contains(&left.symbol));
        let shown = own.map(|left| format!("{}: header {}", demangled(&left.symbol), or_unnamed(&left.header)));
        let mut loops: Vec<String> = shown.collect();
        if loops.is_empty() {
            loops.push("no loop left".to_owned());
        }
        loops
    }

    /// The loops of the PTX that are made of the hint's and that the kernel can reach; none where that is not known.
    fn ptx_loops<'r>(&self, records: &[&'r HintRecord]) -> Option<Vec<&'r PtxLoop>> {
        let known = records.iter().map(|record| record.ptx.as_ref()).collect::<Option<Vec<_>>>()?;
        let own = known.into_iter().flatten().filter(|found| self.functions_left.contains(&found.symbol));
        let mut own: Vec<&PtxLoop> = own.collect();
        own.sort();
        own.dedup();
        Some(own)
    }

    fn ptx(&self, records: &[&HintRecord]) -> Vec<String> {
        let Some(loops) = self.ptx_loops(records) else { return vec![NOT_TOLD.to_owned()] };
        let has_pragma = |found: &PtxLoop| {
            let mut labels = self.labels.iter();
            labels.any(|label| label.function == found.symbol && label.label == found.label)
        };
        let shown = |found: &&PtxLoop| {
            let pragma = if has_pragma(found) { " with the pragma" } else { "" };
            format!("{}: {}{pragma}", demangled(&found.symbol), found.label)
        };
        or_else(loops.iter().map(shown).collect(), "no loop")
    }

    fn sass(&self, records: &[&HintRecord], kernel: &str) -> Vec<String> {
        let Some(code) = &self.code else { return vec!["not looked at: NVIDIA's tools are missing".to_owned()] };
        let Some(loops) = self.ptx_loops(records).filter(|_| code.is_tied) else { return vec![NOT_TOLD.to_owned()] };
        let of_kernel = |code: &&KernelCode| code.name == kernel;
        let Some(code) = code.kernels.iter().find(of_kernel) else { return vec!["no such kernel".to_owned()] };
        let fates = loops.iter().filter_map(|found| code.fate(&found.symbol, &found.label));
        or_else(fates.flat_map(|fate| self.fate(code, fate)).collect(), "no loop")
    }

    fn fate(&self, code: &KernelCode, fate: &Fate) -> Vec<String> {
        let label = fate.labels.first().map_or("(no label)", String::as_str);
        let left = match fate.verdict {
            Verdict::Alive if fate.copies > 1 => format!(", {} turns at a time", fate.copies),
            Verdict::Alive => String::new(),
            Verdict::Gone => return vec![format!("{}: no loop is left of {label}", demangled(&fate.function))],
            Verdict::NotProved => {
                return vec![format!(
                    "{}: whether a loop is left of {label} cannot be told",
                    demangled(&fate.function)
                )];
            }
        };
        fate.loops.iter().map(|&at| self.machine_loop(&code.loops[at]) + &left).collect()
    }

    fn machine_loop(&self, found: &MachineLoop) -> String {
        let back: Vec<String> = found.latches.iter().map(|latch| format!("{latch:#06x}")).collect();
        let written = |line: &SourceLine| format!("{}:{}", shown(&line.file, self.builder.workspace.root()), line.line);
        let written: Vec<String> = found.jumps_written.iter().map(written).collect();
        let written = if written.is_empty() { String::new() } else { format!(", written at {}", written.join(", ")) };
        format!(
            "{}: {:#06x} to {:#06x}, depth {}, back from {}{written}",
            demangled(&found.function),
            found.header,
            found.last,
            found.depth,
            back.join(", ")
        )
    }
}

/// What is said of loops where the linker could not tell which they are.
const NOT_TOLD: &str = "not told: the build is not optimized, or its PTX does not show its loops";

fn or_else(lines: Vec<String>, nothing: &str) -> Vec<String> {
    if lines.is_empty() { vec![nothing.to_owned()] } else { lines }
}

/// A title, and one line for each thing below it.
fn row(text: &mut String, title: &str, lines: &[String]) {
    for (at, line) in lines.iter().enumerate() {
        let title = if at == 0 { title } else { "" };
        writeln!(text, "    {title:<10} {}", line.trim_end()).expect("a string can be written to");
    }
}

fn request(site: &Site, records: &[&HintRecord]) -> String {
    let copies = records.iter().find_map(|record| match record.request {
        Request::Copies(copies) => Some(copies),
        Request::Nounroll | Request::Full => None,
    });
    copies.map_or_else(|| site.kind.to_string(), |copies| format!("{}({copies})", site.kind))
}

fn source(line: Option<&SourceLine>) -> String {
    let text = line.and_then(|line| fs::read_to_string(&line.file).ok().map(|text| (line, text)));
    let text =
        text.and_then(|(line, text)| text.lines().nth(line.line as usize - 1).map(|text| text.trim().to_owned()));
    text.unwrap_or_else(|| "the file is not here".to_owned())
}

fn mir(found: &MirLoop) -> String {
    let back: Vec<String> = found.back_edges.iter().map(|block| format!("bb{block}")).collect();
    let merged = if found.back_edges == [found.latch] { "as it was" } else { "after" };
    let (function, header, latch) = (&found.function, found.header, found.latch);
    format!("{function}: header bb{header}, back from {}; latch {merged}: bb{latch}", back.join(", "))
}

fn llvm(record: &HintRecord) -> Vec<String> {
    let mut lines: Vec<String> = record
        .loops
        .iter()
        .map(|found| {
            let edges = if found.back_edges == 1 { "1 jump back" } else { &format!("{} jumps back", found.back_edges) };
            format!("{}: header {}, latch {}, of {edges}", record.function, found.header, found.latch)
        })
        .collect();
    if record.status == Status::Dropped {
        let reason = reasons::sentence_or_unknown(record.reason);
        lines.push(format!("{}: dropped: {reason}", record.function));
    }
    lines
}

fn or_unnamed(header: &str) -> &str {
    if header.is_empty() { "(no name)" } else { header }
}

fn demangled(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// `b` of `a::b::<4>`.
fn last_name(path: &str) -> String {
    let mut depth = 0_u32;
    let mut plain = String::new();
    for character in path.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain.rsplit("::").find(|step| !step.is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_their_last_name() {
        for path in ["b", "a::b", "a::b::<4>", "a::b::<{ T::C }, a::c<u8>>", "<a::T as a::U<f32>>::b"] {
            assert_eq!(last_name(path), "b", "{path}");
        }
        assert_eq!(last_name("a::b::{closure#0}"), "{closure#0}");
    }
}
