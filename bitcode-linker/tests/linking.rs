//! The promise: what is linked is what kernels need, all of it and nothing else, or there is one clear error.

mod common;

use common::{KERNEL, Scene, TARGET, after, any_bitcode, archive, bitcode, stderr};

/// Is a function or variable of this name in the PTX?
fn holds(ptx: &str, name: &str) -> bool {
    let is_name = |character: char| character.is_alphanumeric() || "_$.".contains(character);
    ptx.match_indices(name).any(|(at, _)| !ptx[..at].ends_with(is_name) && !ptx[at + name.len()..].starts_with(is_name))
}

const CALLS_HELP: &str = "
declare i32 @help(i32)
define ptx_kernel void @k(ptr %p) {
  %x = load i32, ptr %p
  %y = call i32 @help(i32 %x)
  store i32 %y, ptr %p
  ret void
}";

#[test]
fn objects_are_linked_whole_and_pruned() {
    let ptx = Scene::with(CALLS_HELP)
        .object("b.o", "define i32 @help(i32 %x) noinline {\n  ret i32 %x\n}\ndefine void @unused() {\n  ret void\n}")
        .link(&[])
        .unwrap();
    assert!(holds(&ptx, "help") && !holds(&ptx, "unused"), "{ptx}");
    assert!(!ptx.contains(".extern"), "{ptx}");
}

#[test]
fn members_are_linked_where_something_needs_them_in_any_order() {
    let help = bitcode(
        "declare i32 @deep(i32)\ndefine i32 @help(i32 %x) noinline {\n  %y = call i32 @deep(i32 %x)\n  ret i32 %y\n}",
    );
    let deep = bitcode("define i32 @deep(i32 %x) noinline {\n  %y = mul i32 %x, 3\n  ret i32 %y\n}");
    let unused = bitcode("declare void @nowhere()\ndefine void @unused() {\n  call void @nowhere()\n  ret void\n}");
    let orders: [&[(&str, &[u8])]; 3] = [
        &[("help.o", &help), ("deep.o", &deep), ("unused.o", &unused)],
        &[("unused.o", &unused), ("deep.o", &deep), ("help.o", &help)],
        &[("deep.o", &deep), ("unused.o", &unused), ("help.o", &help)],
    ];
    for order in orders {
        let ptx = Scene::with(CALLS_HELP).input("liba.rlib", &archive(order)).link(&[]).unwrap();
        assert!(holds(&ptx, "help") && holds(&ptx, "deep") && !holds(&ptx, "unused"), "{ptx}");
    }
    // Each in an archive of its own, the needed one first.
    let ptx = Scene::new()
        .input("libdeep.rlib", &archive(&[("deep.o", &deep)]))
        .input("libhelp.rlib", &archive(&[("help.o", &help)]))
        .object("a.o", CALLS_HELP)
        .link(&[])
        .unwrap();
    assert!(holds(&ptx, "help") && holds(&ptx, "deep"), "{ptx}");
}

#[test]
fn archives_that_need_each_other_are_linked() {
    let one = bitcode(
        "declare i32 @two(i32)\ndefine i32 @help(i32 %x) noinline {\n  %y = call i32 @two(i32 %x)\n  ret i32 %y\n}\ndefine i32 @three(i32 %x) noinline {\n  ret i32 %x\n}",
    );
    let two = bitcode(
        "declare i32 @three(i32)\ndefine i32 @two(i32 %x) noinline {\n  %y = call i32 @three(i32 %x)\n  ret i32 %y\n}",
    );
    let ptx = Scene::with(CALLS_HELP)
        .input("libone.rlib", &archive(&[("one.o", &one)]))
        .input("libtwo.rlib", &archive(&[("two.o", &two)]))
        .link(&["-O0"])
        .unwrap();
    for name in ["help", "two", "three"] {
        assert!(holds(&ptx, name), "{name} in\n{ptx}");
    }
}

#[test]
fn the_private_parts_of_a_member_exist_once() {
    // Both functions count in the same variable, although they are asked for in two rounds.
    let member = bitcode(
        "
declare i32 @two(i32)
@count = internal global i32 0
define i32 @help(i32 %x) noinline {
  %old = atomicrmw add ptr @count, i32 %x seq_cst
  %y = call i32 @two(i32 %old)
  ret i32 %y
}
define i32 @three(i32 %x) noinline {
  %old = atomicrmw add ptr @count, i32 %x seq_cst
  ret i32 %old
}",
    );
    let two = bitcode(
        "declare i32 @three(i32)\ndefine i32 @two(i32 %x) noinline {\n  %y = call i32 @three(i32 %x)\n  ret i32 %y\n}",
    );
    let ptx = Scene::with(CALLS_HELP)
        .input("liba.rlib", &archive(&[("a.o", &member), ("two.o", &two)]))
        .link(&["-O0"])
        .unwrap();
    let variables: Vec<&str> = ptx.lines().filter(|line| line.contains(".global ") && line.contains("count")).collect();
    assert_eq!(variables.len(), 1, "{ptx}");
}

