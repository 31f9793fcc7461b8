//! The promise: the report says of every hint and every kernel what became of it.

mod common;

use common::{HINTED, Scene, archive, bitcode};
use hint_record::{HintRecord, LinkReport, NoLoop, Reason, Request, Status, VERSION};

fn hint(report: &LinkReport, line: u32) -> &HintRecord {
    report.hints.iter().find(|hint| hint.site.line == line).expect("the hint is in the report")
}

/// A kernel's marked latches and pragmas.
fn kernel(report: &LinkReport, name: &str) -> (usize, usize) {
    let found = report.kernels.iter().find(|kernel| kernel.name == name).expect("the kernel is in the report");
    (found.marked_latches, found.pragmas)
}

#[test]
fn two_kernels_and_a_device_function() {
    let (ptx, report) = Scene::with(HINTED).report(&["-O3"]);
    assert_eq!(ptx.matches(".pragma \"nounroll\"").count(), 2, "{ptx}");

    let own = hint(&report, 10);
    assert_eq!((own.request, own.function.as_str(), own.symbol.as_str()), (Request::Nounroll, "own", "own"));
    assert_eq!((own.status, own.reason), (Status::Honoured, None));
    assert_eq!(own.loops.len(), 1);
    let marked = &own.loops[0];
    assert_eq!((marked.header.as_str(), marked.back_edges, marked.latch.as_str()), ("head", 2, "head.latch"));
    assert_eq!(own.left.len(), 1);
    assert_eq!(own.left[0].symbol, "own");

    let other = hint(&report, 20);
    assert_eq!((other.symbol.as_str(), other.loops[0].back_edges, other.left.len()), ("sum4", 1, 1));

    let names: Vec<&str> = report.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["own", "by_call"], "in the module's order");
    assert_eq!(kernel(&report, "own"), (1, 1));
    assert_eq!(kernel(&report, "by_call"), (1, 1), "what it calls is counted");
}

#[test]
fn the_json_is_what_others_read() {
    let scene = Scene::with(HINTED);
    let (_, report) = scene.report(&["-O3"]);
    let text = std::fs::read_to_string(scene.path("report.json")).unwrap();
    assert_eq!(serde_json::from_str::<LinkReport>(&text).unwrap(), report);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["kernels"][1], serde_json::json!({"name": "by_call", "marked_latches": 1, "pragmas": 1}));
    assert_eq!(value["version"], VERSION);
    assert_eq!(value["hints"][0]["status"], "honoured");
    assert_eq!(value["hints"][0]["request"], "nounroll");
    assert_eq!(value["hints"][0]["site"], "nounroll|pkg|src/lib.rs|10|5");
    assert_eq!(value["hints"][0]["loops"][0]["back_edges"], 2);
}

/// Functions around `sum4` of [`HINTED`], which holds one hinted loop.
fn around_sum4(functions: &str) -> LinkReport {
    Scene::with(&format!("{HINTED}{functions}")).report(&["-O3"]).1
}

#[test]
fn recursion_is_followed_and_ends() {
    let report = around_sum4(
        "
define ptx_kernel void @recursive(ptr %x, i32 %n) {
  call void @even(ptr %x, i32 %n)
  ret void
}
define void @even(ptr %x, i32 %n) noinline {
  %last = icmp eq i32 %n, 0
  br i1 %last, label %end, label %more
more:
  %less = sub i32 %n, 1
  call void @odd(ptr %x, i32 %less)
  call void @odd(ptr %x, i32 0)
  br label %end
end:
  ret void
}
define void @odd(ptr %x, i32 %n) noinline {
  %sum = call float @sum4(ptr %x)
  store volatile float %sum, ptr %x
  call void @even(ptr %x, i32 %n)
  store volatile float %sum, ptr %x
  ret void
}",
    );
    assert_eq!(kernel(&report, "recursive"), (1, 1));
}

#[test]
fn calls_through_pointers_reach_what_has_its_address_taken() {
    let report = around_sum4(
        "
@methods = internal constant [1 x ptr] [ptr @method]
define float @method(ptr %x) noinline {
  %sum = call float @sum4(ptr %x)
  ret float %sum
}
define ptx_kernel void @by_pointer(ptr %x, ptr %y, i32 %n) {
  %at = getelementptr [1 x ptr], ptr @methods, i32 0, i32 %n
  %method = load volatile ptr, ptr %at
  %sum = call float %method(ptr %x)
  store float %sum, ptr %y
  ret void
}
define ptx_kernel void @by_assembly(ptr %y) {
  %x = call i32 asm sideeffect \"mov.u32 $0, 7;\", \"=r\"()
  store i32 %x, ptr %y
  ret void
}",
    );
    assert_eq!(kernel(&report, "by_pointer"), (1, 1));
    assert_eq!(kernel(&report, "by_assembly"), (0, 0), "assembly calls nothing");
}

