//! The options of commands that hold hints to what came out, and what a build has to say of them.

use anyhow::Result;
use hint_record::{Level, LinkReport};

use crate::audit::{self, gate};
use crate::build::{Builder, HintsDenied};
use crate::config::HintLevels;
use crate::diagnose::{Diagnostic, text::Printer};
use crate::kernel_crate::KernelCrate;
use crate::values;

/// How strict to be, and how much to know.
#[derive(Debug, Clone, clap::Args)]
pub struct GateArgs {
    /// What is made of hints that cannot be honoured; goes before latch.toml, whose default is deny
    #[arg(long, value_parser = values::levels())]
    pub level: Option<Level>,

    /// Keep source lines down to the machine code
    #[arg(long)]
    pub lines: bool,
}

/// Tells of every hint of a build that was not honoured, and refuses the build where the
/// levels do. `said` is what was told for other architectures.
pub fn check_build(
    builder: &Builder,
    kernels: &KernelCrate,
    report: &LinkReport,
    levels: &HintLevels,
    said: &mut Vec<Diagnostic>,
) -> Result<()> {
    let hints = audit::hints(builder, kernels, report)?;
    let found = gate::hints(&hints, levels, &kernels.folder);
    let printer = Printer::for_stderr(builder.workspace.root());
    for diagnostic in &found {
        if said.contains(diagnostic) {
            continue;
        }
        if let Some(text) = printer.render(diagnostic) {
            eprintln!("{text}\n");
        }
        said.push(diagnostic.clone());
    }
    if gate::is_denied(&found) { Err(HintsDenied::of(kernels).into()) } else { Ok(()) }
}
