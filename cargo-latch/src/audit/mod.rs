//! Every hint, followed from the source to the machine code.
//!
//! The list of hints comes from the source ([`sites`]); what became of each from the linker's report; the kernels'
//! figures from ptxas and the disassembly. [`Entry`] is the result, [`table`] shows it to people, [`gate`] says whether
//! it passes, and [`against`] what has changed.
//!
//! The last word is the machine code's ([`judge`]): loop by loop, on every route. And a loop that is in the machine
//! code must have a record.

pub mod against;
mod budgets;
pub mod entry;
mod factor;
pub mod gate;
pub mod judge;
pub mod machine;
#[cfg(test)]
mod samples;
mod sites;
pub mod table;
mod why;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use hint_record::{HintKind, HintRecord, KernelRecord, LinkReport, Reason, Request, Site, Status};

use crate::assembly::Assembler;
use crate::build::{Arch, Builder, Built, Profile, Unit};
use crate::kernel_crate::KernelCrate;
use crate::target::Target;
pub use entry::{Entry, Finding, Hint, Instance, Kernel};
use judge::Evidence;
use machine::{MachineCode, SourceLine};
use sites::SourceHint;
pub use why::Why;

/// An audit with what its messages need to be about places in the source.
#[derive(Debug)]
pub struct Audited {
    /// The report.
    pub entry: Entry,
    /// The machine code; none without NVIDIA's tools, and for AMD's GPUs.
    pub code: Option<MachineCode>,
}

/// Builds a crate for an architecture and holds every hint against what came out.
pub fn audit(builder: &Builder, kernels: &KernelCrate, arch: &Arch) -> Result<Entry> {
    let mut audited = audit_all(builder, &[Unit { kernels, arch }])?;
    audited.pop().map(|audited| audited.entry).context("nothing was audited")
}

