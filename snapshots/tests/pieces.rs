//! The instructions that each operation of `device-std` becomes on NVIDIA's GPUs: the kernels of `kernels/pieces`, by
//! groups, with those of several architectures side by side where they differ. Another target has snapshots of its own,
//! beside these, of the same groups.
//!
//! Beside the texts stand the claims that must hold for all of them: nothing is called, nothing is in local memory, no
//! library of NVIDIA's is needed, and nothing can panic.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use cargo_latch::build::{Arch, BuildArgs, Builder, HintMode, Wanted};
use cargo_latch::inspect::{Stage, Stages};
use cargo_latch::setup::Progress;
use latch_tests::{archs, checkout};
use snapshots::{pieces::GROUPS, ptx};

/// Before and after the reductions in one instruction (sm_80), and the minima and maxima of three (sm_100).
const ARCHS: [&str; 3] = ["sm_75", "sm_90", "sm_100"];

/// What a group is shown of: reductions by the machine's instruction only where it is, as one of them shows what is
/// instead.
fn archs_of(group: &str) -> &'static [&'static str] {
    if group == "integer_reductions" { &["sm_90", "sm_100"] } else { &ARCHS }
}

/// One architecture's kernels.
struct Compiled {
    arch: &'static str,
    kernels: Vec<Kernel>,
}

struct Kernel {
    name: String,
    ptx: String,
    optimized: String,
}

static COMPILED: LazyLock<[Compiled; 3]> = LazyLock::new(|| {
    let args = BuildArgs { hints: HintMode::Llvm, archs: archs(&ARCHS), ..BuildArgs::default() };
    let builder =
        Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    ARCHS.map(|name| Compiled { arch: name, kernels: kernels(&builder, "pieces", &archs(&[name])[0]) })
});

fn kernels(builder: &Builder, package: &str, arch: &Arch) -> Vec<Kernel> {
    let crates = builder.workspace.kernel_crates(&[package.to_owned()]).expect("a kernel crate");
    let stages = Stages::build(builder, &crates[0], arch).expect("the kernels build");
    let names: Vec<String> = stages.kernel_names().map(str::to_owned).collect();
    let text = |name: &str, stage| stages.text(name, stage).expect("the kernel is in the text");
    let kernel = |name: String| Kernel { ptx: text(&name, Stage::Ptx), optimized: text(&name, Stage::LlvmOpt), name };
    names.into_iter().map(kernel).collect()
}

impl Compiled {
    fn computation(&self, kernel: &str) -> String {
        let found = self.kernels.iter().find(|own| own.name == kernel);
        ptx::computation(&found.unwrap_or_else(|| panic!("there is no kernel {kernel}")).ptx)
    }
}

/// A kernel's code, once for all architectures that have the same.
fn by_arch(kernel: &str, archs: &[&str]) -> String {
    let mut codes: Vec<(Vec<&str>, String)> = Vec::new();
    for compiled in COMPILED.iter().filter(|compiled| archs.contains(&compiled.arch)) {
        let code = compiled.computation(kernel);
        match codes.iter_mut().find(|(_, known)| *known == code) {
            Some((archs, _)) => archs.push(compiled.arch),
            None => codes.push((vec![compiled.arch], code)),
        }
    }
    let everywhere = codes.len() == 1 && archs.len() == ARCHS.len();
    let shown = |(archs, code): (Vec<&str>, String)| {
        if everywhere { format!("{kernel}:\n{code}\n") } else { format!("{kernel} on {}:\n{code}\n", archs.join(", ")) }
    };
    codes.into_iter().map(shown).collect()
}

#[test]
fn instructions() {
    for (group, kernels) in GROUPS {
        let text: String = kernels.iter().map(|kernel| by_arch(kernel, archs_of(group))).collect();
        insta::with_settings!({ snapshot_path => "pieces", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("nvptx__{group}"), text);
        });
    }
}

#[test]
fn no_snapshot_is_an_orphan() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pieces");
    let files = std::fs::read_dir(folder).expect("there are snapshots");
    let names = files.map(|file| file.expect("readable").file_name().to_string_lossy().into_owned());
    let own: BTreeSet<String> = names.filter(|name| name.starts_with("nvptx__")).collect();
    assert_eq!(own, GROUPS.iter().map(|(group, _)| format!("nvptx__{group}.snap")).collect());
}

#[test]
fn nothing_is_called_and_nothing_is_in_local_memory() {
    for (compiled, kernel) in COMPILED.iter().flat_map(|compiled| compiled.kernels.iter().map(move |k| (compiled, k))) {
        for word in ["call", ".local", "__nv_", "trap"] {
            assert!(!kernel.ptx.contains(word), "{} on {}: {word}\n{}", kernel.name, compiled.arch, kernel.ptx);
        }
    }
}

/// Besides the pieces, the kernels that use every function of sub-groups, whole and in segments of any width, on values
/// and arguments that are not known before they run.
#[test]
fn nothing_panics_traps_or_is_unreachable() {
    let args = BuildArgs { hints: HintMode::Llvm, archs: archs(&["sm_90"]), ..BuildArgs::default() };
    let builder =
        Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    let contract = kernels(&builder, "subgroup", &archs(&["sm_90"])[0]);
    let pieces = COMPILED.iter().flat_map(|compiled| &compiled.kernels);
    let mut seen = 0;
    for kernel in contract.iter().chain(pieces) {
        let ends =
            |line: &&str| line.trim() == "unreachable" || ["llvm.trap", "panic"].iter().any(|word| line.contains(word));
        assert_eq!(kernel.optimized.lines().find(ends), None, "{}", kernel.name);
        seen += usize::from(kernel.optimized.contains(".sync"));
    }
    assert!(seen > 90, "only {seen} kernels exchange anything");
}
