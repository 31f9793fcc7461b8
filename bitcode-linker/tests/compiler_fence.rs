//! The promise: a fence of the compiler is no instruction, on both makers' GPUs, and orders what it stands between.

mod common;

use common::Scene;

/// rustc's form of two writes with `compiler_fence` in between, of each ordering.
fn fenced(convention: &str) -> String {
    let fence = |ordering: &str| format!("fence syncscope(\"singlethread\") {ordering}\n");
    let fences: String = ["acquire", "release", "acq_rel", "seq_cst"].map(fence).concat();
    format!("define {convention} void @k(ptr %y) {{\nstore i32 1, ptr %y\n{fences}store i32 2, ptr %y\nret void\n}}\n")
}

#[test]
fn it_is_no_instruction_of_ptx() {
    for level in ["-O0", "-O1", "-O3", "-Os"] {
        let ptx = Scene::with(&fenced("ptx_kernel")).link(&[level]).unwrap();
        assert!(!ptx.contains("membar") && !ptx.contains("fence"), "{level}: {ptx}");
        assert_eq!(
            ptx.matches("st.global.b32").count() + ptx.matches("st.b32").count(),
            2,
            "the writes are not made one, {level}: {ptx}"
        );
    }
}

#[test]
fn a_fence_among_threads_stays() {
    let fenced = fenced("ptx_kernel").replace(" syncscope(\"singlethread\")", "");
    let ptx = Scene::with(&fenced).link(&["-O3"]).unwrap();
    assert!(ptx.contains("fence."), "{ptx}");
}

#[test]
fn it_is_no_instruction_of_amds() {
    let scene = Scene::new().input("a.o", &common::any_bitcode(&fenced("amdgpu_kernel")));
    let mut args = scene.args(&["-O3", "--target", "amdgcn-amd-amdhsa"]);
    args.target_cpu = "gfx942".to_owned();
    bitcode_linker::link(&args).unwrap();
    let assembly = std::fs::read_to_string(scene.output()).unwrap();
    assert!(!assembly.contains("s_waitcnt vmcnt") && !assembly.contains("buffer_"), "{assembly}");
}