#[test]
fn private_names_of_different_objects_stay_apart() {
    let object = |name: &str, factor: u32| {
        format!(
            "define internal i32 @private(i32 %x) noinline {{\n  %y = mul i32 %x, {factor}\n  ret i32 %y\n}}\ndefine i32 @{name}(i32 %x) noinline {{\n  %y = call i32 @private(i32 %x)\n  ret i32 %y\n}}"
        )
    };
    let kernel = "
declare i32 @one(i32)
declare i32 @two(i32)
define ptx_kernel void @k(ptr %p) {
  %x = load i32, ptr %p
  %y = call i32 @one(i32 %x)
  %z = call i32 @two(i32 %y)
  store i32 %z, ptr %p
  ret void
}";
    let members = archive(&[("one.o", &bitcode(&object("one", 7))), ("two.o", &bitcode(&object("two", 11)))]);
    let ptx = Scene::with(kernel).input("liba.rlib", &members).link(&["-O0"]).unwrap();
    assert!(ptx.contains(", 7;") && ptx.contains(", 11;"), "{ptx}");
}

#[test]
fn what_is_defined_by_an_object_is_not_taken_from_an_archive() {
    let own = "define i32 @help(i32 %x) noinline {\n  %y = mul i32 %x, 7\n  ret i32 %y\n}";
    let other = bitcode("define i32 @help(i32 %x) noinline {\n  %y = mul i32 %x, 11\n  ret i32 %y\n}");
    let ptx = Scene::with(CALLS_HELP)
        .input("liba.rlib", &archive(&[("other.o", &other)]))
        .object("b.o", own)
        .link(&[])
        .unwrap();
    assert!(ptx.contains(", 7;") && !ptx.contains(", 11;"), "{ptx}");
}

#[test]
fn what_nothing_needs_of_a_member_is_not_linked_and_does_not_clash() {
    let member = bitcode(
        "
declare i32 @nowhere(i32)
define i32 @help(i32 %x) noinline {
  ret i32 %x
}
define i32 @own(i32 %x) noinline {
  %y = call i32 @nowhere(i32 %x)
  ret i32 %y
}",
    );
    let scene = Scene::with(CALLS_HELP)
        .object("b.o", "define i32 @own(i32 %x) {\n  ret i32 %x\n}")
        .input("liba.rlib", &archive(&[("a.o", &member)]));
    let ptx = scene.link(&["--export-symbol", "own"]).unwrap();
    assert!(holds(&ptx, "help") && holds(&ptx, "own") && !holds(&ptx, "nowhere"), "{ptx}");
}

#[test]
fn what_an_object_defines_serves_members_too() {
    let help = bitcode(
        "declare i32 @own(i32)\ndefine i32 @help(i32 %x) noinline {\n  %y = call i32 @own(i32 %x)\n  ret i32 %y\n}",
    );
    let other = bitcode("define i32 @own(i32 %x) noinline {\n  %y = mul i32 %x, 11\n  ret i32 %y\n}");
    let ptx = Scene::with(CALLS_HELP)
        .object("b.o", "define i32 @own(i32 %x) noinline {\n  %y = mul i32 %x, 7\n  ret i32 %y\n}")
        .input("liba.rlib", &archive(&[("help.o", &help), ("other.o", &other)]))
        .link(&["-O0"])
        .unwrap();
    assert!(ptx.contains(", 7;") && !ptx.contains(", 11;"), "{ptx}");
}

#[test]
fn weak_definitions_of_members_serve_and_give_way() {
    let weak = bitcode(
        "define weak i32 @help(i32 %x) noinline {\n  %y = mul i32 %x, 11\n  ret i32 %y\n}\ndefine weak void @unused() {\n  ret void\n}",
    );
    let ptx = Scene::with(CALLS_HELP).input("liba.rlib", &archive(&[("weak.o", &weak)])).link(&[]).unwrap();
    assert!(ptx.contains(", 11;") && !holds(&ptx, "unused"), "{ptx}");
}

