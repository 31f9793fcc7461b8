//! The promise: for AMD's GPUs the same hints are resolved on the same way, shared memory and scopes are the GPU's own,
//! and assembly comes out, with an object beside it on demand.

mod common;

use bitcode_linker::{Args, Error, link};
use common::{HINTED, KERNEL, Scene, after, any_bitcode, archive};
use hint_record::stages::RESOLVED;
use hint_record::{LinkReport, Request, Status};
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use std::ffi::OsString;
use std::fs;

const TRIPLE: &str = "amdgcn-amd-amdhsa";

fn machine(cpu: &str) -> TargetMachine {
    Target::initialize_amd_gpu(&InitializationConfig::default());
    let triple = TargetTriple::create(TRIPLE);
    let target = Target::from_triple(&triple).expect("LLVM has the target");
    let (level, relocation, model) = (OptimizationLevel::None, RelocMode::Default, CodeModel::Default);
    target.create_target_machine(&triple, cpu, "", level, relocation, model).expect("LLVM has the GPU")
}

/// Functions for NVIDIA's target as rustc would write them for AMD's: its kernels, and constants in their address
/// space.
fn for_amd(functions: &str) -> String {
    let layout = machine("gfx1100").get_target_data().get_data_layout();
    let layout = layout.as_str().to_string_lossy();
    let functions = functions.replace("ptx_kernel", "amdgpu_kernel");
    let functions = functions.replace("unnamed_addr constant", "unnamed_addr addrspace(1) constant");
    let functions = ["@site", "@other"].iter().fold(functions, |text, name| {
        text.replace(&format!("ptr {name},"), &format!("ptr addrspacecast (ptr addrspace(1) {name} to ptr),"))
    });
    format!("target datalayout = \"{layout}\"\ntarget triple = \"{TRIPLE}\"\n{functions}")
}

fn scene(functions: &str) -> Scene {
    Scene::new().input("a.o", &any_bitcode(&for_amd(functions)))
}

fn args(scene: &Scene, cpu: &str, more: &[&str]) -> Args {
    let mut line = scene.command_line(&["--target", TRIPLE]);
    let at = line.iter().position(|argument| argument == "sm_90").expect("the command line names a GPU");
    line[at] = cpu.into();
    let line = line.into_iter().chain(more.iter().map(OsString::from));
    Args::read(std::iter::once("latch-link".into()).chain(line)).expect("the command line is right")
}

fn assembly(scene: &Scene, cpu: &str, more: &[&str]) -> Result<String, Error> {
    link(&args(scene, cpu, more))?;
    Ok(fs::read_to_string(scene.output()).expect("it was written"))
}

fn report(scene: &Scene, more: &[&str]) -> (String, LinkReport) {
    let path = scene.path("report.json");
    let option = ["--report", path.to_str().expect("a name in UTF-8")];
    let assembly = assembly(scene, "gfx1100", &[more, &option].concat()).expect("it links");
    (assembly, serde_json::from_slice(&fs::read(path).expect("it was written")).expect("it is a report"))
}

fn count(text: &str, word: &str) -> usize {
    text.lines().filter(|line| line.split_whitespace().next().is_some_and(|first| first.starts_with(word))).count()
}

#[test]
fn hinted_loops_stay_at_every_level() {
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        let (assembly, report) = report(&scene(HINTED), &[level]);
        assert!(!assembly.contains("__latch") && !assembly.contains(".pragma"), "{level}: {assembly}");
        assert_eq!(report.hints.len(), 2, "{level}");
        for hint in &report.hints {
            assert_eq!((hint.status, hint.left.len()), (Status::Honoured, 1), "{level}: {hint:?}");
        }
        let marked: Vec<_> = report.kernels.iter().map(|kernel| (&*kernel.name, kernel.marked_latches)).collect();
        assert_eq!(marked, [("own", 1), ("by_call", 1)], "{level}");
    }
}

