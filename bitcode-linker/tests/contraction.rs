//! The promise: a product and a sum are fused where that is asked for, and nowhere else.

mod common;

use common::Scene;

const KERNEL: &str = "define ptx_kernel void @k(ptr %p, float %a, float %b, float %c, double %x, double %y) {\n\
                      %product = fmul float %a, %b\n%sum = fadd float %product, %c\nstore float %sum, ptr %p\n\
                      %square = fmul double %x, %x\n%rest = fsub double %square, %y\n\
                      %next = getelementptr double, ptr %p, i64 1\nstore double %rest, ptr %next\nret void\n}\n";

#[test]
fn nothing_is_fused_unless_asked_for() {
    for options in [&["-O3"][..], &["-O3", "--fp-contract", "off"], &["-O0"]] {
        let ptx = Scene::with(KERNEL).link(options).unwrap();
        assert!(!ptx.contains("fma."), "{ptx}");
        // ptxas itself fuses what has no rounding.
        for rounded in ["mul.rn.f32", "add.rn.f32", "mul.rn.f64"] {
            assert!(ptx.contains(rounded), "{rounded}: {ptx}");
        }
        for unrounded in ["mul.f", "add.f", "sub.f"] {
            assert!(!ptx.contains(unrounded), "{unrounded}: {ptx}");
        }
    }
}

#[test]
fn both_are_fused_on_demand() {
    for level in ["-O0", "-O3"] {
        let ptx = Scene::with(KERNEL).link(&[level, "--fp-contract", "on"]).unwrap();
        assert!(ptx.contains("fma.rn.f32") && ptx.contains("fma.rn.f64"), "{level}: {ptx}");
        assert!(!ptx.contains("mul."), "{level}: {ptx}");
    }
}

#[test]
fn what_the_source_fuses_stays_fused() {
    let functions = "declare float @llvm.fma.f32(float, float, float)\n\
                     define ptx_kernel void @k(ptr %p, float %a, float %b) {\n\
                     %sum = call float @llvm.fma.f32(float %a, float %b, float %a)\nstore float %sum, ptr %p\nret void\n}\n";
    assert!(Scene::with(functions).link(&["-O3"]).unwrap().contains("fma.rn.f32"));
}
