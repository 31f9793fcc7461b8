//! The promise: a choice among shared arrays is no table in memory, whatever its shape, on both makers' GPUs.

mod common;

use common::{Scene, any_bitcode};

const CASES: usize = 5;

/// A kernel that writes to one of `CASES` arrays, chosen as a `match` chooses: a pointer, a pointer into an array, and
/// another constant of each.
fn chosen(convention: &str, target: &str) -> Vec<u8> {
    let array = |at: usize| {
        format!(
            "define ptr @array{at}() noinline {{\n%start = call ptr @__latch_shared_array(i64 256, i64 4)\nret ptr %start\n}}\n"
        )
    };
    let arrays: String = (0..CASES).map(array).collect();
    let case = |at: usize| {
        format!(
            "case{at}:\n%a{at} = call ptr @array{at}()\n%p{at} = getelementptr inbounds i8, ptr %a{at}, i64 {}\nbr label %join\n",
            at * 4
        )
    };
    let cases: String = (0..CASES).map(case).collect();
    let to: String = (0..CASES - 1).map(|at| format!("i32 {at}, label %case{at} ")).collect();
    let phi = |values: &dyn Fn(usize) -> String| {
        let values: Vec<String> = (0..CASES).map(|at| format!("[ {}, %case{at} ]", values(at))).collect();
        values.join(", ")
    };
    let text = format!(
        "{target}declare ptr @__latch_shared_array(i64, i64)\n{arrays}\
         define {convention} void @k(i32 %n, i64 %i, ptr %y) {{\nswitch i32 %n, label %case{} [ {to}]\n{cases}join:\n\
         %whole = phi ptr {}\n%part = phi ptr {}\n%number = phi i32 {}\n\
         %at = getelementptr i32, ptr %whole, i64 %i\nstore volatile i32 %number, ptr %at\n\
         %v = load volatile i32, ptr %part\nstore i32 %v, ptr %y\nret void\n}}\n",
        CASES - 1,
        phi(&|at| format!("%a{at}")),
        phi(&|at| format!("%p{at}")),
        phi(&|at| format!("{}", at * at * 100 + 7)),
    );
    any_bitcode(&text)
}

#[test]
fn ptx_chooses_among_addresses() {
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os", "-Oz"] {
        let scene = Scene::new().input("a.o", &chosen("ptx_kernel", common::TARGET));
        let ptx = scene.link(&[level]).unwrap();
        let initialized = |line: &&str| line.contains("] = {") && line.contains("latch_shared");
        assert_eq!(ptx.lines().find(initialized), None, "{level}: {ptx}");
        if level != "-O0" {
            assert!(ptx.contains("st.volatile.shared.b32"), "the access is to shared memory, {level}: {ptx}");
        }
    }
}

#[test]
fn other_tables_stay() {
    let ptx = Scene::new().input("a.o", &chosen("ptx_kernel", common::TARGET)).link(&["-O3"]).unwrap();
    assert!(ptx.contains("switch_$_table") || ptx.contains("switch.table"), "{ptx}");
}

#[test]
fn amds_code_chooses_among_addresses() {
    for level in ["-O0", "-O3"] {
        let target = "";
        let scene = Scene::new().input("a.o", &chosen("amdgpu_kernel", target));
        let mut args = scene.args(&[level, "--target", "amdgcn-amd-amdhsa"]);
        args.target_cpu = "gfx1100".to_owned();
        bitcode_linker::link(&args).unwrap();
        let assembly = std::fs::read_to_string(scene.output()).unwrap();
        assert!(!assembly.contains("quad") && !assembly.contains("switch.table"), "{level}: {assembly}");
    }
}
