//! The promise: what threads execute together is not made to depend on a condition.

mod common;

use common::Scene;

/// Assembly whose result is of use on one side of a branch alone. LLVM likes to move it there.
fn kernel(assembly: &str) -> String {
    format!(
        "define ptx_kernel void @k(ptr %p, i32 %x, i1 %condition) {{\n\
         %result = call i32 asm \"{assembly}\", \"=r,r\"(i32 %x) nounwind willreturn memory(none)\n\
         br i1 %condition, label %use, label %exit\n\
         use:\nstore i32 %result, ptr %p\nbr label %exit\n\
         exit:\nret void\n}}\n"
    )
}

/// Does the assembly stand before the branch?
#[track_caller]
fn stays(assembly: &str, name: &str) -> bool {
    let ptx = Scene::with(&kernel(assembly)).link(&["-O3"]).unwrap();
    let place = |text: &str| ptx.find(text).unwrap_or_else(|| panic!("`{text}` is in {ptx}"));
    place(name) < place("bra")
}

#[test]
fn a_shuffle_stays_where_all_threads_come_by() {
    assert!(stays("shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "shfl"));
    assert!(stays("{ .reg .pred p; @!p redux.sync.add.s32 $0, $1, -1; }", "redux"));
}

#[test]
fn what_a_thread_does_alone_may_be_moved() {
    assert!(!stays("brev.b32 $0, $1; // no shfl", "brev"));
}

#[test]
fn a_matrix_product_stays_where_all_threads_come_by() {
    let ty = "{ float, float, float, float }";
    let (name, args) = ("@llvm.nvvm.mma.m16n8k8.row.col.bf16", "i32, i32, i32, float, float, float, float");
    let values = "i32 %x, i32 %x, i32 %x, float 0.0, float 0.0, float 0.0, float 0.0";
    let functions = format!(
        "declare {ty} {name}({args})\ndefine ptx_kernel void @k(ptr %p, i32 %x, i1 %condition) {{\n\
         %results = call {ty} {name}({values}) willreturn\n%result = extractvalue {ty} %results, 0\n\
         br i1 %condition, label %use, label %exit\n\
         use:\nstore float %result, ptr %p\nbr label %exit\n\
         exit:\nret void\n}}\n"
    );
    let ptx = Scene::with(&functions).link(&["-O3"]).unwrap();
    assert!(ptx.find("mma.sync").expect("it is there") < ptx.find("bra").expect("the branch is there"), "{ptx}");
}
