//! The figures of kernels held to the budgets of `latch.toml`.
//!
//! A broken budget is an error at the line that sets it, with the figure found and, where lines are known, the source
//! lines of the instructions that it is about. Where a kernel has a budget that says nothing of spills, local memory or
//! calls, and has some, that is a warning: the budget's author may not know of them.

use anyhow::{Result, bail};
use hint_record::Level;

use super::entry::{Entry, Kernel};
use super::machine::{Cost, CostKind, KernelCode, MachineCode, SourceLine};
use crate::build::Arch;
use crate::config::{Budget, Figure, LatchToml, Limit};
use crate::diagnose::{At, Diagnostic, Place};
use crate::target::Target;

/// Costs that a kernel with a budget is not expected to have.
const UNEXPECTED: [Figure; 6] = [
    Figure::SpillBytes,
    Figure::LocalLoads,
    Figure::LocalStores,
    Figure::StackBytes,
    Figure::Calls,
    Figure::HelperCalls,
];

/// Every budget that an entry's kernels break, and every cost that their budgets do not know of.
pub fn check(config: &LatchToml, entry: &Entry, code: Option<&MachineCode>) -> Result<Vec<Diagnostic>> {
    let mut found = Vec::new();
    for kernel in &entry.kernels {
        let Some(budget) = config.budget(&kernel.name, entry.arch.name()) else { continue };
        let code = code.and_then(|code| code.kernels.iter().find(|code| code.name == kernel.name));
        let on = On { config, kernel, arch: &entry.arch, code };
        for (figure, limit) in budget.limits() {
            let Some(amount) = amount(kernel, figure) else {
                if entry.arch.target() == Target::Amdgcn {
                    bail!(
                        "the budget for `{}` in {} is for {} too, whose machine code is not counted: name NVIDIA's GPUs in its \
                         `arch`",
                        kernel.name,
                        config.path.display(),
                        entry.arch
                    );
                }
                bail!("the budgets in {} cannot be checked without NVIDIA's tools", config.path.display());
            };
            if !limit.get_ref().allows(amount) {
                found.push(on.broken(figure, limit, amount));
            }
        }
        found.extend(on.unexpected(&budget));
    }
    Ok(found)
}

/// One kernel on one architecture.
struct On<'a> {
    config: &'a LatchToml,
    kernel: &'a Kernel,
    arch: &'a Arch,
    code: Option<&'a KernelCode>,
}