#[test]
fn aliases_of_members_are_found() {
    let member = bitcode(
        "define i32 @real(i32 %x) noinline {\n  %y = mul i32 %x, 11\n  ret i32 %y\n}\n@help = alias i32 (i32), ptr @real",
    );
    let ptx = Scene::with(CALLS_HELP).input("liba.rlib", &archive(&[("a.o", &member)])).link(&["-O3"]).unwrap();
    assert!(ptx.contains(", 11;"), "{ptx}");
}

#[test]
fn kernels_of_archives_are_linked_unasked() {
    let member = bitcode(
        "define void @f() noinline {\n  ret void\n}\ndefine ptx_kernel void @k() {\n  call void @f()\n  ret void\n}",
    );
    let ptx = Scene::new().input("liba.rlib", &archive(&[("a.o", &member)])).link(&["-O0"]).unwrap();
    assert!(ptx.contains(".visible .entry k(") && holds(&ptx, "f"), "{ptx}");
}

#[test]
fn exported_symbols_stay_wherever_they_come_from() {
    let own = "define i32 @visible(i32 %x) {\n  ret i32 %x\n}\ndefine i32 @hidden(i32 %x) {\n  ret i32 %x\n}\n@table = global i32 7";
    let member =
        bitcode("define i32 @wanted(i32 %x) {\n  ret i32 %x\n}\ndefine i32 @unwanted(i32 %x) {\n  ret i32 %x\n}");
    let scene = Scene::with(&format!("{KERNEL}{own}")).input("liba.rlib", &archive(&[("a.o", &member)]));
    let exports = ["visible", "table", "wanted", "missing"].map(|name| ["--export-symbol", name]).concat();
    let ptx = scene.link(&exports).unwrap();
    assert!(ptx.contains(".visible .func  (.param .b32 func_retval0) visible("), "{ptx}");
    assert!(ptx.contains(".visible .func  (.param .b32 func_retval0) wanted("), "{ptx}");
    assert!(ptx.contains(".visible .global .align 4 .u32 table = 7;"), "{ptx}");
    assert!(!holds(&ptx, "hidden") && !holds(&ptx, "unwanted"), "{ptx}");
}

#[test]
fn linking_twice_gives_the_same_ptx() {
    let member = |name: &str, next: &str| {
        bitcode(&format!(
            "declare i32 @{next}(i32)\ndefine i32 @{name}(i32 %x) noinline {{\n  %y = call i32 @{next}(i32 %x)\n  ret i32 %y\n}}"
        ))
    };
    let last = bitcode("define i32 @d(i32 %x) noinline {\n  ret i32 %x\n}");
    let members = archive(&[
        ("b.o", &member("b", "c")),
        ("d.o", &last),
        ("help.o", &member("help", "b")),
        ("c.o", &member("c", "d")),
    ]);
    let link = || Scene::with(CALLS_HELP).input("liba.rlib", &members).link(&["-O0"]).unwrap();
    let first = link();
    for _ in 0..5 {
        assert_eq!(link(), first);
    }
}

#[test]
fn an_undefined_function_is_named_with_its_user() {
    let message = Scene::with(CALLS_HELP).refused(&[]);
    assert_eq!(message, "`help` is not defined by any object; it is used in `k`");
}

#[test]
fn names_in_messages_are_as_the_source_has_them() {
    let text = "
declare void @_ZN4core9panicking5panic17h0123456789abcdefE()
define void @_RNvC7mycrate4leaf() noinline {
  call void @_ZN4core9panicking5panic17h0123456789abcdefE()
  ret void
}
define ptx_kernel void @k() {
  call void @_RNvC7mycrate4leaf()
  ret void
}";
    let message = Scene::with(text).refused(&[]);
    assert_eq!(message, "`core::panicking::panic` is not defined by any object; it is used in `mycrate::leaf`");
}

#[test]
fn an_undefined_variable_is_named_with_its_user() {
    let text = "
@table = external global i32
define ptx_kernel void @k(ptr %p) {
  %x = load i32, ptr @table
  store i32 %x, ptr %p
  ret void
}";
    assert_eq!(Scene::with(text).refused(&[]), "`table` is not defined by any object; it is used in `k`");
}

#[test]
fn what_only_a_constant_uses_is_named_with_the_variable() {
    let text = "
declare void @method()
@vtable = internal constant { i64, [1 x ptr] } { i64 8, [1 x ptr] [ptr @method] }
define ptx_kernel void @k(ptr %p) {
  store ptr @vtable, ptr %p
  ret void
}";
    assert_eq!(Scene::with(text).refused(&[]), "`method` is not defined by any object; it is used in `vtable`");
}