#[test]
fn a_local_value_named_like_a_function_is_no_call_of_it() {
    let report = around_sum4(
        "
define ptx_kernel void @named(ptr %table, ptr %x) {
  %sum4 = load volatile ptr, ptr %table
  %y = load volatile float, ptr %sum4
  store volatile float %y, ptr %x
  ret void
}",
    );
    assert_eq!(kernel(&report, "named"), (0, 0));
}

#[test]
fn a_hint_that_is_dropped_says_why() {
    let text = "
@site = private unnamed_addr constant [28 x i8] c\"nounroll|pkg|src/lib.rs|10|5\"
declare void @__latch_loop_enter(ptr, i64)
declare void @__latch_loop_body(ptr, i64, i64)
define ptx_kernel void @k(ptr %y, i32 %n) {
  call void @__latch_loop_enter(ptr @site, i64 28)
  call void @__latch_loop_body(ptr @site, i64 28, i64 1)
  store i32 %n, ptr %y
  ret void
}";
    let (_, report) = Scene::with(text).report(&["-O3"]);
    let hint = hint(&report, 10);
    assert_eq!((hint.status, hint.reason), (Status::Dropped, Some(Reason::NoLoop(NoLoop::NeverRepeats))));
    assert_eq!((hint.loops.len(), hint.left.len()), (0, 0));
    assert_eq!(kernel(&report, "k"), (0, 0));
}

#[test]
fn one_dropped_copy_of_a_hint_drops_it_in_its_function() {
    // rustc inlined a function twice; in one place the loop was found to run once.
    let text = HINTED.replace(
        "odd:\n  br label %head\n",
        "odd:\n  call void @__latch_loop_enter(ptr @site, i64 28)\n  call void @__latch_loop_body(ptr @site, i64 28, i64 1)\n  br label %head\n",
    );
    let (_, report) = Scene::with(&text).report(&["-O3"]);
    let hint = hint(&report, 10);
    assert_eq!((hint.status, hint.reason), (Status::Dropped, Some(Reason::NoLoop(NoLoop::NeverRepeats))));
    assert_eq!((hint.loops.len(), hint.left.len()), (1, 1), "the other copy is there all the same");
}

#[test]
fn a_loop_that_the_optimizer_removes_is_no_loop_that_stays_rolled() {
    let text = "
@site = private unnamed_addr constant [28 x i8] c\"nounroll|pkg|src/lib.rs|10|5\"
declare void @__latch_loop_enter(ptr, i64)
declare void @__latch_loop_body(ptr, i64, i64)
define ptx_kernel void @k(ptr %y, i32 %n) {
entry:
  call void @__latch_loop_enter(ptr @site, i64 28)
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %inside ]
  %go = icmp ult i32 %i, %n
  br i1 %go, label %inside, label %exit
inside:
  call void @__latch_loop_body(ptr @site, i64 28, i64 1)
  %next = add i32 %i, 1
  br label %head
exit:
  store i32 %i, ptr %y
  ret void
}";
    let (ptx, report) = Scene::with(text).report(&["-O3"]);
    let hint = hint(&report, 10);
    assert_eq!((hint.status, hint.left.len()), (Status::Dropped, 0), "{ptx}");
    assert_eq!(hint.reason, Some(Reason::Deleted));
    assert_eq!(kernel(&report, "k"), (1, 0));
}

#[test]
fn a_full_unrolling_that_leaves_the_loop_is_told() {
    let text = HINTED.replace("nounroll|pkg|src/lib.rs|20|5", "unroll|pkg|src/lib.rs|120|55").replace("i64 28, i64 1)\n  %next = add i32 %i, 1\n  %at = getelementptr float, ptr %x, i32 %i\n  %value = load float, ptr %at\n  %more = fadd float %sum, %value\n  br label %head", "i64 28, i64 0)\n  %next = add i32 %i, 1\n  %at = getelementptr float, ptr %x, i32 %i\n  %value = load float, ptr %at\n  %more = fadd float %sum, %value\n  br label %head");
    let (_, unrolled) = Scene::with(&text).report(&["-O3"]);
    let record = hint(&unrolled, 120);
    assert_eq!((record.request, record.status, record.left.len()), (Request::Full, Status::Honoured, 0));
    assert_eq!(kernel(&unrolled, "by_call"), (1, 0));

    let (_, left) = Scene::with(&text).report(&["-O0"]);
    let record = hint(&left, 120);
    assert_eq!((record.status, record.left.len()), (Status::Dropped, 1));
    assert_eq!(record.reason, Some(Reason::Unoptimized), "and nothing is said of its trip count");
}

/// A loop of `turns` under a hint of site 120 for so many copies, with some `work` in its body.
fn counted(turns: &str, copies: u32, work: &str) -> HintRecord {
    let text = format!(
        "
@site = private unnamed_addr constant [28 x i8] c\"unroll|pkg|src/lib.rs|120|55\"
declare void @__latch_loop_enter(ptr, i64)
declare void @__latch_loop_body(ptr, i64, i64)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @k(ptr %x, i64 %n) {{
entry:
  %even = shl i64 %n, 1
  call void @__latch_loop_enter(ptr @site, i64 28)
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %inside ]
  %go = icmp ne i64 %i, {turns}
  br i1 %go, label %inside, label %exit
inside:
  call void @__latch_loop_body(ptr @site, i64 28, i64 {copies})
  %at = getelementptr i64, ptr %x, i64 %i
  store volatile i64 %i, ptr %at
  {work}
  %next = add i64 %i, 1
  br label %head
exit:
  ret void
}}"
    );
    hint(&Scene::with(&text).report(&["-O3"]).1, 120).clone()
}

