//! One kernel at one stage, as text.
//!
//! | stage | is |
//! |---|---|
//! | `mir` | rustc's MIR after its passes, and in the MIR mode after the plugin |
//! | `llvm` | the linked module with hints resolved, before optimization; or after any pass of the linker, or what passes change |
//! | `llvm-opt` | the module after optimization; not on the route by libNVVM, which shows none |
//! | `ptx` | what is handed to ptxas |
//! | `asm` | for AMD's GPUs: what the GPU runs, as LLVM writes it |
//! | `sass` | what the GPU runs, from `nvdisasm` |
//! | `cfg` | the blocks, edges and loops of that |
//! | `hints` | every hint of the kernel, from its source line to its loops in the machine code ([`crate::hints_trace`]) |
//!
//! [`text`] cuts the kernel out of the whole file; functions that it calls are shown only in `sass` and `cfg`. The machine code
//! of AMD's GPUs is `asm`; they have no `ptx`, `sass` and `cfg`.

pub mod text;

use std::fs;

use anyhow::{Context, Result, bail};
use hint_record::stages::{OPTIMIZED, RESOLVED};
use sass::{AssembleOptions, Program};
use similar::TextDiff;

use crate::assembly::Assembler;
use crate::build::{Arch, Builder, Built, Intermediates, Route, Unit};
use crate::hints_trace;
use crate::kernel_crate::KernelCrate;
use crate::target::Target;

/// A place on the way from source to machine code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Stage {
    /// rustc's MIR
    Mir,
    /// LLVM IR with hints resolved, before optimization
    Llvm,
    /// LLVM IR after optimization
    LlvmOpt,
    /// PTX
    Ptx,
    /// The machine code of an AMD GPU
    Asm,
    /// Machine code
    Sass,
    /// The machine code's blocks and loops
    Cfg,
    /// Every hint, followed through all of them
    Hints,
}

/// Every stage of one crate on one architecture.
#[derive(Debug)]
pub struct Stages<'a> {
    builder: &'a Builder,
    kernels: KernelCrate,
    arch: Arch,
    built: Built,
    keep: Intermediates,
}

impl<'a> Stages<'a> {
    /// Builds the crate and keeps what lies on the way.
    pub fn build(builder: &'a Builder, kernels: &KernelCrate, arch: &Arch) -> Result<Stages<'a>> {
        Stages::build_without(&[], builder, kernels, arch)
    }

    /// The same, with some of the linker's passes left out.
    pub fn build_without(
        skipped: &[String],
        builder: &'a Builder,
        kernels: &KernelCrate,
        arch: &Arch,
    ) -> Result<Stages<'a>> {
        let mut keep = Intermediates::of(kernels, builder.stages_folder(kernels, arch));
        keep.skipped = skipped.to_vec();
        let built = builder.build(kernels, arch, Some(&keep))?;
        Ok(Stages { builder, kernels: kernels.clone(), arch: arch.clone(), built, keep })
    }

    /// Does the crate hold this kernel?
    pub fn has_kernel(&self, kernel: &str) -> bool {
        self.kernel_names().any(|name| name == kernel)
    }

    /// The crate's kernels.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.built.report.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    /// What the linker said of the crate's hints and kernels.
    pub fn report(&self) -> &hint_record::LinkReport {
        &self.built.report
    }

    /// The text of one kernel at one stage.
    pub fn text(&self, kernel: &str, stage: Stage) -> Result<String> {
        let missing = || format!("`{kernel}` is not in the text of this stage");
        let read = |path: &std::path::Path| {
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
        };
        let target = self.arch.target();
        match stage {
            Stage::Ptx | Stage::Sass | Stage::Cfg if target == Target::Amdgcn => {
                bail!("{} has no PTX and no SASS: its machine code is `--emit asm`", self.arch)
            }
            Stage::Asm if target == Target::Nvptx => {
                bail!("the machine code of {} is `--emit sass`, and `--emit ptx` what it is made of", self.arch)
            }
            Stage::Mir => text::mir_function(&read(&self.keep.mir)?, kernel).with_context(missing),
            Stage::Llvm => self.after(kernel, RESOLVED),
            Stage::LlvmOpt if self.builder.route() == Route::Nvvm => bail!(
                "libNVVM shows no module that it has optimized: look at `--emit llvm` before it and `--emit ptx` after it, or \
                 take `--route llc`"
            ),
            Stage::LlvmOpt => self.after(kernel, OPTIMIZED),
            Stage::Ptx => text::ptx_function(&self.ptx(), kernel).with_context(missing),
            Stage::Asm => text::amd_function(&self.built.text, kernel).with_context(missing),
            Stage::Sass => self.machine_code(kernel, |kernel| kernel.sass()),
            Stage::Cfg => self.machine_code(kernel, |kernel| kernel.cfg()),
            Stage::Hints => {
                let unit = Unit { kernels: &self.kernels, arch: &self.arch };
                hints_trace::follow(self.builder, unit, &self.built, &self.keep, kernel)
            }
        }
    }

    /// The LLVM IR of one kernel after one of the linker's passes.
    pub fn after(&self, kernel: &str, pass: &str) -> Result<String> {
        let module = self.keep.after(pass)?;
        text::llvm_function(&module, kernel).with_context(|| format!("`{kernel}` is not in the module after `{pass}`"))
    }

    /// What the passes after `from`, up to `to`, have changed of a kernel's LLVM IR.
    pub fn difference(&self, kernel: &str, from: &str, to: &str) -> Result<String> {
        let (before, after) = (self.after(kernel, from)?, self.after(kernel, to)?);
        let difference = TextDiff::from_lines(&before, &after);
        let text = difference.unified_diff().context_radius(3).header(from, to).to_string();
        Ok(if text.is_empty() { format!("`{kernel}` is the same after `{from}` and `{to}`") } else { text })
    }

    /// With source lines where they are wanted.
    fn ptx(&self) -> String {
        if self.builder.wanted().lines { self.built.with_lines() } else { self.built.code.clone() }
    }

    fn machine_code(&self, kernel: &str, show: impl Fn(&sass::Kernel<'_, '_>) -> String) -> Result<String> {
        let assembler = Assembler::of(self.builder.tools()).context("machine code needs NVIDIA's tools")?;
        let options = AssembleOptions { line_info: self.builder.wanted().lines, ..AssembleOptions::default() };
        let module = assembler.disassemble(&assembler.cubin(&self.ptx(), &self.arch, &options)?)?;
        let program = Program::of(&module);
        let found = program.kernel(kernel).with_context(|| format!("`{kernel}` is not in the machine code"))?;
        Ok(show(&found))
    }
}