#[test]
fn without_hint_the_loops_are_unrolled() {
    let plain: String =
        HINTED.lines().filter(|line| !line.contains("call void @__latch")).collect::<Vec<_>>().join("\n");
    let [hinted, plain] = [HINTED, &plain].map(|functions| report(&scene(functions), &["-O3"]));
    assert!(count(&hinted.0, "s_cbranch") > count(&plain.0, "s_cbranch"), "{}", plain.0);
    assert!(plain.1.hints.is_empty());
}

#[test]
fn an_unroll_request_leaves_no_loop() {
    let unrolled = HINTED.replace("nounroll|", "unroll|").replace("[28 x i8]", "[26 x i8]").replace("i64 28", "i64 26");
    let unrolled = unrolled.replace("i64 26, i64 1)", "i64 26, i64 0)");
    let (_, report) = report(&scene(&unrolled), &["-O3"]);
    assert_eq!(report.hints.len(), 2);
    for hint in &report.hints {
        assert_eq!((hint.status, hint.left.len(), hint.request), (Status::Honoured, 0, Request::Full), "{hint:?}");
    }
}

#[test]
fn the_wavefronts_width_is_a_constant() {
    let width = "declare i32 @llvm.amdgcn.wavefrontsize()\ndefine amdgpu_kernel void @k(ptr %y) {\n\
                 %width = call i32 @llvm.amdgcn.wavefrontsize()\nstore i32 %width, ptr %y\nret void\n}\n";
    for (cpu, width_there) in [("gfx1100", 32), ("gfx942", 64)] {
        let assembly = assembly(&scene(width), cpu, &["-O3"]).expect("it links");
        let moved = format!("v1, {width_there}");
        let is_moved = |line: &str| line.contains("mov_b32") && line.ends_with(&moved);
        assert!(assembly.lines().any(is_moved), "{cpu}: {assembly}");
        assert!(assembly.contains(&format!(".wavefront_size: {width_there}")), "{cpu}: {assembly}");
    }
}

/// A word handed over through an array, and one through dynamic memory.
const SHARED: &str = "declare ptr @__latch_shared_array(i64, i64)\ndeclare ptr @__latch_shared_dynamic()\n\
    declare void @llvm.amdgcn.s.barrier()\n\
    define ptr @array() noinline {\n%start = call ptr @__latch_shared_array(i64 256, i64 4)\nret ptr %start\n}\n\
    define amdgpu_kernel void @fixed(i64 %i, float %x, ptr %y) {\n%start = call ptr @array()\n\
    %at = getelementptr float, ptr %start, i64 %i\nstore float %x, ptr %at\ncall void @llvm.amdgcn.s.barrier()\n\
    %there = load float, ptr %start\nstore float %there, ptr %y\nret void\n}\n\
    define amdgpu_kernel void @dynamic(i64 %i, float %x, ptr %y) {\n%start = call ptr @__latch_shared_dynamic()\n\
    %at = getelementptr float, ptr %start, i64 %i\nstore float %x, ptr %at\ncall void @llvm.amdgcn.s.barrier()\n\
    %there = load float, ptr %start\nstore float %there, ptr %y\nret void\n}\n";

#[test]
fn shared_arrays_are_in_local_data_share() {
    let assembly = assembly(&scene(SHARED), "gfx1100", &["-O3"]).expect("it links");
    assert_eq!((count(&assembly, "ds_store_b32"), count(&assembly, "ds_load_b32")), (2, 2), "{assembly}");
    assert_eq!(count(&assembly, "flat_"), 0, "{assembly}");
    assert!(assembly.contains(".amdhsa_group_segment_fixed_size 256"), "{assembly}");
    assert!(!assembly.contains("__latch"), "{assembly}");
}

