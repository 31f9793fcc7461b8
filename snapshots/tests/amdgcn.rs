//! The machine code of AMD's GPUs: one operation a kernel, instruction by instruction, and for every kernel of the
//! sub-groups' contract what it must and must not hold.
//!
//! What only tells the scheduler something (`s_delay_alu` and its like) is left out. What must hold whatever LLVM's
//! scheduling is asserted beside the snapshots.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_latch::inspect::text::amd_function;
use latch_tests::isa::{self, Function};
use latch_tests::{checkout, fixture};
use snapshots::amdgcn;

/// Wavefronts of 32 and of 64 lanes.
const ARCHS: [&str; 2] = ["gfx1100", "gfx942"];
/// The kernels of the fixture that is shown whole.
const SHOWN: [&str; 9] = [
    "across",
    "lane_and_width",
    "named_lane",
    "next_lane",
    "odd_lanes",
    "rolled",
    "scopes",
    "shared_count",
    "unrolled",
];

fn assemblies(folder: &Path, package: &str) -> [String; 2] {
    ARCHS.map(|arch| isa::assembly(folder, package, arch))
}

fn shown() -> [String; 2] {
    assemblies(&fixture("wavefront"), "wavefront")
}

fn snapshot(name: &str, text: &str) {
    let settings = (false, true, "amdgcn");
    insta::with_settings!({
        prepend_module_to_snapshot => settings.0, omit_expression => settings.1, snapshot_path => settings.2
    }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn one_operation_a_kernel() {
    let assemblies = shown();
    for kernel in SHOWN {
        let code = ARCHS.iter().zip(&assemblies).map(|(arch, assembly)| {
            let function = amd_function(assembly, kernel).expect("the kernel is there");
            format!("; {arch}\n{}", amdgcn::code(&function))
        });
        snapshot(kernel, &code.collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn lanes_are_counted_by_the_hardware_and_the_width_is_a_constant() {
    for (assembly, (halves, width)) in shown().iter().zip([(1, 32), (2, 64)]) {
        let code = Function::of(assembly, "lane_and_width");
        assert_eq!(code.count("v_mbcnt_lo_u32_b32") + code.count("v_mbcnt_hi_u32_b32"), halves, "{code:?}");
        let constant = format!(", {width}");
        assert!(code.instructions().any(|one| one.contains("mov_b32") && one.ends_with(&constant)), "{code:?}");
        assert_eq!(code.count("s_getreg"), 0, "{code:?}");
    }
}

#[test]
fn a_lane_without_source_takes_its_own_value_before_the_permute() {
    for assembly in &shown() {
        let code = Function::of(assembly, "next_lane");
        let at = |mnemonic: &str| code.instructions().position(|one| one.starts_with(mnemonic));
        let (selected, permuted) = (at("v_cndmask_b32"), at("ds_bpermute_b32"));
        assert!(selected.is_some() && selected < permuted, "{code:?}");
        assert_eq!((code.count("v_cndmask_b32"), code.count("ds_bpermute_b32")), (1, 1), "{code:?}");
    }
}

#[test]
fn a_ballot_is_as_wide_as_the_wavefront() {
    let [narrow, wide] = shown().map(|assembly| Function::of(&assembly, "odd_lanes"));
    let compares = |code: &Function, into: &str| {
        code.instructions().any(|one| one.starts_with("v_cmp_ne_u32") && one.contains(into))
    };
    assert!(compares(&narrow, " vcc_lo, ") || compares(&narrow, " s0, "), "one register holds it: {narrow:?}");
    assert!(!compares(&narrow, " s["), "{narrow:?}");
    assert!(compares(&wide, " s[") || compares(&wide, " vcc, "), "two registers hold it: {wide:?}");
}

#[test]
fn shared_memory_is_never_reached_by_generic_addresses() {
    for assembly in &shown() {
        for kernel in ["across", "shared_count"] {
            let code = Function::of(assembly, kernel);
            assert_eq!((code.count("flat_"), code.count("scratch_")), (0, 0), "{code:?}");
            assert_eq!(code.count("s_barrier"), if kernel == "across" { 1 } else { 2 }, "{code:?}");
        }
        assert_eq!(Function::of(assembly, "shared_count").count("ds_add_u32"), 1);
    }
}

#[test]
fn a_wider_scope_reaches_further() {
    // How caches are written back and dropped: not at all within a block, for the GPU, for the system.
    let [_, wide] = shown().map(|assembly| Function::of(&assembly, "scopes"));
    let caches: Vec<&str> = wide.instructions().filter(|one| one.starts_with("buffer_")).collect();
    assert_eq!(caches, ["buffer_wbl2 sc1", "buffer_inv sc1", "buffer_wbl2 sc0 sc1", "buffer_inv sc0 sc1"]);
}

#[test]
fn hints_hold_in_the_machine_code() {
    for assembly in &shown() {
        assert_eq!(Function::of(assembly, "rolled").loops(), 1);
        assert_eq!(Function::of(assembly, "unrolled").loops(), 0);
    }
}

/// Both architectures, with the kernels of the sub-groups' contract. Four shuffles, on the whole sub-group and on
/// segments, move one word or several each.
#[test]
fn every_kernel_of_the_contract_exchanges_by_permutes_alone() {
    for (arch, assembly) in ARCHS.iter().zip(&assemblies(&checkout(), "subgroup")) {
        let kernels = isa::kernels(assembly);
        assert!(kernels.len() > 30, "{kernels:?}");
        for kernel in kernels {
            let code = Function::of(assembly, kernel);
            for refused in ["s_trap", "s_swappc", "s_call", "ds_permute", "ds_swizzle"] {
                assert_eq!(code.count(refused), 0, "{arch} {kernel}: {refused}");
            }
            let [permutes, barriers] = ["ds_bpermute_b32", "s_barrier"].map(|mnemonic| code.count(mnemonic));
            match kernel.split_once('_').map_or(kernel, |(family, _)| family) {
                "shuffle" => assert!(permutes > 0 && permutes % 8 == 0, "{arch} {kernel}: {permutes} permutes"),
                "fold" | "reduce" | "vote" => assert!(permutes > 0, "{arch} {kernel}"),
                "block" => assert!(permutes > 0 && barriers > 0, "{arch} {kernel}"),
                "query" => assert_eq!(permutes, 0, "{arch} {kernel}"),
                _ => {}
            }
        }
    }
}

#[test]
fn no_snapshot_is_an_orphan() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/amdgcn");
    let files = fs::read_dir(folder).expect("there are snapshots");
    let found: BTreeSet<String> =
        files.map(|file| file.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    let expected = SHOWN.iter().map(|name| format!("{name}.snap")).collect();
    assert_eq!(found, expected);
}
