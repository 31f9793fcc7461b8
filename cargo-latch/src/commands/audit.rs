//! `cargo latch audit`: every hint, followed from source to machine code, and every budget.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use hint_record::{Level, LevelFor};

use crate::audit::{self, Audited, Entry, Finding, against, gate, table};
use crate::build::{BuildArgs, Builder};
use crate::commands::gate::GateArgs;
use crate::commands::print_line;
use crate::config::LatchToml;
use crate::diagnose::{self, Diagnostic, github, text::Printer};
use crate::kernel_crate::KernelCrate;
use crate::setup::Progress;

/// Follow every loop hint to the machine code; exit code 1 where one was not honoured, or a budget is broken
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    build: BuildArgs,

    #[command(flatten)]
    gate: GateArgs,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,

    /// Print messages as annotations for GitHub
    #[arg(long, conflicts_with = "json")]
    github: bool,

    /// Print what has changed since the report in this file
    #[arg(long, value_name = "JSON")]
    against: Option<PathBuf>,
}

/// Exit code 1 if a hint was dropped at level deny, or a budget is broken.
pub fn run(args: &Args) -> Result<ExitCode> {
    let old = args.against.as_deref().map(against::read).transpose()?;
    let folder = std::env::current_dir().context("there is no current folder")?;
    let mut builder = Builder::new(&folder, &args.build, &Progress::on_stderr())?;
    builder.extras.lines = args.gate.lines;
    // Everything that the plugin would say is said here, with what only the link stage knows.
    builder.extras.plugin_levels = vec![LevelFor::all(Level::Allow)];
    let (entries, messages) = audits(&builder, args)?;
    if args.json {
        print_line(serde_json::to_string_pretty(&entries)?)?;
    } else {
        entries.iter().try_for_each(|entry| print_line(table::render(entry)))?;
    }
    say(&messages, &builder, args.github)?;
    if let Some(old) = old {
        let changes = against::render(&old, &entries);
        if args.json { eprintln!("{changes}") } else { print_line(changes)? }
    }
    Ok(if gate::is_denied(&messages) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Every entry, in the order asked, and what there is to say, equal messages once.
fn audits(builder: &Builder, args: &Args) -> Result<(Vec<Entry>, Vec<Diagnostic>)> {
    let (mut entries, mut messages) = (Vec::new(), Vec::new());
    let crates = builder.workspace.kernel_crates(&args.build.packages)?;
    let configs = crates.iter().map(LatchToml::of).collect::<Result<Vec<_>, _>>()?;
    for (kernels, config) in crates.iter().zip(&configs) {
        let levels = config.hints.levels(args.gate.level);
        let mut found = Vec::new();
        for arch in args.build.archs_for(kernels) {
            let mut audited = audit::audit_in_full(builder, kernels, arch)?;
            check_names(config, &audited)?;
            let said = gate::findings(&audited, config, &levels, &kernels.folder)?;
            audited.entry.findings = said.iter().map(|diagnostic| finding(diagnostic, kernels)).collect();
            found.push((arch.to_string(), said));
            entries.push(audited.entry);
        }
        messages.extend(diagnose::merge(found));
    }
    Ok((entries, messages))
}

fn check_names(config: &LatchToml, audited: &Audited) -> Result<()> {
    let names: Vec<String> = audited.entry.kernels.iter().map(|kernel| kernel.name.clone()).collect();
    Ok(config.check_names(&names, audited.entry.arch.name())?)
}

/// A message as the report has it.
fn finding(diagnostic: &Diagnostic, kernels: &KernelCrate) -> Finding {
    let place = diagnostic.places.first();
    let text = place.and_then(|place| std::fs::read_to_string(&place.file).ok());
    Finding {
        level: diagnostic.level,
        message: diagnostic.title.clone(),
        file: place
            .and_then(|place| pathdiff::diff_paths(&place.file, &kernels.folder))
            .map(|file| file.to_string_lossy().replace('\\', "/")),
        line: place.map(|place| place.line_and_column(text.as_deref()).0),
        kernel: diagnostic.kernel.clone(),
    }
}

/// Messages on standard error, or annotations on standard output.
fn say(messages: &[Diagnostic], builder: &Builder, for_github: bool) -> Result<()> {
    if for_github {
        let root = github::root(builder.workspace.root());
        return messages.iter().filter_map(|message| github::render(message, &root)).try_for_each(print_line);
    }
    let printer = Printer::for_stderr(builder.workspace.root());
    messages.iter().filter_map(|message| printer.render(message)).for_each(|text| eprintln!("{text}\n"));
    Ok(())
}

/// One entry per package and architecture, in the order asked.
pub fn entries(builder: &Builder, args: &BuildArgs) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for kernels in builder.workspace.kernel_crates(&args.packages)? {
        for arch in args.archs_for(&kernels) {
            entries.push(audit::audit(builder, &kernels, arch)?);
        }
    }
    Ok(entries)
}
