//! The promise: every marker is read and erased, or there is an error that says which one cannot be.

mod common;

use common::{ir, parse, resolve, try_resolve};
use inkwell::context::Context;
use nounroll_metadata::resolve_hints;

#[track_caller]
fn refused(functions: &str, message: &str) {
    let context = Context::create();
    let module = parse(&context, functions);
    let error = resolve_hints(&module).expect_err("the module is refused");
    assert_eq!(error.to_string(), message);
}

const DECLARATIONS: &str = "
@site = private constant [28 x i8] c\"nounroll|pkg|src/lib.rs|10|5\"
declare void @__latch_loop_enter(ptr, i64)
declare void @__latch_loop_body(ptr, i64, i64)
";

/// The message about a call in the function `kernel_one`.
fn unreadable(call: &str) -> String {
    format!(
        "a loop marker in `kernel_one` does not name its site by a constant (`{call}`): build device crates with \
         `-Cno-prepopulate-passes`, as `cargo latch build` does"
    )
}

#[test]
fn what_names_no_constant_site_is_refused_with_the_function() {
    for call in [
        "call void @__latch_loop_enter(ptr %p, i64 28)",
        "call void @__latch_loop_enter(ptr @site, i64 %n)",
        "call void @__latch_loop_enter(ptr @site, i64 29)",
        "call void @__latch_loop_enter(ptr @outside, i64 1)",
        "call void @__latch_loop_enter(ptr @numbers, i64 1)",
        "call void @__latch_loop_enter(ptr null, i64 0)",
        "call void @__latch_loop_body(ptr @site, i64 28, i64 %n)",
        "call void @__latch_loop_body(ptr %p, i64 28, i64 1)",
        "call void @__latch_loop_enter(ptr @binary, i64 1)",
    ] {
        let text = format!(
            "{DECLARATIONS}
@outside = external global i8
@numbers = constant [2 x i32] [i32 1, i32 2]
@binary = constant [1 x i8] c\"\\FF\"
define void @kernel_one(ptr %p, i64 %n) {{
  {call}
  ret void
}}"
        );
        refused(&text, &unreadable(call));
    }
}

#[test]
fn what_is_no_site_is_refused_with_the_function() {
    let text = "
@site = private constant [5 x i8] c\"hello\"
declare void @__latch_loop_enter(ptr, i64)
define void @kernel_one() {
  call void @__latch_loop_enter(ptr @site, i64 5)
  ret void
}";
    let message = "a loop marker in `kernel_one`: `hello` is no hint site (kind|package|file|line|column): were the \
                   kernels built with another version of device-std?";
    refused(text, message);
}

#[test]
fn a_marker_whose_address_is_taken_is_refused() {
    let message = "`__latch_loop_enter` is used otherwise than by a call: only the macros of device-std may name it";
    let stored = "define void @f(ptr %p) {\n  store ptr @__latch_loop_enter, ptr %p\n  ret void\n}";
    let passed = "declare void @g(ptr)\ndefine void @f() {\n  call void @g(ptr @__latch_loop_enter)\n  ret void\n}";
    let in_table = "@table = constant [1 x ptr] [ptr @__latch_loop_enter]";
    let invoked = "
declare i32 @personality(...)
define void @f() personality ptr @personality {
  invoke void @__latch_loop_enter(ptr @site, i64 28) to label %a unwind label %b
a:
  ret void
b:
  %caught = landingpad { ptr, i32 } cleanup
  ret void
}";
    for text in [stored, passed, in_table, invoked] {
        refused(&format!("{DECLARATIONS}{text}"), message);
    }
}