impl On<'_> {
    fn broken(&self, figure: Figure, limit: &toml::Spanned<Limit>, amount: u64) -> Diagnostic {
        let (kernel, arch, allowed) = (&self.kernel.name, self.arch, limit.get_ref());
        let title = format!("`{kernel}` for {arch} has {}, and its budget is {allowed}", figure.amount(amount));
        let budget =
            Place { file: self.config.path.clone(), at: At::Bytes(limit.span()), label: Some("the budget".into()) };
        let is_too_much = allowed.max.is_some_and(|max| amount > max);
        let mut places = vec![budget];
        if is_too_much {
            places.extend(self.places(figure));
        }
        let notes = if is_too_much && places.len() == 1 && (figure == Figure::Loops || !kinds(figure).is_empty()) {
            vec!["where in the source is not known; `cargo latch audit --lines` tells".to_owned()]
        } else {
            Vec::new()
        };
        let help = is_too_much.then(|| help(figure)).flatten().map(str::to_owned);
        Diagnostic { places, notes, help, kernel: Some(kernel.clone()), ..Diagnostic::new(Level::Deny, title) }
    }

    /// One warning for all costs of the kernel that the budget does not mention.
    fn unexpected(&self, budget: &Budget<'_>) -> Option<Diagnostic> {
        let unmentioned = UNEXPECTED.into_iter().filter(|figure| !budget.mentions(*figure));
        let costs: Vec<(Figure, u64)> = unmentioned
            .filter_map(|figure| Some((figure, amount(self.kernel, figure).filter(|amount| *amount > 0)?)))
            .collect();
        if costs.is_empty() {
            return None;
        }
        let amounts: Vec<String> = costs.iter().map(|(figure, amount)| figure.amount(*amount)).collect();
        let (kernel, arch) = (&self.kernel.name, self.arch);
        let title = format!("`{kernel}` for {arch} has {}, of which its budget says nothing", amounts.join(", "));
        let mut places: Vec<Place> = Vec::new();
        for place in costs.iter().flat_map(|(figure, _)| self.places(*figure)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let keys: Vec<&str> = costs.iter().map(|(figure, _)| figure.key()).collect();
        let help =
            Some(format!("set {} in {}, also where they are allowed", keys.join(", "), crate::config::FILE_NAME));
        Some(Diagnostic { places, help, kernel: Some(kernel.clone()), ..Diagnostic::new(Level::Warn, title) })
    }

    /// The source lines of a figure's loops or instructions, each with how many there are.
    fn places(&self, figure: Figure) -> Vec<Place> {
        if figure == Figure::Loops {
            let loops = self.code.iter().flat_map(|code| &code.loops);
            let lines = loops.filter_map(|found| found.jumps_written.first());
            return lines.map(|line| Place::line(line.file.clone(), line.line).labelled("a loop")).collect();
        }
        let mut counts: Vec<(&SourceLine, CostKind, usize)> = Vec::new();
        let of_figure = |cost: &&Cost| kinds(figure).contains(&cost.kind);
        for cost in self.code.iter().flat_map(|code| &code.costs).filter(of_figure) {
            let Some(line) = cost.lines.iter().find(|line| line.line > 0) else { continue };
            match counts.iter_mut().find(|(known, kind, _)| *known == line && *kind == cost.kind) {
                Some((.., count)) => *count += 1,
                None => counts.push((line, cost.kind, 1)),
            }
        }
        counts.sort_by_key(|(line, ..)| *line);
        let place = |(line, kind, count): (&SourceLine, CostKind, usize)| {
            Place::line(line.file.clone(), line.line).labelled(kind_figure(kind).amount(count as u64))
        };
        counts.into_iter().map(place).collect()
    }
}

/// The instructions that a figure is about.
fn kinds(figure: Figure) -> &'static [CostKind] {
    match figure {
        Figure::LocalLoads => &[CostKind::LocalLoad],
        Figure::LocalStores => &[CostKind::LocalStore],
        Figure::SpillBytes | Figure::StackBytes => &[CostKind::LocalLoad, CostKind::LocalStore],
        Figure::Calls => &[CostKind::Call],
        Figure::HelperCalls => &[CostKind::HelperCall],
        Figure::Loops | Figure::GlobalLoads | Figure::Registers => &[],
    }
}

fn kind_figure(kind: CostKind) -> Figure {
    match kind {
        CostKind::LocalLoad => Figure::LocalLoads,
        CostKind::LocalStore => Figure::LocalStores,
        CostKind::Call => Figure::Calls,
        CostKind::HelperCall => Figure::HelperCalls,
    }
}

fn help(figure: Figure) -> Option<&'static str> {
    match figure {
        Figure::LocalLoads | Figure::LocalStores | Figure::StackBytes => Some(
            "an array that is indexed by what is known at run time only, or that is passed by reference, lies in local memory: \
             unroll the loop over it, or keep it in shared memory",
        ),
        Figure::SpillBytes => {
            Some("more values are alive at once than there are registers: unroll less, or split the kernel")
        }
        Figure::Calls => Some("mark the function `#[inline(always)]`"),
        Figure::HelperCalls => Some("division, remainder and square root call ptxas's own functions"),
        Figure::Loops => Some("a loop that is to be unrolled needs `#[unroll]`"),
        Figure::GlobalLoads | Figure::Registers => None,
    }
}

