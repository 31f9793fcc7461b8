//! The options of commands that hold hints to what came out, and what a build has to say of them.

use anyhow::Result;

use crate::audit::{self, gate};
use crate::build::messages::Told;
use crate::build::{Builder, Built, HintsDenied};
use crate::config::{HintLevels, Level};
use crate::diagnose::{At, Diagnostic, text::Printer};
use crate::kernel_crate::KernelCrate;

/// How strict to be, and how much to know.
#[derive(Debug, Clone, clap::Args)]
pub struct GateArgs {
    /// What is made of hints that cannot be honoured; goes before latch.toml, whose default is deny
    #[arg(long, value_enum)]
    pub level: Option<Level>,

    /// Keep source lines down to the machine code
    #[arg(long)]
    pub lines: bool,
}

/// Tells of every hint of a build that was not honoured, unless the plugin has told of it, and refuses the build where the
/// levels do. `said` is what was told for other architectures.
pub fn check_build(
    builder: &Builder,
    kernels: &KernelCrate,
    built: &Built,
    levels: &HintLevels,
    said: &mut Vec<Diagnostic>,
) -> Result<()> {
    let hints = audit::hints(builder, kernels, &built.report)?;
    let found = gate::hints(&hints, levels, &kernels.folder);
    let printer = Printer::for_stderr(builder.workspace.root());
    for diagnostic in &found {
        if is_told(diagnostic, &built.told, builder) || said.contains(diagnostic) {
            continue;
        }
        if let Some(text) = printer.render(diagnostic) {
            eprintln!("{text}\n");
        }
        said.push(diagnostic.clone());
    }
    if gate::is_denied(&found) { Err(HintsDenied::of(kernels).into()) } else { Ok(()) }
}

/// rustc names files from the workspace's folder.
fn is_told(diagnostic: &Diagnostic, told: &[Told], builder: &Builder) -> bool {
    let Some(place) = diagnostic.places.first() else { return false };
    let At::Word(line, column) = place.at else { return false };
    told.iter().any(|told| {
        told.title == diagnostic.title
            && (told.line, told.column) == (line, column)
            && builder.workspace.root().join(&told.file) == place.file
    })
}
