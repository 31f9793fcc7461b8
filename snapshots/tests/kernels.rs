//! Every kernel, and every device function with a hint, at every stage: MIR before and after the plugin (as a
//! difference), the IR with hints resolved, PTX, and what is counted in the machine code.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use cargo_latch::build::{Builder, HintMode, Profile};
use cargo_latch::inspect::{Stage, Stages};
use cargo_latch::kernel_crate::KernelCrate;
use latch_tests::{archs, audits, builder, checkout};
use similar::TextDiff;
use snapshots::without_volatile;

/// The families under snapshot.
const PACKAGES: [&str; 1] = ["nounroll"];
const ARCH: &str = "sm_90";
const STAGES: [&str; 3] = ["mir", "llvm", "ptx"];

/// One family, built in both modes.
struct Family {
    package: &'static str,
    crates: KernelCrate,
    plain: Builder,
    plugin: Builder,
}

/// Built once for all tests of this file. Both modes write to folders of their own.
static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let family = |package: &'static str| {
        let [plain, plugin] =
            [HintMode::Llvm, HintMode::Mir].map(|hints| builder(&checkout(), hints, Profile::Release));
        let crates = plain.workspace.kernel_crates(&[package.to_owned()]).expect("a kernel crate").remove(0);
        Family { package, crates, plain, plugin }
    };
    PACKAGES.map(family).into_iter().collect()
});

impl Family {
    fn stages<'a>(&'a self, builder: &'a Builder) -> Stages<'a> {
        Stages::build(builder, &self.crates, &archs(&[ARCH])[0]).expect("the kernels build")
    }
}

fn check(stage: &str, text: impl Fn(&Family) -> Vec<(String, String)>) {
    for family in FAMILIES.iter() {
        for (function, text) in text(family) {
            let name = format!("{}__{function}__{stage}", family.package);
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
                insta::assert_snapshot!(name, without_volatile(&text));
            });
        }
    }
}

/// The kernels, and the device functions that hold a hint: the name in the source and the symbol.
fn functions(stages: &Stages<'_>) -> BTreeSet<(String, String)> {
    let kernels = stages.kernel_names().map(|name| (name.to_owned(), name.to_owned()));
    let hinted = stages.report().hints.iter().map(|hint| {
        let name = hint.function.rsplit("::").next().unwrap_or_default();
        (name.to_owned(), hint.symbol.clone())
    });
    kernels.chain(hinted).collect()
}

fn each_function(stages: &Stages<'_>, text: impl Fn(&str, &str) -> String) -> Vec<(String, String)> {
    functions(stages).into_iter().map(|(name, symbol)| (name.clone(), text(&name, &symbol))).collect()
}

#[test]
fn mir_before_and_after_the_plugin() {
    check("mir", |family| {
        let (before, after) = (family.stages(&family.plain), family.stages(&family.plugin));
        each_function(&before, |name, _| {
            let [before, after] = [&before, &after].map(|stages| stages.text(name, Stage::Mir).expect("MIR is kept"));
            let difference = TextDiff::from_lines(&before, &after);
            let text = difference.unified_diff().context_radius(3).to_string();
            if text.is_empty() { "the plugin changes nothing".to_owned() } else { text }
        })
    });
}

#[test]
fn llvm_ir_with_hints_resolved() {
    check("llvm", |family| {
        let stages = family.stages(&family.plain);
        each_function(&stages, |_, symbol| stages.text(symbol, Stage::Llvm).expect("the IR is kept"))
    });
}

#[test]
fn ptx() {
    check("ptx", |family| {
        let stages = family.stages(&family.plain);
        each_function(&stages, |_, symbol| stages.text(symbol, Stage::Ptx).expect("the PTX is kept"))
    });
}

#[test]
fn machine_code_counts() {
    for family in FAMILIES.iter() {
        let mut text = String::new();
        for entry in audits(&family.plain, family.package, &["sm_80", "sm_90", "sm_120a"]) {
            for kernel in entry.kernels {
                let sass = kernel.sass.expect("NVIDIA's tools are here");
                text += &format!(
                    "{} {}: {} loops, {} global loads, {} global stores, {} local, {} calls, {} helper calls, {} bytes spilled\n",
                    entry.arch,
                    kernel.name,
                    sass.loops,
                    sass.global_loads,
                    sass.global_stores,
                    sass.local_loads + sass.local_stores,
                    sass.calls,
                    sass.helper_calls,
                    kernel.spill_bytes.expect("ptxas says so"),
                );
            }
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("{}__sass", family.package), text);
        });
    }
}

#[test]
fn no_snapshot_is_an_orphan() {
    let mut expected = BTreeSet::new();
    for family in FAMILIES.iter() {
        expected.insert(format!("{}__sass.snap", family.package));
        for (name, _) in functions(&family.stages(&family.plain)) {
            expected.extend(STAGES.map(|stage| format!("{}__{name}__{stage}.snap", family.package)));
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let files = std::fs::read_dir(folder).expect("there are snapshots");
    let found: BTreeSet<String> =
        files.map(|file| file.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(found, expected);
}