fn amount(kernel: &Kernel, figure: Figure) -> Option<u64> {
    let counts = kernel.sass;
    match figure {
        Figure::Loops => counts.map(|counts| counts.loops as u64),
        Figure::GlobalLoads => counts.map(|counts| counts.global_loads as u64),
        Figure::Registers => kernel.registers.map(u64::from),
        Figure::SpillBytes => kernel.spill_bytes.map(u64::from),
        Figure::LocalLoads => counts.map(|counts| counts.local_loads as u64),
        Figure::LocalStores => counts.map(|counts| counts.local_stores as u64),
        Figure::StackBytes => kernel.stack_bytes.map(u64::from),
        Figure::Calls => counts.map(|counts| counts.calls as u64),
        Figure::HelperCalls => counts.map(|counts| counts.helper_calls as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::samples;
    use crate::diagnose::text::Printer;
    use std::path::{Path, PathBuf};

    fn rendered(config: &str, with_lines: bool) -> String {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let (file, source) = (folder.path().join("latch.toml"), folder.path().join("lib.rs"));
        std::fs::write(&file, config).expect("written");
        std::fs::write(&source, "one\ntwo\n    three;\nfour\n").expect("written");
        let config = LatchToml::parse(file, config.to_owned()).expect("the file is right");
        let code = code(&source, with_lines);
        let found = check(&config, &samples::entry(), Some(&code)).expect("it can be checked");
        let printer = Printer::plain(folder.path());
        found.iter().filter_map(|found| printer.render(found)).collect::<Vec<_>>().join("\n\n")
    }

    fn code(source: &Path, with_lines: bool) -> MachineCode {
        let at = |line: u32| {
            let line = SourceLine { file: source.to_owned(), line };
            if with_lines { vec![line] } else { Vec::new() }
        };
        let cost = |kind, line| Cost { kind, lines: at(line) };
        let costs = vec![
            cost(CostKind::LocalLoad, 3),
            cost(CostKind::LocalLoad, 3),
            cost(CostKind::LocalStore, 2),
            cost(CostKind::LocalLoad, 1),
            cost(CostKind::Call, 4),
        ];
        let kernel = KernelCode { name: "taps".to_owned(), loops: Vec::new(), costs, fates: Vec::new() };
        MachineCode::of_kernels(vec![kernel], with_lines)
    }

    const ALL: &str = "[[kernel]]\nname = \"taps\"\nloops = 2\nglobal_loads = { max = 1 }\nregisters = { min = 4, max = 9 }\n\
                       spill_bytes = { max = 4 }\nlocal_loads = 0\nlocal_stores = { max = 1 }\nstack_bytes = 0\ncalls = 0\n\
                       helper_calls = { min = 5 }\n";

    #[test]
    fn a_broken_budget_is_told_at_its_line() {
        insta::assert_snapshot!(rendered(ALL, false));
    }

    #[test]
    fn source_lines_are_shown_where_they_are_known() {
        insta::assert_snapshot!(rendered(
            "[[kernel]]\nname = \"*\"\nlocal_loads = 0\nlocal_stores = { max = 0 }\n",
            true
        ));
    }

    #[test]
    fn a_budget_that_is_kept_is_not_told_of() {
        let kept = "[[kernel]]\nname = \"taps\"\nloops = 1\nglobal_loads = { min = 2, max = 2 }\nregisters = { max = 40 }\n\
                    spill_bytes = 8\nlocal_loads = 3\nlocal_stores = 1\nstack_bytes = 16\ncalls = 1\nhelper_calls = 0\n";
        assert_eq!(rendered(kept, false), "");
        assert_eq!(rendered("[[kernel]]\nname = \"other\"\n", false), "", "no budget, no warning");
    }

    #[test]
    fn budgets_need_figures() {
        let text = "[[kernel]]\nname = \"taps\"\nloops = 1\n".to_owned();
        let config = LatchToml::parse(PathBuf::from("latch.toml"), text).expect("the file is right");
        let mut entry = samples::entry();
        entry.kernels[0].sass = None;
        let error = check(&config, &entry, None).expect_err("there is nothing to check").to_string();
        assert_eq!(error, "the budgets in latch.toml cannot be checked without NVIDIA's tools");
    }
}