/// One atomic operation of each kind behind a marker of its scope, with what lies between them in unoptimized code.
const SCOPED: &str = "declare void @__latch_atomic_scope(i32)\n\
    define amdgpu_kernel void @k(ptr %x, i32 %value) {\n\
    %slot = alloca i32, addrspace(5)\n\
    call void @__latch_atomic_scope(i32 0)\nstore i32 %value, ptr addrspace(5) %slot\n\
    %a = atomicrmw add ptr %x, i32 %value acq_rel, align 4\n\
    call void @__latch_atomic_scope(i32 1)\nbr label %next\n\
    next:\n%b = cmpxchg ptr %x, i32 %a, i32 1 acquire monotonic, align 4\n\
    call void @__latch_atomic_scope(i32 2)\n%c = load atomic i32, ptr %x acquire, align 4\n\
    call void @__latch_atomic_scope(i32 0)\nstore atomic i32 %c, ptr %x release, align 4\n\
    call void @__latch_atomic_scope(i32 1)\nfence seq_cst\n\
    %d = atomicrmw add ptr %x, i32 %value monotonic, align 4\nret void\n}\n";

#[test]
fn every_atomic_operation_has_the_scope_of_its_marker() {
    let scene = scene(SCOPED);
    let folder = scene.path("kept");
    let keep = ["-O3", "--keep-intermediates", folder.to_str().expect("a name in UTF-8")];
    let assembly = assembly(&scene, "gfx942", &keep).expect("it links");
    let resolved = after(&folder, RESOLVED);
    for scoped in [
        "atomicrmw add ptr %x, i32 %value syncscope(\"workgroup\") acq_rel",
        "cmpxchg ptr %x, i32 %a, i32 1 syncscope(\"agent\") acquire monotonic",
        "load atomic i32, ptr %x acquire",
        "store atomic i32 %c, ptr %x syncscope(\"workgroup\") release",
        "fence syncscope(\"agent\") seq_cst",
        "atomicrmw add ptr %x, i32 %value monotonic",
    ] {
        assert!(resolved.contains(scoped), "{scoped}: {resolved}");
    }
    assert!(!resolved.contains("__latch") && !assembly.contains("__latch"), "{resolved}");
}

#[test]
fn a_scope_without_its_operation_is_refused_by_name() {
    let alone = "declare void @__latch_atomic_scope(i32)\n\
                 define amdgpu_kernel void @k(ptr %x, i1 %c) {\ncall void @__latch_atomic_scope(i32 0)\n\
                 br i1 %c, label %a, label %b\na:\nfence seq_cst\nret void\nb:\nret void\n}\n";
    let unknown = "declare void @__latch_atomic_scope(i32)\n\
                   define amdgpu_kernel void @k() {\ncall void @__latch_atomic_scope(i32 3)\nfence seq_cst\nret void\n}\n";
    let endless = "declare void @__latch_atomic_scope(i32)\n\
                   define amdgpu_kernel void @k() {\ncall void @__latch_atomic_scope(i32 0)\nbr label %a\na:\nbr label %a\n}\n";
    for functions in [alone, unknown, endless] {
        let error = assembly(&scene(functions), "gfx942", &[]).expect_err("it is refused").to_string();
        assert!(error.starts_with("an atomic operation in `k` does not follow the marker of its scope"), "{error}");
    }
}

#[test]
fn the_object_is_the_same_code_as_the_assembly() {
    let scene = scene(HINTED);
    let path = scene.path("out.o");
    let option = ["-O3", "--object", path.to_str().expect("a name in UTF-8")];
    let with_object = assembly(&scene, "gfx1100", &option).expect("it links");
    let object = fs::read(&path).expect("it was written");
    assert!(object.starts_with(b"\x7fELF"));
    for kernel in ["own", "by_call"] {
        let name = format!("{kernel}.kd\0");
        assert!(object.windows(name.len()).any(|bytes| bytes == name.as_bytes()), "{kernel} has no descriptor");
    }
    assert_eq!(with_object, assembly(&scene, "gfx1100", &["-O3"]).expect("it links"), "the object changes nothing");
}

#[test]
fn nvidias_code_has_no_object() {
    let message = Scene::with(KERNEL).refused(&["--object", "out.o"]);
    assert_eq!(message, "`--object` is for AMD's GPUs: for sm_90 ptxas makes the machine code, of the PTX");
}