const BARRIER: &str = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";

#[track_caller]
fn said(record: &HintRecord, loops: usize, reason: Option<Reason>) {
    let status = if reason.is_some() { Status::Dropped } else { Status::Honoured };
    assert_eq!((record.status, record.reason, record.left.len()), (status, reason, loops));
}

#[test]
fn every_loop_that_is_left_has_llvms_reason() {
    said(&counted("%n", 0, ""), 1, Some(Reason::TripCount));
    said(&counted("%n", 0, BARRIER), 1, Some(Reason::TripCount));
    said(&counted("2000000", 0, ""), 1, Some(Reason::TooLarge));
    said(&counted("%n", 4, BARRIER), 1, Some(Reason::Convergent));
    said(&counted("%even", 4, BARRIER), 1, Some(Reason::Copies { made: 2, asked: 4 }));
}

#[test]
fn a_loop_of_so_many_copies_is_one_whatever_the_trip_count_leaves_over() {
    for turns in ["%n", "64", "65", "66", "67"] {
        said(&counted(turns, 4, ""), 1, None);
    }
    said(&counted("64", 4, BARRIER), 1, None);
    said(&counted("%even", 2, BARRIER), 1, None);
    for turns in ["3", "4"] {
        said(&counted(turns, 4, ""), 0, None);
    }
}

/// `while a { loop { …; if b { break } } }`: the inner loop of site 20 is to stay, and the outer one of site 10 if
/// `outer`.
fn loop_in_while(outer: bool) -> LinkReport {
    let (enter, body) = if outer {
        ("call void @__latch_loop_enter(ptr @site, i64 28)", "call void @__latch_loop_body(ptr @site, i64 28, i64 1)")
    } else {
        ("", "")
    };
    let text = format!(
        "
@site = private unnamed_addr constant [28 x i8] c\"nounroll|pkg|src/lib.rs|10|5\"
@other = private unnamed_addr constant [28 x i8] c\"nounroll|pkg|src/lib.rs|20|5\"
declare void @__latch_loop_enter(ptr, i64)
declare void @__latch_loop_body(ptr, i64, i64)
define ptx_kernel void @k(ptr %x, i32 %n) {{
entry:
  {enter}
  br label %while
while:
  %at = phi i32 [ 0, %entry ], [ %next, %break ]
  %more = icmp ult i32 %at, %n
  br i1 %more, label %turn, label %exit
turn:
  {body}
  call void @__latch_loop_enter(ptr @other, i64 28)
  br label %loop
loop:
  %in = phi i32 [ %at, %turn ], [ %next, %again ]
  call void @__latch_loop_body(ptr @other, i64 28, i64 1)
  %place = getelementptr i32, ptr %x, i32 %in
  %next = load volatile i32, ptr %place
  %low = and i32 %next, 7
  %last = icmp eq i32 %low, 0
  br i1 %last, label %break, label %again
again:
  br label %loop
break:
  br label %while
exit:
  ret void
}}"
    );
    Scene::with(&text).report(&["-O3"]).1
}

#[test]
fn a_rolled_loop_that_was_made_one_with_another_is_not_told_to_be_deleted() {
    said(hint(&loop_in_while(false), 20), 0, Some(Reason::Merged));
    let both = loop_in_while(true);
    assert_eq!(kernel(&both, "k"), (2, 1), "one loop, which stays");
    said(hint(&both, 10), 1, None);
    said(hint(&both, 20), 1, None);
}

#[test]
fn hints_of_what_no_kernel_needs_are_not_in_the_report() {
    let unused = HINTED.replace("define ptx_kernel void @by_call", "define void @by_call");
    let (_, report) = Scene::with(&unused).report(&["-O3"]);
    let lines: Vec<u32> = report.hints.iter().map(|hint| hint.site.line).collect();
    assert_eq!(lines, [10], "only the hint of the kernel is left");
}

#[test]
fn hints_of_archives_are_in_the_report() {
    let (_, report) = Scene::new().input("libk.rlib", &archive(&[("k.o", &bitcode(HINTED))])).report(&["-O3"]);
    assert_eq!(report.hints.len(), 2);
    assert_eq!(kernel(&report, "by_call"), (1, 1));
}

#[test]
fn functions_whose_names_ptx_cannot_spell_are_counted() {
    // LLVM gives them other names in the PTX.
    let text = HINTED.replace("@sum4", "@\"_ZN4core3ops..sum4$LT$f32$GT$\"");
    let (ptx, report) = Scene::with(&text).report(&["-O3"]);
    assert!(!ptx.contains("ops.."), "{ptx}");
    assert_eq!(kernel(&report, "by_call"), (1, 1), "{ptx}");
}
