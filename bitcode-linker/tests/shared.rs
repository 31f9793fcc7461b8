//! The promise: what kernels ask for as shared memory is in the shared address space, and each array is one of its own.

mod common;

use common::Scene;

/// Two instances of the function that stands for an array, of which one is used by two kernels, and dynamic memory.
const ARRAYS: &str = r#"
declare ptr @__latch_shared_array(i64, i64)
declare ptr @__latch_shared_dynamic()
define ptr @small() noinline {
  %start = call ptr @__latch_shared_array(i64 256, i64 4)
  ret ptr %start
}
define ptr @large() noinline {
  %start = call ptr @__latch_shared_array(i64 1024, i64 16)
  ret ptr %start
}
define ptx_kernel void @both(i64 %i, float %x, ptr %y) {
  %small = call ptr @small()
  %large = call ptr @large()
  %there = getelementptr float, ptr %small, i64 %i
  store volatile float %x, ptr %there
  %back = getelementptr float, ptr %large, i64 %i
  %value = load volatile float, ptr %back
  store float %value, ptr %y
  ret void
}
define ptx_kernel void @again(i64 %i, float %x) {
  %small = call ptr @small()
  %there = getelementptr float, ptr %small, i64 %i
  store volatile float %x, ptr %there
  ret void
}
define ptx_kernel void @dynamic(i64 %i, float %x) {
  %memory = call ptr @__latch_shared_dynamic()
  %there = getelementptr float, ptr %memory, i64 %i
  store volatile float %x, ptr %there
  ret void
}
"#;

#[test]
fn accesses_are_to_shared_memory_at_every_level() {
    for level in ["-O1", "-O2", "-O3", "-Os"] {
        let ptx = Scene::with(ARRAYS).link(&[level]).unwrap();
        assert_eq!(ptx.matches("st.volatile.shared.b32").count(), 3, "{level}: {ptx}");
        assert_eq!(ptx.matches("ld.volatile.shared.b32").count(), 1, "{level}: {ptx}");
        assert!(!ptx.contains("call"), "{level}: {ptx}");
    }
}

#[test]
fn each_function_has_an_array_of_its_own_with_its_size_and_alignment() {
    let ptx = Scene::with(ARRAYS).link(&["-O3"]).unwrap();
    assert_eq!(ptx.matches(".shared .align 16 .b8").count(), 2, "one static and the dynamic one: {ptx}");
    assert_eq!(ptx.matches("[1024]").count(), 1, "{ptx}");
    assert_eq!(ptx.matches("[256]").count(), 1, "two kernels name one array: {ptx}");
    assert!(ptx.contains(".extern .shared .align 16 .b8 latch_dynamic_shared[];"), "{ptx}");
}

#[test]
fn an_unoptimized_build_links_too() {
    let ptx = Scene::with(ARRAYS).link(&["-O0"]).unwrap();
    assert!(ptx.contains("[1024]") && !ptx.contains("__latch"), "{ptx}");
}

#[test]
fn a_size_that_is_no_constant_is_refused_by_name() {
    let functions = "declare ptr @__latch_shared_array(i64, i64)\n\
                     define ptx_kernel void @k(i64 %size, ptr %y) {\n\
                     %start = call ptr @__latch_shared_array(i64 %size, i64 4)\nstore ptr %start, ptr %y\nret void\n}\n";
    let error = Scene::with(functions).link(&["-O3"]).unwrap_err().to_string();
    assert!(error.contains("a shared array in `k` has no constant size"), "{error}");
}