#[test]
fn an_unknown_gpu_is_refused() {
    for cpu in ["gfx9999", "sm_90", "", "GFX1100", "gfx1100 "] {
        let error = assembly(&scene(KERNEL), cpu, &[]).expect_err("it is refused").to_string();
        let message = format!(
            "`{cpu}` is no GPU that this LLVM knows; `rustc --print target-cpus --target {TRIPLE}` lists those that it does"
        );
        assert_eq!(error, message);
    }
}

#[test]
fn every_gpu_that_rustc_lists_is_known() {
    let mut rustc = std::process::Command::new("rustc");
    let printed = rustc.args(["--print", "target-cpus", "--target", TRIPLE]).output().expect("rustc runs");
    let printed = String::from_utf8(printed.stdout).expect("names in UTF-8");
    let cpus: Vec<&str> = printed.split_whitespace().filter(|word| word.starts_with("gfx")).collect();
    assert!(cpus.len() > 30, "{printed}");
    let scene = scene(KERNEL);
    for cpu in cpus {
        assembly(&scene, cpu, &[]).unwrap_or_else(|error| panic!("{cpu}: {error}"));
    }
}

#[test]
fn libnvvm_is_not_for_amd() {
    let error = assembly(&scene(KERNEL), "gfx942", &["--route", "nvvm"]).expect_err("it is refused").to_string();
    assert_eq!(error, "libNVVM makes code for NVIDIA's GPUs alone: take `--route llc` for gfx942");
}

#[test]
fn objects_for_nvidia_are_refused() {
    let error = assembly(&Scene::with(KERNEL), "gfx942", &[]).expect_err("it is refused").to_string();
    assert!(error.contains("a.o was compiled for another target than this link's: `nvptx64-nvidia-cuda`"), "{error}");
}

#[test]
fn what_the_cuda_driver_defines_is_not_there() {
    let calls = "declare i32 @vprintf(ptr, ptr)\ndefine amdgpu_kernel void @k(ptr %x) {\n\
                 %_ = call i32 @vprintf(ptr %x, ptr %x)\nret void\n}\n";
    let error = assembly(&scene(calls), "gfx942", &[]).expect_err("it is refused").to_string();
    assert_eq!(error, "`vprintf` is not defined by any object; it is used in `k`");
}

/// An ELF object with `bitcode` in the section that rustc puts it in.
fn elf_with(bitcode: &[u8]) -> Vec<u8> {
    let bytes: String = bitcode.iter().map(|byte| format!("\\{byte:02x}")).collect();
    let size = bitcode.len();
    let text = for_amd(&format!("@b = addrspace(1) constant [{size} x i8] c\"{bytes}\", section \".llvmbc\"\n"));
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "elf");
    let module = context.create_module_from_ir(buffer).expect("the module parses");
    let object = machine("gfx1100").write_to_memory_buffer(&module, FileType::Object).expect("it can be written");
    object.as_slice().to_vec()
}

#[test]
fn bitcode_beside_machine_code_is_read() {
    let helper = "define void @helper(ptr %x) noinline {\nstore volatile i32 7, ptr %x\nret void\n}\n";
    let elf = elf_with(&any_bitcode(&for_amd(helper)));
    let calls =
        "declare void @helper(ptr)\ndefine amdgpu_kernel void @k(ptr %x) {\ncall void @helper(ptr %x)\nret void\n}\n";
    let scene = scene(calls).input("libb.rlib", &archive(&[("b.o", &elf)]));
    let assembly = assembly(&scene, "gfx1100", &["-O3"]).expect("it links");
    assert!(assembly.contains("\nhelper:"), "{assembly}");
}

#[test]
fn machine_code_alone_is_refused() {
    let elf = elf_with(b"no bitcode");
    let error = assembly(&Scene::new().input("a.o", &elf), "gfx1100", &[]).expect_err("it is refused").to_string();
    assert!(error.ends_with("a.o is no LLVM bitcode: build device crates with `cargo latch build`"), "{error}");
}