#[test]
fn what_the_driver_or_the_launch_defines_may_be_open() {
    let text = "
declare i32 @vprintf(ptr, ptr)
@dynamic = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @k(ptr %p) {
  %n = call i32 @vprintf(ptr %p, ptr null)
  %at = addrspacecast ptr addrspace(3) @dynamic to ptr
  store ptr %at, ptr %p
  ret void
}";
    let ptx = Scene::with(text).link(&["-O3"]).unwrap();
    assert!(ptx.contains(".extern .func  (.param .b32 func_retval0) vprintf"), "{ptx}");
    assert!(ptx.contains(".extern .shared .align 16 .b8 dynamic[]"), "{ptx}");
}

#[test]
fn two_definitions_are_an_error_that_names_the_second_object() {
    let scene = Scene::with(KERNEL).object("b.o", KERNEL);
    let message = scene.refused(&[]);
    let start = format!("LLVM cannot link {} with the objects before it: ", scene.path("b.o").display());
    assert!(message.starts_with(&start), "{message}");
    assert!(message.contains("symbol multiply defined") && message.contains("'k'"), "{message}");
}

#[test]
fn objects_for_another_target_are_refused() {
    let host = any_bitcode("target triple = \"x86_64-unknown-linux-gnu\"\ndefine void @f() {\n  ret void\n}");
    let narrow = TARGET.replace("nvptx64", "nvptx");
    let other_layout =
        "target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-n16:32:64\"\ntarget triple = \"nvptx64-nvidia-cuda\"";
    let kernel = |target: &str| any_bitcode(&format!("{target}\n{KERNEL}"));
    for (data, found) in [
        (host.clone(), "x86_64-unknown-linux-gnu"),
        (kernel(&narrow), "nvptx-nvidia-cuda"),
        (kernel(other_layout), "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"),
    ] {
        for scene in [Scene::new().input("b.o", &data), Scene::new().input("libb.rlib", &archive(&[("b.o", &data)]))] {
            let message = scene.refused(&[]);
            assert!(
                message.contains("b.o was compiled for another target") || message.contains("(b.o) was compiled for"),
                "{message}"
            );
            assert!(message.contains(found), "{message}");
        }
    }
}

#[test]
fn a_target_that_is_no_gpu_is_refused() {
    for triple in ["x86_64-unknown-linux-gnu", "nvptx-nvidia-cuda", "riscv64", "", "r600--"] {
        let message = Scene::with(KERNEL).refused(&["--target", triple]);
        assert_eq!(
            message,
            format!("LLVM has no target `{triple}`: Latch builds for nvptx64-nvidia-cuda and amdgcn-amd-amdhsa")
        );
    }
}

#[test]
fn an_unknown_gpu_is_refused() {
    for cpu in ["sm_901", "gfx1100", "", "help", "SM_90", "sm_90 "] {
        let scene = Scene::with(KERNEL);
        let mut line = scene.command_line(&[]);
        let at = line.iter().position(|argument| argument == "sm_90").unwrap();
        line[at] = cpu.into();
        let output = common::run(&line);
        assert_eq!(output.status.code(), Some(1), "{cpu}");
        let message = format!(
            "latch-link: `{cpu}` is no GPU that this LLVM knows; `rustc --print target-cpus --target nvptx64-nvidia-cuda` lists \
             those that it does\n"
        );
        assert!(stderr(&output).ends_with(&message), "{}", stderr(&output));
        assert_eq!(scene.files(), ["a.o"]);
    }
}

#[test]
fn every_gpu_that_rustc_lists_is_known() {
    let printed = std::process::Command::new("rustc")
        .args(["--print", "target-cpus", "--target", "nvptx64-nvidia-cuda"])
        .output()
        .unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let cpus: Vec<&str> = printed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let cpus: Vec<&str> = cpus.into_iter().filter(|cpu| cpu.starts_with("sm_")).collect();
    assert!(cpus.len() > 30, "{printed}");
    let scene = Scene::with(KERNEL);
    for cpu in cpus {
        let mut args = scene.args(&[]);
        cpu.clone_into(&mut args.target_cpu);
        bitcode_linker::link(&args).unwrap_or_else(|error| panic!("{cpu}: {error}"));
    }
}