#[test]
fn a_site_may_lie_in_a_longer_constant_or_in_a_wrapper() {
    // rustc writes a string as `<{ [N x i8] }>`, or plain; merged strings may be longer than the site.
    for constant in [
        "@site = private constant <{ [28 x i8] }> <{ [28 x i8] c\"nounroll|pkg|src/lib.rs|10|5\" }>",
        "@site = private constant [34 x i8] c\"nounroll|pkg|src/lib.rs|10|5 extra\"",
        "@site = private constant { [28 x i8] } { [28 x i8] c\"nounroll|pkg|src/lib.rs|10|5\" }",
    ] {
        let text = format!(
            "{constant}
declare void @__latch_loop_enter(ptr, i64)
declare void @__latch_loop_body(ptr, i64, i64)
define void @f(i1 %c) {{
entry:
  call void @__latch_loop_enter(ptr @site, i64 28)
  br label %loop
loop:
  call void @__latch_loop_body(ptr @site, i64 28, i64 1)
  br i1 %c, label %loop, label %exit
exit:
  ret void
}}"
        );
        let context = Context::create();
        let module = parse(&context, &text);
        let outcomes = resolve_hints(&module).unwrap();
        assert_eq!(outcomes.len(), 1);
        assert_eq!(outcomes[0].site.to_string(), "nounroll|pkg|src/lib.rs|10|5");
        assert!(outcomes[0].verdict.is_ok());
    }
}

#[test]
fn functions_and_values_that_only_share_the_name_are_left_alone() {
    let context = Context::create();
    let text = "
define void @__latch_loop_enter(ptr %p, i64 %n) {
  ret void
}
define void @f(ptr %p) {
  %__latch_loop_body = load ptr, ptr %p
  call void %__latch_loop_body(ptr %p, i64 1, i64 1)
  call void @__latch_loop_enter(ptr %p, i64 1)
  ret void
}";
    let module = parse(&context, text);
    let before = module.print_to_string();
    assert_eq!(resolve_hints(&module).unwrap(), []);
    assert_eq!(module.print_to_string(), before);
}

#[test]
fn declarations_go_also_where_nothing_called_them() {
    let resolved = resolve(&format!("{}\ndefine void @f() {{\n  ret void\n}}", DECLARATIONS));
    assert_eq!(resolved.outcomes, []);
}

#[test]
fn a_module_without_markers_is_not_touched() {
    let text = ir("
define i32 @f(i1 %c, i1 %d) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ 1, %one ], [ 2, %two ]
  br i1 %c, label %inside, label %exit
inside:
  br i1 %d, label %one, label %two
one:
  br label %head, !llvm.loop !0
two:
  br label %head
exit:
  br i1 %c, label %inside, label %end, !llvm.loop !0
end:
  ret i32 %i
}
!0 = distinct !{!0, !1}
!1 = !{!\"llvm.loop.mustprogress\"}");
    let context = Context::create();
    let module = parse(&context, &text);
    let before = module.print_to_string();
    assert_eq!(resolve_hints(&module).unwrap(), []);
    assert_eq!(module.print_to_string(), before);
}

/// What the MIR plugin hands over: one latch, which holds the body marker.
const MOVED: &str = "
define void @f(i1 %c, i1 %d) {
entry:
  enter 0
  br label %head
head:
  br i1 %c, label %inside, label %exit
inside:
  br i1 %d, label %one, label %two
one:
  br label %head.latch
two:
  br label %head.latch
head.latch:
  body 0
  br label %head
exit:
  ret void
}";

#[test]
fn a_marker_that_was_moved_into_the_latch_gives_the_same_module() {
    let first =
        MOVED.replace("label %head.latch", "label %head").replace("head.latch:\n  body 0\n  br label %head\n", "");
    let first = resolve(&first.replace("inside:\n", "inside:\n  body 0\n"));
    let moved = resolve(MOVED);
    assert_eq!(first.verdicts(), ["0: head <- head.latch (2)"]);
    assert_eq!(moved.verdicts(), ["0: head <- head.latch (1)"], "nothing is left to merge");
    assert_eq!(moved.shown(), first.shown());
}

#[test]
fn resolving_twice_changes_nothing() {
    let context = Context::create();
    let module = parse(&context, &ir(MOVED));
    assert_eq!(resolve_hints(&module).unwrap().len(), 1);
    let once = module.print_to_string();
    assert_eq!(resolve_hints(&module).unwrap(), []);
    assert_eq!(module.print_to_string(), once);
}

#[test]
fn the_shorthand_of_these_tests_is_refused_where_it_is_wrong() {
    assert!(try_resolve("define void @f(i64 %n) {\n  body 100 %n\n  ret void\n}").is_err());
}