/// Builds crates for architectures and holds every hint against what came out, as much at a time as may be.
///
/// A hint without record may stand in code that nothing uses, or have lost its marker: source lines of the machine code
/// tell which.
pub fn audit_all(builder: &Builder, units: &[Unit<'_>]) -> Result<Vec<Audited>> {
    let built = builder.build_all(units)?;
    let work: Vec<(&Unit<'_>, &Built)> = units.iter().zip(&built).collect();
    let audited = builder.jobs.run(&work, |(unit, built)| audit_of(builder, unit.kernels, unit.arch, built));
    audited.into_iter().collect()
}

/// The same, of what was built.
pub fn audit_of(builder: &Builder, kernels: &KernelCrate, arch: &Arch, built: &Built) -> Result<Audited> {
    let code = match &builder.tools().cuda {
        _ if arch.target() == Target::Amdgcn => None,
        Ok(cuda) => Some(machine_code(builder, &Assembler::with(cuda, &builder.tools().home)?, kernels, arch, built)?),
        Err(error) => {
            tracing::warn!("the machine code is not looked at: {error}");
            None
        }
    };
    let evidence = match &code {
        Some(code) if code.is_tied => Evidence::Seen(code),
        None if arch.target() == Target::Nvptx && builder.profile() == Profile::Release => Evidence::NoPtxas,
        _ => Evidence::NotNeeded,
    };
    let mut hints = hints(builder, kernels, &judged(&built.report, evidence))?;
    if let Some(code) = &code {
        drop_lost(kernels, code, &mut hints);
    }
    let entry = Entry {
        package: kernels.name.clone(),
        arch: arch.clone(),
        route: builder.route(),
        mode: builder.mode(),
        profile: builder.profile(),
        hints,
        kernels: kernels_of(&built.report, code.as_ref().map(|code| &code.report)),
        findings: Vec::new(),
    };
    Ok(Audited { entry, code })
}

/// What ptxas makes of a build.
pub fn machine_code(
    builder: &Builder,
    assembler: &Assembler,
    kernels: &KernelCrate,
    arch: &Arch,
    built: &Built,
) -> Result<MachineCode> {
    MachineCode::of(assembler, built, arch, builder.profile(), builder.wanted().lines)
        .with_context(|| format!("ptxas does not take what was built of `{}` for {arch}", kernels.name))
}

/// The report, with the last word on every instance.
pub fn judged(report: &LinkReport, evidence: Evidence<'_>) -> LinkReport {
    let mut judged = report.clone();
    for record in &mut judged.hints {
        (record.status, record.reason) = judge::judge(record, evidence);
    }
    judged
}

/// Drops the hints without record whose loops are in the machine code all the same: something has
/// erased their markers.
fn drop_lost(kernels: &KernelCrate, code: &MachineCode, hints: &mut [Hint]) {
    for hint in hints {
        let lost = match hint.why.reason() {
            Some(Reason::Unused) => Reason::Lost,
            Some(Reason::InConst) => Reason::InConstAtRunTime,
            _ => continue,
        };
        let Some((last, _)) = hint.extent else { continue };
        if code.has_code_of(&kernels.folder.join(&hint.file), hint.line..=last) {
            hint.drop_whole(lost);
        }
    }
}

/// The source line of a hint, if its package is known.
pub fn line_of(builder: &Builder, site: &Site) -> Option<SourceLine> {
    let folder = builder.workspace.package_folder(&site.package)?;
    Some(SourceLine { file: folder.join(&site.file), line: site.line })
}

fn kernels_of(report: &LinkReport, sass: Option<&sass::Report>) -> Vec<Kernel> {
    let kernel = |kernel: &KernelRecord| {
        let figures = sass.and_then(|sass| sass.kernel(&kernel.name));
        Kernel {
            name: kernel.name.clone(),
            marked_latches: kernel.marked_latches,
            pragmas: kernel.pragmas,
            registers: figures.map(|figures| figures.registers),
            spill_bytes: figures.map(|figures| figures.spill_bytes),
            stack_bytes: figures.map(|figures| figures.stack_bytes),
            shared_bytes: figures.map(|figures| figures.shared_bytes),
            sass: figures.map(|figures| figures.sass),
        }
    };
    report.kernels.iter().map(kernel).collect()
}

/// One entry per site of the source and of the report.
pub fn hints(builder: &Builder, kernels: &KernelCrate, report: &LinkReport) -> Result<Vec<Hint>> {
    let mut sites: BTreeMap<Place, (Site, Option<SourceHint>, Vec<&HintRecord>)> = BTreeMap::new();
    for source in sites::of_package(kernels)? {
        let site = source.site.clone();
        sites.insert(place(builder, kernels, &site), (site, Some(source), Vec::new()));
    }
    for record in &report.hints {
        let entry = sites.entry(place(builder, kernels, &record.site));
        entry.or_insert_with(|| (record.site.clone(), None, Vec::new())).2.push(record);
    }
    Ok(sites
        .into_iter()
        .map(|(place, (site, source, records))| hint(place, &site, source.as_ref(), &records))
        .collect())
}

/// A site's file relative to the audited package, its line and column: the report's order.
type Place = (String, u32, u32);

fn place(builder: &Builder, kernels: &KernelCrate, site: &Site) -> Place {
    let elsewhere = builder.workspace.package_folder(&site.package).filter(|_| site.package != kernels.id);
    let relative = elsewhere.and_then(|folder| pathdiff::diff_paths(folder.join(&site.file), &kernels.folder));
    let file = relative.map_or_else(|| site.file.clone(), |path| path.to_string_lossy().into_owned());
    (file, site.line, site.column)
}

fn hint((file, line, column): Place, site: &Site, source: Option<&SourceHint>, records: &[&HintRecord]) -> Hint {
    let (status, reason) = verdict(source, records);
    let instances = records.iter().map(|record| Instance {
        function: record.function.clone(),
        status: record.status,
        why: record.reason.into(),
        loops_after_opt: record.left.len(),
    });
    Hint {
        file,
        line,
        column,
        extent: source.map(|source| (source.last_line, source.function.clone())),
        kind: site.kind,
        request: unroll_request(source, records),
        status,
        why: reason.into(),
        instances: instances.collect(),
    }
}

/// What an `unroll` asks for, where all records agree; else what the source says.
fn unroll_request(source: Option<&SourceHint>, records: &[&HintRecord]) -> Option<Request> {
    let first = records.first().map(|record| record.request);
    let is_uniform = records.iter().all(|record| Some(record.request) == first);
    let request = first.filter(|_| is_uniform).or(source.and_then(|source| source.request));
    request.filter(|request| request.kind() == HintKind::Unroll)
}

/// The worst that a record says, and why.
fn verdict(source: Option<&SourceHint>, records: &[&HintRecord]) -> (Status, Option<Reason>) {
    if records.is_empty() {
        let in_const = source.is_some_and(|source| source.in_const);
        return (Status::NotCompiled, Some(if in_const { Reason::InConst } else { Reason::Unused }));
    }
    let of_status = |status| records.iter().find(|record| record.status == status);
    let worst = of_status(Status::Dropped).or_else(|| of_status(Status::Unverified));
    worst.map_or((Status::Honoured, None), |record| (record.status, record.reason))
}