#[test]
fn the_gpu_of_the_command_line_wins_over_those_of_the_objects() {
    let text = "
define ptx_kernel void @k(ptr %p) \"target-cpu\"=\"sm_70\" \"target-features\"=\"+ptx63\" {
  %x = call i32 @help()
  store i32 %x, ptr %p
  ret void
}
define i32 @help() \"target-cpu\"=\"sm_80\" {
  ret i32 7
}";
    let scene = Scene::with(text);
    for (cpu, header) in [("sm_120a", ".target sm_120a"), ("sm_90", ".target sm_90"), ("sm_70", ".target sm_70")] {
        let mut args = scene.args(&["-O3"]);
        cpu.clone_into(&mut args.target_cpu);
        bitcode_linker::link(&args).unwrap();
        let ptx = std::fs::read_to_string(scene.output()).unwrap();
        assert!(ptx.lines().any(|line| line == header), "{ptx}");
        assert!(!holds(&ptx, "help"), "inlined across GPUs:\n{ptx}");
    }
    let stages = scene.path("stages");
    scene.link(&["--keep-intermediates", stages.to_str().unwrap()]).unwrap();
    let linked = after(&stages, "delete-unused");
    assert!(!linked.contains("target-cpu") && !linked.contains("target-features"), "{linked}");
}

#[test]
fn features_reach_code_generation() {
    let scene = Scene::with(KERNEL);
    let version = |ptx: String| ptx.lines().find_map(|line| line.strip_prefix(".version ")).unwrap().to_owned();
    assert_eq!(version(scene.link(&["--target-feature=+ptx86"]).unwrap()), "8.6");
    assert_eq!(version(scene.link(&["--target-feature=+ptx80"]).unwrap()), "8.0");
}

#[test]
fn gpus_with_minima_of_three_get_the_ptx_that_has_them() {
    let scene = Scene::with(KERNEL);
    let version = |cpu: &str, features: &str| {
        let mut args = scene.args(&[]);
        cpu.clone_into(&mut args.target_cpu);
        features.clone_into(&mut args.target_feature);
        bitcode_linker::link(&args).unwrap_or_else(|error| panic!("{cpu}: {error}"));
        let ptx = std::fs::read_to_string(&args.output).unwrap();
        ptx.lines().find_map(|line| line.strip_prefix(".version ")).unwrap().to_owned()
    };
    assert_eq!(["sm_100", "sm_100a", "sm_101", "sm_120a", "sm_103a"].map(|cpu| version(cpu, "")), ["8.8"; 5]);
    // Neither an older GPU nor one whose PTX is newer anyway is touched, nor what someone asks for.
    assert_eq!((version("sm_90a", ""), version("sm_110", "")), ("8.0".to_owned(), "9.0".to_owned()));
    assert_eq!((version("sm_120", "+ptx87"), version("sm_100", "+ptx90")), ("8.7".to_owned(), "9.0".to_owned()));
}

#[test]
fn what_makes_llvm_give_up_is_one_sentence() {
    // PTX 6.0 knows no sm_90. LLVM has no way to report that, and would abort with a trace of its stack.
    let scene = Scene::with(KERNEL);
    let output = scene.run(&["--target-feature=+ptx60"]);
    assert_eq!(output.status.code(), Some(1), "{:?}", output.status);
    let text = stderr(&output);
    assert!(
        text.starts_with("latch-link: LLVM cannot go on: PTX version 6.0 does not support target 'sm_90'"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1);
    assert_eq!(scene.files(), ["a.o"]);
}

#[test]
fn errors_of_code_generation_are_errors() {
    // No PTX before 7.3 has a stack that grows; LLVM reports it and prints text all the same.
    let text = "
define ptx_kernel void @k(i64 %n, ptr %p) {
  %x = alloca i8, i64 %n
  store ptr %x, ptr %p
  ret void
}";
    let scene = Scene::with(text);
    let mut args = scene.args(&["--target-feature=+ptx70"]);
    "sm_80".clone_into(&mut args.target_cpu);
    let error = bitcode_linker::link(&args).unwrap_err().to_string();
    assert!(error.starts_with("LLVM cannot make code for sm_80: ") && error.contains("dynamic alloca"), "{error}");
    assert_eq!(scene.files(), ["a.o"]);
}

#[test]
fn no_object_holds_a_kernel() {
    let message = Scene::with("define void @f() {\n  ret void\n}").refused(&["--export-symbol", "f"]);
    assert_eq!(message, "no object among the inputs holds a kernel: mark one with `#[kernel]`");
}

#[test]
fn unreadable_markers_are_named() {
    let text = "
declare void @__latch_loop_enter(ptr, i64)
define ptx_kernel void @k(ptr %p, i64 %n) {
  call void @__latch_loop_enter(ptr %p, i64 %n)
  ret void
}";
    let message = Scene::with(text).refused(&[]);
    assert!(message.starts_with("a loop marker in `k` does not name its site by a constant"), "{message}");
}
