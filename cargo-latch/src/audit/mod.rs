//! Every hint, followed from the source to the machine code.
//!
//! The list of hints comes from the source ([`sites`]); what became of each from the linker's report; the kernels'
//! figures from ptxas and the disassembly. [`Entry`] is the result, [`table`] shows it to people.

pub mod entry;
mod sites;
pub mod table;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use codegen_pass::report::{HintRecord, LinkReport, Status};
use codegen_pass::{HintKind, Site};
use sass::{AssembleOptions, Nvdisasm, Program, Ptxas};

use crate::build::{Arch, Builder, Built};
use crate::kernel_crate::KernelCrate;
use crate::setup::CudaTools;
pub use entry::{Entry, Hint, Instance, Kernel, Kind};
use sites::SourceHint;

/// Builds a crate for an architecture and holds every hint against what came out.
pub fn audit(builder: &Builder, kernels: &KernelCrate, arch: &Arch) -> Result<Entry> {
    let built = builder.build(kernels, arch, None)?;
    let sass = match &builder.tools.cuda {
        Ok(cuda) => Some(machine_code(cuda, &built, arch)?),
        Err(error) => {
            tracing::warn!("the machine code is not looked at: {error}");
            None
        }
    };
    Ok(Entry {
        package: kernels.name.clone(),
        arch: arch.clone(),
        route: builder.route(),
        mode: builder.mode(),
        profile: builder.profile(),
        hints: hints(builder, kernels, &built.report)?,
        kernels: kernels_of(&built.report, sass.as_ref()),
    })
}

/// Assembles and disassembles what a build made.
pub fn machine_code(cuda: &CudaTools, built: &Built, arch: &Arch) -> Result<sass::Report> {
    let cubin = Ptxas::new(&cuda.ptxas)
        .assemble(&built.ptx, arch.name(), &AssembleOptions::default())
        .with_context(|| format!("ptxas refuses {}", built.ptx.display()))?;
    let module = Nvdisasm::new(&cuda.nvdisasm).disassemble(&cubin)?;
    Ok(sass::Report::of(&cubin, &Program::of(&module))?)
}

fn kernels_of(report: &LinkReport, sass: Option<&sass::Report>) -> Vec<Kernel> {
    let kernel = |kernel: &codegen_pass::report::KernelRecord| {
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
fn hints(builder: &Builder, kernels: &KernelCrate, report: &LinkReport) -> Result<Vec<Hint>> {
    let mut sites: BTreeMap<Place, (Site, Option<SourceHint>, Vec<&HintRecord>)> = BTreeMap::new();
    for source in sites::of_package(kernels)? {
        let site = source.site.clone();
        sites.insert(place(builder, kernels, &site), (site, Some(source), Vec::new()));
    }
    for record in &report.hints {
        let site: Site = record.site.parse()?;
        let entry = sites.entry(place(builder, kernels, &site));
        entry.or_insert_with(|| (site, None, Vec::new())).2.push(record);
    }
    Ok(sites
        .into_iter()
        .map(|(place, (site, source, records))| hint(place, &site, source.as_ref(), &records))
        .collect())
}

/// A site's file relative to the audited package, its line and column: the report's order.
type Place = (String, u32, u32);

fn place(builder: &Builder, kernels: &KernelCrate, site: &Site) -> Place {
    let elsewhere = builder.workspace.package_folder(&site.package).filter(|_| site.package != kernels.name);
    let relative = elsewhere.and_then(|folder| pathdiff::diff_paths(folder.join(&site.file), &kernels.folder));
    let file = relative.map_or_else(|| site.file.clone(), |path| path.to_string_lossy().into_owned());
    (file, site.line, site.column)
}

fn hint((file, line, _): Place, site: &Site, source: Option<&SourceHint>, records: &[&HintRecord]) -> Hint {
    let (status, reason) = verdict(source, records);
    let compiled_factor = records.first().map(|record| record.factor);
    let is_uniform = records.iter().all(|record| Some(record.factor) == compiled_factor);
    let factor = match site.kind {
        HintKind::Nounroll => None,
        HintKind::Unroll => compiled_factor.filter(|_| is_uniform).or(source.and_then(|source| source.factor)),
    };
    let kind = match site.kind {
        HintKind::Nounroll => Kind::Nounroll,
        HintKind::Unroll => Kind::Unroll,
    };
    let instances = records.iter().map(|record| Instance {
        function: record.function.clone(),
        status: record.status,
        reason: record.reason.clone(),
        loops_after_opt: record.left.len(),
    });
    Hint { file, line, kind, factor, status, reason, instances: instances.collect() }
}

fn verdict(source: Option<&SourceHint>, records: &[&HintRecord]) -> (Status, Option<String>) {
    if records.is_empty() {
        let reason = match source {
            Some(source) if source.in_const => "the loop is evaluated while compiling, where a hint has no meaning",
            _ => "no kernel reaches the loop: its function is never used, or it stands in dead code",
        };
        return (Status::NotCompiled, Some(reason.to_owned()));
    }
    match records.iter().find(|record| record.status != Status::Honoured) {
        Some(dropped) => (Status::Dropped, dropped.reason.clone()),
        None => (Status::Honoured, None),
    }
}
