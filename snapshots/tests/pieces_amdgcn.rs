//! What each operation of `device-std` becomes on AMD's GPUs: the mnemonics of the kernels of `kernels/pieces`, by the
//! same groups as on NVIDIA's, for wavefronts of 32 and of 64 lanes.
//!
//! Beside the texts stand the claims that must hold for all of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use cargo_latch::inspect::text::amd_function;
use latch_tests::checkout;
use latch_tests::isa::{self, Function};
use snapshots::{amdgcn, pieces::GROUPS};

const ARCHS: [&str; 2] = ["gfx1100", "gfx942"];

static ASSEMBLIES: LazyLock<[String; 2]> =
    LazyLock::new(|| ARCHS.map(|arch| isa::assembly(&checkout(), "pieces", arch)));

fn computation(assembly: &str, kernel: &str) -> Option<String> {
    Some(amdgcn::computation(&amd_function(assembly, kernel)?))
}

/// A kernel's mnemonics, once where both have the same. What the target has not is said to be missing.
fn shown(kernel: &str) -> String {
    let [narrow, wide] = [0, 1].map(|at| computation(&ASSEMBLIES[at], kernel));
    match (narrow, wide) {
        (Some(narrow), Some(wide)) if narrow == wide => format!("{kernel}:\n{narrow}\n"),
        (Some(narrow), Some(wide)) => {
            format!("{kernel} on {}:\n{narrow}\n{kernel} on {}:\n{wide}\n", ARCHS[0], ARCHS[1])
        }
        _ => format!("{kernel}: not on this target\n\n"),
    }
}

#[test]
fn instructions() {
    for (group, kernels) in GROUPS {
        let text: String = kernels.iter().map(|kernel| shown(kernel)).collect();
        insta::with_settings!({ snapshot_path => "pieces", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("amdgcn__{group}"), text);
        });
    }
}

#[test]
fn nothing_is_called_spilled_or_reached_by_generic_addresses_and_nothing_traps() {
    for (arch, assembly) in ARCHS.iter().zip(&*ASSEMBLIES) {
        let kernels = isa::kernels(assembly);
        assert!(kernels.len() > 70, "{kernels:?}");
        for kernel in kernels {
            let code = Function::of(assembly, kernel);
            for refused in ["s_trap", "s_swappc", "s_call", "scratch_", "buffer_store", "buffer_load", "flat_"] {
                assert_eq!(code.count(refused), 0, "{arch} {kernel}: {refused} in {code:?}");
            }
        }
    }
}

#[test]
fn wide_loads_and_stores_are_one_instruction() {
    for (assembly, [load, store]) in ASSEMBLIES
        .iter()
        .zip([["global_load_b128", "global_store_b128"], ["global_load_dwordx4", "global_store_dwordx4"]])
    {
        for kernel in ["vector_words", "vector_halves"] {
            let code = Function::of(assembly, kernel);
            assert_eq!((code.count(load), code.count(store)), (1, 1), "{code:?}");
        }
    }
}

#[test]
fn no_snapshot_is_an_orphan() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pieces");
    let files = std::fs::read_dir(folder).expect("there are snapshots");
    let names = files.map(|file| file.expect("readable").file_name().to_string_lossy().into_owned());
    let own: BTreeSet<String> = names.filter(|name| name.starts_with("amdgcn__")).collect();
    assert_eq!(own, GROUPS.iter().map(|(group, _)| format!("amdgcn__{group}.snap")).collect());
}
